/** Port of the registry: the members of accounts. */
import type { Role } from '../../domain/role.ts';

/** An account of a person. */
export interface Membership {
  readonly accountId: number;
  readonly accountName: string;
  readonly role: Role;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** A person of an account. */
export interface Member {
  readonly personId: number;
  readonly name: string;
  readonly role: Role;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Providers with which the person signs in, by name. */
  readonly providers: readonly string[];
  /** The person's ways to sign in on this site. */
  readonly ways: readonly ('passkey' | 'password')[];
}

export interface MemberStore {
  /** The accounts of a person, the first one first. */
  membershipsOf(personId: number): Promise<Membership[]>;
  /** The members of an account, the first one first. */
  membersOf(accountId: number): Promise<Member[]>;
  /**
   * Gives a member another role. Rejects with `not_found` if the person is no member, with `stale` if they have another role than `seen`
   * (absent: any), and with `last_owner` if the account would have no owner. `now`, epoch milliseconds: if an owner gets a lesser
   * role, a notice says that the valid keys of the account stay; absent: there is none.
   */
  setRole(
    accountId: number,
    personId: number,
    role: Role,
    by?: { readonly seen?: Role; readonly now?: number },
  ): Promise<void>;
  /** Removes a member, and ends their sessions in the account. Rejects as {@link MemberStore.setRole}, and notifies as it does. */
  removeMember(accountId: number, personId: number, now?: number): Promise<void>;
}
