/**
 * The live nodes of a cluster. Each process registers itself in Redis every second under a unique name, and is removed
 * after six seconds without a renewal. Redis may be emptied or unavailable at any time; this process then keeps the
 * last known nodes until Redis lists the live ones again.
 */
import { randomUUID } from 'node:crypto';
import { createListeners } from '../async/listeners.ts';
import { describeClockOffset, type NodeState } from '../domain/node.ts';
import type { LeaseHolder } from '../store/ports/lease.ts';
import { type RedisClient, runScript } from '../store/status/redis-client.ts';
import { openRedisConnection, type RedisContext, type RedisPart } from '../store/status/redis-connection.ts';
import { createClockOffset } from './clock-offset.ts';
import { createLiveNodes, listedNodes } from './live-nodes.ts';
import { createNameClaim, type IsRunning, type NodeNameTaken } from './name-claim.ts';
import { nodeKeys, READ, RENEW, TAKEN } from './node-keys.ts';
import { formatNode, type NodeRecord } from './node-record.ts';

/** The constant properties of a process. */
type NodeIdentity = Pick<NodeRecord, 'name' | 'region' | 'roles' | 'version' | 'host' | 'pid' | 'process'>;

/** The current state of a process. `offlineSince` is in epoch milliseconds of its own clock. */
export type NodeReport = Pick<
  NodeState,
  'services' | 'checksPerSecond' | 'online' | 'offlineSince' | 'reachesRegistry' | 'checksProblem'
>;

/** Options of a node. */
export interface NodeOptions extends RedisContext {
  readonly self: NodeIdentity;
  readonly report: () => NodeReport;
  /** Default: never known. */
  readonly isRunning?: IsRunning;
  /** Called once, if another process took the name while this one was disconnected. */
  readonly onNameTaken: (error: NodeNameTaken) => void;
}

/** The registration of this process, and the nodes that it sees. */
export interface ClusterNodes extends RedisPart {
  /** Makes the other nodes count this one. Until this call, it only reserves its name. */
  begin(): void;
  /**
   * Makes the other nodes count this one no longer, because it is stopping. Its name stays taken until {@link leave}.
   */
  withdraw(): Promise<void>;
  /** All live nodes by name, this one included. */
  nodes(): readonly NodeState[];
  /**
   * Whether the node of a process is registered, started or not; null: not known, because Redis is unavailable.
   */
  hasProcess(process: LeaseHolder): boolean | null;
  /** The wall clock of this process minus Redis' clock, milliseconds; 0 before Redis has answered. */
  clockOffsetMs(): number;
  /**
   * Whether all live nodes are known: false after a start on a Redis that was emptied or unavailable just before, until
   * they have had time to register again. It stays true afterwards, since nodes are remembered during later outages.
   */
  isComplete(): boolean;
  /**
   * Calls `listener` when a node was added, was removed or changed its connection; the returned function removes the
   * listener.
   */
  watch(listener: () => void): () => void;
  /** Deregisters this node and closes the connection. */
  leave(): Promise<void>;
}

const TIMEOUT_MS = 1_000;
/** How long a start waits for Redis, milliseconds. */
const START_TIMEOUT_MS = 2_000;
/** Interval at which a start checks whether the holder of its name is alive, milliseconds. */
const LOOK_MS = 200;
/** Only every second renewal reads the other nodes, to reduce the load of a large cluster on Redis. */
const RENEWALS_PER_LIST = 2;
/** All live nodes have registered in an emptied Redis after this time, milliseconds: they renew every second. */
const REGISTRATION_TIMEOUT_MS = 3_000;

/**
 * Registers this process. Rejects with {@link NodeNameTaken} if another live process has its name. If Redis does not
 * respond, the process is registered as soon as it does.
 */
export async function joinCluster(options: NodeOptions): Promise<ClusterNodes> {
  const { address, self, report, isRunning = () => null, onNameTaken, clock, log } = options;
  const { records, seen } = nodeKeys(address.prefix);
  const instance = randomUUID();
  const startedMs = clock.monotonic();
  const offset = createClockOffset(clock);
  const claim = createNameClaim(self.name, isRunning);
  const others = createLiveNodes(self.name, clock);
  const listeners = createListeners<[]>((error) => log.error({ error }, 'a listener of nodes failed'));
  let standing: 'joining' | 'joined' | 'left' = 'joining';
  /** Whether the other nodes count this one: it has started, and is not stopping. */
  let counts = false;
  let registered = false;
  let isComplete = false;
  let renewing = false;
  let renewals = 0;
  let refusal: NodeNameTaken | null = null;
  let announced = '';
  let clockProblem: string | null = null;

  function ownState(): NodeState {
    const { process: _, ...identity } = self;
    const { offlineSince, ...work } = report();
    const now = clock.now() - offset.ms;
    return {
      ...identity,
      since: Math.round(now - (clock.monotonic() - startedMs)),
      lastSeen: now,
      ...work,
      offlineSince: offlineSince === null ? null : offlineSince - offset.ms,
      clockOffsetMs: offset.ms,
    };
  }

  function ownRecord(): NodeRecord {
    const { lastSeen: _, ...state } = ownState();
    return { ...state, process: self.process, starting: !counts };
  }

  /** Renews the registration of this node, and reads the others. */
  async function renew(client: RedisClient): Promise<void> {
    if (renewing || standing === 'left') return;
    renewing = true;
    try {
      const lists = !registered || !isComplete || renewals % RENEWALS_PER_LIST === 0;
      const value = formatNode({ instance, record: ownRecord() });
      const measured = offset.measure();
      const [outcome, now = '', ...rest] = await run(client, [
        self.name,
        value,
        claim.replaces,
        lists ? 1 : 0,
      ]);
      measured(Number(now));
      noteClock();
      registered = outcome !== TAKEN;
      if (!registered) return noteHolder(rest[0] ?? '', rest[1] ?? '');
      claim.noteHeld();
      renewals += 1;
      if (!lists) return;
      const [ageMs, ...list] = rest;
      others.take(listedNodes(list), Number(now));
      isComplete ||= Number(ageMs) >= REGISTRATION_TIMEOUT_MS;
      announce();
    } finally {
      renewing = false;
    }
  }

  async function run(client: RedisClient, args: readonly (string | number)[]): Promise<string[]> {
    return textsOf(await runScript(client, RENEW, [records, seen], args));
  }

  /** Replaces the record of this node, if it is registered; null: the node has left. */
  async function write(record: NodeRecord | null): Promise<void> {
    if (!registered) return;
    const value = formatNode({ instance, record });
    await connection.run((client) => run(client, [self.name, value, '', 0])).catch(() => {});
  }

  function noteHolder(value: string, seenAt: string): void {
    if (refusal !== null) return;
    refusal = claim.noteHolder(value, seenAt);
    if (refusal !== null && standing === 'joined') onNameTaken(refusal);
  }

  function noteClock(): void {
    const problem = describeClockOffset(offset.ms);
    const offsetMs = offset.ms;
    if (problem !== null && clockProblem === null)
      log.warn({ offsetMs }, `the clock of this machine is ${problem}; synchronize both by NTP`);
    if (problem === null && clockProblem !== null)
      log.info({ offsetMs }, "the clock of this machine agrees with Redis' clock again");
    clockProblem = problem;
  }

  function nodes(): NodeState[] {
    return [ownState(), ...others.all()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  function announce(): void {
    const text = JSON.stringify(
      nodes().map(({ name, region, roles, online }) => [name, region, roles, online]),
    );
    if (text === announced) return;
    announced = text;
    listeners.notify();
  }

  const connection = openRedisConnection({
    address,
    purpose: 'nodes',
    timeoutMs: TIMEOUT_MS,
    async prepare(client) {
      // The offset is then known when the first record is written, so its times are those of Redis' clock.
      const measured = offset.measure();
      const [now = ''] = textsOf(await runScript(client, READ, [records, seen], []));
      measured(Number(now));
      await renew(client);
    },
    probe: renew,
    clock,
    log,
  });
  const sleep = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  await Promise.race([
    new Promise<void>((resolve) => connection.watchReady(resolve)),
    sleep(START_TIMEOUT_MS),
  ]);
  while (connection.ready && !registered && refusal === null) {
    await sleep(LOOK_MS);
    await connection.run(renew).catch(() => {});
  }
  if (refusal !== null) {
    connection.close();
    throw refusal;
  }
  if (!registered) log.warn({}, 'Redis does not respond; this node is registered when it does');
  standing = 'joined';

  return {
    begin() {
      counts = true;
      if (connection.ready) connection.run(renew).catch(() => {});
    },
    async withdraw() {
      counts = false;
      await write(ownRecord());
    },
    nodes,
    hasProcess: (process) => (connection.ready ? others.has(process) : null),
    clockOffsetMs: () => offset.ms,
    isComplete: () => isComplete,
    watch: listeners.add,
    async leave() {
      standing = 'left';
      await write(null);
      listeners.clear();
      connection.close();
    },
    state: connection.state,
    close: connection.close,
  };
}

/** Reads the live nodes without joining them; also returns Redis' time, epoch milliseconds. */
export async function readNodes(
  client: RedisClient,
  prefix: string,
): Promise<{ readonly nodes: readonly NodeState[]; readonly redisAt: number }> {
  const { records, seen } = nodeKeys(prefix);
  const [now, ...list] = textsOf(await runScript(client, READ, [records, seen], []));
  const live = createLiveNodes('', { monotonic: () => 0 });
  live.take(listedNodes(list), Number(now));
  return { nodes: live.all().toSorted((a, b) => (a.name < b.name ? -1 : 1)), redisAt: Number(now) };
}

function textsOf(answer: unknown): string[] {
  return Array.isArray(answer) ? answer.map(String) : [];
}
