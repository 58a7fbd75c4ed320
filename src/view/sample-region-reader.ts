/** The query parameter `region` of histories, images and pages, and the regions that it can have. */
import { createPromiseCache } from '../async/bounded-map.ts';
import type { RegionChoice } from '../domain/check-target.ts';
import { parseSampleRegions, regionsOf, SAMPLE_REGIONS_FACT } from '../domain/node.ts';
import { enumParameter, refuse, textParameter } from '../http/parameters.ts';
import type { FactStore } from '../store/ports/registry.ts';
import {
  isSampleReadError,
  type RegionFilter,
  type SampleQuery,
  type SampleReads,
} from '../store/ports/samples.ts';
import type { Readiness } from './monitor.ts';

export const REGION_PARAMETER = textParameter(
  '^[a-z0-9-]{1,32}$',
  'Only checks of this region; one of those of /api/v1/regions, or a former one. Default: the checks of all regions. Checks of a time with only one region, and heartbeats, count for the first region.',
);

/** The query for the samples of a region; undefined: of all regions. */
export function inRegion(query: Omit<SampleQuery, 'region'>, filter: RegionFilter | undefined): SampleQuery {
  return filter === undefined ? query : { ...query, region: filter };
}

export type SampleRegionReader = ReturnType<typeof createSampleRegionReader>;

/** The time for which the list of regions is cached, milliseconds. */
const MAX_AGE_MS = 2_000;

/** Creates the reader. While the registry is unavailable, it knows the last list of regions. */
export function createSampleRegionReader(sources: {
  readonly registry: FactStore;
  readonly samples: SampleReads;
  readonly readiness: () => Readiness;
  readonly now: () => number;
}) {
  const { registry, samples, readiness, now } = sources;
  const NONE: readonly string[] = [];
  const cached = createPromiseCache<'named', readonly string[]>({
    maxEntries: 1,
    maxAgeMs: MAX_AGE_MS,
    now,
    recover: (_, last) => last ?? NONE,
  });
  /** All regions that have made checks in this cluster, the first one first; empty: there was never a cluster. */
  const readNamed = () =>
    cached('named', '', async () => parseSampleRegions(await registry.getFact(SAMPLE_REGIONS_FACT)));

  return {
    /**
     * The filter for the value of the query parameter; undefined: there is no such parameter. Throws `invalid_parameter`
     * with the known regions for any other one.
     */
    async filterOf(region: string | undefined): Promise<RegionFilter | undefined> {
      if (region === undefined) return undefined;
      const { node, nodes } = readiness();
      const named = await readNamed();
      const [first = node.region] = named;
      const known = new Set([first, ...named, ...regionsOf(nodes).map((one) => one.region)]);
      if (!known.has(region))
        throw refuse('region', 'is not the name of a region', enumParameter([...known].sort(), ''));
      return { region, takesUnnamed: region === first };
    },
    /** The regions among those that a service names for its checks in which no node makes checks now, by name. */
    withoutNode({ regions: named = [] }: RegionChoice): readonly string[] {
      const live = new Set(regionsOf(readiness().nodes).map(({ region }) => region));
      return named.filter((region) => !live.has(region)).sort();
    },
    /** The regions of which a service has samples, by name; empty: at most one, or they cannot be read now. */
    async choicesOf(serviceId: number): Promise<readonly string[]> {
      if ((await readNamed()).length < 2) return NONE;
      try {
        const regions = await samples.regionsOf(serviceId);
        return regions.length < 2 ? NONE : regions;
      } catch (error) {
        if (!isSampleReadError(error)) throw error;
        return NONE;
      }
    },
  };
}
