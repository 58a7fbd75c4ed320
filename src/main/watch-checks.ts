/** Watches that checks are made, on time, and by all accounts that are due. */
import type { Cancel, Clock } from '../clock.ts';
import { type Config, isClustered } from '../config/resolve-config.ts';
import { checkTargetOf } from '../domain/check-target.ts';
import { SECOND_MS } from '../domain/durations.ts';
import { NO_MEMORY } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import type { Log } from '../log.ts';
import type { ObservedParts } from '../metrics/observe-program.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import type { ThisNode } from './join-nodes.ts';
import { createRegionWatch, watchStoppedChecks } from './stopped-checks.ts';

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
    else log.info({}, 'checks begin in time again');
  });
  return {
    /** For people; null: checks begin in time. */
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
        log.info({ account }, 'checks of an account begin in time again');
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
