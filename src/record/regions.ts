/**
 * Requests immediate re-checks by other regions of a failure that one region has confirmed and the quorum has not
 * (design, Places). A lost request is harmless, because each region checks the service within its next interval anyway.
 */
import type { Cancel, Clock } from '../clock.ts';
import { formatSampleRegions, parseSampleRegions, SAMPLE_REGIONS_FACT } from '../domain/node.ts';
import type { RegionRules } from '../domain/status/regional-status.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { FactStore } from '../store/ports/registry.ts';

/** The rules that join the verdicts of a cluster's regions into one status. */
export interface RegionOptions extends Pick<RegionRules, 'quorum'> {
  /**
   * The regions that have a vote now on services with an interval, milliseconds: online, with a live node in the last two
   * intervals. Empty: not known.
   */
  readonly voting: (intervalMs: number) => readonly string[];
  /** Requests that a region re-checks the services now. */
  readonly requestRechecks: (region: string, serviceIds: readonly number[]) => void;
}

/** The interval at which services that may be requested again are forgotten, milliseconds. */
const CLEAN_PERIOD_MS = 60_000;

/** Collects the re-check requests to other regions. */
export type RegionRechecks = ReturnType<typeof createRegionRechecks>;

/** Creates an empty collection of re-check requests. */
export function createRegionRechecks(
  { requestRechecks }: Pick<RegionOptions, 'requestRechecks'>,
  clock: Clock,
) {
  /** Until when a service is not requested again, monotonic milliseconds. */
  const quietUntil = new Map<number, number>();
  let nextCleanMs = 0;
  /** Services to request in this iteration of the event loop, by region. */
  let next = new Map<string, number[]>();

  function forgetOld(nowMs: number): void {
    if (nowMs < nextCleanMs) return;
    nextCleanMs = nowMs + CLEAN_PERIOD_MS;
    for (const [serviceId, untilMs] of quietUntil) if (untilMs <= nowMs) quietUntil.delete(serviceId);
  }

  function send(): void {
    const all = next;
    next = new Map();
    for (const [region, serviceIds] of all) requestRechecks(region, serviceIds);
  }

  return {
    /**
     * Adds a service. Its regions receive the request after this iteration of the event loop, at most once within
     * `intervalMs`, the interval of the service.
     */
    add(serviceId: number, regions: readonly string[], intervalMs: number): void {
      const nowMs = clock.monotonic();
      forgetOld(nowMs);
      if ((quietUntil.get(serviceId) ?? nowMs) > nowMs) return;
      quietUntil.set(serviceId, nowMs + intervalMs);
      if (next.size === 0) queueMicrotask(send);
      for (const region of regions) {
        const serviceIds = next.get(region) ?? [];
        serviceIds.push(serviceId);
        next.set(region, serviceIds);
      }
    },
  };
}

/** Returns the region that a sample names; undefined: none. */
export type SampleRegions = Awaited<ReturnType<typeof loadSampleRegions>>;

const RETRY_MS = 1_000;

/**
 * Loads the regions. As long as there is only one, samples do not name it, and belong to it. From the first result of a
 * second region on, all samples name their region, also after the other regions have gone.
 */
export async function loadSampleRegions(options: {
  readonly registry: FactStore;
  /** The region of this process. */
  readonly own: string;
  /** False: this process makes all checks itself, and its region is a name that changes nothing. */
  readonly isClustered: boolean;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { registry, own, isClustered, clock, log } = options;
  const regions = [...parseSampleRegions(await registry.getFact(SAMPLE_REGIONS_FACT))];
  let cancelRetry: Cancel | null = null;
  let isStopped = false;

  async function store(): Promise<void> {
    cancelRetry?.();
    cancelRetry = null;
    try {
      await registry.setFact(SAMPLE_REGIONS_FACT, formatSampleRegions(regions));
    } catch (error) {
      log.debug({ problem: messageOf(error) }, 'the regions of samples could not be stored');
      if (!isStopped) cancelRetry ??= clock.after(RETRY_MS, () => void store());
    }
  }

  return {
    /** The region that the sample of a result names; undefined: none. `region` undefined: that of this process. */
    nameOf(region = own): string | undefined {
      if (!regions.includes(region)) {
        if (!isClustered && regions.length === 0) return undefined;
        regions.push(region);
        void store();
      }
      return regions.length > 1 ? region : undefined;
    },
    stop(): void {
      isStopped = true;
      cancelRetry?.();
    },
  };
}
