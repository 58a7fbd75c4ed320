/** This process as a node. In a cluster it registers itself in Redis; outside of a cluster it is the only node. */
import { hostname } from 'node:os';
import type { Clock } from '../clock.ts';
import type { ClusterNodes } from '../cluster/nodes.ts';
import { type Config, isClustered } from '../config/resolve-config.ts';
import { type NodeReport, type NodeState, nodeNameOf } from '../domain/node.ts';
import { readRedisAddress } from '../domain/store-address.ts';
import type { Log } from '../log.ts';
import { identityOf, isRunning } from '../store/lease/writer-lease.ts';
import { VERSION } from '../version.ts';

export interface NodeWork extends Omit<NodeReport, 'checksPerSecond'> {
  /** Number of checks completed since the start. */
  readonly checksDone: number;
}

/** The work of a process that makes no checks. */
export const NO_WORK: NodeWork = {
  ...{ services: 0, checksDone: 0, online: true, offlineSince: null, reachesRegistry: true },
};

/** This process among the nodes. */
export interface ThisNode
  extends Pick<
    ClusterNodes,
    'begin' | 'withdraw' | 'nodes' | 'hasProcess' | 'clockOffsetMs' | 'isComplete' | 'watch' | 'leave'
  > {
  readonly name: string;
  readonly region: string;
  readonly roles: Config['node']['roles'];
}

/** Options of {@link joinNodes}. */
export interface NodeParts {
  readonly config: Config;
  readonly work: () => NodeWork;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the program after a fatal fault. */
  readonly fail: (what: string) => (error: Error) => void;
}

/** The rate of checks is an average over the first time, sampled at the second, milliseconds. */
const RATE_SPAN_MS = 10_000;
const RATE_STEP_MS = 1_000;

/** The name of this process: `node.name`, or that of its host. */
function nodeName({ node }: Config): string {
  return node.name ?? nodeNameOf(hostname());
}

/** Registers this process if it is part of a cluster. Rejects with the code `node_name_taken`. */
export async function joinNodes({ config, work, clock, log, fail }: NodeParts): Promise<ThisNode> {
  const { region, roles } = config.node;
  const name = nodeName(config);
  const { pid } = process;
  const self = { name, region, roles, version: VERSION, host: hostname(), pid };
  const report = createReport(work, clock);
  const { url } = config.storage.redis;
  const address = url === null ? null : readRedisAddress(url);
  if (!isClustered(config) || address === null) {
    const startedAt = clock.now();
    const own = (): NodeState => ({
      ...{ ...self, ...report() },
      ...{ since: startedAt, lastSeen: clock.now(), clockOffsetMs: 0 },
    });
    return {
      ...{ name, region, roles },
      begin() {},
      async withdraw() {},
      nodes: () => [own()],
      hasProcess: () => null,
      clockOffsetMs: () => 0,
      isComplete: () => true,
      watch: () => () => {},
      async leave() {},
    };
  }
  const { ClusterNodes } = await import('../cluster/nodes.ts');
  const identity = identityOf(pid);
  return await ClusterNodes.join({
    address,
    self: { ...self, process: identity },
    report,
    isRunning: ({ pid: other, process: its }) =>
      isOfThisMachine(its, identity) ? isRunning(other) && identityOf(other) === its : null,
    onNameTaken: fail('the name of this node was taken while it was away'),
    clock,
    log,
  });
}

/** Returns true if two processes run in the same boot of one machine, and in the same namespace of process IDs. */
function isOfThisMachine(identity: string | null, own: string | null): boolean {
  const machineOf = (text: string) => text.split(' ', 2).join(' ');
  return identity !== null && own !== null && machineOf(identity) === machineOf(own);
}

/** Adds the rate of checks of the last ten seconds. */
function createReport(work: () => NodeWork, { monotonic }: Clock): () => NodeReport {
  let counts = [{ atMs: monotonic(), done: 0 }];
  return () => {
    const { checksDone, ...rest } = work();
    const nowMs = monotonic();
    const start = Math.max(
      0,
      counts.findLastIndex(({ atMs }) => nowMs - atMs >= RATE_SPAN_MS),
    );
    const first = counts[start] ?? { atMs: nowMs, done: checksDone };
    if (nowMs - (counts.at(-1)?.atMs ?? 0) >= RATE_STEP_MS)
      counts = [...counts.slice(start), { atMs: nowMs, done: checksDone }];
    const seconds = (nowMs - first.atMs) / 1_000;
    // When a role ends, the count starts from zero again.
    const rate = seconds === 0 ? 0 : Math.max(0, checksDone - first.done) / seconds;
    return { ...rest, checksPerSecond: Math.round(rate * 100) / 100 };
  };
}
