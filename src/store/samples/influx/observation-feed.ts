/**
 * Brings what the registry holds to where observations are kept: every transition, and what vendors say. What was
 * committed and not handed on before a power cut is handed on at the next start; twice is once there.
 */
import { createCoalescingLoop } from '../../../async/coalescing-loop.ts';
import type { Cancel, Clock } from '../../../clock.ts';
import type { Transition } from '../../../domain/current.ts';
import type { Log } from '../../../log.ts';
import type { IncidentStore } from '../../ports/incidents.ts';
import type { Observations } from '../../ports/observations.ts';
import type { FactStore } from '../../ports/registry.ts';
import type { SampleStore } from '../../ports/samples.ts';
import type { UpdateStore } from '../../ports/updates.ts';

/** What the feed needs. */
export interface ObservationFeedOptions {
  readonly registry: Pick<UpdateStore, 'transitionsAfter' | 'lastTransition'> &
    Pick<IncidentStore, 'listIncidents'> &
    Pick<FactStore, 'getFact' | 'setFact'>;
  readonly observations: Pick<Observations, 'transition' | 'incident'>;
  /** Resolves when what was handed on before is at the server, or on disk. */
  readonly samples: Pick<SampleStore, 'flush'>;
  /** Calls its listener after each transition. */
  readonly watchTransitions: (listener: (transition: Transition) => void) => () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** The feed at work. */
export interface ObservationFeed {
  /** What vendors say of a service has changed. */
  noteVendor(serviceId: number): void;
  /** Resolves when everything that was committed before is handed on, or the registry does not give it. */
  idle(): Promise<void>;
  /** Hands on what is left. */
  stop(): Promise<void>;
}

/** Name of the fact that says up to which position all transitions are kept. */
const POSITION_FACT = 'influx.transitions';
const PAGE = 1_000;
/** Newest incidents of all services that are handed on at start, and of one service when its vendor speaks. */
const INCIDENTS_AT_START = 1_000;
const INCIDENTS_OF_SERVICE = 20;
/** The position is noted this long after it has moved. */
const NOTE_AFTER_MS = 5_000;
const RETRY_MS = 1_000;

/** Begins with what an earlier run left; of an earlier time without InfluxDB it takes incidents alone. */
export function startObservationFeed(options: ObservationFeedOptions): ObservationFeed {
  const { registry, observations, samples, clock, log } = options;
  /** Services whose incidents must be read. */
  const vendors = new Set<number>();
  /** Position up to which all transitions are handed on; null: not known yet. */
  let position: number | null = null;
  /** The same, as the registry has it. */
  let noted: number | null = null;
  let incidentsRead = false;
  let cancelNote: Cancel | null = null;
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
      log.debug({ problem: (error as Error).message }, 'observations are waiting for the registry');
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
      const page = await registry.transitionsAfter(position, PAGE);
      for (const transition of page) observations.transition(transition);
      position = page.at(-1)?.position ?? position;
      if (page.length < PAGE) break;
    }
    if (position !== noted && !stopped) cancelNote ??= clock.after(NOTE_AFTER_MS, () => void note());
  }

  async function findPosition(): Promise<number> {
    const last = await registry.lastTransition();
    const fact = await registry.getFact(POSITION_FACT);
    if (fact === null) {
      // Noted before the first is handed on, so that none is left out after a power cut.
      await registry.setFact(POSITION_FACT, String(last));
      noted = last;
    } else {
      noted = Number(fact);
    }
    return Math.min(noted, last);
  }

  async function readVendors(): Promise<void> {
    for (const serviceId of vendors) {
      const incidents = await registry.listIncidents({ serviceId, limit: INCIDENTS_OF_SERVICE, offset: 0 });
      vendors.delete(serviceId);
      for (const incident of incidents) if (incident.source === 'vendor') observations.incident(incident);
    }
  }

  async function note(): Promise<void> {
    cancelNote = null;
    const reached = position;
    if (reached === null || reached === noted) return;
    try {
      await samples.flush();
      await registry.setFact(POSITION_FACT, String(reached));
      noted = reached;
    } catch (error) {
      // The next note tells; until then the start would hand on some again.
      log.debug(
        { problem: (error as Error).message },
        'the position of the observation feed could not be stored',
      );
    }
  }

  return {
    noteVendor(serviceId) {
      vendors.add(serviceId);
      wake();
    },
    idle: feeding.idle,
    async stop() {
      stopped = true;
      unwatch();
      cancelRetry?.();
      cancelNote?.();
      // Its newest position is not noted, which would wait for the server: the next start hands a little on again.
      wake();
      await feeding.idle();
    },
  };
}
