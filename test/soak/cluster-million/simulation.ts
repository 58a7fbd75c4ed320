/** What the trial and its simulated nodes agree on. */

/** The regions; each has one simulated node. */
export const REGIONS = ['asia', 'eu', 'us'] as const;

/** Whether the service fails in all regions from its first check on: one of a thousand. */
export function isFailing(serviceId: number): boolean {
  return serviceId % 1_000 === 7;
}

/** What a simulated node tells once it has loaded its services, and again once its results are sent. */
export interface SimulatedReport {
  readonly services: number;
  readonly shards: number;
  /** Time from the claim of the shards until their services were loaded, seconds. */
  readonly loadedS: number;
  /** CPU time of the process, seconds. */
  readonly cpuS: number;
  readonly memoryBytes: number;
  readonly sent: number;
  readonly dropped: number;
  readonly refused: number;
}
