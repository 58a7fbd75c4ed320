/** The regions of samples: which samples name their region, and the list of all regions that have made checks. */
import type { Cancel, Clock } from '../clock.ts';
import { formatSampleRegions, parseSampleRegions, SAMPLE_REGIONS_FACT } from '../domain/region.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { FactStore } from '../store/ports/registry.ts';

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
