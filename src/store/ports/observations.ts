/**
 * Port of the observations that an external time series stores beside samples: transitions, incidents and heartbeats.
 * The embedded sample store has none.
 */
import type { DependencyReport } from '../../domain/heartbeat/heartbeat-body.ts';
import type { Incident } from '../../domain/incident/incident.ts';
import type { Service } from '../../domain/service.ts';
import type { Transition } from '../../domain/status/current.ts';
import type { Verdict } from '../../domain/status.ts';

/** A stored heartbeat with its own verdict. */
export interface ObservedHeartbeat {
  readonly service: Pick<Service, 'id' | 'slug' | 'category' | 'publicDependencies'>;
  /** The earlier of timestamp and arrival, epoch milliseconds. */
  readonly at: number;
  readonly status: Verdict;
  /** Largest latency reported, whole milliseconds; null: none. */
  readonly responseTimeMs: number | null;
  /** Null: the heartbeat reported no dependencies. */
  readonly dependencies: readonly DependencyReport[] | null;
}

/** Accepts observations without blocking; never throws. An observation that is accepted twice is stored once. */
export interface Observations {
  transition(transition: Transition): void;
  /** Stores every entry of the incident's timeline, including those of earlier calls. */
  incident(incident: Incident): void;
  heartbeat(heartbeat: ObservedHeartbeat): void;
}
