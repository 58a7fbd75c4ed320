/**
 * The probing part of a cluster node. It holds shards of its region, checks their services, applies the offline rule to
 * its own connection, and sends the results to the judge.
 */
import { connectChannels, readRecheckRequest, recheckChannel } from '../cluster/channels.ts';
import { createNeighbours } from '../cluster/neighbours/neighbours.ts';
import { ResultSender, type ResultSenderStats } from '../cluster/results/result-sender.ts';
import { type HeldShard, ShardHolder } from '../cluster/shards/hold-shards.ts';
import { createStation, phaseShiftOf, stepPhaseShift } from '../cluster/station.ts';
import { holdersOf, neighboursOf, regionsOf } from '../domain/node.ts';
import { requireRedisAddress } from '../domain/store-address.ts';
import type { Fleet } from '../engine/fleet/fleet.ts';
import { createStartPermit } from '../engine/start-permit.ts';
import type { ProberState } from '../record/connection-watch.ts';
import type { RoleParts } from './open-stores.ts';
import { createShardServices } from './shard-services.ts';
import { createConfiguredFleet, createControlQuery } from './start-fleet.ts';

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
