/**
 * Port of what a time series outside of the process keeps beside samples: changes, incidents, what services report.
 * Absent where samples stay in the embedded store.
 */
import type { Transition } from '../../domain/current.ts';
import type { DependencyReport } from '../../domain/heartbeat-body.ts';
import type { Incident } from '../../domain/incident.ts';
import type { Service } from '../../domain/service.ts';
import type { Verdict } from '../../domain/status.ts';

/** A heartbeat that was written, judged by itself. */
export interface ObservedHeartbeat {
  readonly service: Pick<Service, 'id' | 'slug' | 'category' | 'publicDependencies'>;
  /** The earlier of timestamp and arrival, epoch milliseconds. */
  readonly at: number;
  readonly status: Verdict;
  /** Largest latency reported, whole milliseconds; null: none. */
  readonly responseTimeMs: number | null;
  /** Null: nothing was said of dependencies. */
  readonly dependencies: readonly DependencyReport[] | null;
}

/**
 * Takes observations; never throws, and nobody waits. The same one taken twice is kept once, so that whoever is in doubt
 * hands it on again.
 */
export interface Observations {
  transition(transition: Transition): void;
  /** Every entry of its timeline, those of earlier calls too. */
  incident(incident: Incident): void;
  heartbeat(heartbeat: ObservedHeartbeat): void;
}
