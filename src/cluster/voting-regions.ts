/** The regions whose verdicts count towards the quorum (design, Places). */
import type { Clock } from '../clock.ts';
import { type NodeState, regionsOf } from '../domain/node.ts';

export interface VotingRegions {
  /**
   * Names of the regions, in order. `intervalMs`: a shorter interval of a service, for which regions without a live node lose their
   * vote earlier; default: the setting. A longer one lets them keep it no longer, because a node that restarts is back within minutes.
   */
  voting(intervalMs?: number): readonly string[];
  /** Stops watching the nodes. */
  close(): void;
}

/** A region without a live node keeps its vote for this many intervals: a node that restarts misses one check. */
const INTERVALS_WITHOUT_NODE = 2;

/**
 * Watches the regions. A region has a vote while one of its probing nodes is online, and for two intervals after its
 * last node has left, if that node was online.
 */
export function createVotingRegions({
  nodes,
  watch,
  former,
  intervalMs,
  clock,
}: {
  /** All live nodes. */
  readonly nodes: () => readonly NodeState[];
  /** Calls its listener when nodes were added, were removed, or changed their connection. */
  readonly watch: (listener: () => void) => () => void;
  /** Regions that had a vote under the previous judge. They keep it for two intervals without a live node. */
  readonly former: readonly string[];
  /** The setting `checks.interval`, milliseconds. */
  readonly intervalMs: number;
  readonly clock: Clock;
}): VotingRegions {
  const known = new Map<string, { readonly online: boolean; readonly seenMs: number }>();

  function look(): void {
    const nowMs = clock.monotonic();
    for (const { region, online } of regionsOf(nodes())) known.set(region, { online, seenMs: nowMs });
    for (const [region, { seenMs }] of known)
      if (nowMs - seenMs > INTERVALS_WITHOUT_NODE * intervalMs) known.delete(region);
  }

  // Nodes that start together with the judge are not live yet. Without their regions, the first one would decide alone.
  const startMs = clock.monotonic();
  for (const region of former) known.set(region, { online: true, seenMs: startMs });
  look();
  const close = watch(look);
  return {
    voting(ofServiceMs = intervalMs) {
      look();
      const sinceMs = clock.monotonic() - INTERVALS_WITHOUT_NODE * Math.min(ofServiceMs, intervalMs);
      return [...known]
        .flatMap(([region, { online, seenMs }]) => (online && seenMs >= sinceMs ? [region] : []))
        .sort();
    },
    close,
  };
}
