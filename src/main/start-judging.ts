/** What the monitor of a cluster does beside its record: it hands out the shards, and takes in the results of the nodes. */
import { createRegionAsker } from '../cluster/asks.ts';
import { type ResultReaderStats, startResultReader } from '../cluster/results/result-reader.ts';
import { keepShards, type ShardKeeper } from '../cluster/shards/keep-shards.ts';
import { createVotingRegions } from '../cluster/voting-regions.ts';
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
  /** The regions that have a vote now, by name. */
  voting(): readonly string[];
  /** Asks the nodes of a region to check services now. */
  ask(region: string, serviceIds: readonly number[]): void;
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
  const { intervalMs } = config.checks;
  const regions = createVotingRegions({ nodes: node.nodes, watch: node.watch, intervalMs, clock });
  const asker = createRegionAsker({ address, clock, log });
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
    voting: regions.voting,
    ask: asker.ask,
    async stop() {
      regions.close();
      asker.stop();
      await Promise.all([reader.stop(), keeper.stop()]);
    },
  };
}
