/** What the monitor of a cluster does beside its record: it hands out the shards, and takes in the results of the nodes. */
import { type ResultReaderStats, startResultReader } from '../cluster/results/result-reader.ts';
import { keepShards, type ShardKeeper } from '../cluster/shards/keep-shards.ts';
import { regionsOf } from '../domain/node.ts';
import { readRedisAddress } from '../domain/redis-address.ts';
import type { ResultRecord } from '../record/record.ts';
import type { WriterLease } from '../store/registry/writer-lease.ts';
import type { ThisNode } from './join-nodes.ts';
import type { StoreParts } from './open-stores.ts';

/** The monitor's part of a cluster. */
export interface Judging {
  /** The shards of each region by their state. */
  readonly shards: ShardKeeper['counts'];
  results(): ResultReaderStats;
  /** Results that the record has not committed are delivered again. */
  stop(): Promise<void>;
}

/** Starts it, while the lease is held. Throws if Redis is not configured. */
export function startJudging(
  { config, node, clock, log }: Pick<StoreParts, 'config' | 'clock' | 'log'> & { readonly node: ThisNode },
  record: Pick<ResultRecord, 'takeRuled'>,
  lease: WriterLease,
): Judging {
  const address = readRedisAddress(config.storage.redis.url ?? '');
  if (address === null) throw new Error('storage.redis.url has no known form');
  const reader = startResultReader({
    address,
    take: record.takeRuled,
    isFresh: lease.isFresh,
    clock,
    log,
  });
  const keeper = keepShards({
    address,
    regions: () => regionsOf(node.nodes()).map(({ region }) => region),
    lease,
    clock,
    log,
  });
  return {
    shards: keeper.counts,
    results: reader.stats,
    async stop() {
      await Promise.all([reader.stop(), keeper.stop()]);
    },
  };
}
