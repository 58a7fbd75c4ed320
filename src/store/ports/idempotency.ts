/** Port of the registry: changes that a client can repeat without making them twice (docs/api.md, Idempotency). */

/** A change that a client identifies. */
export interface IdempotentRequest {
  readonly accountId: number;
  /** The client's name of the change. */
  readonly key: string;
  /** The digest of the request; a request with the same key must have the same. */
  readonly fingerprint: string;
  /**
   * The part of the answer beside the value, stored encrypted with it: a secret that the registry does not keep in clear text,
   * or a text that describes what the change found; null: nothing.
   */
  readonly secret: string | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface IdempotentOutcome<T> {
  readonly value: T;
  readonly secret: string | null;
  /** The change was made by an earlier request. */
  readonly isReplay: boolean;
}

/** The names of changes that can be made once. */
export const IDEMPOTENT_NAMES = [
  'changeService',
  'registerService',
  'proveDomain',
  'putContent',
  'createKey',
  'addPage',
  'provePageDomain',
  'addWebhook',
  'addOwnerIncident',
  'putOwnerIncident',
  'addOwnerMaintenance',
  'putOwnerMaintenance',
  'addChannel',
  'addMessage',
  'replayMessage',
  'addRule',
  'acknowledge',
] as const;

export type IdempotentName = (typeof IDEMPOTENT_NAMES)[number];

/** The time for which outcomes are kept, milliseconds. */
export const IDEMPOTENCY_MS = 86_400_000;

/** Maximum number of outcomes of one account; the oldest are dropped beyond it. */
export const MAX_IDEMPOTENT_CHANGES = 10_000;

/** Maximum length of all outcomes of one account, encrypted, in characters; the oldest are dropped beyond it. */
export const MAX_IDEMPOTENT_CHARACTERS = 16 * 1_048_576;

/** Changes with the keys of clients. Both methods reject with `idempotency_mismatch` for another fingerprint. */
export interface IdempotencyStore {
  /** The outcome of the change with that key; null: there was none within {@link IDEMPOTENCY_MS}. */
  findIdempotent(request: IdempotentRequest): Promise<IdempotentOutcome<unknown> | null>;
  /**
   * Makes a change and stores its outcome, encrypted, in one transaction, or returns the outcome that is stored. Rejects as the
   * method does; nothing is stored then, nor where the method resolves with refusals, `stale` or `missing`.
   */
  callIdempotent(
    request: IdempotentRequest,
    name: IdempotentName,
    args: readonly unknown[],
  ): Promise<IdempotentOutcome<unknown>>;
}
