/**
 * The services of the shards that a node holds. They are loaded from the registry when the node gains a shard, and
 * updated as they change.
 */
import type { Cancel, Clock } from '../clock.ts';
import { type CheckTarget, checkTargetOf } from '../domain/check-target.ts';
import { shardOf } from '../domain/node.ts';
import { NO_MEMORY } from '../domain/result.ts';
import type { Fleet } from '../engine/fleet/fleet.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { ServiceChange, ServiceStateStore } from '../store/ports/services.ts';

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
