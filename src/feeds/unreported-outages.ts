/**
 * Outages that a status page shows by the states of its parts, or by its own, before or without an incident. Monitors set
 * such states, and people often set them first and write later.
 */
import type { FeedEntry, FeedIncident } from '../domain/incident/feed-entry.ts';
import { buildIncident } from './build-entry.ts';

type Severity = FeedIncident['severity'];

/** From bad to good, with the titles of outages that the page does not name. */
const TITLES: Readonly<Record<Severity, string>> = {
  critical: 'Downtime',
  major: 'Downtime',
  minor: 'Degraded performance',
};

const SEVERITIES = Object.keys(TITLES) as Severity[];

/** Keys of outages without an incident. An incident, or another severity, may continue such an outage. */
export const STATE_KEYS: readonly string[] = SEVERITIES.map(keyOf);

interface PagePart {
  /** As in the components of the page's incidents. */
  readonly id: string;
  /** All names that a service may have it by, `id` included. */
  readonly names: readonly string[];
  /** Null: it is well, or under maintenance. */
  readonly severity: Severity | null;
}

interface ShownStates {
  readonly pageUrl: string;
  readonly parts: readonly PagePart[];
  /** By the state of the page; null: it is well, or under maintenance. */
  readonly pageSeverity: Severity | null;
  /** The page's description of its state; null: it does not. */
  readonly title: string | null;
}

/**
 * One incident for each severity of the parts that no open entry of the page names, or one for the state of the page if no
 * part and no entry explains it. None if an open entry names no parts. `entries` are those of the page.
 */
export function unreportedOutages(
  { pageUrl, parts, pageSeverity, title }: ShownStates,
  entries: readonly (FeedEntry | null)[],
  now: number,
): FeedIncident[] {
  const open = entries.filter((entry) => entry !== null && isOpen(entry, now));
  if (open.some((entry) => entry?.components === null)) return [];
  const named = new Set(open.flatMap((entry) => entry?.components ?? []));
  const outageOf = (severity: Severity, components: readonly string[]) =>
    buildIncident({
      key: keyOf(severity),
      continues: STATE_KEYS.filter((key) => key !== keyOf(severity)),
      title: title ?? TITLES[severity],
      sourceUrl: pageUrl,
      components,
      updates: [],
      severity,
      status: 'investigating',
      // It began with the first reading.
      startedAt: null,
      resolvedAt: null,
    });
  const found = SEVERITIES.flatMap((severity) => {
    const bad = parts.filter((part) => part.severity === severity && !named.has(part.id));
    return bad.length === 0
      ? []
      : [
          outageOf(
            severity,
            bad.flatMap(({ names }) => names),
          ),
        ];
  });
  const isExplained = open.length > 0 || parts.some(({ severity }) => severity !== null);
  return pageSeverity === null || isExplained
    ? found
    : [{ ...outageOf(pageSeverity, []), isOfWholePage: true }];
}

function isOpen(entry: FeedEntry, now: number): boolean {
  if (entry.kind === 'incident') return entry.status !== 'resolved';
  return entry.state === 'running' || (entry.state === 'planned' && isNow(entry, now));
}

function isNow({ startsAt, endsAt }: Extract<FeedEntry, { kind: 'maintenance' }>, now: number): boolean {
  return startsAt <= now && now < (endsAt ?? now + 1);
}

function keyOf(severity: Severity): string {
  return `state ${severity}`;
}
