/**
 * The heart of a feed's actor: when to ask, and what to remember between two polls. Pure; `poller.ts` performs what
 * it wants done.
 */

import type { Step } from '../actor/actor-group.ts';
import { HOUR_MS } from '../domain/durations.ts';

/** Longest wait after failures, and longest that `Retry-After` is granted. */
export const MAX_WAIT_MS = HOUR_MS;

/** After this long everything is read anew: some entries age without a change of the document. */
const FULL_READ_MS = HOUR_MS;

/** Polls are this share of the interval early or late, so that feeds never fall into step. */
const JITTER = 0.1;

/** What is remembered of a document, for conditional requests. */
export interface DocumentMemory {
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Digest of the last body; what is sent again unchanged is not read again. */
  readonly bodyDigest: string;
  /** Digest of what was read from it; parts that tick alone make no news. */
  readonly readingDigest: string;
}

/** By the name of the document. */
export type FeedMemory = Readonly<Record<string, DocumentMemory>>;

/** The state of an actor. */
export interface FeedState {
  readonly memory: FeedMemory;
  /** When everything was last read anew, epoch milliseconds. */
  readonly fullReadAt: number;
  /** Polls in a row that failed. */
  readonly failures: number;
  readonly polling: boolean;
  /** What is remembered was called into doubt while a poll was under way. */
  readonly forgotten: boolean;
}

/** What an actor is told. */
export type FeedMessage =
  | { readonly kind: 'due'; readonly now: number }
  | {
      readonly kind: 'polled';
      readonly memory: FeedMemory;
      readonly failed: boolean;
      /** What the server asked for; null: nothing. */
      readonly retryAfterMs: number | null;
      /** Chance, 0 to 1. */
      readonly chance: number;
    }
  /** What was read got lost: read everything anew. */
  | { readonly kind: 'forget' };

/** What an actor wants done. */
export type FeedEffect =
  | { readonly kind: 'poll'; readonly memory: FeedMemory }
  | { readonly kind: 'wait'; readonly ms: number };

/** An actor that has never asked. */
export const NEW_FEED: FeedState = {
  memory: {},
  fullReadAt: 0,
  failures: 0,
  polling: false,
  forgotten: false,
};

/** Makes the behaviour for an interval between polls. */
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
 * Milliseconds until the next poll: the interval, twice as long with each failure after the first, never under what
 * the server asked for; a chance of 0 to 1 makes it up to a tenth shorter or longer.
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
