/** The reference implementation's lists of incidents, and the lags of vendors behind outages. "F" is docs/feeds.md. */
import type { Outcome, Telling, TellingEvent } from '../diary.ts';

const HOUR_MS = 3_600_000;

interface Listed {
  readonly id: string;
  readonly service: number;
  readonly severity: string;
  readonly status: string;
  readonly startedAt: number;
  readonly resolvedAt: number | null;
  readonly updates: readonly { readonly status: string; readonly at: number }[];
}

interface Announced extends Listed {
  readonly isVendor: boolean;
  readonly title: string;
}

/** Lists own incidents and what others announced; `now`: the end of the world, epoch milliseconds. */
export function listIncidents(
  own: readonly Listed[],
  announced: readonly Announced[],
  now: number,
): Pick<Outcome, 'incidents' | 'lags'> {
  const lags = own
    .filter(({ severity }) => severity !== 'maintenance')
    .map((outage) => {
      // F: "the earliest incident that was published between one hour before the outage and one hour after its end, and that
      // did not end before the outage".
      const [first] = announced
        .filter((one) => one.isVendor && one.severity !== 'maintenance' && one.service === outage.service)
        .map((one) => ({ one, publishedAt: one.updates[0]?.at ?? one.startedAt }))
        .filter(
          ({ one, publishedAt }) =>
            publishedAt >= outage.startedAt - HOUR_MS &&
            publishedAt <= (outage.resolvedAt ?? now) + HOUR_MS &&
            (one.resolvedAt === null || one.resolvedAt >= outage.startedAt),
        )
        .sort((a, b) => a.publishedAt - b.publishedAt);
      return { id: outage.id, lagMs: first === undefined ? null : first.publishedAt - outage.startedAt };
    });
  const incidents = [
    ...own,
    ...announced.map((one) => ({ ...one, id: one.isVendor ? `${one.title} ${one.service}` : one.id })),
  ].map(({ id, severity, status, startedAt, resolvedAt, updates }) => ({
    ...{ id, severity, status, startedAt, resolvedAt },
    timeline: updates.map((one) => `${one.status}@${one.at}`).join(' '),
  }));
  return { incidents: incidents.sort(byId), lags: lags.sort(byId) };
}

/** The order of incidents that are compared: by ID, then by start. */
export function byId(
  one: { readonly id: string; readonly startedAt?: number },
  other: { readonly id: string; readonly startedAt?: number },
): number {
  return one.id < other.id ? -1 : one.id > other.id ? 1 : (one.startedAt ?? 0) - (other.startedAt ?? 0);
}

/** The order of events that are compared; those of one thing stay in order, which begins with its name. */
export function byService(one: TellingEvent, other: TellingEvent): number {
  const [key, otherKey] = [one, other].map(({ kind, what }) =>
    kind === 'status' || kind === 'scope' ? kind : `${kind} ${what.split(' ')[0]}`,
  );
  return one.service - other.service || ((key ?? '') < (otherKey ?? '') ? -1 : key === otherKey ? 0 : 1);
}

/** The order of messages that are compared: those of each channel by thread; those of one thread stay in order. */
export function byChannel(one: Telling, other: Telling): number {
  return (
    one.channel - other.channel ||
    one.decidedAt - other.decidedAt ||
    (one.thread < other.thread ? -1 : one.thread === other.thread ? 0 : 1)
  );
}
