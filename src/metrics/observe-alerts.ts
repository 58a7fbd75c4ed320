/** Registers the metrics of alerts. */
import type { AlertCounts } from '../store/ports/alerts.ts';
import type { AlertDelay } from '../store/ports/channels.ts';
import type { Metrics } from './metrics.ts';

/** Figures of the process that decides and sends; null: another one does, or nothing was read yet. */
export type ReadAlertFigures = () => { readonly counts: AlertCounts; readonly delay: AlertDelay } | null;

/** Adds the metrics. */
export function observeAlerts(metrics: Metrics, read: ReadAlertFigures): void {
  metrics.gaugeBy(
    'upbeat_alert_messages',
    'Messages of alerts: waiting, retrying (those of them that have failed), and in the last 24 hours delivered, failed, and dropped (those of them for which too many waited).',
    'state',
    () => {
      const { waiting, retrying, delivered, failed, dropped } = read()?.counts ?? NONE;
      return { waiting, retrying, delivered, failed, dropped };
    },
  );
  metrics.gaugeBy(
    'upbeat_alert_delay_seconds',
    'Time from the first failed attempt of a check to the delivery of the alert about it, in the last hour. Absent without alerts.',
    'quantile',
    () => {
      const { p50Ms = null, p99Ms = null } = read()?.delay ?? {};
      return {
        ...(p50Ms === null ? {} : { '0.5': p50Ms / 1_000 }),
        ...(p99Ms === null ? {} : { '0.99': p99Ms / 1_000 }),
      };
    },
  );
  metrics.gauge(
    'upbeat_alert_events_backlog',
    'Events that alerts are made from and that are not decided yet.',
    () => read()?.counts.events ?? 0,
  );
  metrics.gauge(
    'upbeat_alert_overdue_seconds',
    'For how long the longest waiting message of an alert has been due.',
    () => (read()?.counts.overdueMs ?? 0) / 1_000,
  );
}

const NONE = { waiting: 0, retrying: 0, delivered: 0, failed: 0, dropped: 0 };
