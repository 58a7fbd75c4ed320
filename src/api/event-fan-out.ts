/**
 * Sends changes of status to all open event streams. Changes are gathered and sent in rounds: each stream gets what is new in
 * one write of bytes that all streams share, because a write costs the same for one event as for a hundred.
 */
import type { ServerResponse } from 'node:http';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import { createConcurrencyLimiter } from '../async/concurrency-limiter.ts';
import { forEachYielding } from '../async/in-parts.ts';
import type { Clock } from '../clock.ts';
import type { Transition } from '../domain/status/current.ts';
import { messageOf } from '../error.ts';
import { MAX_WRITES_PER_TURN } from '../http/event-stream.ts';
import type { Log } from '../log.ts';
import type { TransitionReads } from '../store/ports/updates.ts';
import { createRecentEvents, EVERYONES, type WantedEvents } from './recent-events.ts';

export interface EventStream {
  /** Everything up to this position has been written, or is of other services. */
  readonly position: number;
}

interface Reader {
  readonly response: ServerResponse;
  readonly wanted: WantedEvents;
  position: number;
  /** The stream reads what it missed from the registry. */
  isReading: boolean;
}

/** Least time from the start of a round to that of the next, milliseconds. */
const MIN_ROUND_MS = 100;
const MAX_ROUND_MS = 500;
/** Maximum share of the time that rounds take, because the same thread answers requests and evaluates results. */
const MAX_SHARE = 0.25;
const REPLAY_PAGE = 500;
/** Maximum number of audiences whose last round is remembered. */
const MAX_AUDIENCES = 10_000;

/** Creates the fan-out, which watches transitions while a stream is open. */
export function createEventFanOut(sources: {
  readonly registry: TransitionReads;
  readonly watchTransitions: (listener: (transition: Transition) => void) => () => void;
  /** Who may read events of a service now, as a key; empty: everyone. */
  readonly audienceOf: (serviceId: number) => string;
  /** Grows when a service is no longer public. */
  readonly withdrawals: () => number;
  /** The text of an event. */
  readonly format: (transition: Transition) => string;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { registry, watchTransitions, audienceOf, withdrawals, format, clock, log } = sources;
  const isPublic = (serviceId: number): boolean => audienceOf(serviceId) === '';
  const readers = new Set<Reader>();
  /** Those that may have events which are not for everyone: many accounts must not cost a look at all streams each. */
  const knowing = new Set<Reader>();
  const events = createRecentEvents(format);
  /** Streams read missed transitions one at a time, because they may be many and must not delay other queries. */
  const limitReads = createConcurrencyLimiter(1);
  let unwatch: (() => void) | null = null;
  let withdrawn = withdrawals();

  /** Forgets events that were for everyone when they came, and may not be any more. The registry has them. */
  const withdraw = (): void => {
    if (withdrawn === withdrawals()) return;
    withdrawn = withdrawals();
    events.clear();
  };

  /** Writes what a stream has not got, until its client has enough to read. */
  const advance = (reader: Reader): void => {
    const { response, wanted } = reader;
    withdraw();
    while (!reader.isReading && isOpen(response) && !response.writableNeedDrain) {
      if (!events.covers(reader.position, wanted)) return void catchUp(reader);
      const block = events.blockAfter(reader.position);
      if (block === null) return;
      const bytes = block.after(reader.position, wanted);
      reader.position = block.end;
      if (bytes !== null) response.write(bytes);
    }
  };

  /** Writes what the registry has, up to where the recent events go on. */
  const catchUp = async (reader: Reader): Promise<void> => {
    const { response, wanted } = reader;
    const { serviceId, mayRead } = wanted;
    reader.isReading = true;
    try {
      do {
        await drained(response);
        await limitReads(async () => {
          if (!isOpen(response)) return;
          const { newest } = events;
          const page = await registry.transitionsAfter(reader.position, REPLAY_PAGE);
          if (!isOpen(response)) return;
          const text = page
            .filter((one) => serviceId === null || one.serviceId === serviceId)
            .filter((one) => (mayRead ?? isPublic)(one.serviceId))
            .map(format)
            .join('');
          if (text !== '') response.write(text);
          reader.position = page.at(-1)?.position ?? reader.position;
          if (page.length === REPLAY_PAGE) return;
          // What was announced and is not in the registry is of a service that is gone.
          reader.position = Math.max(reader.position, newest);
          events.noteRead(reader.position);
        });
      } while (isOpen(response) && !events.covers(reader.position, wanted));
    } catch (error) {
      log.warn({ problem: messageOf(error) }, 'an event stream was closed');
      response.destroy();
      return;
    }
    reader.isReading = false;
    advance(reader);
  };

  /** Returns true if a stream has the events of a service. */
  const wants = ({ wanted: { serviceId, mayRead } }: Reader, id: number): boolean =>
    (serviceId === null || serviceId === id) && mayRead?.(id) === true;
  /** The rounds of an audience, each for the streams that have one of its events. */
  const roundsOf = (audience: string) =>
    createRounds(clock, async (services) => {
      events.seal();
      // Everyone's rounds go to all streams, which are then beyond the events of others too.
      const concerned =
        audience === ''
          ? [...readers]
          : [...knowing].filter((reader) => services.some((id) => wants(reader, id)));
      await forEachYielding(concerned, MAX_WRITES_PER_TURN, (part) => part.forEach(advance));
    });
  /** Each audience has its own, so that events which some may not see neither delay nor hasten those that they see. */
  const rounds = new BoundedMap<string, (serviceId: number) => void>(MAX_AUDIENCES);

  return {
    /** Sends a stream all changes after a position, until it is closed. */
    add(response: ServerResponse, after: number, wanted: WantedEvents = EVERYONES): EventStream {
      unwatch ??= watchTransitions((transition) => {
        withdraw();
        const audience = audienceOf(transition.serviceId);
        events.add(transition, audience === '');
        getOrInsert(rounds, audience, () => roundsOf(audience))(transition.serviceId);
      });
      const reader: Reader = { response, wanted, position: after, isReading: false };
      readers.add(reader);
      if (wanted.mayRead !== null) knowing.add(reader);
      response.on('drain', () => advance(reader));
      response.once('close', () => {
        readers.delete(reader);
        knowing.delete(reader);
        if (readers.size > 0) return;
        unwatch?.();
        unwatch = null;
        events.clear();
      });
      void catchUp(reader);
      return reader;
    },
  };
}

/** Creates rounds: each gets what was added since the one before, as soon as that allows it. Returns the function that adds. */
function createRounds(clock: Clock, run: (added: readonly number[]) => Promise<void>) {
  /** The earliest start of the next round, by the monotonic clock. */
  let nextMs = Number.NEGATIVE_INFINITY;
  let isDue = false;
  let added = new Set<number>();
  const begin = async (): Promise<void> => {
    const startedMs = clock.monotonic();
    const services = [...added];
    added = new Set();
    await run(services);
    const tookMs = clock.monotonic() - startedMs;
    nextMs = startedMs + Math.min(MAX_ROUND_MS, Math.max(MIN_ROUND_MS, tookMs / MAX_SHARE));
    isDue = false;
    if (added.size > 0) start();
  };
  const start = (): void => {
    if (isDue) return;
    isDue = true;
    const waitMs = nextMs - clock.monotonic();
    // Changes of one commit are announced together, before the microtask.
    if (waitMs <= 0) queueMicrotask(() => void begin());
    else clock.after(waitMs, () => void begin());
  };
  return (serviceId: number): void => {
    added.add(serviceId);
    start();
  };
}

function isOpen(response: ServerResponse): boolean {
  return !response.writableEnded && !response.destroyed;
}

/** Waits until a client has read the written data or has disconnected. */
function drained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}
