/** The behaviour of a feed's actor: when to poll, and what to keep between polls. Pure; `poller.ts` performs the effects. */
import type { Step } from '../actor/actor-group.ts';
import { HOUR_MS } from '../domain/durations.ts';

/** Maximum pause after failures, and maximum of `Retry-After`. */
export const MAX_WAIT_MS = HOUR_MS;

/** After this time, a poll reads everything again: some entries age although the document does not change. */
const FULL_READ_MS = HOUR_MS;

/** Random deviation from the interval as a share of it, so that feeds are not polled in step. */
const JITTER = 0.1;

/** The memory of a document, for conditional requests. */
export interface DocumentMemory {
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Digest of the last body; the same body is not parsed again. */
  readonly bodyDigest: string;
  /** Digest of its entries, so that changes elsewhere, such as of a build date, are ignored. */
  readonly readingDigest: string;
}

export type FeedMemory = Readonly<Record<string, DocumentMemory>>;

export interface FeedState {
  readonly memory: FeedMemory;
  /** The time at which everything was last read, epoch milliseconds. */
  readonly fullReadAt: number;
  /** Consecutive failed polls. */
  readonly failures: number;
  readonly polling: boolean;
  /** A `forget` arrived during a poll, so the result of that poll is not kept. */
  readonly forgotten: boolean;
}

export type FeedMessage =
  | { readonly kind: 'due'; readonly now: number }
  | {
      readonly kind: 'polled';
      readonly memory: FeedMemory;
      readonly failed: boolean;
      /** The server's `Retry-After`; null: it sent none. */
      readonly retryAfterMs: number | null;
      /** Random number from 0 to 1. */
      readonly chance: number;
    }
  /** The readings were lost: read everything again. */
  | { readonly kind: 'forget' };

export type FeedEffect =
  | { readonly kind: 'poll'; readonly memory: FeedMemory }
  | { readonly kind: 'wait'; readonly ms: number };

/** The state before the first poll. */
export const NEW_FEED: FeedState = {
  memory: {},
  fullReadAt: 0,
  failures: 0,
  polling: false,
  forgotten: false,
};

/** Creates the behaviour for an interval between polls. */
export function feedBehaviour(
  intervalMs: number,
): (state: FeedState, message: FeedMessage) => Step<FeedState, FeedEffect> {
  return (state, message) => {
    switch (message.kind) {
      case 'due': {
        if (state.polling) return { state, effects: [] };
        const full = message.now - state.fullReadAt >= FULL_READ_MS || message.now < state.fullReadAt;
        const memory = full ? {} : state.memory;
        return {
          state: { ...state, polling: true, fullReadAt: full ? message.now : state.fullReadAt },
          effects: [{ kind: 'poll', memory }],
        };
      }
      case 'polled': {
        const failures = message.failed ? state.failures + 1 : 0;
        const memory = state.forgotten ? {} : message.memory;
        const ms = waitAfter(intervalMs, failures, message.retryAfterMs, message.chance);
        return {
          state: { ...state, memory, failures, polling: false, forgotten: false },
          effects: [{ kind: 'wait', ms }],
        };
      }
      case 'forget':
        return { state: { ...state, memory: {}, forgotten: state.polling }, effects: [] };
    }
  };
}

/**
 * Milliseconds until the next poll: the interval, doubled with each failure after the first, with up to a tenth of jitter
 * by `chance` (0 to 1), and at least the server's `Retry-After`.
 */
export function waitAfter(
  intervalMs: number,
  failures: number,
  retryAfterMs: number | null,
  chance: number,
): number {
  const backOff = intervalMs * 2 ** Math.min(20, Math.max(0, failures - 1));
  const longest = Math.max(MAX_WAIT_MS, intervalMs);
  const jittered = Math.min(longest, backOff) * (1 + JITTER * (2 * chance - 1));
  return Math.round(Math.max(jittered, Math.min(longest, retryAfterMs ?? 0)));
}
