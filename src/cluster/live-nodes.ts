/** Tracks the other live nodes by the lists from Redis, even while Redis is unavailable or has been emptied, and detects a monitor that is cut off from it. */
import type { Clock } from '../clock.ts';
import type { NodeState } from '../domain/node.ts';
import type { LeaseHolder } from '../store/ports/lease.ts';
import { NODE_LIFE_MS, type NodeRecord, parseNode } from './node-record.ts';

/** An entry of a list: a node's value and its last renewal, epoch milliseconds by Redis' clock. */
export interface ListedNode {
  readonly name: string;
  readonly value: string;
  readonly seenAt: number;
}

export interface LiveNodes {
  /** Takes a list of all nodes, which Redis made at `redisAt`, epoch milliseconds. */
  take(list: readonly ListedNode[], redisAt: number): void;
  /** The nodes, in no particular order. Those that are starting or stopping are left out. */
  all(): readonly NodeState[];
  /** Returns true if the node of a process is live, or is starting or stopping. */
  has(process: LeaseHolder): boolean;
}

interface KnownNode {
  readonly record: NodeRecord;
  /** Epoch milliseconds by Redis' clock. */
  readonly seenAt: number;
  /** The node is removed at this time unless a list contains it again, monotonic milliseconds. */
  readonly untilMs: number;
}

/** Creates an empty set. `selfName`: name of the node that is left out. */
export function createLiveNodes(selfName: string, { monotonic }: Pick<Clock, 'monotonic'>): LiveNodes {
  const known = new Map<string, KnownNode>();
  let listedMs = monotonic();

  return {
    take(list, redisAt) {
      const nowMs = monotonic();
      // After an outage of Redis, or a suspension of this process, all nodes get time to register again.
      if (nowMs - listedMs > NODE_LIFE_MS)
        for (const [name, node] of known) known.set(name, { ...node, untilMs: nowMs + NODE_LIFE_MS });
      listedMs = nowMs;
      for (const { name, value, seenAt } of list) {
        if (name === selfName) continue;
        const { record } = parseNode(name, value);
        const untilMs = nowMs + NODE_LIFE_MS - Math.max(0, redisAt - seenAt);
        if (record === null) known.delete(name);
        else known.set(name, { record, seenAt, untilMs });
      }
      for (const [name, { untilMs }] of known) if (untilMs < nowMs) known.delete(name);
    },
    all: () => [...known.values()].filter(({ record }) => !record.starting).map(toState),
    has: ({ host, pid, process = null }) =>
      [...known.values()].some(({ record }) =>
        process === null || record.process === null
          ? record.host === host && record.pid === pid
          : record.process === process,
      ),
  };
}

function toState({ record, seenAt }: KnownNode): NodeState {
  const { process: _, starting: __, ...state } = record;
  return { ...state, lastSeen: seenAt };
}

/** Parses the flat list of names, values and times that the scripts return. */
export function listedNodes(flat: readonly string[]): ListedNode[] {
  return Array.from({ length: Math.floor(flat.length / 3) }, (_, index) => {
    const [name = '', value = '', seen = ''] = flat.slice(index * 3, index * 3 + 3);
    return { name, value, seenAt: Number(seen) };
  });
}

// Detects a monitor that renews its lease in PostgreSQL but is cut off from Redis. It receives no results and publishes no
// statuses, so a judge that reaches both servers must replace it.

export interface CutOffWatchOptions {
  /** Returns true if the node of a process is registered in Redis; null: not known, because Redis is unavailable. */
  readonly hasProcess: (process: LeaseHolder) => boolean | null;
  readonly clock: Clock;
}

/**
 * A monitor that was not registered for this time is replaced, milliseconds. It was removed 6 s after its last
 * registration; one that is only starting, or finds Redis emptied, registers within a second.
 */
const MAX_ABSENCE_MS = 4_000;
/** Observations that are further apart than this do not count as continuous, milliseconds. */
const MAX_GAP_MS = 2_000;

/** Creates the watch. The returned function is called several times a second with the present holder of the lease. */
export function createCutOffWatch({ hasProcess, clock }: CutOffWatchOptions) {
  let absent: { readonly holder: string; readonly sinceMs: number } | null = null;
  let lookedMs = clock.monotonic();
  /** Returns true if this process has reached Redis for {@link MAX_ABSENCE_MS} without seeing the holder there. */
  return (holder: LeaseHolder): boolean => {
    const nowMs = clock.monotonic();
    const identity = JSON.stringify([holder.host, holder.pid, holder.process]);
    const isContinued = absent?.holder === identity && nowMs - lookedMs <= MAX_GAP_MS;
    lookedMs = nowMs;
    if (hasProcess(holder) !== false) absent = null;
    else if (absent === null || !isContinued) absent = { holder: identity, sinceMs: nowMs };
    return absent !== null && nowMs - absent.sinceMs >= MAX_ABSENCE_MS;
  };
}
