/** Determines the role of this process, and promotes a waiting judge to the monitor when the previous monitor has ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { retry } from '../async/retry.ts';
import type { ShardCounts } from '../cluster/shards/shard-queue.ts';
import type { VotingRegions } from '../cluster/voting-regions.ts';
import { isClustered } from '../config/resolve-config.ts';
import { describePostgres, readPostgresAddress } from '../domain/store-address.ts';
import { errorCodeOf, messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { ResultFigures } from '../metrics/observe-cluster.ts';
import {
  acquireLease,
  createLeaseSight,
  type LeaseOptions,
  type WriterLease,
} from '../store/lease/writer-lease.ts';
import { type ActiveRole, createIdleRole, type Role } from './active-role.ts';
import { type FollowedServices, followServices } from './follow-services.ts';
import { NO_WORK, type NodeWork } from './join-nodes.ts';
import { type RoleParts, type SpooledSamples, sendSpooledSamples } from './open-stores.ts';
import { type MonitorRole, type StoodBy, startMonitor } from './start-monitor.ts';
import type { Probing } from './start-probing.ts';
import { type ServingRole, startServing } from './start-serving.ts';

/**
 * Starts the tasks that only the monitor may do beside its record, while `isOurs` returns true. Returns a function that stops them.
 */
type StartDeliveries = (isOurs: () => boolean) => () => Promise<void>;

/** Requests the lease. Rejects with the code `lease_held` if another process holds it. */
type AcquireLease = () => Promise<WriterLease>;

interface LeaseClaim {
  /** Resolves with the lease once no other process holds it. Never rejects, and never resolves after `withdraw`. */
  readonly lease: Promise<WriterLease>;
  /** Withdraws the request. A lease that is granted nevertheless is released. */
  withdraw(): Promise<void>;
}

const NO_SHARDS: ReadonlyMap<string, ShardCounts> = new Map();
const NO_VOTES: ReadonlyMap<string, boolean> = new Map();

/** Maximum time that a process that can serve waits for the lease before it serves, milliseconds. */
const FIRST_CLAIM_MS = 500;
const LEASE_RETRY_MS = 200;
/** The lease expires within 4 s without a renewal; a start is refused after 6 s. */
const LEASE_RETRIES = 30;

/** The roles of a process over its lifetime. */
export class RoleChanges {
  readonly #parts: RoleParts;
  readonly #role: ActiveRole;
  readonly #cutOff: Pick<LeaseOptions, 'isCutOff'>;
  readonly #judges: boolean;
  readonly #serves: boolean;
  readonly #place: string;
  readonly #sight: ReturnType<typeof createLeaseSight>;
  #monitor: MonitorRole | null = null;
  #held: WriterLease | null = null;
  #stopDeliveries = async () => {};
  #serving: ServingRole | null = null;
  #spooled: SpooledSamples | null = null;
  #services: FollowedServices | null = null;
  #regions: VotingRegions | null = null;
  #claim: LeaseClaim | null = null;
  #becoming: Promise<void> = Promise.resolve();
  #stopping = false;
  #probing: Probing | null = null;

  constructor(parts: RoleParts, role: ActiveRole, cutOff: Pick<LeaseOptions, 'isCutOff'>) {
    this.#parts = parts;
    this.#role = role;
    this.#cutOff = cutOff;
    const { config, clock } = parts;
    const { dataDir, postgres } = config.storage;
    this.#judges = config.node.roles.includes('judge');
    this.#serves = config.node.roles.includes('serve');
    const address = postgres.url === null ? null : readPostgresAddress(postgres.url);
    this.#place = address === null ? dataDir : describePostgres(address);
    this.#sight = createLeaseSight(clock);
  }

  /**
   * Without Redis only the monitor can serve: the process waits for another monitor to end and then fails. With Redis it
   * serves beside the monitor and takes over when the lease is free. In a cluster, `node.roles` decides: a process
   * without `judge` never requests the lease, and one without `serve` answers only requests about its own state.
   */
  static async start(parts: RoleParts, role: ActiveRole): Promise<RoleChanges> {
    const changes = new RoleChanges(parts, role, await watchCutOff(parts));
    await changes.#start();
    return changes;
  }

  /** Reports that the site is reachable. `startDeliveries` is called when this process is or becomes the monitor. */
  async begin(startDeliveries: StartDeliveries): Promise<void> {
    await this.#beginProbing();
    if (this.#monitor !== null && this.#held !== null) {
      await this.#monitor.begin();
      this.#stopDeliveries = startDeliveries(this.#held.isFresh);
      return;
    }
    this.#claim?.lease.then((lease) => {
      this.#becoming = this.#takeOver(lease, startDeliveries).catch(
        this.#parts.fail('taking over from the monitor has failed'),
      );
    });
  }

  /** The checks that this process makes itself. */
  work(): NodeWork {
    // Outside of a cluster the monitor makes all checks, and its connection is that of every process.
    const source = isClustered(this.#parts.config) ? this.#probing : this.#role;
    const reachesRegistry = this.#parts.shared.registry.health.problem()?.code !== 'storage_unreachable';
    if (source === null) return { ...NO_WORK, reachesRegistry };
    const { services, checksDone } = source.fleet.report();
    const { online, offlineSince } = source.prober();
    return { services, checksDone, online, offlineSince, reachesRegistry };
  }

  /** The probing part of this node; null: this node makes no checks, or there is no cluster and the monitor makes them. */
  probing(): Probing | null {
    return this.#probing;
  }

  /** The shards of a cluster by region, as the monitor knows them; empty in all other processes. */
  shards(): ReadonlyMap<string, ShardCounts> {
    return this.#monitor?.judging()?.shards() ?? NO_SHARDS;
  }

  /** Why shards are not handed out, or not held, so that services are not checked, one line; null: they are. */
  shardProblem(): string | null {
    return this.#probing?.shardProblem() ?? this.#monitor?.judging()?.shardProblem() ?? null;
  }

  /** Results on their way from nodes to the judge, as far as this process knows. */
  results(): ResultFigures {
    const sent = this.#probing?.results();
    const read = this.#monitor?.judging()?.results();
    const { backlog = 0, takeovers = 0 } = read ?? sent ?? {};
    const { dropped = 0, refused = 0, contradicted = 0 } = sent ?? {};
    return {
      ...{ backlog, takeovers, dropped, refused, contradicted },
      unreadable: read?.refusedEntries ?? 0,
      delayMs: read?.delayMs ?? 0,
    };
  }

  /** Returns true if each region has a vote; empty if this process is not the monitor of a cluster. */
  votes(): ReadonlyMap<string, boolean> {
    return this.#monitor?.judging()?.votes() ?? NO_VOTES;
  }

  /** The fence of the lease that this process holds; 0: it holds none. */
  fence(): number {
    return this.#held?.fence ?? 0;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#becoming;
    const delivered = this.#stopDeliveries();
    // The node stops first, because a judge in this process may still accept its results. Judgement goes on while
    // deliveries end, because the next judge cannot take over before.
    if (isClustered(this.#parts.config)) await Promise.all([this.#probing?.stop(), delivered]);
    await Promise.all([delivered, this.#monitor?.stop()]);
    // The next holder starts checks and deliveries at once.
    await this.#held?.release();
    await this.#serving?.stop();
    this.#services?.stop();
    this.#regions?.close();
    await this.#spooled?.stop();
    await this.#claim?.withdraw();
  }

  async #start(): Promise<void> {
    if (this.#parts.shared.redis === null) {
      // A killed holder may still be in the process list, and a stopping one may not have finished.
      const lease = await retry(() => this.#acquire(), {
        maxRetries: LEASE_RETRIES,
        pauseMs: LEASE_RETRY_MS,
        isTransient: isHeld,
        onFirstRetry: (error) =>
          this.#parts.log.info({ problem: messageOf(error) }, 'waiting for another process to end'),
      });
      await this.#become(lease);
    } else if (this.#judges) {
      this.#claim = claimLease(() => this.#acquire(), this.#parts.log);
      const lease = await Promise.race([this.#claim.lease, sleep(FIRST_CLAIM_MS, null, { ref: true })]);
      if (lease === null) {
        this.#role.take(await this.#startBeside('standby'));
        this.#parts.log.info(
          { registry: this.#place },
          `another process is the monitor; this process ${this.#serves ? 'serves' : 'stands by'}, and takes over when it ends`,
        );
      } else {
        await this.#become(lease);
      }
    } else {
      this.#role.take(await this.#startBeside('probing'));
    }
  }

  #acquire() {
    return acquireLease({
      sight: this.#sight,
      ...this.#cutOff,
      store: this.#parts.shared.registry,
      place: this.#place,
      clock: this.#parts.clock,
      log: this.#parts.log,
      onLost: this.#parts.fail('the lease of the registry was lost'),
    });
  }

  /** Starts the checks of this node, independently of its other roles in the cluster. */
  async #beginProbing(): Promise<void> {
    if (!isClustered(this.#parts.config) || !this.#parts.config.node.roles.includes('probe')) return;
    // BullMQ is loaded only in a cluster.
    const { startProbing } = await import('./start-probing.ts');
    this.#probing = await startProbing(this.#parts);
  }

  async #become(lease: WriterLease): Promise<void> {
    this.#held = lease;
    this.#monitor = await startMonitor(this.#parts, lease, await this.#spooled?.take(), this.#handOver());
    // Transitions continue from where the copy left off.
    await this.#serving?.catchUp();
    this.#role.take(this.#monitor);
  }

  /** Ends what this process follows as a judge of a cluster that stands by; null: it is none, or has just started. */
  #handOver(): StoodBy | null {
    if (this.#regions === null || this.#services === null) return null;
    return {
      lastChange: this.#services.stop(),
      regions: this.#regions,
      statuses: this.#serving?.handOver() ?? null,
    };
  }

  /** Starts the role of this process beside the monitor. `idle`: its role if it does not serve. */
  async #startBeside(idle: 'standby' | 'probing'): Promise<Role> {
    this.#spooled = await sendSpooledSamples(this.#parts);
    if (this.#serves) this.#serving = await startServing(this.#parts);
    if (this.#judges && isClustered(this.#parts.config)) {
      this.#services = this.#serving?.services ?? (await followServices(this.#parts));
      // A takeover then does not wait for BullMQ, which takes a third of a second to load.
      const { watchRegions } = await import('./start-judging.ts');
      this.#regions = watchRegions(this.#parts, this.#services.voters);
    }
    return this.#serving ?? createIdleRole(idle, this.#parts.log);
  }

  async #takeOver(lease: WriterLease, startDeliveries: StartDeliveries): Promise<void> {
    if (this.#stopping) return await lease.release();
    this.#parts.log.info({ fence: lease.fence }, 'the monitor has ended; this process takes over');
    await this.#become(lease);
    const figures = await this.#monitor?.begin();
    this.#stopDeliveries = startDeliveries(lease.isFresh);
    this.#parts.log.info({ ...figures, role: 'monitor' }, 'this process is the monitor');
    await this.#serving?.retire();
    this.#serving = null;
  }
}

/** In a cluster, a monitor that is cut off from Redis is replaced. A single process loads no module of clusters. */
async function watchCutOff({ config, node, clock }: RoleParts): Promise<Pick<LeaseOptions, 'isCutOff'>> {
  if (!isClustered(config)) return {};
  const { createCutOffWatch } = await import('../cluster/live-nodes.ts');
  return { isCutOff: createCutOffWatch({ hasProcess: node.hasProcess, clock }) };
}

/** Requests the lease repeatedly while the process serves. */
function claimLease(acquire: AcquireLease, log: Log): LeaseClaim {
  const claimed = Promise.withResolvers<WriterLease>();
  let withdrawn = false;
  let lastProblem = '';

  async function run(): Promise<void> {
    while (!withdrawn) {
      try {
        const lease = await acquire();
        if (withdrawn) await lease.release();
        else claimed.resolve(lease);
        return;
      } catch (error) {
        const message = messageOf(error);
        if (!isHeld(error) && message !== lastProblem)
          log.warn({ problem: message }, 'the lease cannot be requested');
        lastProblem = message;
        await sleep(LEASE_RETRY_MS, undefined, { ref: false });
      }
    }
  }

  const running = run();
  return {
    lease: claimed.promise,
    async withdraw() {
      withdrawn = true;
      await running;
    },
  };
}

function isHeld(error: unknown): boolean {
  return errorCodeOf(error) === 'lease_held';
}
