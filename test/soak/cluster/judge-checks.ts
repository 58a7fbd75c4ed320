/** Judges the checks that a counted site has seen: how long services waited for one, and which were made twice. */
import type { CountedRequest } from '../../support/counted-site.ts';
import type { Disturbance, NodeIdentity } from './disturbances.ts';
import type { Outage } from './outages.ts';

/** A request that the site has counted. */
export type CountedCheck = Pick<CountedRequest, 'path' | 'atMs' | 'failed'> & { readonly node: NodeIdentity };

/** What the site saw, and what happened meanwhile. Times are monotonic milliseconds. */
export interface CheckTrace {
  readonly requests: readonly CountedCheck[];
  readonly disturbances: readonly Disturbance[];
  readonly outages: readonly Outage[];
  readonly regions: readonly string[];
  readonly slugs: readonly string[];
  readonly intervalMs: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The figures of the checks. */
export interface CheckFigures {
  readonly checks: number;
  /** Longest time between two checks of a service in a region, milliseconds. */
  readonly longestGapMs: number;
  /** The 99th percentile of these times. */
  readonly gapP99Ms: number;
  /** Checks of working services that followed another one within a third of the interval. */
  readonly repeated: number;
  /** Most repeated checks after one disturbance of a region. */
  readonly mostRepeated: number;
  /** Disturbances of nodes that make checks. */
  readonly disturbances: number;
  readonly wrong: readonly string[];
}

/** No service waits longer than the interval and this, whatever happens to a node. */
const MAX_EXTRA_MS = 20_000;
/** A takeover of shards has ended after this time; repeated checks within it belong to the disturbance. */
const TAKEOVER_MS = 18_000;
/**
 * Checks that a disturbance may repeat: those in flight or on their way to the judge, which are the checks of about two
 * seconds (results of 100 ms are sent together, and committed within a second or two).
 */
const REPEATED_SECONDS = 2;
const MAX_LINES = 10;

/** Judges the checks of all services. */
export function judgeChecks(trace: CheckTrace): CheckFigures {
  const { requests, regions, slugs, intervalMs, fromMs, untilMs } = trace;
  const wrong: string[] = [];
  const gaps: number[] = [];
  const repeats: CountedCheck[] = [];
  const byService = groupRequests(requests.filter(({ atMs }) => atMs >= fromMs && atMs <= untilMs));
  for (const region of regions) {
    for (const slug of slugs) {
      const checks = byService.get(`${region}/${slug}`) ?? [];
      const times = [fromMs, ...checks.map(({ atMs }) => atMs), untilMs];
      for (const [index, atMs] of times.slice(1).entries()) {
        const beforeMs = times[index] ?? fromMs;
        const gapMs = atMs - beforeMs;
        gaps.push(gapMs);
        const excessMs = gapMs - intervalMs - MAX_EXTRA_MS;
        if (excessMs > 0)
          wrong.push(
            `${slug} was not checked from ${region} for ${seconds(gapMs)}, from ${clockOf(trace, beforeMs)} on: ${near(trace, region, beforeMs, atMs)}`,
          );
      }
      const working = checks.filter(({ atMs, failed }) => !failed && !isDisturbedByOutage(trace, slug, atMs));
      for (const [index, check] of working.slice(1).entries())
        if (check.atMs - (working[index]?.atMs ?? 0) < intervalMs / 3) repeats.push(check);
    }
  }
  const ours = trace.disturbances.filter(({ node }) => node.roles.includes('probe'));
  const perSecond = slugs.length / (intervalMs / 1_000);
  const counts = new Map<Disturbance | null, CountedCheck[]>();
  for (const repeat of repeats) {
    const cause = ours.findLast(
      ({ node, atMs }) =>
        node.region === repeat.node.region && atMs <= repeat.atMs && repeat.atMs - atMs < TAKEOVER_MS,
    );
    counts.set(cause ?? null, [...(counts.get(cause ?? null) ?? []), repeat]);
  }
  for (const [cause, list] of counts) {
    const names = list
      .slice(0, MAX_LINES)
      .map(({ path, node, atMs }) => `${path} by ${node.name} at ${clockOf(trace, atMs)}`);
    if (cause === null)
      wrong.push(`${list.length} checks were repeated while no node was disturbed: ${names.join(', ')}`);
    else if (list.length > perSecond * REPEATED_SECONDS)
      wrong.push(
        `${list.length} checks were repeated after ${cause.kind} of ${cause.node.name} at ${clockOf(trace, cause.atMs)}: ${names.join(', ')}`,
      );
  }
  gaps.sort((a, b) => a - b);
  return {
    checks: [...byService.values()].reduce((sum, list) => sum + list.length, 0),
    longestGapMs: gaps.at(-1) ?? 0,
    gapP99Ms: gaps[Math.floor(gaps.length * 0.99)] ?? 0,
    repeated: repeats.length,
    mostRepeated: Math.max(0, ...[...counts].map(([cause, list]) => (cause === null ? 0 : list.length))),
    disturbances: ours.length,
    wrong,
  };
}

/** Requests by region and service. */
function groupRequests(requests: readonly CountedCheck[]): Map<string, CountedCheck[]> {
  const groups = new Map<string, CountedCheck[]>();
  for (const request of requests) {
    const key = request.node.region + request.path;
    const list = groups.get(key);
    if (list === undefined) groups.set(key, [request]);
    else list.push(request);
  }
  return groups;
}

/** Failed attempts are confirmed at once, here and in other regions. */
function isDisturbedByOutage({ outages, intervalMs }: CheckTrace, slug: string, atMs: number): boolean {
  const at = performance.timeOrigin + atMs;
  return outages.some(
    (outage) => outage.slug === slug && at > outage.fromAt - 1_000 && at < outage.untilAt + 2 * intervalMs,
  );
}

function near({ disturbances, ...trace }: CheckTrace, region: string, fromMs: number, toMs: number): string {
  return disturbances
    .filter(({ node, atMs }) => node.region === region && atMs > fromMs - MAX_EXTRA_MS && atMs < toMs)
    .map(({ kind, node, atMs }) => `${kind} ${node.name} at ${clockOf(trace, atMs)}`)
    .join(', ');
}

function clockOf({ fromMs }: Pick<CheckTrace, 'fromMs'>, atMs: number): string {
  return seconds(atMs - fromMs);
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** The disturbances of a node as text, for the log of a trial. */
export function describeDisturbance({ kind, node, wasMonitor }: Disturbance): string {
  return `${kind} ${node.name}${wasMonitor ? ', the monitor' : ''}`;
}

/** Whether a node was left alone from one time to another, monotonic milliseconds. */
export function isSteady(
  disturbances: readonly Disturbance[],
  node: NodeIdentity,
  fromMs: number,
  untilMs: number,
): boolean {
  const before = disturbances.findLast((one) => one.node === node && one.atMs < fromMs);
  const isAway = before !== undefined && !['start', 'wake'].includes(before.kind);
  const during = disturbances.some((one) => one.node === node && one.atMs >= fromMs && one.atMs <= untilMs);
  return !isAway && !during;
}
