/** Watches that checks are made, on time, and by all accounts that are due. */
import type { Clock } from '../clock.ts';
import { type Config, isClustered } from '../config/resolve-config.ts';
import { checkTargetOf } from '../domain/check-target.ts';
import { NO_MEMORY } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import type { Log } from '../log.ts';
import type { ObservedParts } from '../metrics/observe-program.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import type { ThisNode } from './join-nodes.ts';
import { watchAccountBounds, watchLateChecks } from './late-checks.ts';
import { findStoppedRegions, watchStoppedChecks } from './stopped-checks.ts';

/** The parts of the program that the watches read. */
export interface WatchedParts {
  readonly config: Config;
  readonly directory: ServiceDirectory;
  readonly node: ThisNode;
  readonly report: ObservedParts['fleet']['report'];
  readonly isMonitor: () => boolean;
  /** A known reason for which this process may make no checks, one line; null: none. */
  readonly knownProblem: () => string | null;
  readonly clock: Clock;
  readonly log: Log;
}

export type CheckWatches = ReturnType<typeof watchChecks>;

/** Starts the watches. */
export function watchChecks(parts: WatchedParts) {
  const { config, directory, node, report, isMonitor, knownProblem, clock, log } = parts;
  const late = watchLateChecks(report, clock, log);
  const stopped = watchStoppedChecks({
    ...{ report, knownProblem, clock, log },
    regions: () =>
      isClustered(config) && isMonitor()
        ? findStoppedRegions(node.nodes(), (region) => isCheckedFrom(directory.all(), region))
        : new Map(),
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
