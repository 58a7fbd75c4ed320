/** A registry whose changes are made once for a key of the client (docs/api.md, Idempotency). */
import {
  IDEMPOTENT_NAMES,
  type IdempotencyStore,
  type IdempotentCalls,
  type IdempotentName,
  type IdempotentOutcome,
  type IdempotentRequest,
} from '../../store/ports/idempotency.ts';

/** The changes with the request's key, and the outcome of the one that was made. */
export interface IdempotentChanges {
  readonly calls: IdempotentCalls;
  /** Stores `text` with the changes that follow, in place of the request's secret. */
  keep(text: string): void;
  /** Null: none was made. */
  outcome(): IdempotentOutcome<unknown> | null;
}

/** Creates the changes of one request: the first one is made unless an earlier request has made it. */
export function createIdempotentChanges(
  registry: IdempotencyStore,
  request: IdempotentRequest,
): IdempotentChanges {
  let { secret } = request;
  let last: IdempotentOutcome<unknown> | null = null;
  const call =
    (name: IdempotentName) =>
    async (...args: readonly unknown[]): Promise<unknown> => {
      const outcome = await registry.callIdempotent({ ...request, secret }, name, args);
      last = outcome;
      return outcome.value;
    };
  const calls: Record<string, (...args: never[]) => Promise<unknown>> = Object.fromEntries(
    IDEMPOTENT_NAMES.map((name) => [name, call(name)]),
  );
  // The registry's method of that name returns the value.
  const keep = (text: string) => {
    secret = text;
  };
  return { calls: calls as unknown as IdempotentCalls, keep, outcome: () => last };
}
