/** Decides how many shards a node holds: an equal share of its region, plus the shards that no other node takes. */
import type { Clock } from '../../clock.ts';
import { SHARDS } from '../../domain/shard.ts';

/** The state of a region as a node sees it. */
export interface ShardSituation {
  /** Number of shards that this node holds. */
  readonly held: number;
  /** Number of live nodes among which the shards of the region are divided. */
  readonly nodes: number;
  /** False: this node is not among them, because it does not reach the registry and others do. */
  readonly isHolder: boolean;
  /** False: this node does not reach the registry. */
  readonly reachesRegistry: boolean;
  /** Number of shards that no node holds. */
  readonly waiting: number;
}

/** The next step of a node: the maximum number of shards to claim, and the number of shards to release. */
export interface ShardMove {
  readonly claim: number;
  readonly handBack: number;
}

/**
 * Shards that wait longer than this, milliseconds, are claimed beyond the equal share, because a listed node may be
 * unable to claim them. The lock of a killed node expires earlier than its registration.
 */
const LEFT_OVER_MS = 4_000;
/** A node holds such extra shards for this time before it releases them, unless nodes join or leave, milliseconds. */
const KEEP_LEFT_OVER_MS = 30_000;

/**
 * A node that alone does not reach the registry releases its shards after this time, milliseconds. Nodes notice a fault
 * of PostgreSQL, and its end, within a few seconds of each other, and no shard moves because of that.
 */
const MAX_CUT_OFF_MS = 8_000;

/** The equal share of a node among `nodes`. */
export function fairShare(nodes: number): number {
  return Math.ceil(SHARDS / Math.max(1, nodes));
}

/** Creates the rule. It remembers since when shards have been waiting, and since when this node has been cut off. */
export function createShardBalance(clock: Clock): (situation: ShardSituation) => ShardMove {
  let knownNodes = 0;
  let waitingSince: number | null = null;
  let handBackFrom = Number.NEGATIVE_INFINITY;
  let cutOffSince: number | null = null;
  return ({ held, nodes, isHolder, reachesRegistry, waiting }) => {
    const now = clock.monotonic();
    cutOffSince = isHolder ? null : (cutOffSince ?? now);
    if (cutOffSince !== null) return { claim: 0, handBack: now - cutOffSince >= MAX_CUT_OFF_MS ? held : 0 };
    if (nodes !== knownNodes) handBackFrom = now;
    knownNodes = nodes;
    waitingSince = waiting === 0 ? null : (waitingSince ?? now);
    const share = fairShare(nodes);
    if (waitingSince !== null && now - waitingSince >= LEFT_OVER_MS) {
      if (waiting > share - held) handBackFrom = now + KEEP_LEFT_OVER_MS;
      return { claim: waiting, handBack: 0 };
    }
    // No node reaches the registry, so none could load the services of shards that this one releases.
    const mayHandBack = reachesRegistry && now >= handBackFrom;
    return {
      claim: Math.max(0, Math.min(waiting, share - held)),
      handBack: mayHandBack ? Math.max(0, held - share) : 0,
    };
  };
}
