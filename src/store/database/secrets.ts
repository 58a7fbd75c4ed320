/** The interface of the secrets in the database for the rows: `store/secrets` implements it. */
import type { CredentialToSeal } from '../ports/credentials.ts';
import type { RegistryStore } from './registry-store.ts';

/** Encrypts and decrypts with one key. */
export interface SecretBox {
  seal(secret: string): string;
  /** Decrypts a sealed text; returns other texts unchanged. Throws `secrets_key` if the key is wrong. */
  open(text: string): string;
}

/** The texts and digests of one key and those of the next. */
export interface KeyChange {
  /** Decrypts a text of the key before. */
  readonly open: (text: string) => string;
  /** A text of the key before, encrypted with the next one. */
  readonly reseal: (text: string) => string;
  readonly digestBefore: (text: string) => string;
  readonly digestAfter: (text: string) => string;
}

/** The secrets of a registry. Every method throws `secrets_key` where the key is missing or does not fit. */
export interface Secrets {
  box(): Promise<SecretBox>;
  /**
   * A digest by which texts with secrets in them can be compared. It needs the key, so that a copy of the database alone is not
   * enough to try passwords on it.
   */
  digest(text: string): Promise<string>;
  sealCredentials(credentials: readonly CredentialToSeal[]): Promise<string[]>;
  /** Returns true if each sealed text is that credential, sealed for that place. */
  matchCredentials(credentials: readonly (CredentialToSeal & { readonly sealed: string })[]): boolean[];
  /** The key of credentials of checks; null: there is none, or it cannot be read. */
  checksKey(): Buffer | null;
  /** The fact with that name in clear text; null: unset. */
  readFact(store: RegistryStore, name: string): Promise<string | null>;
  /** Sets a fact, sealed if it is a secret. */
  writeFact(store: RegistryStore, name: string, value: string): Promise<void>;
  /** Verifies the key, and creates it at the first start. */
  check(): Promise<void>;
  /** Encrypts secrets that an earlier version stored in clear text, inside the caller's transaction; returns their number. */
  sealClear(store: RegistryStore): Promise<number>;
  /** Resolves with the change of texts and digests from the present key to another one. */
  changeTo(newKey: Buffer): Promise<KeyChange>;
  /** Records that everything is sealed with another key, inside the caller's transaction. */
  recordKey(store: RegistryStore, newKey: Buffer): Promise<void>;
  /** Deletes the record of the previous key and the facts that it sealed, inside the caller's transaction, so that another key is accepted. */
  forgetKey(store: RegistryStore): Promise<void>;
}
