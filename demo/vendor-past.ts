/** What the vendors of the demonstration said of the outages in its made-up past: each takes as long as its habit is. */
import { MINUTE_MS } from '../src/domain/durations.ts';
import type { FeedIncident } from '../src/domain/incident/feed-entry.ts';
import type { Incident } from '../src/domain/incident/incident.ts';
import { feedIdOf, type Service } from '../src/domain/service.ts';
import type { StatusUpdate } from '../src/store/ports/updates.ts';
import type { VendorReading } from '../src/store/ports/vendors.ts';
import { createRandom } from './random.ts';

/** How soon a vendor reports an outage, minutes, and the share of outages that it reports at all. */
interface Habit {
  readonly soonest: number;
  readonly latest: number;
  readonly share: number;
}

const HABITS: readonly Habit[] = [
  { soonest: 1, latest: 6, share: 0.95 },
  { soonest: 4, latest: 18, share: 0.85 },
  { soonest: 12, latest: 55, share: 0.7 },
  { soonest: 20, latest: 70, share: 0.3 },
];
/** The outage is over for this long, at most, before its vendor says so. */
const MAX_SILENCE_MS = 20 * MINUTE_MS;
const TITLES = ['Elevated error rates', 'Requests fail', 'Service disruption', 'Degraded availability'];

/** What the page of the vendor listed of a past, `updates` of one service, at `now`; null: it has no page, or said nothing. */
export function makeVendorPast(
  { id, slug, statusPage }: Service,
  updates: readonly StatusUpdate[],
  now: number,
): VendorReading | null {
  const feed = feedIdOf(statusPage);
  if (statusPage === null || feed === null) return null;
  const habit = pick(HABITS, createRandom(statusPage.url));
  const random = createRandom(`${slug} and its vendor`);
  const outages = new Map(
    updates.flatMap(({ incident }) => (incident === null ? [] : [[incident.id, incident]])),
  );
  const entries = [...outages.values()].flatMap(
    (outage) => reportOf(outage, statusPage.url, habit, random) ?? [],
  );
  if (entries.length === 0) return null;
  return {
    serviceId: id,
    slug,
    feed,
    kind: statusPage.kind,
    document: 'past',
    listsOnlyOpen: false,
    readAt: now,
    entries,
  };
}

/** Null: the outage goes on, or is not reported. */
function reportOf(
  { id, startedAt, resolvedAt }: Incident,
  sourceUrl: string,
  { soonest, latest, share }: Habit,
  random: () => number,
): FeedIncident | null {
  const [isReported, lag, silence, title] = [random() < share, random(), random(), pick(TITLES, random)];
  if (resolvedAt === null || !isReported) return null;
  const publishedAt = startedAt + Math.round((soonest + (latest - soonest) * lag) * MINUTE_MS);
  const endedAt = Math.max(resolvedAt, publishedAt) + Math.round(silence * MAX_SILENCE_MS);
  return {
    ...{
      kind: 'incident',
      key: id,
      title,
      sourceUrl,
      components: null,
      severity: 'major',
      status: 'resolved',
    },
    ...{ startedAt: publishedAt, resolvedAt: endedAt },
    updates: [
      { at: publishedAt, status: 'investigating', text: 'We are looking into reports of errors.' },
      { at: endedAt, status: 'resolved', text: 'The service works again.' },
    ],
  };
}

function pick<Value>(list: readonly Value[], random: () => number): Value {
  return list[Math.floor(random() * list.length)] as Value;
}
