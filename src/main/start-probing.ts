/**
 * The probing part of a cluster node. It holds shards of its region, checks their services, applies the offline rule to
 * its own connection, and sends the results to the judge.
 */

import type { Cancel, Clock } from '../clock.ts';
import { connectChannels, readRecheckRequest, recheckChannel } from '../cluster/channels.ts';
import { createNeighbours } from '../cluster/neighbours/neighbours.ts';
import { ResultSender, type ResultSenderStats } from '../cluster/results/result-sender.ts';
import { type HeldShard, ShardHolder } from '../cluster/shards/hold-shards.ts';
import { createStation, phaseShiftOf, stepPhaseShift } from '../cluster/station.ts';
import { type CheckTarget, checkTargetOf } from '../domain/check-target.ts';
import { holdersOf, neighboursOf, regionsOf, shardOf } from '../domain/node.ts';
import { NO_MEMORY } from '../domain/result.ts';
import { requireRedisAddress } from '../domain/store-address.ts';
import type { Fleet } from '../engine/fleet/fleet.ts';
import { createStartPermit } from '../engine/protocol.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { ProberState } from '../record/connection-watch.ts';
import type { ServiceChange, ServiceStateStore } from '../store/ports/services.ts';
import type { RoleParts } from './open-stores.ts';
import { createConfiguredFleet, createControlQuery } from './start-fleet.ts';

export interface ShardServices {
  /** Adds shards that the node has gained. Their services are checked once they are loaded. */
  gain(shards: readonly number[]): void;
  /** Removes shards that the node has lost. Their services are no longer checked. */
  lose(shards: readonly number[]): void;
  applyChange(change: ServiceChange): void;
  /** Returns true if the service is of a shard of the node, loaded or not. */
  holds(serviceId: number): boolean;
  /** Returns true if the node checks the service. */
  has(serviceId: number): boolean;
  stop(): void;
}

/**
 * Delay before the services of a gained shard are loaded, milliseconds. By then the results of its former node are
 * committed, so that services that were just checked are not checked again.
 */
const SETTLE_MS = 1_500;
const RETRY_MS = 1_000;

/** Starts without shards. */
export function createShardServices(options: {
  readonly registry: ServiceStateStore;
  /** Region of this node. */
  readonly region: string;
  readonly fleet: Pick<Fleet, 'apply' | 'takeOver'>;
  /** Called with a service that this node no longer checks. */
  readonly forget: (serviceId: number) => void;
  readonly clock: Clock;
  readonly log: Log;
}): ShardServices {
  const { registry, region, fleet, clock, log } = options;
  /** The services of each shard that the node holds. */
  const held = new Map<number, Set<number>>();
  /** Shards whose services have not been loaded yet. */
  const missing = new Set<number>();
  /** Changes of services that arrive while shards are being loaded; null: no shard is being loaded. */
  let changes: ServiceChange[] | null = null;
  let cancel: Cancel | null = null;
  let failed = false;
  let stopped = false;

  function planLoad(delayMs: number): void {
    if (stopped || changes !== null || cancel !== null || missing.size === 0) return;
    cancel = clock.after(delayMs, () => {
      cancel = null;
      void load();
    });
  }

  async function load(): Promise<void> {
    const shards = [...missing];
    missing.clear();
    changes = [];
    let loaded = 0;
    let count = 0;
    try {
      // One at a time: while the services of more were read, this process could not renew its claims.
      for (; loaded < shards.length && !stopped; loaded++)
        count += takeOver(await registry.loadTargets(shards.slice(loaded, loaded + 1), region));
      failed = false;
      log.info({ shards: shards.length, services: count }, 'services of shards are checked from now on');
    } catch (error) {
      if (!failed) log.warn({ problem: messageOf(error) }, 'services of shards cannot be loaded');
      failed = true;
      for (const shard of shards.slice(loaded)) if (held.has(shard)) missing.add(shard);
    }
    const later = changes;
    changes = null;
    if (stopped) return;
    for (const change of later) applyChange(change);
    planLoad(failed ? RETRY_MS : SETTLE_MS);
  }

  /** Starts the checks of loaded services; returns their number. */
  function takeOver(targets: readonly CheckTarget[]): number {
    if (stopped) return 0;
    // A shard may have been lost meanwhile, or lost and gained again.
    const own = targets.filter(({ serviceId }) => {
      const shard = shardOf(serviceId);
      return held.has(shard) && !missing.has(shard);
    });
    for (const { serviceId } of own) held.get(shardOf(serviceId))?.add(serviceId);
    fleet.takeOver(own);
    return own.length;
  }

  function applyChange(change: ServiceChange): void {
    const { serviceId, service } = change;
    const shard = shardOf(serviceId);
    const services = held.get(shard);
    if (services === undefined || missing.has(shard)) return;
    if (changes !== null) {
      changes.push(change);
      return;
    }
    const target = service === null ? null : checkTargetOf(service, region, NO_MEMORY, null);
    if (target === null) forget(services, serviceId);
    else services.add(serviceId);
    fleet.apply({ serviceId, target });
  }

  function forget(services: Set<number>, serviceId: number): void {
    services.delete(serviceId);
    options.forget(serviceId);
  }

  return {
    gain(shards) {
      for (const shard of shards) {
        held.set(shard, held.get(shard) ?? new Set());
        missing.add(shard);
      }
      planLoad(SETTLE_MS);
    },
    lose(shards) {
      for (const shard of shards) {
        missing.delete(shard);
        const services = held.get(shard) ?? new Set();
        held.delete(shard);
        for (const serviceId of [...services]) {
          forget(services, serviceId);
          fleet.apply({ serviceId, target: null });
        }
      }
    },
    applyChange,
    holds: (serviceId) => held.has(shardOf(serviceId)),
    has: (serviceId) => held.get(shardOf(serviceId))?.has(serviceId) ?? false,
    stop() {
      stopped = true;
      cancel?.();
    },
  };
}

/** A node that makes checks. */
export interface Probing {
  readonly fleet: Pick<Fleet, 'report'>;
  /** The connection of this node. */
  prober(): ProberState;
  /** Why the shards of this node cannot be renewed, so that it makes no checks, one line; null: they are renewed. */
  shardProblem(): string | null;
  results(): ResultSenderStats & {
    /** Failures that a neighbour has contradicted. */
    readonly contradicted: number;
  };
  /** Ends the checks in flight, sends their results, and releases the shards, so that other nodes have them within a few seconds. */
  stop(): Promise<void>;
}

/** A stop gives up checks in flight after this time, milliseconds. The next holder of their shards makes them again. */
const CHECKS_END_MS = 1_000;

/** Starts the checks. Throws if Redis is not configured. */
export async function startProbing(parts: RoleParts): Promise<Probing> {
  const { config, shared, node, clock, log } = parts;
  const { registry } = shared;
  const { intervalMs, firstSpreadMs, controlTargets } = config.checks;
  const { name, region } = node;
  const address = requireRedisAddress(config.storage.redis.url);
  const redis = { address, clock, log };

  const sender = new ResultSender({ ...redis, node: name, region, clockOffsetMs: node.clockOffsetMs });
  const { confirmation, looks, handlers } = createNeighbours({
    ...{ name, region, prefix: address.prefix, usual: config.checks, clock, log },
    neighbours: () => neighboursOf(node.nodes(), node),
    targetsOf: (serviceIds) => registry.targetsOf(serviceIds, region),
    isOwn: (serviceId) => services.holds(serviceId),
    fleet: {
      apply: (change) => fleet.apply(change),
      checkOnce: (targets) => fleet.checkOnce(targets),
      targetOf: (serviceId) => fleet.targetOf(serviceId),
    },
    publish: (channel, text) => messages.publish(channel, text),
    onResults: (results) => sender.send(results),
  });
  const station = createStation({
    ...{ clock, log, region, firstSpreadMs },
    slowOverMs: (serviceId) => fleet.targetOf(serviceId)?.check.slowOverMs ?? config.checks.slowOverMs,
    controlTargets: controlTargets.length,
    queryControlTargets: createControlQuery(config),
    fleetSize: () => fleet.report().services,
    onRuled: (results) => confirmation.take(results),
    onRecheck: (serviceIds, spreadMs) => fleet.recheck(serviceIds, spreadMs),
  });
  const permit = createStartPermit();
  const fleet = createConfiguredFleet(parts, {
    startPermit: permit.shared,
    onResults: (results) => station.takeResults(looks.takeResults(results)),
    onDoubt: station.noteDoubt,
    onDelay: station.noteDelay,
  });

  // The regions of a cluster check a service one after the other within an interval.
  const targetShift = () =>
    phaseShiftOf(
      region,
      regionsOf(node.nodes()).map((one) => one.region),
      intervalMs,
    );
  let shiftMs = targetShift();
  fleet.shiftPhases(shiftMs);
  const stopShifting = clock.every(intervalMs, () => {
    const nextMs = stepPhaseShift(shiftMs, targetShift(), intervalMs);
    if (nextMs !== shiftMs) fleet.shiftPhases(nextMs);
    shiftMs = nextMs;
  });

  await fleet.start([]);
  const lastChange = await registry.lastChange();
  const services = createShardServices({
    ...{ registry, region, fleet, clock, log },
    forget(serviceId) {
      station.forget(serviceId);
      confirmation.forget(serviceId);
    },
  });
  const unwatchChanges = registry.watchChanges(lastChange, services.applyChange);
  const holder = new ShardHolder({
    ...redis,
    region,
    node: name,
    holders: () => holdersOf(node.nodes(), region),
    permit,
    onGain(gained: readonly HeldShard[]) {
      for (const { shard, fence } of gained) sender.claim(shard, fence);
      services.gain(gained.map(({ shard }) => shard));
      looks.endOwn();
    },
    onLoss: (lost) => services.lose(lost.map(({ shard }) => shard)),
  });
  handlers.set(recheckChannel(address.prefix, region), (text) =>
    fleet.recheck(readRecheckRequest(text).filter(services.has), 0),
  );
  const messages = connectChannels(redis, 'node-messages', handlers);

  return {
    fleet,
    prober: station.prober,
    shardProblem: () => holder.problem(),
    results: () => ({ ...sender.stats(), contradicted: confirmation.contradicted }),
    async stop() {
      looks.stop();
      stopShifting();
      unwatchChanges();
      services.stop();
      await Promise.all([node.withdraw(), fleet.stop(CHECKS_END_MS)]);
      station.stop();
      confirmation.stop();
      messages.stop();
      await sender.stop();
      await holder.stop();
    },
  };
}
