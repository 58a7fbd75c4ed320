/**
 * Serves the methods of the port in the registry's thread. The rows of each aggregate have a table of calls that its port
 * types: a missing, superfluous or wrong call does not compile. The client needs no list of them
 * (docs/adr/0014-the-registry-is-many-small-ports.md).
 */

import type { CredentialToSeal } from '../ports/services.ts';
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

export interface DomainLimits {
  /** Maximum number of live domains of an account; infinity for the operator. */
  readonly perAccount: number;
  /** Maximum number of domains that an account may register within 24 hours, including domains that it removed again. */
  readonly perDay: number;
}

export interface LimitedStore extends RegistryStore {
  readonly limits: DomainLimits;
}

/** The dependencies of the registry's calls. */
export interface OpenRegistry extends LimitedStore {
  readonly secrets: Secrets;
}

type Run<A extends unknown[], R> = (registry: OpenRegistry, ...args: A) => Promise<R>;

/** The implementation of one method. */
interface Call<A extends unknown[], R> {
  /**
   * `read`: the method only reads, and sees committed data only. `write`: it runs inside a transaction and returns
   * after the commit. `unordered`: it writes by single statements what no feed orders and no lease protects; on a database
   * server each commits by itself, in one round trip, and waits for no other writer.
   */
  readonly kind: 'read' | 'write' | 'unordered';
  readonly run: Run<A, R>;
}

/** The implementations of all methods of `Port`. */
export type Calls<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer A) => Promise<infer R>
    ? Call<A, R>
    : never;
};

/** Defines a method that only reads. */
export function read<A extends unknown[], R>(run: Run<A, R>): Call<A, R> {
  return { kind: 'read', run };
}

export function write<A extends unknown[], R>(run: Run<A, R>): Call<A, R> {
  return { kind: 'write', run };
}

/** Defines a method that writes by one statement, in an order of its own. */
export function unordered<A extends unknown[], R>(run: Run<A, R>): Call<A, R> {
  return { kind: 'unordered', run };
}
