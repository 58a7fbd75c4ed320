/**
 * Watches that checks are made, on time, and by all accounts that are due. Whatever the cause, it notices that this process makes none of
 * those that are due, or that no node of a region does: it relies on nothing that makes the checks but the figures of the threads.
 */
import type { Cancel, Clock } from '../clock.ts';
import { type Config, isClustered } from '../config/resolve-config.ts';
import { checkTargetOf } from '../domain/check-target.ts';
import { HOUR_MS, SECOND_MS } from '../domain/durations.ts';
import type { NodeState } from '../domain/node.ts';
import { NO_MEMORY } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import type { Log } from '../log.ts';
import type { ObservedParts } from '../metrics/observe-program.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import type { ThisNode } from './join-nodes.ts';

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
interface StoppedChecks {
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

const LOOK_INTERVAL_MS = SECOND_MS;
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

  function note(what: string, problem: string | null, over = 'checks are made again'): void {
    const known = stopped.get(what);
    if (problem === null) {
      stopped.delete(what);
      if (known?.isSaid) log.info({ ...fieldsOf(what) }, over);
      return;
    }
    const current = known ?? { sinceMs: clock.monotonic(), problem, isSaid: false };
    current.problem = problem;
    stopped.set(what, current);
    if (current.isSaid || clock.monotonic() - current.sinceMs < MAX_STOPPED_MS) return;
    current.isSaid = true;
    log.error({ ...fieldsOf(what), problem }, 'checks that are due are not made');
  }

  const cancel = clock.every(LOOK_INTERVAL_MS, () => {
    const idle = findIdle();
    note(OWN, knownProblem() ?? idle);
    const read = regions();
    // It was given up, or this process is not the monitor any more.
    for (const what of [...stopped.keys()])
      if (what !== OWN && !read.has(what))
        note(what, null, 'checks of the region are no longer watched here');
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

export type CheckWatches = ReturnType<typeof watchChecks>;

export function watchChecks(parts: {
  readonly config: Config;
  readonly directory: ServiceDirectory;
  readonly node: ThisNode;
  readonly report: ObservedParts['fleet']['report'];
  readonly isMonitor: () => boolean;
  /** A known reason for which this process may make no checks, one line; null: none. */
  readonly knownProblem: () => string | null;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { config, directory, node, report, isMonitor, knownProblem, clock, log } = parts;
  const late = watchLateChecks(report, clock, log);
  const regions = createRegionWatch(
    config.node.region,
    (region) => isCheckedFrom(directory.all(), region),
    clock,
  );
  const stopped = watchStoppedChecks({
    ...{ report, knownProblem, clock, log },
    regions: () => {
      // Also a node that is not the monitor yet sees those that leave.
      const found = isClustered(config) ? regions(node.nodes()) : new Map();
      return isMonitor() ? found : new Map();
    },
  });
  const bounds = watchAccountBounds(report, clock, log);
  return {
    stopped,
    /** The share of an account whose checks are late because it is used up; null: it is not, as far as this process knows. */
    shareOf: bounds.of,
    /** Why checks are not made, or late, one line; null: neither. */
    problem: (): string | null => stopped.problem() ?? late.problem(),
    stop(): void {
      for (const watch of [late, stopped, bounds]) watch.stop();
    },
  };
}

function isCheckedFrom(services: readonly Service[], region: string): boolean {
  return services.some((service) => checkTargetOf(service, region, NO_MEMORY, null) !== null);
}

// Notices that checks begin late: the machine or its settings are too small for the fleet, or an account has used up its share.

/** The figures that it reads of the fleet. */
interface StartDelays {
  /** By number of the thread; null: it has not reported yet. */
  readonly hosts: readonly ({ readonly startDelayMs: { readonly p99: number } } | null)[];
}

const READ_INTERVAL_MS = 5 * SECOND_MS;
/** Checks are late that begin later than this, milliseconds; as in deploy/alerts.yaml. */
const MAX_DELAY_MS = 5 * SECOND_MS;
/** So many reads in a row are late before it says so, and none of so many before it says that it is over. */
const READS = 6;

/** Starts to watch the delays that threads report each second. */
export function watchLateChecks(report: () => StartDelays, clock: Clock, log: Log) {
  /** Reads in a row that differ from what was said last. */
  let differing = 0;
  let isLate = false;
  let delayMs = 0;
  const cancel: Cancel = clock.every(READ_INTERVAL_MS, () => {
    delayMs = Math.max(0, ...report().hosts.map((host) => host?.startDelayMs.p99 ?? 0));
    differing = delayMs > MAX_DELAY_MS === isLate ? 0 : differing + 1;
    if (differing < READS) return;
    differing = 0;
    isLate = !isLate;
    if (isLate) log.warn({ delayMs: Math.round(delayMs) }, 'checks begin late');
    else log.info({}, 'checks start on time again');
  });
  return {
    /** For people; null: checks start on time. */
    problem: (): string | null =>
      isLate
        ? `checks begin ${Math.round(delayMs / SECOND_MS)} s late: the machine cannot make that many`
        : null,
    stop: (): void => cancel(),
  };
}

/** The figures that it reads of the fleet. */
interface AccountBounds {
  readonly hosts: readonly ({
    readonly shares: {
      readonly bounded: readonly {
        readonly accountId: number;
        readonly held: number;
        readonly waiting: number;
      }[];
    };
  } | null)[];
}

/** Starts to watch for accounts whose checks wait because they hold as many slots as an account may. */
export function watchAccountBounds(report: () => AccountBounds, clock: Clock, log: Log) {
  /** By account: reads in a row in which its checks waited, or, once that was said, in which they did not. */
  const differing = new Map<number, number>();
  const said = new Set<number>();
  const cancel: Cancel = clock.every(READ_INTERVAL_MS, () => {
    const waiting = sumOf(report());
    for (const account of new Set([...waiting.keys(), ...differing.keys(), ...said])) {
      const use = waiting.get(account);
      const count = (use !== undefined) === said.has(account) ? 0 : (differing.get(account) ?? 0) + 1;
      if (count > 0 && count < READS) differing.set(account, count);
      else differing.delete(account);
      if (count < READS) continue;
      if (use === undefined) {
        said.delete(account);
        log.info({ account }, 'checks of an account start on time again');
      } else {
        said.add(account);
        log.warn({ account, ...use }, 'checks of an account are late: it holds its share of the slots');
      }
    }
  });
  return {
    /** The slots that an account holds and its checks that wait, once it was said that they are late; null: they are not. */
    of: (account: number): { readonly held: number; readonly waiting: number } | null =>
      said.has(account) ? (sumOf(report()).get(account) ?? null) : null,
    stop: (): void => cancel(),
  };
}

/** The shares of accounts at their bound over all threads. */
function sumOf({
  hosts,
}: AccountBounds): ReadonlyMap<number, { readonly held: number; readonly waiting: number }> {
  const shares = new Map<number, { held: number; waiting: number }>();
  for (const host of hosts)
    for (const { accountId, ...use } of host?.shares.bounded ?? []) {
      const sum = shares.get(accountId) ?? { held: 0, waiting: 0 };
      shares.set(accountId, { held: sum.held + use.held, waiting: sum.waiting + use.waiting });
    }
  return shares;
}
