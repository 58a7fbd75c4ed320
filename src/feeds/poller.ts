/**
 * Polls vendors' status pages: an actor per feed, conditional requests, backoff after failures, and at most one open
 * request per host. Runs in a separate thread, since the documents may be hostile.
 */

import { createHash } from 'node:crypto';
import { createActorGroup } from '../actor/actor-group.ts';
import { createKeyedLimiter } from '../async/concurrency-limiter.ts';
import type { Cancel, Clock, Random } from '../clock.ts';
import { describeCause } from '../domain/failure.ts';
import type { FeedEntry } from '../domain/incident/feed-entry.ts';
import { messageOf } from '../error.ts';
import type { AddressPolicy } from '../outbound/address-guard.ts';
import type { OutboundResponse, Requests } from '../outbound/outbound.ts';
import { readRetryAfter } from '../outbound/response-head.ts';
import { type FeedReading, readFeedDocument } from './build-entry.ts';
import {
  type DocumentMemory,
  type FeedEffect,
  type FeedMemory,
  type FeedMessage,
  type FeedState,
  feedBehaviour,
  NEW_FEED,
} from './feed-actor.ts';
import {
  type Feed,
  type FeedAddress,
  FeedFormatError,
  type FeedKind,
  type FeedKindName,
} from './feed-kind.ts';

const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024;
/** Longer validators are ignored, since every poll would send them again. */
const MAX_VALIDATOR_LENGTH = 1_000;
const TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 3;
const ACCEPT =
  'application/json, application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.5';

type PollOutcome = Awaited<ReturnType<typeof pollFeed>>;

export interface PollParts {
  readonly outbound: Requests;
  readonly policy: AddressPolicy;
  /**
   * Limits the requests to one per host at a time. A poll that has begun (`isContinued`) precedes those that have not,
   * since its readings stay in memory until it ends.
   */
  readonly inTurn: <T>(host: string, task: () => Promise<T>, isContinued: boolean) => Promise<T>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Requests the documents one after the other. Rejects only when `signal` aborts it. */
export async function pollFeed(addresses: readonly FeedAddress[], memory: FeedMemory, parts: PollParts) {
  /** Documents whose entries differ from those of the last poll. */
  const readings: (FeedReading & { readonly document: string })[] = [];
  const next: Record<string, DocumentMemory> = {};
  /** Why the poll failed, one line; null: it succeeded. */
  let problem: string | null = null;
  /** The server's `Retry-After`, milliseconds; null: it sent none. */
  let retryAfterMs: number | null = null;
  /** The documents are read with each other. */
  const isJoined = addresses.some(({ isReference }) => isReference === true);
  for (const [index, address] of addresses.entries()) {
    const known = memory[address.name] ?? null;
    if (known !== null) next[address.name] = known;
    const { hostname, host } = new URL(address.url);
    const response = await parts.inTurn(
      host,
      () => request(address.url, isJoined ? null : known, parts),
      index > 0,
    );
    const { status, fault, headers, body } = response;
    if (status === 304 && known !== null) continue;
    // A page may lack the documents after the first.
    if (index > 0 && address.isReference !== true && (status === 404 || status === 410)) continue;
    if (address.isOptional === true && status !== 200) continue;
    if (fault !== null || status !== 200 || body === null) {
      problem ??=
        fault === null
          ? `${hostname} answered with HTTP ${status}`
          : `${hostname}: ${describeCause(fault.failure)}`;
      retryAfterMs ??= readRetryAfter(headers['retry-after'], parts.now());
      // The rest is not requested from a host in trouble.
      break;
    }
    try {
      const outcome = readDocument(address, { headers, body }, { known, isJoined }, parts.now());
      next[address.name] = outcome.memory;
      if (outcome.reading !== null && address.isReference !== true)
        readings.push({ ...outcome.reading, document: address.name });
    } catch (error) {
      if (address.isOptional !== true || !(error instanceof FeedFormatError))
        problem ??= `${hostname}: ${describeError(error)}`;
      // Without what they refer to, entries would be misread.
      if (address.isReference === true && address.isOptional !== true) break;
    }
  }
  return { readings, memory: next, problem, retryAfterMs };
}

async function request(
  url: string,
  known: DocumentMemory | null,
  parts: PollParts,
): Promise<OutboundResponse> {
  const headers: Record<string, string> = { accept: ACCEPT };
  if (known?.etag != null) headers['if-none-match'] = known.etag;
  if (known?.lastModified != null) headers['if-modified-since'] = known.lastModified;
  return await parts.outbound.request({
    url,
    headers,
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_DOCUMENT_BYTES,
    policy: parts.policy,
    redirects: MAX_REDIRECTS,
    signal: parts.signal,
  });
}

function readDocument(
  address: FeedAddress,
  { headers, body }: Pick<OutboundResponse, 'headers'> & { readonly body: Buffer },
  { known, isJoined }: { readonly known: DocumentMemory | null; readonly isJoined: boolean },
  now: number,
): { readonly memory: DocumentMemory; readonly reading: FeedReading | null } {
  const validators = {
    etag: readHeader(headers.etag),
    lastModified: readHeader(headers['last-modified']),
    bodyDigest: digest(body),
  };
  if (!isJoined && known?.bodyDigest === validators.bodyDigest)
    return { memory: { ...validators, readingDigest: known.readingDigest }, reading: null };
  const reading = readFeedDocument(address, body, now);
  const readingDigest = digest(JSON.stringify(reading));
  return {
    memory: { ...validators, readingDigest },
    reading: known?.readingDigest === readingDigest ? null : reading,
  };
}

function readHeader(value: string | readonly string[] | undefined): string | null {
  const text = typeof value === 'string' ? value : value?.[0];
  return text === undefined || text === '' || text.length > MAX_VALIDATOR_LENGTH ? null : text;
}

function digest(content: string | Uint8Array): string {
  return createHash('sha1').update(content).digest('base64');
}

/** A FeedFormatError describes the document. Any other error is a fault of the parser, so its place is named. */
function describeError(error: unknown): string {
  if (error instanceof FeedFormatError) return error.message;
  const place = error instanceof Error ? (error.stack?.split('\n')[1]?.trim() ?? '') : '';
  return `the reader failed: ${messageOf(error)} ${place}`.trim();
}

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
