/** Port of the registry: invitations to accounts. */
import type { Role } from '../../domain/role.ts';
import type { Account } from './accounts.ts';
import type { Identity, Person } from './people.ts';

/** Maximum number of invitations of an account that wait for an answer. */
export const MAX_INVITATIONS = 20;
/** Maximum number of invitations within a UTC day: of an account, and of a person in all accounts. */
export const MAX_INVITATIONS_PER_DAY = 60;

/** Maximum number of ways to sign in that may be begun from one invitation, since each can make a person. */
export const MAX_SETUPS = 5;

/** Maximum number of members of an account. */
export const MAX_MEMBERS = 100;

/** An invitation as it is stored. */
interface NewInvitation {
  /** SHA-256 of its secret. */
  readonly sha256: Uint8Array;
  readonly accountId: number;
  /** The owner who invites. */
  readonly inviterId: number;
  /** The role of the new member. */
  readonly role: Role;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** An invitation as members of its account see it. */
interface Invitation {
  readonly id: number;
  readonly role: Role;
  readonly inviterName: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** The only person who can accept it, since they opened it first; null: nobody who is signed in has opened it. */
  readonly personName: string | null;
}

/** An invitation as the person who has its link sees it. */
export interface OpenedInvitation {
  readonly accountId: number;
  readonly accountName: string;
  readonly inviterName: string;
  readonly role: Role;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Invitations to accounts. Those of a former owner end with that role. */
export interface InvitationStore {
  /** Stores an invitation, and deletes expired ones. Rejects with `account_limit` if the account has {@link MAX_INVITATIONS}. */
  addInvitation(invitation: NewInvitation): Promise<void>;
  /** The invitations of an account that wait for an answer at `now`, newest first. */
  invitationsOf(accountId: number, now: number): Promise<Invitation[]>;
  /** False: the account has no such invitation. */
  removeInvitation(accountId: number, id: number): Promise<boolean>;
  /**
   * The invitation with the SHA-256 of a secret, for a visitor who is not signed in; null: it has expired at `now`, was
   * used or withdrawn, or belongs to a person.
   */
  findInvitation(sha256: Uint8Array, now: number): Promise<OpenedInvitation | null>;
  /**
   * Counts a way to sign in that a visitor begins from an invitation. False: {@link InvitationStore.findInvitation}
   * returns null, or there were {@link MAX_SETUPS}.
   */
  countSetup(sha256: Uint8Array, now: number): Promise<boolean>;
  /** Finds an invitation and makes it that of the person; null: as above, or it belongs to another person. */
  openInvitation(sha256: Uint8Array, personId: number, now: number): Promise<OpenedInvitation | null>;
  /**
   * Makes the person a member, which uses the invitation up, and makes the account that of their next session. Rejects
   * with `not_found` where {@link InvitationStore.openInvitation} returns null, and with `account_limit` if the person
   * is a member already or the account has {@link MAX_MEMBERS}.
   */
  acceptInvitation(sha256: Uint8Array, personId: number, now: number): Promise<Account>;
  /**
   * Adds a person, whose identity nobody has signed in with, as a member of the account that an invitation is for, and of no other.
   * Null: nobody can accept the invitation any more. Rejects as {@link InvitationStore.acceptInvitation} does.
   */
  joinByIdentity(sha256: Uint8Array, identity: Identity, now: number): Promise<Person | null>;
}
