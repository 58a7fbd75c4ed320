/** Disturbs the nodes of a cluster at random: kills, pauses, graceful stops, and starts again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeRole } from '../../../src/domain/node.ts';
import type { Cluster, ClusterNode } from '../../support/cluster.ts';

/** What happens to a node. `start`: it joins again after it was killed or stopped; `wake`: it continues after a pause. */
export type DisturbanceKind = 'kill' | 'pause' | 'stop' | 'start' | 'wake';

/** What a verdict needs to know of a node. */
export type NodeIdentity = Pick<ClusterNode, 'name' | 'region' | 'roles'>;

/** One disturbance. */
export interface Disturbance<Node extends NodeIdentity = NodeIdentity> {
  readonly kind: DisturbanceKind;
  readonly node: Node;
  /** The node was the monitor. */
  readonly wasMonitor: boolean;
  /** Beginning, monotonic milliseconds; of a start: when the process was ready. */
  readonly atMs: number;
}

/** Options of {@link disturbNodes}. */
export interface DisturbOptions {
  readonly cluster: Cluster;
  /** Returns numbers from 0 to 1. */
  readonly random: () => number;
  /** Number of kills. */
  readonly kills: number;
  /** Number of pauses of 60 s; other pauses take {@link SHORT_PAUSE_MS}. */
  readonly longPauses: number;
  /** Ends the trial early, monotonic milliseconds. */
  readonly deadlineMs: number;
  /** The node that is the monitor now; null: none is known. */
  readonly monitor: () => Promise<ClusterNode | null>;
  /** Receives each disturbance as it happens. */
  readonly onDisturbance: (disturbance: Disturbance<ClusterNode>) => void;
}

const TICK_MS = 250;
/** Time between two disturbances of probing nodes of a region: a takeover takes 15 s at most. */
const REGION_REST_MS = 16_000;
/** Time between two disturbances of judges: a takeover takes 5 s at most. */
const JUDGE_REST_MS = 5_500;
/** A node is left alone for this time after its start or its wake. */
const NODE_REST_MS = 4_000;
/** Longer than a claim of a shard and than the writer lease. */
const SHORT_PAUSE_MS = [9_000, 14_000] as const;
const LONG_PAUSE_MS = 60_000;
const MAX_AWAY_MS = 4_000;
/** A node whose turn it is holds its region and the other judges for this time at most. */
const MAX_HELD_MS = 3_000;
const PAUSE_PART = 0.06;
const STOP_PART = 0.08;

/**
 * Disturbs nodes until the number of kills is reached, and resolves when all nodes run again. A region keeps a running
 * node that makes checks, and the cluster a running judge; disturbances of a region, and of judges, do not overlap.
 */
export async function disturbNodes(options: DisturbOptions): Promise<void> {
  const { cluster, random, kills, longPauses, deadlineMs, monitor, onDisturbance } = options;
  /** When a region may be disturbed again, and when the judges may be. */
  const regionFreeMs = new Map<string, number>();
  let judgesFreeMs = 0;
  const nodeFreeMs = new Map<ClusterNode, number>();
  /** The nodes in the order in which it is their turn. */
  let turns: ClusterNode[] = shuffle(cluster.nodes);
  const away = new Set<Promise<void>>();
  let killed = 0;
  let longPaused = 0;

  function rest(node: ClusterNode): void {
    const nowMs = performance.now();
    if (node.roles.includes('probe')) regionFreeMs.set(node.region, nowMs + REGION_REST_MS);
    if (node.roles.includes('judge')) judgesFreeMs = nowMs + JUDGE_REST_MS;
    nodeFreeMs.set(node, nowMs + NODE_REST_MS);
  }

  function note(kind: DisturbanceKind, node: ClusterNode, wasMonitor = false): void {
    onDisturbance({ kind, node, wasMonitor, atMs: performance.now() });
  }

  /** Whether a running node of a role is left when this one is gone. */
  function isSpare(node: ClusterNode, role: NodeRole, isNear: (one: ClusterNode) => boolean): boolean {
    const others = cluster.nodes.filter(
      (one) => one !== node && one.state === 'running' && (nodeFreeMs.get(one) ?? 0) <= performance.now(),
    );
    return !node.roles.includes(role) || others.some((one) => one.roles.includes(role) && isNear(one));
  }

  function isFree(node: ClusterNode): boolean {
    const nowMs = performance.now();
    return (
      node.state === 'running' &&
      (nodeFreeMs.get(node) ?? 0) <= nowMs &&
      (!node.roles.includes('probe') || (regionFreeMs.get(node.region) ?? 0) <= nowMs) &&
      (!node.roles.includes('judge') || judgesFreeMs <= nowMs) &&
      isSpare(node, 'probe', ({ region }) => region === node.region) &&
      isSpare(node, 'judge', () => true)
    );
  }

  /**
   * The next node to disturb; undefined: none is free. A node whose turn it is, and that soon need not wait for its region
   * or for the other judges any more, holds both: else nodes with all roles would hardly ever be disturbed.
   */
  function nextNode(): ClusterNode | undefined {
    const held = new Set<string>();
    for (const node of turns) {
      const needs = node.roles.flatMap((role) =>
        role === 'probe' ? [node.region] : role === 'judge' ? ['judges'] : [],
      );
      if (isFree(node) && !needs.some((need) => held.has(need))) return node;
      const freeMs = Math.max(
        node.roles.includes('probe') ? (regionFreeMs.get(node.region) ?? 0) : 0,
        node.roles.includes('judge') ? judgesFreeMs : 0,
      );
      const isSoon = node.state === 'running' && freeMs - performance.now() < MAX_HELD_MS;
      if (isSoon) for (const need of needs) held.add(need);
    }
    return undefined;
  }

  function shuffle(nodes: readonly ClusterNode[]): ClusterNode[] {
    return nodes
      .map((node) => ({ node, place: random() }))
      .sort((a, b) => a.place - b.place)
      .map(({ node }) => node);
  }

  async function startAgain(node: ClusterNode): Promise<void> {
    await sleep(random() * MAX_AWAY_MS);
    await node.start();
    rest(node);
    note('start', node);
  }

  async function pause(node: ClusterNode, wasMonitor: boolean): Promise<void> {
    const [least, most] = SHORT_PAUSE_MS;
    const isLong = longPaused < longPauses && node.roles.includes('probe');
    if (isLong) longPaused += 1;
    const pauseMs = isLong ? LONG_PAUSE_MS : least + random() * (most - least);
    node.pause();
    note('pause', node, wasMonitor);
    // A region does not lose its last node meanwhile.
    if (node.roles.includes('probe')) regionFreeMs.set(node.region, Number.POSITIVE_INFINITY);
    await sleep(pauseMs);
    node.wake();
    rest(node);
    note('wake', node);
  }

  async function disturb(node: ClusterNode): Promise<void> {
    const judge = node.roles.includes('judge') ? await monitor() : null;
    const wasMonitor = judge === node;
    // A judge that is about to become the monitor cannot be told from others.
    const isUnclear = judge === null && node.roles.includes('judge');
    if (node.state !== 'running' || isUnclear) {
      nodeFreeMs.set(node, performance.now() + TICK_MS);
      return;
    }
    rest(node);
    const draw = random();
    if (draw < PAUSE_PART) return await pause(node, wasMonitor);
    if (draw < PAUSE_PART + STOP_PART) {
      note('stop', node, wasMonitor);
      const status = await node.stop();
      if (status !== 0) throw new Error(`${node.name} ended with status ${status}\n${node.program.output()}`);
    } else {
      killed += 1;
      note('kill', node, wasMonitor);
      await node.kill();
    }
    rest(node);
    await startAgain(node);
  }

  while (killed < kills && performance.now() < deadlineMs) {
    const node = nextNode();
    if (node !== undefined) {
      const others = turns.filter((one) => one !== node);
      turns = others.toSpliced(others.length - Math.floor(random() * 3), 0, node);
      nodeFreeMs.set(node, Number.POSITIVE_INFINITY);
      const work = disturb(node);
      away.add(work);
      // A fault of the trial itself ends it; the other nodes are awaited first.
      work.then(
        () => away.delete(work),
        () => {},
      );
    }
    await sleep(TICK_MS);
  }
  await Promise.all(away);
}
