/** How many shards a node holds: an equal part of those of its region, and those that no other node takes. */
import type { Clock } from '../../clock.ts';
import { SHARDS } from '../../domain/shard.ts';

/** What a node knows of its region. */
export interface ShardSituation {
  /** Shards that this node holds. */
  readonly held: number;
  /** Live nodes that check services of the region, this one included. */
  readonly nodes: number;
  /** Shards that no node holds. */
  readonly waiting: number;
}

/** What a node does next: shards to claim at most, and shards to hand back. */
export interface ShardMove {
  readonly claim: number;
  readonly handBack: number;
}

/**
 * Shards that wait for longer are taken beyond the equal part, milliseconds: a listed node may be unable to take them. The
 * lock of a killed node expires earlier than its registration.
 */
const LEFT_OVER_MS = 4_000;
/** A node keeps such shards for this time before it offers them again, unless nodes come or go, milliseconds. */
const KEEP_LEFT_OVER_MS = 30_000;

/** The equal part of a node among `nodes`. */
export function fairShare(nodes: number): number {
  return Math.ceil(SHARDS / Math.max(1, nodes));
}

/** Creates the rule, which remembers since when shards wait. */
export function createShardBalance(
  clock: Pick<Clock, 'monotonic'>,
): (situation: ShardSituation) => ShardMove {
  let knownNodes = 0;
  let waitingSince: number | null = null;
  let handBackFrom = Number.NEGATIVE_INFINITY;
  return ({ held, nodes, waiting }) => {
    const now = clock.monotonic();
    if (nodes !== knownNodes) handBackFrom = now;
    knownNodes = nodes;
    waitingSince = waiting === 0 ? null : (waitingSince ?? now);
    const share = fairShare(nodes);
    if (waitingSince !== null && now - waitingSince >= LEFT_OVER_MS) {
      if (waiting > share - held) handBackFrom = now + KEEP_LEFT_OVER_MS;
      return { claim: waiting, handBack: 0 };
    }
    return {
      claim: Math.max(0, Math.min(waiting, share - held)),
      handBack: now >= handBackFrom ? Math.max(0, held - share) : 0,
    };
  };
}
