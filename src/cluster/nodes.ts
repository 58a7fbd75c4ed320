/**
 * The live nodes of a cluster. Each process registers itself in Redis every second under a unique name, and is removed
 * after six seconds without a renewal. Redis may be emptied or unavailable at any time; this process then keeps the
 * last known nodes until Redis lists the live ones again.
 */
import { randomUUID } from 'node:crypto';
import { createListeners } from '../async/listeners.ts';
import type { Clock } from '../clock.ts';
import { describeClockOffset, type NodeReport, type NodeState } from '../domain/node.ts';
import type { LeaseHolder } from '../store/ports/lease.ts';
import { type RedisClient, runScript } from '../store/status/redis-client.ts';
import {
  openRedisConnection,
  type RedisConnection,
  type RedisConnectionState,
  type RedisContext,
  type RedisPart,
} from '../store/status/redis-connection.ts';
import { createLiveNodes, type LiveNodes, listedNodes } from './live-nodes.ts';
import {
  createNameClaim,
  formatNode,
  type IsRunning,
  type NameClaim,
  type NodeNameTaken,
  type NodeRecord,
  nodeKeys,
  READ,
  RENEW,
  TAKEN,
} from './node-record.ts';

/** The constant properties of a process. */
type NodeIdentity = Pick<NodeRecord, 'name' | 'region' | 'roles' | 'version' | 'host' | 'pid' | 'process'>;

export interface NodeOptions extends RedisContext {
  readonly self: NodeIdentity;
  readonly report: () => NodeReport;
  /** Default: never known. */
  readonly isRunning?: IsRunning;
  /** Called once, if another process took the name while this one was disconnected. */
  readonly onNameTaken: (error: NodeNameTaken) => void;
}

const TIMEOUT_MS = 1_000;
/** The time for which a start waits for Redis, milliseconds. */
const START_TIMEOUT_MS = 2_000;
/** Interval at which a start checks whether the holder of its name is alive, milliseconds. */
const LOOK_MS = 200;
/** Only every second renewal reads the other nodes, to reduce the load of a large cluster on Redis. */
const RENEWALS_PER_LIST = 2;
/** All live nodes have registered in an emptied Redis after this time, milliseconds: they renew every second. */
const REGISTRATION_TIMEOUT_MS = 3_000;

/** The nodes of the cluster, of which this process is one. */
export class ClusterNodes implements RedisPart {
  readonly name: string;
  readonly region: string;
  readonly roles: NodeIdentity['roles'];
  readonly #self: NodeIdentity;
  readonly #report: () => NodeReport;
  readonly #onNameTaken: (error: NodeNameTaken) => void;
  readonly #clock: NodeOptions['clock'];
  readonly #log: NodeOptions['log'];
  readonly #records: string;
  readonly #seen: string;
  readonly #instance = randomUUID();
  readonly #startedMs: number;
  readonly #offset: ClockOffset;
  readonly #claim: NameClaim;
  readonly #others: LiveNodes;
  readonly #listeners: ReturnType<typeof createListeners>;
  #standing: 'joining' | 'joined' | 'left' = 'joining';
  /** True if the other nodes count this one: it has started, and is not stopping. */
  #counts = false;
  #registered = false;
  #isComplete = false;
  #renewing = false;
  #renewals = 0;
  #refusal: NodeNameTaken | null = null;
  #announced = '';
  #clockProblem: string | null = null;
  readonly #connection: RedisConnection;
  /** Calls `listener` when a node was added, was removed or changed its connection; the returned function removes the listener. */
  readonly watch: (listener: () => void) => () => void;
  readonly state: () => RedisConnectionState;
  readonly close: () => void;
  /** All live nodes by name, this one included. */
  readonly nodes = (): NodeState[] =>
    [this.#ownState(), ...this.#others.all()].sort((a, b) => (a.name < b.name ? -1 : 1));
  /** Returns true if the node of a process is registered, started or not; null: not known, because Redis is unavailable. */
  readonly hasProcess = (process: LeaseHolder): boolean | null =>
    this.#connection.ready ? this.#others.has(process) : null;
  /** The wall clock of this process minus Redis' clock, milliseconds; 0 before Redis has answered. */
  readonly clockOffsetMs = (): number => this.#offset.ms;
  /**
   * Returns true if all live nodes are known: false after a start on a Redis that was emptied or unavailable just before,
   * until they have had time to register again. It stays true afterwards, since nodes are remembered during later outages.
   */
  readonly isComplete = (): boolean => this.#isComplete;

  constructor(options: NodeOptions) {
    const { address, self, isRunning = () => null, clock, log } = options;
    this.#self = self;
    this.name = self.name;
    this.region = self.region;
    this.roles = self.roles;
    this.#report = options.report;
    this.#onNameTaken = options.onNameTaken;
    this.#clock = clock;
    this.#log = log;
    const { records, seen } = nodeKeys(address.prefix);
    this.#records = records;
    this.#seen = seen;
    this.#startedMs = clock.monotonic();
    this.#offset = createClockOffset(clock);
    this.#claim = createNameClaim(self.name, isRunning);
    this.#others = createLiveNodes(self.name, clock);
    this.#listeners = createListeners<[]>((error) => log.error({ error }, 'a listener of nodes failed'));
    this.#connection = openRedisConnection({
      address,
      purpose: 'nodes',
      timeoutMs: TIMEOUT_MS,
      prepare: async (client) => {
        // The offset is then known when the first record is written, so its times are those of Redis' clock.
        const measured = this.#offset.measure();
        const [now = ''] = textsOf(await runScript(client, READ, [records, seen], []));
        measured(Number(now));
        await this.#renew(client);
      },
      probe: (client) => this.#renew(client),
      clock,
      log,
    });
    this.watch = this.#listeners.add;
    this.state = this.#connection.state;
    this.close = this.#connection.close;
  }

  /**
   * Registers this process. Rejects with {@link NodeNameTaken} if another live process has its name. If Redis does not
   * respond, the process is registered as soon as it does.
   */
  static async join(options: NodeOptions): Promise<ClusterNodes> {
    const joining = new ClusterNodes(options);
    await joining.#join();
    return joining;
  }

  /** Makes the other nodes count this one. Until this call, it only reserves its name. */
  begin(): void {
    this.#counts = true;
    if (this.#connection.ready) this.#connection.run((client) => this.#renew(client)).catch(() => {});
  }

  /** Makes the other nodes count this one no longer, because it is stopping. Its name stays taken until {@link leave}. */
  async withdraw(): Promise<void> {
    this.#counts = false;
    await this.#write(this.#ownRecord());
  }

  /** Deregisters this node and closes the connection. */
  async leave(): Promise<void> {
    this.#standing = 'left';
    await this.#write(null);
    this.#listeners.clear();
    this.#connection.close();
  }

  #ownState(): NodeState {
    const { process: _, ...identity } = this.#self;
    const { offlineSince, ...work } = this.#report();
    const now = this.#clock.now() - this.#offset.ms;
    return {
      ...identity,
      since: Math.round(now - (this.#clock.monotonic() - this.#startedMs)),
      lastSeen: now,
      ...work,
      offlineSince: offlineSince === null ? null : offlineSince - this.#offset.ms,
      clockOffsetMs: this.#offset.ms,
    };
  }

  #ownRecord(): NodeRecord {
    const { lastSeen: _, ...state } = this.#ownState();
    return { ...state, process: this.#self.process, starting: !this.#counts };
  }

  /** Renews the registration of this node, and reads the others. */
  async #renew(client: RedisClient): Promise<void> {
    if (this.#renewing || this.#standing === 'left') return;
    this.#renewing = true;
    try {
      const lists = !this.#registered || !this.#isComplete || this.#renewals % RENEWALS_PER_LIST === 0;
      const value = formatNode({ instance: this.#instance, record: this.#ownRecord() });
      const measured = this.#offset.measure();
      const [outcome, now = '', ...rest] = await this.#run(client, [
        this.#self.name,
        value,
        this.#claim.replaces,
        lists ? 1 : 0,
      ]);
      measured(Number(now));
      this.#noteClock();
      this.#registered = outcome !== TAKEN;
      if (!this.#registered) return this.#noteHolder(rest[0] ?? '', rest[1] ?? '');
      this.#claim.noteHeld();
      this.#renewals += 1;
      if (!lists) return;
      const [ageMs, ...list] = rest;
      this.#others.take(listedNodes(list), Number(now));
      this.#isComplete ||= Number(ageMs) >= REGISTRATION_TIMEOUT_MS;
      this.#announce();
    } finally {
      this.#renewing = false;
    }
  }

  async #run(client: RedisClient, args: readonly (string | number)[]): Promise<string[]> {
    return textsOf(await runScript(client, RENEW, [this.#records, this.#seen], args));
  }

  /** Replaces the record of this node, if it is registered; null: the node has left. */
  async #write(record: NodeRecord | null): Promise<void> {
    if (!this.#registered) return;
    const value = formatNode({ instance: this.#instance, record });
    await this.#connection
      .run((client) => this.#run(client, [this.#self.name, value, '', 0]))
      .catch(() => {});
  }

  #noteHolder(value: string, seenAt: string): void {
    if (this.#refusal !== null) return;
    this.#refusal = this.#claim.noteHolder(value, seenAt);
    if (this.#refusal !== null && this.#standing === 'joined') this.#onNameTaken(this.#refusal);
  }

  #noteClock(): void {
    const problem = describeClockOffset(this.#offset.ms);
    const offsetMs = this.#offset.ms;
    if (problem !== null && this.#clockProblem === null)
      this.#log.warn({ offsetMs }, `the clock of this machine is ${problem}; synchronize both by NTP`);
    if (problem === null && this.#clockProblem !== null)
      this.#log.info({ offsetMs }, "the clock of this machine agrees with Redis' clock again");
    this.#clockProblem = problem;
  }

  #announce(): void {
    const text = JSON.stringify(
      this.nodes().map(({ name, region, roles, online }) => [name, region, roles, online]),
    );
    if (text === this.#announced) return;
    this.#announced = text;
    this.#listeners.notify();
  }

  async #join(): Promise<void> {
    const connection = this.#connection;
    await Promise.race([
      new Promise<void>((resolve) => connection.watchReady(resolve)),
      this.#sleep(START_TIMEOUT_MS),
    ]);
    while (connection.ready && !this.#registered && this.#refusal === null) {
      await this.#sleep(LOOK_MS);
      await connection.run((client) => this.#renew(client)).catch(() => {});
    }
    if (this.#refusal !== null) {
      connection.close();
      throw this.#refusal;
    }
    if (!this.#registered) this.#log.warn({}, 'Redis does not respond; this node is registered when it does');
    this.#standing = 'joined';
  }

  #sleep(ms: number) {
    return new Promise<void>((resolve) => this.#clock.after(ms, resolve));
  }
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
  return {
    nodes: live.all().toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    redisAt: Number(now),
  };
}

function textsOf(answer: unknown): string[] {
  return Array.isArray(answer) ? answer.map(String) : [];
}

/** The estimate, which follows changes of both clocks. */
interface ClockOffset {
  /** This process' wall clock minus Redis' clock, milliseconds; 0 before the first answer. */
  readonly ms: number;
  /** Begins a round trip. Call the returned function with Redis' time (epoch milliseconds) when the response arrives. */
  measure(): (redisAt: number) => void;
}

/** A measurement. Redis read its clock at an unknown time during the round trip. */
interface Measurement {
  readonly offsetMs: number;
  /** Maximum error of `offsetMs`: half of the round trip. */
  readonly errorMs: number;
  /** Time of the measurement, monotonic milliseconds. */
  readonly madeMs: number;
}

/** After this time a measurement is replaced even by a less exact one, because clocks drift. */
const MAX_AGE_MS = 60_000;
/** Rounding error, milliseconds: both clocks are read in whole milliseconds. */
const ROUNDING_MS = 1;

/**
 * Creates an estimate without measurements. It keeps the measurement with the shortest round trip until a newer one contradicts it.
 */
export function createClockOffset(clock: Clock): ClockOffset {
  let kept: Measurement | null = null;

  function isBetter(next: Measurement): boolean {
    if (kept === null || next.errorMs <= kept.errorMs || next.madeMs - kept.madeMs > MAX_AGE_MS) return true;
    // A clock was set, or another server has become the master.
    return Math.abs(next.offsetMs - kept.offsetMs) > next.errorMs + kept.errorMs + ROUNDING_MS;
  }

  return {
    get ms() {
      return Math.round(kept?.offsetMs ?? 0);
    },
    measure() {
      const sentMs = clock.monotonic();
      return (redisAt) => {
        const madeMs = clock.monotonic();
        const errorMs = (madeMs - sentMs) / 2;
        const measured = { offsetMs: clock.now() - errorMs - redisAt, errorMs, madeMs };
        if (isBetter(measured)) kept = measured;
      };
    },
  };
}
