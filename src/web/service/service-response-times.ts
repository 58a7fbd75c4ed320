/**
 * Response times of a range, as columns for the chart, as a drawing for pages without scripts, and as rows of a table.
 * And the phases of the last check as a waterfall.
 */

import type { Phase } from '../../domain/failure.ts';
import type { Bucket } from '../../domain/sample.ts';
import type { LatestCheck } from '../../domain/status/current.ts';
import { time, timeToSecond } from '../../language/phrase.ts';
import type { RangeName, Window } from '../../view/time-ranges.ts';
import type { Language } from '../language/language.ts';
import type { ResponseTimes } from '../parts/page-messages.ts';

/** The percentiles in the chart, in ascending order. */
const PERCENTILES = [
  ['p50', 'p50Ms'],
  ['p95', 'p95Ms'],
  ['p99', 'p99Ms'],
] as const;

const WIDTH = 1_000;
const HEIGHT = 200;

export interface KnownTimes {
  readonly buckets: readonly Bucket[];
  /** Start of the buckets if the service is newer than the range, epoch milliseconds; null: they cover the range. */
  readonly since: number | null;
}

/** The columns of a range. */
export function responseTimesOf(
  range: RangeName,
  { buckets, since }: KnownTimes,
  { texts, formats }: Language,
): ResponseTimes {
  const highest = highestOf(buckets);
  return {
    range,
    at: buckets.map(({ startAt }) => Math.floor(startAt / 1_000)),
    p50: buckets.map(({ p50Ms }) => p50Ms),
    p95: buckets.map(({ p95Ms }) => p95Ms),
    p99: buckets.map(({ p99Ms }) => p99Ms),
    failed: buckets.map(({ count, downCount }) => (count === 0 ? null : downCount / count)),
    label:
      highest === null
        ? texts.page.noTimes
        : since === null
          ? texts.page.chartLabel(texts.page.range[range], formats.milliseconds(highest))
          : texts.page.chartLabelSince(formats.milliseconds(highest)),
    empty: highest === null,
  };
}

/**
 * The range as lines of an SVG of 1,000 by 200 units. Unknown times are gaps, and a single point is a dot. `failures`:
 * times with failed checks, at the bottom. Null: no response time is known.
 */
export function drawingOf(buckets: readonly Bucket[], { stepMs }: Window, { formats }: Language) {
  const highest = highestOf(buckets);
  if (highest === null) return null;
  const top = roundUp(highest);
  const first = buckets[0]?.startAt ?? 0;
  const spanMs = Math.max(stepMs, (buckets.at(-1)?.startAt ?? 0) - first + stepMs);
  const xOf = (at: number) => round(((at - first + stepMs / 2) / spanMs) * WIDTH);
  const yOf = (ms: number) => round(HEIGHT - (ms / top) * HEIGHT);
  const width = round(WIDTH / Math.max(1, spanMs / stepMs));
  return {
    width: WIDTH,
    height: HEIGHT,
    highest: formats.milliseconds(top),
    middle: formats.milliseconds(top / 2),
    lines: PERCENTILES.map(([name, member]) => ({
      name,
      path: pathOf(
        buckets.map(({ startAt, [member]: ms }) => (ms === null ? null : [xOf(startAt), yOf(ms)])),
      ),
    })),
    failures: buckets
      .filter(({ downCount }) => downCount > 0)
      .map(({ startAt }) => ({ x: round(xOf(startAt) - width / 2), width })),
  };
}

/** The rows, newest first, without empty buckets. */
export function timeRows(buckets: readonly Bucket[], { formats }: Language) {
  const timeOf = buckets.some(({ startAt }) => startAt % 60_000 !== 0) ? timeToSecond : time;
  const shown = (ms: number | null) => (ms === null ? null : formats.milliseconds(ms));
  return buckets
    .filter(({ count }) => count > 0)
    .map(({ startAt, count, downCount, p50Ms, p95Ms, p99Ms }) => ({
      time: [timeOf(startAt)],
      p50: shown(p50Ms),
      p95: shown(p95Ms),
      p99: shown(p99Ms),
      failed: downCount === 0 ? null : formats.percent(downCount / count),
    }))
    .reverse();
}

function highestOf(buckets: readonly Bucket[]): number | null {
  const known = buckets.flatMap(({ p99Ms }) => (p99Ms === null ? [] : [p99Ms]));
  return known.length === 0 ? null : known.reduce((highest, ms) => Math.max(highest, ms), 1);
}

/** Rounds up to 1, 2, 2.5, 5 or 10 times a power of ten, for a readable scale. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 2, 2.5, 5, 10].find((candidate) => candidate * power >= value) ?? 10;
  return factor * power;
}

/**
 * A line through points; null is a gap. A point between two gaps is a line of length 0, which round caps make visible.
 */
function pathOf(points: readonly (readonly number[] | null)[]): string {
  let path = '';
  points.forEach((point, index) => {
    if (point === null) return;
    const begins = (points[index - 1] ?? null) === null;
    path += `${begins ? 'M' : 'L'}${point[0]} ${point[1]}`;
    if (begins && (points[index + 1] ?? null) === null) path += 'h0';
  });
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/**
 * Minimum duration outside of the phases that gets a row, milliseconds: longer than rounding, shorter than redirects.
 */
const REST_MS = 1;

/**
 * The waterfall of a check; `label` describes it in one line. Null: there was no request, as for a heartbeat. Phases
 * that did not happen are absent. A phase without a duration did not end or was not measured. A check without a response has no total.
 */
export function waterfallOf(latest: LatestCheck | null, { texts, formats }: Language) {
  if (latest === null || latest.source === 'heartbeat' || latest.source === 'silence') return null;
  const { timing, failure } = latest;
  const measured: Readonly<Record<Phase, number | null>> = {
    dns: timing.dnsMs,
    connect: timing.connectMs,
    tls: timing.tlsMs,
    first_byte: timing.firstByteMs,
    body: null,
  };
  const known = Object.entries(measured) as [Phase, number | null][];
  const sumMs = known.reduce((sum, [, ms]) => sum + (ms ?? 0), 0);
  const totalMs = Math.max(sumMs, timing.totalMs ?? 0);
  const widthOf = (ms: number) => (totalMs === 0 ? 0 : (ms / totalMs) * WIDTH);
  let passedMs = 0;
  const barOf = (ms: number | null) => {
    if (ms === null) return null;
    const bar = { x: round(widthOf(passedMs)), width: round(widthOf(ms)) };
    passedMs += ms;
    return bar;
  };
  const failed = failure === null ? null : texts.page.failure(failure);
  const rows: {
    kind: Phase | 'other';
    name: string;
    ms: string | null;
    bar: ReturnType<typeof barOf>;
    failure: string | null;
  }[] = known
    .filter(([kind, ms]) => ms !== null || failure?.phase === kind)
    .map(([kind, ms]) => ({
      kind,
      name: texts.page.phase[kind],
      ms: ms === null ? null : formats.milliseconds(ms),
      bar: barOf(ms),
      failure: failure?.phase === kind ? failed : null,
    }));
  const restMs = totalMs - sumMs;
  if (restMs > REST_MS)
    rows.push({
      kind: 'other',
      name: texts.page.otherPhase,
      ms: formats.milliseconds(restMs),
      bar: barOf(restMs),
      failure: null,
    });
  if (rows.length === 0) return null;
  // The phases that ended are no total of a check that failed in a later one: it waited there, too.
  const total = timing.totalMs === null || totalMs === 0 ? null : formats.milliseconds(totalMs);
  return {
    width: WIDTH,
    rows,
    total,
    label: total === null ? texts.page.phases : texts.page.phasesLabel(total),
  };
}
