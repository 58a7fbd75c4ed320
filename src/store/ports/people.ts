/** Port of the registry: people who sign in, their sessions, and invitations to accounts. */
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
   * one, else a new one. Rejects with `not_found` if there is no such person, or if it is a member of no account and no provider knows
   * it, or `mayAddAccount`, by default true, is false.
   */
  createSession(session: NewSession, mayAddAccount?: boolean): Promise<Account>;
  /** Null: there is no session with this SHA-256, it has expired at `now`, or its person is no longer a member of its account. */
  findSession(sha256: Uint8Array, now: number): Promise<Session | null>;
  /** Changes the account of a session. False: there is no such session, or its person is not a member of the account. */
  switchAccount(sha256: Uint8Array, accountId: number): Promise<boolean>;
  endSession(sha256: Uint8Array): Promise<void>;
  endSessionsOf(personId: number): Promise<void>;
}

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
