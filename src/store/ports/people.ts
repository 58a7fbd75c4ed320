/** Port of the registry: people who sign in, and their sessions. */
import type { Role } from '../../domain/role.ts';
import type { Account } from './accounts.ts';

/** A person who signs in, as a member of one or more accounts. */
export interface Person {
  readonly id: number;
  /** The name of their first account. Other people may have the same. */
  readonly name: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

export interface Identity {
  readonly provider: string;
  /** The provider's identifier of the person, which never changes. */
  readonly subject: string;
  /** The name that the provider returns. */
  readonly name: string;
}

/** A browser that signs in, as it is stored. */
export interface NewSession {
  /** SHA-256 of its token. */
  readonly sha256: Uint8Array;
  readonly personId: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** A session, with its account and what its person may do there at present. */
export interface Session extends Omit<NewSession, 'sha256'> {
  readonly personName: string;
  readonly accountId: number;
  readonly accountName: string;
  readonly role: Role;
}

export interface PeopleStore {
  /** Adds a person as the owner of a new account. Its name is `name`, with a number appended if it is taken. */
  addPerson(name: string, now: number): Promise<Person>;
  /** Null: nobody has signed in with that identity. */
  findIdentity(identity: Identity): Promise<Person | null>;
  /** Finds the person with that identity. The first sign-in adds one as {@link PeopleStore.addPerson} does. */
  ensureIdentity(identity: Identity, now: number): Promise<Person>;
  /**
   * Makes the person with that identity an owner of an account, which is the account of their next session. A person who
   * never signed in is added under the name of the identity. Rejects with `not_found` if there is no such account.
   */
  linkIdentity(accountId: number, identity: Identity, now: number): Promise<Person>;
  /** The same for a person by number. Rejects with `not_found` if there is no such account or person. */
  linkPerson(accountId: number, personId: number, now: number): Promise<Person>;
  /**
   * Stores a session, and deletes expired sessions. Its account is the one that the person chose last, else their first
   * one, else a new one. Rejects with `not_found` if there is no such person, or if it is a member of no account and `mayAddAccount`,
   * by default true, is false.
   */
  createSession(session: NewSession, mayAddAccount?: boolean): Promise<Account>;
  /** Null: there is no session with this SHA-256, it has expired at `now`, or its person is no longer a member of its account. */
  findSession(sha256: Uint8Array, now: number): Promise<Session | null>;
  /** Changes the account of a session. False: there is no such session, or its person is no member of the account. */
  switchAccount(sha256: Uint8Array, accountId: number): Promise<boolean>;
  endSession(sha256: Uint8Array): Promise<void>;
  endSessionsOf(personId: number): Promise<void>;
}
