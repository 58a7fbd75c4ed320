/** Shards: the parts of a region's services, each of which one node checks at a time. */

/** Shards of each region. More nodes than this in one region have nothing to check. */
export const SHARDS = 64;

/** The shard of a service, from 0 to {@link SHARDS} - 1. Ids are given in turn, so that all shards have as many services. */
export function shardOf(serviceId: number): number {
  return serviceId % SHARDS;
}

/**
 * The number of one claim of a shard. It is greater than those of all earlier claims of the shard, so that results of a
 * node that lost the shard are known as such.
 */
export interface ShardFence {
  /** Grows whenever a judge makes the jobs of a region anew; never repeated within one registry. */
  readonly generation: number;
  /** Number of the claim within the generation, from 1. */
  readonly claim: number;
}
