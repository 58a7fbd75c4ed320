/**
 * Port of the registry: what people sign in with besides identities at providers: passkeys, passwords with codes of an
 * authenticator app, links that make the first of them, and the limits of attempts.
 */

/** A person's password with the secret of their authenticator app. */
export interface PasswordCredential {
  readonly personId: number;
  /** The name to sign in with, as its owner wrote it. */
  readonly name: string;
  /** The hash in the PHC string format. */
  readonly hash: string;
  /** The secret of the one-time codes. */
  readonly totpSecret: Uint8Array;
  /** The period of the last accepted code: neither it nor an earlier one is accepted again. */
  readonly totpStep: number;
  /** SHA-256 of each unused recovery code. */
  readonly recoveryCodes: readonly Uint8Array[];
  /** Epoch milliseconds. */
  readonly changedAt: number;
}

export interface NewPassword extends Omit<PasswordCredential, 'personId' | 'changedAt'> {
  /** The name in the form by which it is compared. */
  readonly nameKey: string;
}

export interface NewPasskey {
  /** The ID of the credential, base64url. */
  readonly id: string;
  /** The name that its owner gave it. */
  readonly name: string;
  /** In COSE form. */
  readonly publicKey: Uint8Array;
  /** The signature counter; 0 where the authenticator has none. */
  readonly counter: number;
  /** The ways in which browsers reach the authenticator, such as `internal` or `usb`. */
  readonly transports: readonly string[];
  /** The handle of its person, random, base64url. All passkeys of a person have the same. */
  readonly userHandle: string;
}

/** A stored passkey. */
export interface Passkey extends NewPasskey {
  readonly personId: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds; null: not yet used to sign in. */
  readonly lastUsedAt: number | null;
}

/** The ways in of a person, for their account page. */
interface WaysIn {
  readonly passkeys: readonly Passkey[];
  /** Null: there is no password. */
  readonly password: Pick<PasswordCredential, 'name' | 'changedAt'> | null;
  /** Number of unused recovery codes. */
  readonly recoveryCodes: number;
  /** Identities at providers, by the ID of the provider. */
  readonly providers: readonly string[];
}

/** A link by which a person without another way in gets one. */
export interface SetupLink {
  /** SHA-256 of its secret. */
  readonly sha256: Uint8Array;
  /**
   * `first`: makes the first account, as long as there is none. `person`: makes a person with an account, or an owner of
   * `accountId`. `reset`: replaces what the person `personId` signs in with.
   */
  readonly kind: 'first' | 'person' | 'reset';
  readonly accountId: number | null;
  readonly personId: number | null;
  /**
   * Of `person`: SHA-256 of the secret of the invitation, to whose account the link adds the person, which uses it up. The person gets no
   * account besides. Null: the link is of no invitation.
   */
  readonly invitation: Uint8Array | null;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** A valid link. */
export interface FoundSetupLink extends SetupLink {
  /** The name of the person of a reset; null: the link makes a new person. */
  readonly personName: string | null;
}

/** A person as an operator looks one up. */
export interface FoundPerson {
  readonly id: number;
  readonly name: string;
  /** The name of their password; null: there is none. */
  readonly signInName: string | null;
  /** The names of their accounts. */
  readonly accounts: readonly string[];
}

/** The new way in of a person who uses a link: one of the two. */
export interface Enrolment {
  /** The name of a new person; ignored by `reset`. */
  readonly name: string;
  readonly credential:
    | { readonly kind: 'passkey'; readonly passkey: NewPasskey }
    | { readonly kind: 'password'; readonly password: NewPassword };
}

interface SessionListing {
  /** SHA-256 of its token. */
  readonly sha256: Uint8Array;
  readonly accountName: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Attempts that count together, with the number of those that need not wait. */
export interface AttemptKey {
  readonly key: string;
  readonly free: number;
}

/** People's ways in, and their sessions. */
export interface SignInStore {
  /** Which ways exist: whether there is any account, any passkey, any password. */
  signInWays(): Promise<{
    readonly hasAccounts: boolean;
    readonly hasPasskeys: boolean;
    readonly hasPasswords: boolean;
  }>;
  /** The people who have that name, or sign in with it; `nameKey` is the form by which the latter is compared. */
  findPeople(name: string, nameKey: string): Promise<FoundPerson[]>;
  waysOf(personId: number): Promise<WaysIn>;

  /** Null: nobody signs in with that name. */
  findPassword(nameKey: string): Promise<PasswordCredential | null>;
  /** Sets or replaces the password, the secret of the codes and the recovery codes of a person. Rejects with `sign_in_name_taken`. */
  setPassword(personId: number, password: NewPassword, now: number): Promise<void>;
  /** Removes it with the recovery codes. `providers`: those that the site offers. False: there is none. Rejects with `last_way_in`. */
  removePassword(personId: number, providers: readonly string[]): Promise<boolean>;
  /** Marks a code as used; false: it or a later one was used before. */
  useTotpStep(personId: number, step: number): Promise<boolean>;
  /** Uses a recovery code; false: there is no such code, or it was used before. */
  useRecoveryCode(personId: number, sha256: Uint8Array): Promise<boolean>;
  setRecoveryCodes(personId: number, sha256s: readonly Uint8Array[]): Promise<void>;

  /** Null: there is no passkey with this ID. */
  findPasskey(id: string): Promise<Passkey | null>;
  /** Rejects with `passkey_known` and `too_many_passkeys`. */
  addPasskey(personId: number, passkey: NewPasskey, now: number): Promise<void>;
  /**
   * Stores the counter of a use; false: the passkey is gone, or a use with this counter or a greater one was stored
   * before. Counters that stay 0 are not compared.
   */
  usePasskey(id: string, counter: number, now: number): Promise<boolean>;
  /** False: the person has no such passkey. */
  renamePasskey(personId: number, id: string, name: string): Promise<boolean>;
  /** `providers`: those that the site offers. False: the person has no such passkey. Rejects with `last_way_in`. */
  removePasskey(personId: number, id: string, providers: readonly string[]): Promise<boolean>;

  /** The sessions of a person that have not expired, newest first. */
  sessionsOf(personId: number, now: number): Promise<SessionListing[]>;
  /** Ends a session of a person; false: there is none. */
  endSessionOf(personId: number, sha256: Uint8Array): Promise<boolean>;
  endOtherSessions(personId: number, sha256: Uint8Array): Promise<void>;
}

export interface SetupLinkStore {
  /** Stores a link, and deletes expired ones. */
  addSetupLink(link: SetupLink, now: number): Promise<void>;
  /** Null: there is no such link, it has expired, it was used, or there is an account and the link is for the first one. */
  findSetupLink(sha256: Uint8Array, now: number): Promise<FoundSetupLink | null>;
  /**
   * Uses a link: makes its person, or ends all passkeys, the password and the sessions of the person of a reset, and adds
   * what the person signs in with. Returns the person; null: the link is not valid, as for `findSetupLink`. Rejects as
   * `setPassword` and `addPasskey`; the link then stays valid.
   */
  useSetupLink(sha256: Uint8Array, enrolment: Enrolment, now: number): Promise<number | null>;
}

/** The guard against guessing and replaying. */
export interface SignInGuardStore {
  /**
   * Counts an attempt under every key unless it has to wait under one of them. Returns how long, milliseconds; 0: it was
   * counted and may be made.
   */
  takeAttempt(keys: readonly AttemptKey[], now: number): Promise<number>;
  /** Takes back an attempt that was counted and succeeded. */
  returnAttempt(keys: readonly AttemptKey[]): Promise<void>;
  /**
   * Uses something that may be used once, such as the challenge of a passkey; false: it was used before. It is forgotten
   * after `expiresAt`, when its user refuses it anyway.
   */
  useOnce(sha256: Uint8Array, expiresAt: number, now: number): Promise<boolean>;
}
