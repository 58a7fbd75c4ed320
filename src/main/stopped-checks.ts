/**
 * Notices, whatever the cause, that this process makes none of the checks that are due, or that no node of a region does. It
 * relies on nothing that makes the checks but the figures of the threads.
 */
import type { Clock } from '../clock.ts';
import { HOUR_MS, SECOND_MS } from '../domain/durations.ts';
import type { NodeState } from '../domain/node.ts';
import type { Log } from '../log.ts';

interface CheckFigures {
  readonly services: number;
  /** By number of the thread; null: it has not reported yet. */
  readonly hosts: readonly ({
    readonly openChecks: number;
    readonly waiting: number;
    readonly checksDone: number;
  } | null)[];
}

/** The watch. */
export interface StoppedChecks {
  /** The time for which this process has made none of the checks that are due, milliseconds; 0: it makes them, or none is due. */
  stoppedMs(): number;
  /** The same of whole regions, by name; only the monitor of a cluster knows. */
  regionsStoppedMs(): ReadonlyMap<string, number>;
  /** Why this process makes no checks, one line; null: it makes them. */
  ownProblem(): string | null;
  /** Why this process, or a region, makes no checks, one line; null: checks are made. */
  problem(): string | null;
  stop(): void;
}

const READ_INTERVAL_MS = SECOND_MS;
/** Checks count as stopped after this time, milliseconds; as in deploy/alerts.yaml. A take-over of shards takes less. */
const MAX_STOPPED_MS = 15 * SECOND_MS;
const OWN = '';

export function watchStoppedChecks(options: {
  readonly report: () => CheckFigures;
  /** A known reason for which this process may make no checks, one line; null: none. */
  readonly knownProblem: () => string | null;
  /** Why no node of a region makes checks although services are checked from there, by region; null: one does. */
  readonly regions: () => ReadonlyMap<string, string | null>;
  readonly clock: Clock;
  readonly log: Log;
}): StoppedChecks {
  const { report, knownProblem, regions, clock, log } = options;
  /** The stopped checks, by region and for this process: since when (monotonic milliseconds), and why. */
  const stopped = new Map<string, { readonly sinceMs: number; problem: string; isSaid: boolean }>();
  /** Checks that each thread had completed at the last read. */
  let done: readonly number[] = [];

  /** Returns true if a thread has checks that wait, and neither makes nor has completed any since the last read. */
  function findIdle(): string | null {
    const { services, hosts } = report();
    const before = done;
    done = hosts.map((host) => host?.checksDone ?? 0);
    const isIdle = hosts.map((host, index) =>
      host === null
        ? services > 0
        : host.waiting > 0 && host.openChecks === 0 && host.checksDone === before[index],
    );
    if (!isIdle.includes(true)) return null;
    const waiting = hosts.reduce((sum, host, index) => sum + (isIdle[index] ? (host?.waiting ?? 0) : 0), 0);
    return `none of ${waiting} checks that are due is made`;
  }

  function note(what: string, problem: string | null): void {
    const known = stopped.get(what);
    if (problem === null) {
      stopped.delete(what);
      if (known?.isSaid) log.info({ ...fieldsOf(what) }, 'checks are made again');
      return;
    }
    const current = known ?? { sinceMs: clock.monotonic(), problem, isSaid: false };
    current.problem = problem;
    stopped.set(what, current);
    if (current.isSaid || clock.monotonic() - current.sinceMs < MAX_STOPPED_MS) return;
    current.isSaid = true;
    log.error({ ...fieldsOf(what), problem }, 'checks that are due are not made');
  }

  const cancel = clock.every(READ_INTERVAL_MS, () => {
    const idle = findIdle();
    note(OWN, knownProblem() ?? idle);
    const read = regions();
    for (const what of [...stopped.keys()]) if (what !== OWN && !read.has(what)) note(what, null);
    for (const [region, problem] of read) note(region, problem);
  });

  const msOf = (what: string) => clock.monotonic() - (stopped.get(what)?.sinceMs ?? clock.monotonic());
  const problemOf = (what: string) => {
    const found = stopped.get(what);
    return found?.isSaid ? found.problem : null;
  };
  return {
    stoppedMs: () => msOf(OWN),
    regionsStoppedMs: () => new Map([...regions().keys()].map((region) => [region, msOf(region)])),
    ownProblem: () => problemOf(OWN),
    problem: () => [OWN, ...stopped.keys()].map(problemOf).find((problem) => problem !== null) ?? null,
    stop: cancel,
  };
}

const fieldsOf = (what: string) => (what === OWN ? {} : { region: what });

/** A region is missed for this time after its last node has left, milliseconds; as in deploy/alerts.yaml. */
const MISSED_MS = 6 * HOUR_MS;

/**
 * Creates the function that returns why no node makes checks from each region that has, or had, nodes that should, one line; null: one
 * does. `isChecked`: whether any service is checked from the region. Call it regularly, so that it sees the nodes that leave.
 */
export function createRegionWatch(
  ownRegion: string,
  isChecked: (region: string) => boolean,
  clock: Clock,
): (nodes: readonly NodeState[]) => ReadonlyMap<string, string | null> {
  /** The time at which a node was seen last, by region, monotonic milliseconds. */
  const seen = new Map<string, number>();

  const why = (within: readonly NodeState[]): string => {
    if (within.length === 0) return 'no node of it is there';
    const told = within.find(({ checksProblem }) => checksProblem);
    return told === undefined ? 'its nodes have no services' : `${told.name}: ${told.checksProblem}`;
  };
  return (nodes) => {
    const nowMs = clock.monotonic();
    const regions = Map.groupBy(
      nodes.filter(({ roles }) => roles.includes('probe')),
      ({ region }) => region,
    );
    for (const region of regions.keys()) seen.set(region, nowMs);
    for (const [region, seenMs] of seen) if (nowMs - seenMs > MISSED_MS) seen.delete(region);
    const expected = seen.size === 0 ? [ownRegion] : [...seen.keys()];
    return new Map(
      expected.map((region) => {
        const within = regions.get(region) ?? [];
        const works = within.some(({ services, checksProblem }) => services > 0 && !checksProblem);
        if (works || !isChecked(region)) return [region, null];
        return [region, `no checks are made from ${region} (${why(within)})`];
      }),
    );
  };
}
