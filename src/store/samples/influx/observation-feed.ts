/**
 * Copies every transition and vendors' incidents from the registry to the store of observations. Those that a power cut
 * prevented are copied at the next start; a point that is written twice is stored once.
 */
import { createCoalescingLoop } from '../../../async/coalescing-loop.ts';
import type { Cancel, Clock } from '../../../clock.ts';
import type { Transition } from '../../../domain/status/current.ts';
import { messageOf } from '../../../error.ts';
import type { Log } from '../../../log.ts';
import type { IncidentStore } from '../../ports/incidents.ts';
import type { FactStore } from '../../ports/registry.ts';
import type { Observations, SampleStore } from '../../ports/samples.ts';
import type { TransitionReads } from '../../ports/updates.ts';

/** Name of the fact with the position up to which all transitions are stored. */
const POSITION_FACT = 'influx.transitions';
const PAGE_SIZE = 1_000;
/** Number of the newest incidents that are passed on: of all services at start, and of one whose vendor has news. */
const INCIDENTS_AT_START = 1_000;
const INCIDENTS_OF_SERVICE = 20;
/** Time after which a changed position is stored, milliseconds. */
const STORE_AFTER_MS = 5_000;
const RETRY_MS = 1_000;

/** Starts at the position of an earlier run; without one, only incidents are passed on. */
export function startObservationFeed(options: {
  readonly registry: TransitionReads & IncidentStore & FactStore;
  readonly observations: Pick<Observations, 'transition' | 'incident'>;
  /** Resolves when everything that was passed on before is at the server or on disk. */
  readonly samples: SampleStore;
  /** Calls its listener after each transition. */
  readonly watchTransitions: (listener: (transition: Transition) => void) => () => void;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { registry, observations, samples, clock, log } = options;
  /** Services whose incidents must be read. */
  const vendors = new Set<number>();
  /** Position up to which all transitions are passed on; null: not known yet. */
  let position: number | null = null;
  /** The stored position. */
  let stored: number | null = null;
  let incidentsRead = false;
  let cancelStore: Cancel | null = null;
  let cancelRetry: Cancel | null = null;
  let stopped = false;

  const feeding = createCoalescingLoop(feed);
  const wake = (): void => void feeding.run();
  const unwatch = options.watchTransitions(wake);
  wake();

  async function feed(): Promise<void> {
    try {
      if (!incidentsRead) await readIncidents();
      await readTransitions();
      await readVendors();
    } catch (error) {
      log.debug({ problem: messageOf(error) }, 'observations are waiting for the registry');
      if (!stopped) cancelRetry ??= clock.after(RETRY_MS, retry);
    }
  }

  function retry(): void {
    cancelRetry = null;
    wake();
  }

  async function readIncidents(): Promise<void> {
    for (const incident of await registry.listIncidents({ limit: INCIDENTS_AT_START, offset: 0 }))
      observations.incident(incident);
    incidentsRead = true;
  }

  async function readTransitions(): Promise<void> {
    position ??= await findPosition();
    for (;;) {
      const page = await registry.transitionsAfter(position, PAGE_SIZE);
      for (const transition of page) observations.transition(transition);
      position = page.at(-1)?.position ?? position;
      if (page.length < PAGE_SIZE) break;
    }
    if (position !== stored && !stopped)
      cancelStore ??= clock.after(STORE_AFTER_MS, () => void storePosition());
  }

  async function findPosition(): Promise<number> {
    const last = await registry.lastTransition();
    const fact = await registry.getFact(POSITION_FACT);
    if (fact === null) {
      // Stored before the first transition, so that none is left out after a power cut.
      await registry.setFact(POSITION_FACT, String(last));
      stored = last;
    } else {
      stored = Number(fact);
    }
    return Math.min(stored, last);
  }

  async function readVendors(): Promise<void> {
    for (const serviceId of vendors) {
      const incidents = await registry.listIncidents({ serviceId, limit: INCIDENTS_OF_SERVICE, offset: 0 });
      vendors.delete(serviceId);
      for (const incident of incidents) if (incident.source === 'vendor') observations.incident(incident);
    }
  }

  async function storePosition(): Promise<void> {
    cancelStore = null;
    const reached = position;
    if (reached === null || reached === stored) return;
    try {
      await samples.flush();
      await registry.setFact(POSITION_FACT, String(reached));
      stored = reached;
    } catch (error) {
      // It is stored later; a start before that passes some transitions on again.
      log.debug({ problem: messageOf(error) }, 'the position of the observation feed could not be stored');
    }
  }

  return {
    /** The incidents of a service's vendor have changed. */
    noteVendor(serviceId: number): void {
      vendors.add(serviceId);
      wake();
    },
    /** Resolves when everything that was committed before is passed on, or the registry cannot be read. */
    idle: feeding.idle,
    /** Passes on the remaining transitions and stops. */
    async stop(): Promise<void> {
      stopped = true;
      unwatch();
      cancelRetry?.();
      cancelStore?.();
      // The last position is not stored, which would wait for the server; the next start passes some transitions on again.
      wake();
      await feeding.idle();
    },
  };
}
