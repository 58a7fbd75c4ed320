/**
 * How the registry's thread serves the methods of the port. The rows of each aggregate have a table of calls that its
 * port types: a missing, superfluous or wrong call does not compile. The client has no list of its own
 * (docs/adr/0014-the-registry-is-many-small-ports.md).
 */
import type { RegistryStore } from './registry-store.ts';
import type { Secrets } from './secret-box.ts';

/** How many domains an account may have and register. */
export interface DomainLimits {
  /** Most live domains of one account; infinity: the operator's word. */
  readonly perAccount: number;
  /** Most domains that one account registers within 24 hours, those that it removed again included. */
  readonly perDay: number;
}

/** Everything that the calls of the registry need. */
export interface OpenRegistry extends RegistryStore {
  readonly limits: DomainLimits;
  readonly secrets: Secrets;
}

type Run<A extends unknown[], R> = (registry: OpenRegistry, ...args: A) => Promise<R>;

/** How one method is served. */
export interface Call<A extends unknown[], R> {
  /**
   * `read`: it only reads, and sees no transaction that is still open. `write`: it runs inside a transaction, and is
   * answered after the commit.
   */
  readonly kind: 'read' | 'write';
  readonly run: Run<A, R>;
}

/** How each method of `Port` is served. */
export type Calls<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer A) => Promise<infer R>
    ? Call<A, R>
    : never;
};

/** A method that only reads. */
export function read<A extends unknown[], R>(run: Run<A, R>): Call<A, R> {
  return { kind: 'read', run };
}

/** A method that writes. */
export function write<A extends unknown[], R>(run: Run<A, R>): Call<A, R> {
  return { kind: 'write', run };
}
