/** Figures of alerts for metrics and `/readyz`, read every few seconds. */
import type { Clock } from '../clock.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/durations.ts';
import type { Log } from '../log.ts';
import type { AlertCounts, AlertStore } from '../store/ports/alerts.ts';
import type { AlertDelay, MessageStore } from '../store/ports/channels.ts';

/** Figures of the process that decides and sends. */
export interface AlertFigures {
  readonly counts: AlertCounts;
  /** Of the last hour. */
  readonly delay: AlertDelay;
  /** Why nothing is decided or sent, in one line; null: nothing is wrong. */
  readonly problem: string | null;
}

const READ_INTERVAL_MS = 10 * SECOND_MS;
/** Maximum age of what is due or not decided; beyond it, alerts stand still. */
const STILL_AFTER_MS = 2 * MINUTE_MS;

/** Starts to read the figures. `isOurs`: whether this process decides and sends at present. */
export function watchAlertFigures(options: {
  readonly registry: AlertStore & MessageStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly isOurs: () => boolean;
}) {
  const { registry, clock, log, isOurs } = options;
  let figures: AlertFigures | null = null;
  let reading: Promise<void> | null = null;
  /** Monotonic time since which there have been events to decide; null: there are none. */
  let undecidedSince: number | null = null;

  const read = async (): Promise<void> => {
    const now = clock.now();
    try {
      const counts = await registry.countAlerts(now);
      const delay = await registry.alertDelay(null, now - HOUR_MS);
      if (counts.events === 0 || !isOurs()) undecidedSince = null;
      else undecidedSince ??= clock.monotonic();
      const undecidedMs = undecidedSince === null ? 0 : clock.monotonic() - undecidedSince;
      const problem = isOurs() ? problemOf(counts, undecidedMs) : null;
      if (problem !== null && (figures?.problem ?? null) === null)
        log.error({ event: 'alerts_stand_still', ...counts }, problem);
      if (isOurs() && counts.dropped > (figures?.counts.dropped ?? 0))
        log.warn(
          { dropped: counts.dropped },
          'messages of alerts were dropped: a channel has failed for so long that too many wait',
        );
      figures = { counts, delay, problem };
    } catch {
      // The registry is away, which its own part of the figures says.
    }
  };
  const cancel = clock.every(READ_INTERVAL_MS, () => {
    reading ??= read().finally(() => {
      reading = null;
    });
  });
  return {
    /** Null: nothing was read yet. */
    current: (): AlertFigures | null => figures,
    async stop(): Promise<void> {
      cancel();
      await reading;
    },
  };
}

function problemOf({ overdueMs }: AlertCounts, undecidedMs: number): string | null {
  if (overdueMs >= STILL_AFTER_MS)
    return `messages of alerts have been due for ${Math.round(overdueMs / SECOND_MS)} s and are not sent`;
  return undecidedMs >= STILL_AFTER_MS
    ? `events of alerts have waited for ${Math.round(undecidedMs / SECOND_MS)} s to be decided`
    : null;
}
