/** The other live nodes, as the lists from Redis show them, also while Redis is away or was emptied. */
import type { Clock } from '../clock.ts';
import type { NodeState } from '../domain/node.ts';
import { NODE_LIFE_MS } from './node-keys.ts';
import { parseNode } from './node-record.ts';

/** An entry of a list: a node's value and its last renewal, epoch milliseconds by Redis' clock. */
export interface ListedNode {
  readonly name: string;
  readonly value: string;
  readonly seenAt: number;
}

/** The other live nodes. */
export interface LiveNodes {
  /** Takes a list of all nodes, which Redis made at `redisAt`, epoch milliseconds. */
  take(list: readonly ListedNode[], redisAt: number): void;
  /** In no order. */
  all(): readonly NodeState[];
}

interface KnownNode {
  readonly state: NodeState;
  /** When it is gone unless a list shows it again, monotonic milliseconds. */
  readonly untilMs: number;
}

/** Makes an empty set. `selfName`: the node that is left out. */
export function createLiveNodes(selfName: string, { monotonic }: Pick<Clock, 'monotonic'>): LiveNodes {
  const known = new Map<string, KnownNode>();
  let listedMs = monotonic();

  return {
    take(list, redisAt) {
      const nowMs = monotonic();
      // Redis was away, or this process stood still: all nodes get the time to register themselves again.
      if (nowMs - listedMs > NODE_LIFE_MS)
        for (const [name, node] of known) known.set(name, { ...node, untilMs: nowMs + NODE_LIFE_MS });
      listedMs = nowMs;
      for (const { name, value, seenAt } of list) {
        if (name === selfName) continue;
        const { record } = parseNode(name, value);
        if (record === null || record.starting) {
          known.delete(name);
          continue;
        }
        const { process: _, starting: __, ...state } = record;
        const untilMs = nowMs + NODE_LIFE_MS - Math.max(0, redisAt - seenAt);
        known.set(name, { state: { ...state, lastSeen: seenAt }, untilMs });
      }
      for (const [name, { untilMs }] of known) if (untilMs < nowMs) known.delete(name);
    },
    all: () => [...known.values()].map(({ state }) => state),
  };
}

/** The entries of a flat list of names, values and times, as the scripts return it. */
export function listedNodes(flat: readonly string[]): ListedNode[] {
  return Array.from({ length: Math.floor(flat.length / 3) }, (_, index) => {
    const [name = '', value = '', seen = ''] = flat.slice(index * 3, index * 3 + 3);
    return { name, value, seenAt: Number(seen) };
  });
}
