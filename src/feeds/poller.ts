/**
 * Polls vendors' status pages: an actor per feed, conditional requests, backoff after failures, and at most one open
 * request per host. Runs in a thread of its own, since the documents may be hostile.
 */
import { createActorGroup } from '../actor/actor-group.ts';
import { createKeyedLimiter } from '../async/concurrency-limiter.ts';
import type { Cancel, Clock, Random } from '../clock.ts';
import type { FeedEntry } from '../domain/incident/feed-entry.ts';
import { messageOf } from '../error.ts';
import type { AddressPolicy } from '../outbound/address-guard.ts';
import type { Requests } from '../outbound/outbound.ts';
import { type FeedEffect, type FeedMessage, type FeedState, feedBehaviour, NEW_FEED } from './feed-actor.ts';
import type { Feed, FeedKind, FeedKindName } from './feed-kind.ts';
import { type PollOutcome, pollFeed } from './poll-feed.ts';

export interface PollerSettings {
  readonly intervalMs: number;
  /** The first polls are spread over this, milliseconds. */
  readonly firstSpreadMs: number;
  readonly policy: AddressPolicy;
}

/** An event of the poller. Plain data that crosses threads. */
export type FeedEvent =
  /** A document has changed. */
  | {
      readonly kind: 'reading';
      readonly feedId: string;
      readonly document: string;
      readonly listsOnlyOpen: boolean;
      readonly entries: readonly FeedEntry[];
      /** Epoch milliseconds. */
      readonly readAt: number;
    }
  /** A poll has ended; follows its readings. */
  | {
      readonly kind: 'polled';
      readonly feedId: string;
      /** Epoch milliseconds. */
      readonly at: number;
      /** Why it failed, one line; null: it succeeded. */
      readonly problem: string | null;
    };

interface PollerOptions {
  readonly settings: PollerSettings;
  readonly kinds: Readonly<Record<FeedKindName, FeedKind>>;
  readonly outbound: Requests;
  readonly clock: Clock;
  readonly random: Random;
  readonly notify: (event: FeedEvent) => void;
}

export type Poller = ReturnType<typeof createPoller>;

/** Maximum number of polls in flight over all hosts. */
const MAX_POLLS = 16;

/** Creates a poller without feeds. */
export function createPoller({ settings, kinds, outbound, clock, random, notify }: PollerOptions) {
  const numbers = new Map<string, number>();
  const feeds = new Map<number, Feed>();
  const timers = new Map<number, Cancel>();
  const abort = new AbortController();
  const inTurn = createKeyedLimiter(MAX_POLLS);
  let nextNumber = 1;

  const actors = createActorGroup<FeedState, FeedMessage, FeedEffect>({
    handle: feedBehaviour(settings.intervalMs),
    perform(number, effect) {
      if (effect.kind === 'wait') wake(number, effect.ms);
      else void poll(number, effect.memory);
    },
    mailboxLimit: 4,
    overflow: 'drop_oldest',
  });

  function wake(number: number, ms: number): void {
    timers.get(number)?.();
    timers.set(
      number,
      clock.after(ms, () => actors.send(number, { kind: 'due', now: clock.now() })),
    );
  }

  async function poll(number: number, memory: FeedState['memory']): Promise<void> {
    const feed = feeds.get(number);
    if (feed === undefined) return;
    let outcome: PollOutcome;
    try {
      const addresses = kinds[feed.kind].addresses(feed.source);
      const { policy } = settings;
      const parts = { outbound, policy, inTurn, now: clock.now, signal: abort.signal };
      outcome = await pollFeed(addresses, memory, parts);
    } catch (error) {
      outcome = { readings: [], memory: {}, problem: messageOf(error), retryAfterMs: null };
    }
    if (abort.signal.aborted || feeds.get(number) !== feed) return;
    const at = clock.now();
    for (const { document, listsOnlyOpen, entries } of outcome.readings)
      notify({ kind: 'reading', feedId: feed.id, document, listsOnlyOpen, entries, readAt: at });
    notify({ kind: 'polled', feedId: feed.id, at, problem: outcome.problem });
    const { memory: validators, problem, retryAfterMs } = outcome;
    const failed = problem !== null;
    actors.send(number, { kind: 'polled', memory: validators, failed, retryAfterMs, chance: random() });
  }

  function add(feed: Feed): void {
    const number = nextNumber++;
    numbers.set(feed.id, number);
    feeds.set(number, feed);
    actors.add(number, NEW_FEED);
    wake(number, random() * Math.min(settings.intervalMs, settings.firstSpreadMs));
  }

  function remove(feedId: string, number: number): void {
    timers.get(number)?.();
    timers.delete(number);
    numbers.delete(feedId);
    feeds.delete(number);
    actors.remove(number);
  }

  return {
    /** Replaces the list of feeds; feeds in both lists are not affected. */
    setFeeds(list: readonly Feed[]): void {
      const wanted = new Set(list.map(({ id }) => id));
      for (const [feedId, number] of [...numbers]) if (!wanted.has(feedId)) remove(feedId, number);
      for (const feed of list) if (!numbers.has(feed.id)) add(feed);
    },
    /** The readings of a feed were lost: the next poll reads everything again. */
    forget(feedId: string): void {
      const number = numbers.get(feedId);
      if (number !== undefined) actors.send(number, { kind: 'forget' });
    },
    /** Aborts all polls; no event follows. */
    stop(): void {
      abort.abort();
      for (const [feedId, number] of [...numbers]) remove(feedId, number);
    },
  };
}
