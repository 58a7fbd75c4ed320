/**
 * Determines the role of this process, and promotes a waiting judge to the monitor when the previous monitor has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { retry } from '../async/retry.ts';
import type { ShardCounts } from '../cluster/shards/maintain-shards.ts';
import type { VotingRegions } from '../cluster/voting-regions.ts';
import { isClustered } from '../config/resolve-config.ts';
import { describePostgres, readPostgresAddress } from '../domain/postgres-address.ts';
import { errorCodeOf, messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { ResultFigures } from '../metrics/observe-cluster.ts';
import {
  acquireLease,
  createLeaseSight,
  type LeaseOptions,
  type WriterLease,
} from '../store/lease/writer-lease.ts';
import type { ActiveRole, Role } from './active-role.ts';
import { type FollowedServices, followServices } from './follow-services.ts';
import { createIdleRole } from './idle-role.ts';
import { NO_WORK, type NodeWork } from './join-nodes.ts';
import { type SpooledSamples, sendSpooledSamples } from './spooled-samples.ts';
import { type MonitorRole, type RoleParts, type StoodBy, startMonitor } from './start-monitor.ts';
import type { Probing } from './start-probing.ts';
import { type ServingRole, startServing } from './start-serving.ts';

/** The roles of a process over its lifetime. */
export interface RoleChanges {
  /** Reports that the site is reachable. `startDeliveries` is called when this process is or becomes the monitor. */
  begin(startDeliveries: StartDeliveries): Promise<void>;
  /** The checks that this process makes itself. */
  work(): NodeWork;
  /**
   * The probing part of this node; null: this node makes no checks, or there is no cluster and the monitor makes them.
   */
  probing(): Probing | null;
  /** The shards of a cluster by region, as the monitor knows them; empty in all other processes. */
  shards(): ReadonlyMap<string, ShardCounts>;
  /** Why shards are not handed out, or not held, so that services are not checked, one line; null: they are. */
  shardProblem(): string | null;
  /** Results on their way from nodes to the judge, as far as this process knows. */
  results(): ResultFigures;
  /** Whether each region has a vote; empty if this process is not the monitor of a cluster. */
  votes(): ReadonlyMap<string, boolean>;
  /** The fence of the lease that this process holds; 0: it holds none. */
  fence(): number;
  stop(): Promise<void>;
}

/**
 * Starts the tasks that only the monitor may do beside its record, while `isOurs` returns true. Returns a function that
 * stops them.
 */
type StartDeliveries = (isOurs: () => boolean) => () => Promise<void>;

/** Requests the lease. Rejects with the code `lease_held` if another process holds it. */
type AcquireLease = () => Promise<WriterLease>;

/** A pending request for the lease. */
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

/**
 * Without Redis only the monitor can serve: the process waits for another monitor to end and then fails. With Redis it
 * serves beside the monitor and takes over when the lease is free. In a cluster, `node.roles` decides: a process
 * without `judge` never requests the lease, and one without `serve` answers only requests about its own state.
 */
export async function startRole(parts: RoleParts, role: ActiveRole): Promise<RoleChanges> {
  const { config, shared, clock, log, fail } = parts;
  const { dataDir, postgres } = config.storage;
  const judges = config.node.roles.includes('judge');
  const serves = config.node.roles.includes('serve');
  const address = postgres.url === null ? null : readPostgresAddress(postgres.url);
  const place = address === null ? dataDir : describePostgres(address);
  const sight = createLeaseSight(clock);
  const cutOff = await watchCutOff(parts);
  const acquire: AcquireLease = () =>
    acquireLease({
      sight,
      ...cutOff,
      store: shared.registry,
      place,
      clock,
      log,
      onLost: fail('the lease of the registry was lost'),
    });
  let monitor: MonitorRole | null = null;
  let held: WriterLease | null = null;
  let stopDeliveries = async () => {};
  let serving: ServingRole | null = null;
  let spooled: SpooledSamples | null = null;
  let services: FollowedServices | null = null;
  let regions: VotingRegions | null = null;
  let claim: LeaseClaim | null = null;
  let becoming: Promise<void> = Promise.resolve();
  let stopping = false;
  let probing: Probing | null = null;

  /** Starts the checks of this node, independently of its other roles in the cluster. */
  async function beginProbing(): Promise<void> {
    if (!isClustered(config) || !config.node.roles.includes('probe')) return;
    // BullMQ is loaded only in a cluster.
    const { startProbing } = await import('./start-probing.ts');
    probing = await startProbing(parts);
  }

  async function become(lease: WriterLease): Promise<void> {
    held = lease;
    monitor = await startMonitor(parts, lease, await spooled?.take(), handOver());
    // Transitions continue from where the copy left off.
    await serving?.catchUp();
    role.take(monitor);
  }

  /** Ends what this process follows as a judge of a cluster that stands by; null: it is none, or has just started. */
  function handOver(): StoodBy | null {
    if (regions === null || services === null) return null;
    return { lastChange: services.stop(), regions, statuses: serving?.handOver() ?? null };
  }

  if (shared.redis === null) {
    // A killed holder may still be in the process list, and a stopping one may not have finished.
    const lease = await retry(acquire, {
      maxRetries: LEASE_RETRIES,
      pauseMs: LEASE_RETRY_MS,
      isTransient: isHeld,
      onFirstRetry: (error) => log.info({ problem: messageOf(error) }, 'waiting for another process to end'),
    });
    await become(lease);
  } else if (judges) {
    claim = claimLease(acquire, log);
    const lease = await Promise.race([claim.lease, sleep(FIRST_CLAIM_MS, null, { ref: true })]);
    if (lease === null) {
      role.take(await startBeside('standby'));
      log.info(
        { registry: place },
        `another process is the monitor; this process ${serves ? 'serves' : 'stands by'}, and takes over when it ends`,
      );
    } else {
      await become(lease);
    }
  } else {
    role.take(await startBeside('probing'));
  }

  /** Starts the role of this process beside the monitor. `idle`: its role if it does not serve. */
  async function startBeside(idle: 'standby' | 'probing'): Promise<Role> {
    spooled = await sendSpooledSamples(parts);
    if (serves) serving = await startServing(parts);
    if (judges && isClustered(config)) {
      services = serving?.services ?? (await followServices(parts));
      // A takeover then does not wait for BullMQ, which takes a third of a second to load.
      const { watchRegions } = await import('./start-judging.ts');
      regions = watchRegions(parts, services.voters);
    }
    return serving ?? createIdleRole(idle, log);
  }

  async function takeOver(lease: WriterLease, startDeliveries: StartDeliveries): Promise<void> {
    if (stopping) return await lease.release();
    log.info({ fence: lease.fence }, 'the monitor has ended; this process takes over');
    await become(lease);
    const figures = await monitor?.begin();
    stopDeliveries = startDeliveries(lease.isFresh);
    log.info({ ...figures, role: 'monitor' }, 'this process is the monitor');
    await serving?.retire();
    serving = null;
  }

  return {
    async begin(startDeliveries) {
      await beginProbing();
      if (monitor !== null && held !== null) {
        await monitor.begin();
        stopDeliveries = startDeliveries(held.isFresh);
        return;
      }
      claim?.lease.then((lease) => {
        becoming = takeOver(lease, startDeliveries).catch(fail('taking over from the monitor has failed'));
      });
    },
    work() {
      // Outside of a cluster the monitor makes all checks, and its connection is that of every process.
      const source = isClustered(config) ? probing : role;
      const reachesRegistry = shared.registry.health.problem()?.code !== 'storage_unreachable';
      if (source === null) return { ...NO_WORK, reachesRegistry };
      const { services, checksDone } = source.fleet.report();
      const { online, offlineSince } = source.prober();
      return { services, checksDone, online, offlineSince, reachesRegistry };
    },
    probing: () => probing,
    shards: () => monitor?.judging()?.shards() ?? NO_SHARDS,
    shardProblem: () => probing?.shardProblem() ?? monitor?.judging()?.shardProblem() ?? null,
    results() {
      const sent = probing?.results();
      const read = monitor?.judging()?.results();
      const { backlog = 0, takeovers = 0 } = read ?? sent ?? {};
      const { dropped = 0, refused = 0 } = sent ?? {};
      return {
        ...{ backlog, takeovers, dropped, refused },
        unreadable: read?.refusedEntries ?? 0,
        delayMs: read?.delayMs ?? 0,
      };
    },
    votes: () => monitor?.judging()?.votes() ?? NO_VOTES,
    fence: () => held?.fence ?? 0,
    async stop() {
      stopping = true;
      await becoming;
      const delivered = stopDeliveries();
      // The node stops first, because a judge in this process may still accept its results. Judgement goes on while
      // deliveries end, because the next judge cannot take over before.
      if (isClustered(config)) await Promise.all([probing?.stop(), delivered]);
      await Promise.all([delivered, monitor?.stop()]);
      // The next holder starts checks and deliveries at once.
      await held?.release();
      await serving?.stop();
      services?.stop();
      regions?.close();
      await spooled?.stop();
      await claim?.withdraw();
    },
  };
}

/** In a cluster, a monitor that is cut off from Redis is replaced. A single process loads no module of clusters. */
async function watchCutOff({ config, node, clock }: RoleParts): Promise<Pick<LeaseOptions, 'isCutOff'>> {
  if (!isClustered(config)) return {};
  const { createCutOffWatch } = await import('../cluster/cut-off-monitor.ts');
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
