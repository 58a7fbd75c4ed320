/** `GET /api/v1/services/:slug/history`: the history of a service in equal buckets. */

import { DAY_MS, formatDuration, formatTime, parseDuration } from '../domain/durations.ts';
import type { Bucket } from '../domain/sample.ts';
import { readParameters, refuse } from '../http/parameters.ts';
import { retryLater } from '../http/problem.ts';
import { json, type Route } from '../http/route.ts';
import { namedObject, nullable, TimeSchema, whole } from '../http/schema.ts';
import { type Static, strictObject, Type } from '../json-schema.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import { MAX_BUCKETS, type RegionFilter, type SampleQuery } from '../store/ports/samples.ts';
import { type AnnouncedChecks, readAnnouncedChecks, uptimeWithout } from '../view/announced-uptime.ts';
import type { ReadHistory } from '../view/history-reads.ts';
import { inRegion, REGION_PARAMETER } from '../view/sample-region-reader.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { readRoute } from './read-route.ts';
import { ServiceNameSchema, viewServiceName } from './service-view.ts';

const TIME_FORM = 'an ISO 8601 time such as 2026-11-20T10:00:00Z, or epoch milliseconds';

/** A day, or a time with its offset from UTC. */
const ISO_TIME =
  '\\d{4}-\\d\\d-\\d\\d(?:T\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d{1,9})?)?(?:Z|[+-]\\d\\d:?\\d\\d))?';
const TIME_PATTERN = `^(?:${ISO_TIME}|\\d{1,15})$`;
/** The pattern of a duration; the minimum duration depends on the window. */
const STEP_PATTERN = '^\\d+(?:\\.\\d+)?(?:ms|s|m|h|d|w|y)$';

const WINDOW_QUERY = {
  from: Type.String({
    pattern: TIME_PATTERN,
    description: `Start of the window, ${TIME_FORM}. Default: 24 hours before "to".`,
  }),
  to: Type.String({
    pattern: TIME_PATTERN,
    description: `End of the window, not included, ${TIME_FORM}. Default: now.`,
  }),
  step: Type.String({
    pattern: STEP_PATTERN,
    description:
      'Width of a bucket, such as 5m, 1h or 1d; at least 1s, at most 1,000 buckets. Default: fits the window.',
  }),
};
const QUERY = { ...WINDOW_QUERY, region: REGION_PARAMETER };

const HistoryBucketSchema = namedObject('HistoryBucket', {
  start: TimeSchema,
  end: TimeSchema,
  count: whole('Checks that count.'),
  up: whole('Of these, up.'),
  slow: whole('Of these, slow.'),
  down: whole('Of these, down.'),
  suspect: whole(
    'Checks beside them whose failure or slowness may have been our own, or that of something that the service depends on.',
  ),
  uptime_ratio: nullable(
    Type.Number({ minimum: 0, maximum: 1 }),
    'Share of up and slow; null without checks.',
  ),
  mean_ms: nullable(Type.Number()),
  p50_ms: nullable(Type.Number()),
  p95_ms: nullable(Type.Number()),
  p99_ms: nullable(Type.Number()),
});

export const HistorySchema = namedObject('History', {
  service: ServiceNameSchema,
  from: TimeSchema,
  to: TimeSchema,
  step: Type.String({ examples: ['15m'] }),
  region: Type.Optional(
    Type.String({
      examples: ['eu'],
      description: 'The region whose checks are counted; absent: the checks of all regions are.',
    }),
  ),
  incomplete: Type.Boolean({
    description:
      'Checks of this window are still on their way to the store, after it was out of reach: some are missing here.',
  }),
  missing_since: nullable(TimeSchema, 'From this time on checks are missing; null where none are.'),
  maintenance: Type.Optional(
    strictObject(
      {
        windows: whole('Windows of maintenance that the owner announced.'),
        uptime_ratio: nullable(Type.Number({ minimum: 0, maximum: 1 }), 'Of all checks of the window.'),
        uptime_ratio_without: nullable(
          Type.Number({ minimum: 0, maximum: 1 }),
          'Of the checks outside of announced maintenance; null: there are none.',
        ),
      },
      'Uptime with and without announced maintenance; absent where none was announced.',
    ),
  ),
  buckets: Type.Array(HistoryBucketSchema, { maxItems: 1_000 }),
});

const MAX_WINDOW_MS = 731 * DAY_MS;
/** Common steps; the default is the first one that does not give too many buckets. */
const USUAL_STEPS_MS = ['1m', '5m', '15m', '1h', '3h', '6h', '12h', '1d', '1w'].map(
  (text) => parseDuration(text) ?? 0,
);
const USUAL_BUCKETS = 120;

/** A window in buckets of `stepMs`; epoch milliseconds, without `to` itself. */
type Window = Pick<SampleQuery, 'from' | 'to' | 'stepMs'>;

export interface HistorySources extends SiteSources {
  readonly registry: PublicReads;
}

export function historyRoute(sources: HistorySources): Route {
  const { finder, samples, regions, registry, beginHistory, now } = sources;
  /** Empty: nothing was announced, or too much to be told apart. */
  const readAnnounced = async (serviceId: number, window: Window, filter: RegionFilter | undefined) =>
    (await readAnnouncedChecks({ registry, samples }, serviceId, window, (query) =>
      inRegion(query, filter),
    )) ?? [];
  return readRoute({
    path: '/api/v1/services/:slug/history',
    id: 'getHistory',
    tag: 'Services',
    summary: 'Get the history of a service',
    description:
      'Percentiles are by nearest rank; in windows of more than 92 days, and beyond the retention of single checks, they come from summaries, within 1 %.',
    query: QUERY,
    answer: HistorySchema,
    problems: { 503: 'The store of past checks does not answer.' },
    async handle(request) {
      const service = await finder.ofPath(request);
      const window = readWindow(request.query, now());
      const { region } = readParameters(request.query, QUERY);
      const filter = await regions.filterOf(region);
      const missingSince = samples.missingSince?.() ?? null;
      const isIncomplete = missingSince !== null && missingSince < window.to;
      const readHistory = beginHistory();
      const buckets = await readOrRefuse(readHistory, () =>
        samples.query(inRegion({ serviceId: service.id, ...window }, filter)),
      );
      const announced =
        service.origin === 'catalogue'
          ? []
          : await readOrRefuse(readHistory, () => readAnnounced(service.id, window, filter));
      return json({
        service: viewServiceName(service),
        from: formatTime(window.from),
        to: formatTime(window.to),
        step: formatDuration(window.stepMs),
        ...(region === undefined ? {} : { region }),
        incomplete: isIncomplete,
        missing_since: isIncomplete ? formatTime(missingSince) : null,
        ...(announced.length === 0 ? {} : { maintenance: viewAnnounced(buckets, announced, window.from) }),
        buckets: buckets.map(viewBucket),
      });
    },
  });
}

function viewAnnounced(buckets: readonly Bucket[], windows: readonly AnnouncedChecks[], from: number) {
  return {
    windows: windows.length,
    uptime_ratio: uptimeWithout(buckets, [], from),
    uptime_ratio_without: uptimeWithout(buckets, windows, from),
  };
}

/** The window of a query, epoch milliseconds. Throws `invalid_parameter`. */
export function readWindow(query: string, now: number): Window {
  const given = readParameters(query, WINDOW_QUERY);
  const to = readTime('to', given.to) ?? now;
  const from = readTime('from', given.from) ?? to - DAY_MS;
  if (from >= to) throw refuse('from', 'must be earlier than "to"');
  if (to - from > MAX_WINDOW_MS) throw refuse('from', 'begins a window that is longer than two years');
  const text = given.step;
  if (text === undefined) {
    const usual = USUAL_STEPS_MS.find((stepMs) => (to - from) / stepMs <= USUAL_BUCKETS);
    return { from, to, stepMs: usual ?? Math.max(...USUAL_STEPS_MS) };
  }
  const stepMs = parseDuration(text);
  if (stepMs === null || stepMs < 1_000)
    throw refuse('step', 'must be a duration such as 5m, 1h or 1d, at least 1s');
  const count = Math.ceil((to - from) / stepMs);
  if (count > MAX_BUCKETS) {
    const least = formatDuration(Math.ceil((to - from) / MAX_BUCKETS / 1_000) * 1_000);
    throw refuse(
      'step',
      `gives ${count} buckets; at most ${MAX_BUCKETS} are answered, so take at least ${least}`,
    );
  }
  return { from, to, stepMs };
}

/** Reads past checks. Throws `history_unavailable` while they cannot be read, or not in the time of the request. */
async function readOrRefuse<Value>(readHistory: ReadHistory, read: () => Promise<Value>): Promise<Value> {
  const value = await readHistory(read);
  if (value !== null) return value;
  const detail = 'The store of past checks does not answer; the present status does. Try again in a minute.';
  throw retryLater('history_unavailable', 60, detail);
}

function readTime(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const isIso = new RegExp(`^${ISO_TIME}$`).test(text);
  const at = /^\d{1,15}$/.test(text) ? Number(text) : isIso && isDay(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at) || at > 8.64e15) throw refuse(name, `must be ${TIME_FORM}`);
  return at;
}

/** Returns true if the date of a time exists: `Date.parse` accepts 30 February as a day in March. */
function isDay(text: string): boolean {
  const day = text.slice(0, 10);
  const at = Date.parse(day);
  return !Number.isNaN(at) && formatTime(at).startsWith(day);
}

function viewBucket(bucket: Bucket): Static<typeof HistoryBucketSchema> {
  return {
    start: formatTime(bucket.startAt),
    end: formatTime(bucket.endAt),
    count: bucket.count,
    up: bucket.upCount,
    slow: bucket.slowCount,
    down: bucket.downCount,
    suspect: bucket.suspectCount,
    uptime_ratio: bucket.uptimeRatio,
    mean_ms: bucket.meanMs === null ? null : Math.round(bucket.meanMs * 10) / 10,
    p50_ms: bucket.p50Ms,
    p95_ms: bucket.p95Ms,
    p99_ms: bucket.p99Ms,
  };
}
