/**
 * Serves the methods of the port in the registry's thread. The rows of each aggregate have a table of calls that its port
 * types: a missing, superfluous or wrong call does not compile. The client needs no list of them
 * (docs/adr/0014-the-registry-is-many-small-ports.md).
 */
import type { RegistryStore } from './registry-store.ts';
import type { Secrets } from './secrets.ts';

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
export interface Call<A extends unknown[], R> {
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
