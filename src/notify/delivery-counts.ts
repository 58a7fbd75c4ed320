/** Counts how attempts to deliver ended, and tells the log of what is given up. */
import { atMostEvery } from '../async/at-most-every.ts';
import type { Clock } from '../clock.ts';
import { MINUTE_MS } from '../domain/durations.ts';
import type { Log } from '../log.ts';

/** The end of an attempt. `given_up`: it failed, and none follows; `dropped`: none was made, because too many waited. */
const DELIVERY_ENDS = ['delivered', 'retried', 'given_up', 'dropped'] as const;

/** One of {@link DELIVERY_ENDS}. */
export type DeliveryEnd = (typeof DELIVERY_ENDS)[number];

/** Number of attempts since the start by their end. */
export type DeliveryCounts = Readonly<Record<DeliveryEnd, number>>;

export type DeliveryCounter = ReturnType<typeof createDeliveryCounter>;

export type DeliveryNotes = Pick<DeliveryCounter, 'note'>;

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
