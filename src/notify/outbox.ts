/**
 * Sends what waits in the registry: polls for it, bounds how much is in flight, and stores what came of each attempt, so that
 * an attempt is repeated only if its outcome could not be stored.
 */
import { atMostEvery } from '../async/at-most-every.ts';
import { createCoalescingLoop, createPollGate } from '../async/coalescing-loop.ts';
import type { Cancel, Clock } from '../clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/durations.ts';
import type { Log } from '../log.ts';

interface Due {
  readonly id: number;
}

export interface SenderContext {
  readonly counter: DeliveryNotes;
  /** The time by which the age of what was settled counts, epoch milliseconds. */
  readonly retentionNow: () => Promise<number>;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns true if this process may send; if not, another one may do so, or nothing can be sent. */
  readonly isOurs: () => boolean;
}

export interface OutboxOptions<Item extends Due, Outcome> extends SenderContext {
  /**
   * The first `limit` items that are due at `now`, epoch milliseconds. Items in flight are still due. `lookAfter`: something more may be sent
   * after so many milliseconds, sooner than the next poll.
   */
  readonly due: (now: number, limit: number, lookAfter: (ms: number) => void) => Promise<readonly Item[]>;
  /** Returns true if nothing waits at all, also not for a later time. Absent: something may. */
  readonly isEmpty?: () => Promise<boolean>;
  /** Grows with each write to the registry; absent: it is read every second. */
  readonly writes?: (() => number) | undefined;
  /** Items with equal keys are sent one after the other. Absent: the key of an item is its ID. */
  readonly keyOf?: (item: Item) => number;
  /** Makes one attempt. Does not reject. Null: it was aborted, and is made again by the next monitor. */
  readonly attempt: (item: Item, signal: AbortSignal) => Promise<Outcome | null>;
  readonly note: (outcome: Outcome) => Promise<void>;
  /** Returns the end of an attempt with this outcome. */
  readonly endOf: (outcome: Outcome) => DeliveryEnd;
  /** Deletes what was settled before `before`, epoch milliseconds. Absent: nothing that was settled is kept. */
  readonly forget?: (before: number) => Promise<unknown>;
  /** For the log, in the plural: `webhooks`. */
  readonly what: string;
}

const POLL_INTERVAL_MS = SECOND_MS;
/** Maximum number of attempts in flight. The registry limits those of one account, so that none can take all. */
const MAX_IN_FLIGHT = 64;
/** Maximum time that receivers delay the end of the program. */
const STOP_TIMEOUT_MS = 5 * SECOND_MS;
/** The time for which settled items are shown, milliseconds. */
const KEPT_MS = 30 * DAY_MS;

export function startOutbox<Item extends Due, Outcome>(options: OutboxOptions<Item, Outcome>) {
  const { keyOf = ({ id }) => id, attempt, note, forget, clock, log, isOurs, what } = options;
  const gate = createPollGate(options.writes, clock.monotonic);
  const end = new AbortController();
  /** Attempts in flight by key; their items are still due in the registry. */
  const inFlight = new Map<number, Promise<void>>();
  /** Keys of attempts that have ended since the last read began: what it returns of them may be from before their outcome. */
  const endedSinceRead = new Set<number>();
  /** Outcomes that could not be stored yet, by the ID of their item. */
  const unstored = new Map<number, Outcome>();
  let failing = false;
  let stopped = false;
  let tidiedAt = Number.NEGATIVE_INFINITY;
  let cancelLook: Cancel = () => {};
  const lookAfter = (ms: number): void => {
    cancelLook();
    cancelLook = clock.after(ms, poll);
  };

  const polling = createCoalescingLoop(async () => {
    if (stopped || !isOurs()) return;
    try {
      await begin();
      failing = false;
    } catch (error) {
      if (!failing) log.error({ error }, `${what} could not be delivered`);
      failing = true;
    }
  });
  const poll = (): void => {
    if (!stopped && isOurs()) void polling.run();
  };

  /** Stores the outcomes that could not be stored before; false: that fails again. */
  const storeAgain = async (): Promise<boolean> => {
    for (const [id, outcome] of unstored) {
      try {
        await note(outcome);
      } catch {
        return false;
      }
      unstored.delete(id);
    }
    return true;
  };

  const begin = async (): Promise<void> => {
    // An item whose outcome is not stored would be sent again.
    if (!(await storeAgain())) return;
    if (forget !== undefined && clock.monotonic() - tidiedAt > HOUR_MS) {
      tidiedAt = clock.monotonic();
      await forget((await options.retentionNow()) - KEPT_MS);
    }
    if (inFlight.size >= MAX_IN_FLIGHT) return;
    endedSinceRead.clear();
    gate.begin();
    const items = await options.due(clock.now(), MAX_IN_FLIGHT + inFlight.size, lookAfter);
    if (stopped || !isOurs()) return;
    if (items.length + inFlight.size === 0 && (await options.isEmpty?.()) === true) gate.close();
    for (const item of items) {
      if (inFlight.size >= MAX_IN_FLIGHT) return;
      const key = keyOf(item);
      if (!inFlight.has(key) && !endedSinceRead.has(key)) inFlight.set(key, settle(item, key));
    }
  };

  /** Sends an item and stores the outcome. Does not reject: an outcome is stored before the next item is read. */
  const settle = async (item: Item, key: number): Promise<void> => {
    const outcome = await attempt(item, end.signal);
    if (outcome !== null) options.counter.note(options.endOf(outcome));
    try {
      if (outcome !== null) await note(outcome);
    } catch (error) {
      if (unstored.size === 0) log.error({ error }, `an outcome of ${what} could not be stored`);
      if (outcome !== null) unstored.set(item.id, outcome);
    }
    inFlight.delete(key);
    endedSinceRead.add(key);
    // The next item need not wait for slow receivers of others.
    if (unstored.size === 0) poll();
  };

  const cancel: Cancel = clock.every(POLL_INTERVAL_MS, () => {
    if (gate.isOpen()) poll();
  });
  poll();
  return {
    /** Sends what has become due. */
    poll,
    /** Resolves when the attempts in flight have ended, or were aborted after 5 s; the next monitor makes those again. */
    async stop(): Promise<void> {
      stopped = true;
      cancel();
      const cancelEnd = clock.after(STOP_TIMEOUT_MS, () => end.abort());
      await polling.idle();
      await Promise.all(inFlight.values());
      cancelLook();
      cancelEnd();
    },
  };
}

/** The end of an attempt. `given_up`: it failed, and none follows; `dropped`: none was made, because too many waited. */
const DELIVERY_ENDS = ['delivered', 'retried', 'given_up', 'dropped'] as const;

/** One of {@link DELIVERY_ENDS}. */
type DeliveryEnd = (typeof DELIVERY_ENDS)[number];

/** Number of attempts since the start by their end. */
type DeliveryCounts = Readonly<Record<DeliveryEnd, number>>;

export type DeliveryCounter = ReturnType<typeof createDeliveryCounter>;

type DeliveryNotes = Pick<DeliveryCounter, 'note'>;

/** Minimum time between two log entries, milliseconds: receivers are others' servers, and may fail by the hundred. */
const LOG_INTERVAL_MS = 10 * MINUTE_MS;

/** Creates the counter. `what`: for the log, in the plural, such as `webhooks`. */
export function createDeliveryCounter(what: string, { monotonic }: Clock, log: Log) {
  const counts: Record<DeliveryEnd, number> = { delivered: 0, retried: 0, given_up: 0, dropped: 0 };
  const mayLog = atMostEvery(LOG_INTERVAL_MS, monotonic);
  let logged = 0;
  return {
    note(end: DeliveryEnd): void {
      counts[end]++;
      if (end !== 'given_up' || !mayLog()) return;
      log.warn(
        { count: counts.given_up - logged },
        `${what} were given up: their receivers refuse them, or failed for a day`,
      );
      logged = counts.given_up;
    },
    /** Notes deliveries that were deleted before they were made. */
    drop(count: number): void {
      if (count === 0) return;
      counts.dropped += count;
      log.warn({ count }, `${what} were dropped: a receiver has failed for so long that too many wait`);
    },
    counts: (): DeliveryCounts => ({ ...counts }),
  };
}

/** The end of an attempt; `dueAt` null: none follows. */
export function deliveryEnd(isDelivered: boolean, dueAt: number | null): DeliveryEnd {
  if (isDelivered) return 'delivered';
  return dueAt === null ? 'given_up' : 'retried';
}
