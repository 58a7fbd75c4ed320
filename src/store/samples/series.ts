/**
 * The numbers of series. A service has a series for each region, and one for the samples without a region, whose number is
 * the id of the service. Numbers of regions belong to one store.
 */

/** Maximum number of regions that a store tells apart: the key of a day is then still an exact number of JavaScript. */
export const MAX_SAMPLE_REGIONS = 255;
const SERVICES = 2 ** 29;

/** The series of a service in a region, by the number of the region; 0: the samples without a region. */
export function seriesOf(serviceId: number, regionNumber: number): number {
  return serviceId + regionNumber * SERVICES;
}

export function serviceOf(series: number): number {
  return series % SERVICES;
}

/** The number of the region of a series; 0: none. */
export function regionNumberOf(series: number): number {
  return Math.floor(series / SERVICES);
}

/** Numbers regions, from 1 in the order of `known` and then of their first use. */
export function createRegionNumbers(known: readonly string[]) {
  const numbers = new Map(known.map((region, index) => [region, index + 1]));
  let unsent: string[] = [];
  return {
    /** The number of a region; 0: there are already {@link MAX_SAMPLE_REGIONS}, so that its samples have no region. */
    numberOf(region: string): number {
      const found = numbers.get(region);
      if (found !== undefined) return found;
      if (numbers.size >= MAX_SAMPLE_REGIONS) return 0;
      unsent.push(region);
      numbers.set(region, numbers.size + 1);
      return numbers.size;
    },
    /** The regions that were numbered since the last call, in the order of their numbers. */
    takeNew(): readonly string[] {
      const names = unsent;
      if (names.length > 0) unsent = [];
      return names;
    },
  };
}
