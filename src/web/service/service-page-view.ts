/** The page of a service and its dependencies as plain data for the template. Pure. */

import { DAY_MS } from '../../domain/durations.ts';
import { hostInUrl } from '../../domain/host-name.ts';
import { beginningOf } from '../../domain/incident/incident.ts';
import type { Maintenance } from '../../domain/incident/maintenance.ts';
import { worstReported } from '../../domain/incident/owner-incident.ts';
import { type Bucket, uptimeOf } from '../../domain/sample.ts';
import { fullName, ignoresCertificate, type Service } from '../../domain/service.ts';
import { failingRegions, responseTimeOf } from '../../domain/status/agree.ts';
import type { CurrentStatus, LatestCheck } from '../../domain/status/current.ts';
import type { Verdict } from '../../domain/status.ts';
import { portOf } from '../../kinds/settings.ts';
import { age, lasting, type Phrase, phraseOf, time } from '../../language/phrase.ts';
import type { Dependencies, FailingDependency } from '../../store/ports/heartbeats.ts';
import { type AnnouncedChecks, uptimeWithout } from '../../view/announced-uptime.ts';
import type { Unreached } from '../../view/cause-of-down.ts';
import { intervalOf } from '../../view/staleness.ts';
import { RANGE_NAMES, type RangeName } from '../../view/time-ranges.ts';
import type { Language, LanguageTexts } from '../language/language.ts';
import { viewPageIncident, webAddress } from '../parts/incidents.ts';
import { describeAnswer, describeVerdict, STATUS_SHAPES } from '../parts/verdict.ts';
import {
  barsOf,
  calendarOf,
  countKnownDays,
  dayRows,
  monthRows,
  type UnreachedTexts,
} from './service-days.ts';
import { waterfallOf } from './service-response-times.ts';
import { type VendorKnowledge, viewVendor } from './service-vendor.ts';

/** Remaining days from which a certificate is overdue; usually it is renewed two to four weeks before its expiry. */
const CERTIFICATE_WARNING_DAYS = 14;
const NINETY_DAYS = 90;
/** Minimum number of days in bars, so that those of a new service do not fill the page. */
const MIN_BARS = 30;
const RANGE_DAYS: Readonly<Record<RangeName, number>> = {
  '24h': 1,
  '7d': 7,
  '30d': 30,
  '90d': 90,
  '1y': 365,
};
const YOUNG_MS = 2 * DAY_MS;

/** The data about a service from the stores. */
export interface ServiceKnowledge extends VendorKnowledge {
  /** The last 24 hours in one bucket; empty while the sample store is unavailable, as `year` is. */
  readonly lastDay: readonly Bucket[];
  /** UTC days of a year, oldest first. */
  readonly year: readonly Bucket[];
  /** Checks of the year within announced maintenance; null or absent: there was none. */
  readonly maintained?: readonly AnnouncedChecks[] | null;
  /** First check within the year, epoch milliseconds; null: there is none, or checks began before the year. */
  readonly measuredFrom: number | null;
  readonly maintenances: readonly Maintenance[];
  readonly intervalMs: number;
  /** Regions that the service names for its checks in which no node makes checks, by name. */
  readonly withoutNode: readonly string[];
  /** Why it cannot be reached; null: it can, as far as that is known. */
  readonly unreached: Unreached | null;
  /** The texts about days on which it could not be reached, by the start of the day. */
  readonly unreachedDays: UnreachedTexts;
  /** The time at which the service was last seen if it is stale, epoch milliseconds; null: it is fresh. */
  readonly staleSince: number | null;
  /** Without a slash at its end. */
  readonly siteUrl: string;
}

/** The page without the response times (`service-response-times.ts`) and {@link viewDependencies}. */
export function viewServicePage(known: ServiceKnowledge, language: Language) {
  const { service, current, year, now, page } = known;
  const { texts, formats } = language;
  const { latest } = current;
  const intervalMs = intervalOf(service, known.intervalMs);
  const percentOf = (buckets: readonly Bucket[]) => {
    const ratio = uptimeOf(buckets);
    return ratio === null ? null : formats.percent(ratio);
  };
  const daysOf: Readonly<Record<RangeName, readonly Bucket[]>> = {
    '24h': known.lastDay,
    '7d': year.slice(-7),
    '30d': year.slice(-30),
    '90d': year.slice(-NINETY_DAYS),
    '1y': year,
  };
  const quarter = daysOf['90d'];
  const knownDays = countKnownDays(year);
  const posts = known.incidents.filter(
    ({ source, status, severity }) =>
      source === 'owner' && status !== 'resolved' && severity !== 'maintenance',
  );
  const bars = quarter.slice(-Math.max(MIN_BARS, knownDays));
  return {
    service,
    page,
    status: current.status,
    word: texts.status[current.status],
    shape: STATUS_SHAPES[current.status],
    ours: service.check.kind === 'heartbeat' ? texts.page.itsReports : texts.page.ourChecks,
    answer: describeAnswer(
      {
        ...service,
        staleSince: known.staleSince,
        reported: worstReported(posts),
        unreached: known.unreached,
      },
      current,
      language,
    ),
    verdict: describeVerdict(current, language, known.unreached),
    checked:
      latest === null
        ? null
        : texts.page.lastCheck(latest.checkedAt, describeSource(service, latest.source, language)),
    blocked: latest?.blocked === true,
    failsFrom:
      current.scope === 'partial'
        ? texts.page.failsFrom(
            failingRegions(current)
              .map(({ region }) => region)
              .join(', '),
          )
        : null,
    regions: regionRows(current, language),
    withoutNode: known.withoutNode.length === 0 ? null : texts.page.withoutNode(known.withoutNode.join(', ')),
    stale: known.staleSince === null ? null : texts.page.stale(known.staleSince),
    headline: headlineOf(known, language),
    facts: factsOf(known, language),
    uptimes: knownRanges(known).flatMap((name) => {
      const value = percentOf(daysOf[name]);
      const without = withoutMaintenance(known, daysOf[name], language);
      return value === null ? [] : [{ name: uptimeName(known, name, language), value, without }];
    }),
    measured:
      known.measuredFrom === null
        ? null
        : texts.page.measuredSince(measuredMoment(known.measuredFrom, now, language)),
    certificate: warningOf(current, certificateDaysOf(current, now), language),
    waterfall: waterfallOf(latest, language),
    vendor: viewVendor(known, language),
    maintenances: known.maintenances.map((maintenance) => ({
      heading: texts.page.maintenance[maintenance.phase],
      title: maintenance.title,
      by: maintenance.ownerId === undefined ? null : texts.page.saidByOwner,
      text: maintenance.ownerId === undefined ? '' : beginningOf(maintenance.description),
      url: maintenance.ownerId === undefined ? webAddress(maintenance.sourceUrl) : null,
      time: texts.page.from(
        time(maintenance.startsAt),
        maintenance.endsAt === null ? null : time(maintenance.endsAt),
      ),
    })),
    bars: barsOf(bars, intervalMs, language, known.unreachedDays),
    barsLabel: texts.page.barsLabel(bars.length, percentOf(bars)),
    hasUnreachedDays: known.unreachedDays.size > 0,
    days: dayRows(bars, intervalMs, language, known.unreachedDays),
    // A year of which less is known would mostly be empty, and say no more than the bars.
    year:
      knownDays < NINETY_DAYS
        ? null
        : {
            calendar: calendarOf(year, intervalMs, language, known.unreachedDays),
            label: texts.page.calendarLabel(percentOf(year)),
            months: monthRows(year, intervalMs, language, known.unreachedDays),
          },
    posts: posts.map((incident) => viewPageIncident(incident, page, now, language)),
    calendarFile: `/status/${page}/calendar.ics`,
    calendarFeed: `${known.siteUrl.replace(/^https?/, 'webcal')}/status/${page}/calendar.ics`,
    incidents: known.incidents.map((incident) => viewPageIncident(incident, page, now, language)),
    ...snippetsOf(known),
  };
}

/** The figures in the head of the page: only those that exist. */
function headlineOf(known: ServiceKnowledge, language: Language) {
  const { year, lastDay } = known;
  const { texts, formats } = language;
  const uptime = uptimeOf(year.slice(-30));
  const medianMs = lastDay[0]?.p50Ms ?? null;
  return [
    ...(uptime === null
      ? []
      : [{ name: uptimeName(known, '30d', language), value: formats.percent(uptime) }]),
    ...(medianMs === null
      ? []
      : [
          {
            name: [texts.page.medianFor(texts.page.range['24h'])],
            value: formats.milliseconds(medianMs),
          },
        ]),
  ];
}

/** The name of an uptime: its range, or since when the service is checked if that is less. */
function uptimeName({ measuredFrom, now }: ServiceKnowledge, range: RangeName, { texts }: Language): Phrase {
  return measuredFrom === null || now - measuredFrom >= RANGE_DAYS[range] * DAY_MS
    ? [texts.page.upFor(texts.page.range[range])]
    : texts.page.upSince(time(measuredFrom));
}

/** The way the last check was made, with what the check names: port, path and the number of expectations. */
export function describeSource(
  { domain, check }: Pick<Service, 'domain' | 'check'>,
  source: LatestCheck['source'],
  { texts: { checks } }: LanguageTexts,
): string {
  const { kind, url, settings = {} } = check;
  const address = URL.parse(url ?? '');
  if (source === 'root' || source === 'health') {
    // A health check may have made a root check instead.
    const path = source === 'health' ? '/api/health' : '/';
    const usual = new URL(path, address ?? `https://${hostInUrl(domain)}`);
    const { origin, pathname } = source === kind ? (address ?? usual) : usual;
    return checks.requested(origin + pathname);
  }
  const how = checks.source[source];
  if (source !== kind) return how;
  // A query may hold what is not for everyone.
  const path = address?.pathname ?? (typeof settings.path === 'string' ? settings.path.split('?')[0] : null);
  const expected =
    [settings.assertions, settings.values].reduce<number>(
      (sum, list) => sum + (Array.isArray(list) ? list.length : 0),
      0,
    ) + ['banner', 'contains', 'matches'].filter((name) => settings[name] !== undefined).length;
  const port = address === null ? portOf(kind, settings) : Number(address.port) || null;
  const details = [
    ...(kind === 'dns' ? [String(settings.record ?? 'A')] : []),
    ...(port === null ? [] : [checks.portDetail(port)]),
    ...(path === null || path === undefined || path === '/' ? [] : [checks.pathDetail(path)]),
    ...(ignoresCertificate(check) ? [checks.certificateIgnored] : []),
    ...(expected === 0 ? [] : [checks.expectationsDetail(expected)]),
  ];
  return details.length === 0 ? how : `${how} (${details.join(', ')})`;
}

/** Uptime without announced maintenance; null: it is the same. */
function withoutMaintenance(
  { maintained = null }: ServiceKnowledge,
  buckets: readonly Bucket[],
  { texts, formats }: Language,
): string | null {
  const [first] = buckets;
  if (maintained === null || first === undefined) return null;
  const [whole, without] = [uptimeOf(buckets), uptimeWithout(buckets, maintained, first.startAt)];
  if (whole === null || without === null || formats.percent(whole) === formats.percent(without)) return null;
  return texts.page.withoutMaintenance(formats.percent(without));
}

/** The ranges to offer. For a new service, ranges that would show the same as a shorter one are left out. */
function knownRanges({ measuredFrom, now }: ServiceKnowledge): readonly RangeName[] {
  if (measuredFrom === null) return RANGE_NAMES;
  const whole = RANGE_NAMES.findIndex((name) => now - measuredFrom <= RANGE_DAYS[name] * DAY_MS);
  return whole === -1 ? RANGE_NAMES : RANGE_NAMES.slice(0, whole + 1);
}

/** The start of the measurements: to the minute for a new service, later the UTC day, as in the drawings. */
function measuredMoment(from: number, now: number, { formats }: Language): Phrase {
  return now - from < YOUNG_MS ? phraseOf`${time(from)} (${lasting(from)})` : [formats.day(from)];
}

/** The newest check of each region; null if at most one region checks the service. */
function regionRows({ regions }: CurrentStatus, { texts, formats }: Language) {
  if (regions === undefined || regions.length === 0) return null;
  return regions.map(({ region, check }) => ({
    region,
    status: check.status,
    word: texts.status[check.status],
    took: check.responseTimeMs === null ? null : formats.milliseconds(check.responseTimeMs),
    checked: [age(check.checkedAt)],
    failure: check.failure === null ? null : texts.service.failure(check.failure),
  }));
}

/** The measurements of the last check; empty before the first one. */
function factsOf({ current, now }: ServiceKnowledge, { texts, formats }: Language) {
  const { latest } = current;
  if (latest === null) return [];
  const { statusCode, source, reported } = latest;
  const responseTimeMs = responseTimeOf(current);
  const days = certificateDaysOf(current, now);
  const took = responseTimeMs === null ? texts.page.noAnswer : formats.milliseconds(responseTimeMs);
  const facts = [{ name: texts.page.responseTime, value: took }];
  if (statusCode !== 0 && source !== 'heartbeat')
    facts.push({ name: texts.page.answer, value: `HTTP ${statusCode}` });
  if (reported !== null) facts.push({ name: texts.page.itReports, value: reported });
  if (days !== null) facts.push({ name: texts.page.certificate, value: texts.page.certificateDays(days) });
  return facts;
}

/** Whole days until the certificate of the last check expires, negative if it has expired; null: no certificate. */
export function certificateDaysOf({ latest }: CurrentStatus, now: number): number | null {
  const at = latest?.certificateExpiresAt ?? null;
  return at === null ? null : Math.floor((at - now) / DAY_MS);
}

function warningOf({ latest }: CurrentStatus, days: number | null, { texts }: Language): Phrase | null {
  const at = latest?.certificateExpiresAt ?? null;
  if (at === null || days === null || days >= CERTIFICATE_WARNING_DAYS) return null;
  return texts.page.certificateEnds(time(at), days < 0);
}

function snippetsOf({ service, page, siteUrl }: ServiceKnowledge) {
  const address = `${siteUrl}/status/${page}`;
  const picture = `${siteUrl}/api/badge/${page}`;
  // Brackets would end the text of a Markdown link, and quotes would end an attribute.
  const name = fullName(service)
    .replace(/[[\]\\<>"&\r\n]/g, ' ')
    .trim();
  return {
    feed: `/status/${page}/incidents.atom`,
    // Not the public URL: files that this page loads count against the limit of pages.
    badge: `/badges/${page}/picture`,
    snippets: {
      markdown: `[![${name} status](${picture})](${address})`,
      html: `<a href="${address}"><img src="${picture}" alt="${name} status" width="280" height="36"></a>`,
      picture,
    },
  };
}

/**
 * The dependencies of a service whose owner makes them public, as rows; failing ones come first. `failing`:
 * dependencies that services report as failing now. `countsItself`: these reports include those of this service, as
 * they do for a verified service that sends heartbeats and is not paused.
 */
export function viewDependencies(
  known: Dependencies,
  failing: readonly FailingDependency[],
  countsItself: boolean,
  { texts, formats }: Language,
) {
  const services = new Map(failing.map((one) => [one.name, one.services]));
  const othersOf = (name: string) => (services.get(name.toLowerCase()) ?? 0) - (countsItself ? 1 : 0);
  return {
    reported: known.reportedAt === null ? null : texts.page.reported(known.reportedAt),
    rows: [...known.dependencies]
      .sort((a, b) => WEIGHT[b.status] - WEIGHT[a.status])
      .map(({ name, status, latencyMs, since }) => ({
        name,
        status,
        word: texts.status[status],
        latency: latencyMs === null ? null : formats.milliseconds(latencyMs),
        since: [time(since)],
        others: status === 'down' ? texts.page.othersToo(Math.max(0, othersOf(name))) : null,
      })),
  };
}

const WEIGHT: Readonly<Record<Verdict, number>> = { up: 0, slow: 1, down: 2 };
