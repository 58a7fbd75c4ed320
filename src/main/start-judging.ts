/** The judge's part in a cluster beside its record: it maintains the shard jobs, and receives the results of the nodes. */
import { createRecheckSender } from '../cluster/channels.ts';
import { ResultReader, type ResultReaderStats } from '../cluster/results/result-reader.ts';
import { maintainShards, type ShardMaintenance } from '../cluster/shards/shard-queue.ts';
import { createVotingRegions, type VotingRegions } from '../cluster/voting-regions.ts';
import { regionsOf } from '../domain/node.ts';
import { requireRedisAddress } from '../domain/store-address.ts';
import type { ResultRecord } from '../record/record.ts';
import type { WriterLease } from '../store/lease/writer-lease.ts';
import type { RoleParts } from './open-stores.ts';

/** The monitor's part in a cluster. */
export interface Judging {
  /** The shards of each region by state. */
  readonly shards: ShardMaintenance['counts'];
  /** Why shards cannot be handed out, one line; null: they are. */
  shardProblem(): string | null;
  results(): ResultReaderStats;
  /** The regions that have a vote now, by name. `intervalMs`: the interval of a service; default: the setting. */
  voting(intervalMs?: number): readonly string[];
  /** The regions that have a vote or a live node that makes checks, with whether they have a vote. */
  votes(): ReadonlyMap<string, boolean>;
  /** Requests that the nodes of a region re-check services now. */
  requestRechecks(region: string, serviceIds: readonly number[]): void;
  /** Stops. Results that the record has not committed are delivered again. */
  stop(): Promise<void>;
}

/** Watches the regions. `former`: those whose verdicts counted so far. */
export function watchRegions({ config, node, clock }: RoleParts, former: readonly string[]): VotingRegions {
  const { nodes, watch } = node;
  return createVotingRegions({ nodes, watch, former, intervalMs: config.checks.intervalMs, clock });
}

/** Starts the judge's part. The caller holds the lease. Throws if Redis is not configured. */
export function startJudging(
  { config, node, clock, log }: RoleParts,
  record: ResultRecord,
  lease: WriterLease,
  regions: VotingRegions,
): Judging {
  const address = requireRedisAddress(config.storage.redis.url);
  const probingRegions = () => regionsOf(node.nodes()).map(({ region }) => region);
  const recheckSender = createRecheckSender({ address, clock, log });
  const reader = new ResultReader({
    address,
    take: record.takeRuled,
    isFresh: lease.isFresh,
    // Without the regions of nodes that have not registered again in an emptied Redis, the quorum would be too small.
    mayBegin: node.isComplete,
    clock,
    log,
  });
  const shardJobs = maintainShards({
    address,
    regions: probingRegions,
    lease,
    clock,
    log,
  });
  return {
    shards: shardJobs.counts,
    shardProblem: shardJobs.problem,
    results: () => reader.stats(),
    voting: regions.voting,
    votes() {
      const voting = new Set(regions.voting());
      const known = new Set([...voting, ...probingRegions()]);
      return new Map([...known].sort().map((region) => [region, voting.has(region)] as const));
    },
    requestRechecks: recheckSender.send,
    async stop() {
      regions.close();
      recheckSender.stop();
      await Promise.all([reader.stop(), shardJobs.stop()]);
    },
  };
}
