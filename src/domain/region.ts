/** Regions: the places from which services are checked (design, Places). */

/** The region of a process without `node.region`. */
export const DEFAULT_REGION = 'local';

/** The number of voting regions that must confirm a failure: `checks.quorum`. */
export type Quorum = 'majority' | 'any' | 'all' | number;

export interface RegionState {
  readonly region: string;
  /** True if at least one of its live probing nodes is online. */
  readonly online: boolean;
  /** Its live nodes with the role `probe`. */
  readonly nodes: number;
}

/** Returns true if `text` is the name of a region: 1 to 32 of `a-z`, `0-9` and `-`. */
export function isRegionName(text: string): boolean {
  return /^[a-z0-9-]{1,32}$/.test(text);
}

/** The name of the registry's fact with the regions of samples. */
export const SAMPLE_REGIONS_FACT = 'samples.regions';

/** The text of the fact. The first region is the one to which samples without a region belong. */
export function formatSampleRegions(regions: readonly string[]): string {
  return regions.join(' ');
}

/** The inverse of {@link formatSampleRegions}. Null, no fact: there is none. */
export function parseSampleRegions(text: string | null): readonly string[] {
  return (text ?? '').split(' ').filter(isRegionName);
}
