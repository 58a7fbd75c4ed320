/**
 * The role of a process that only serves, beside the monitor of its data directory. Statuses come from Redis and
 * everything else from the shared registry. Owners' changes go to the registry, heartbeats through its inbox.
 */
import { messageOf } from '../error.ts';
import { createVendorStatusCache } from '../feeds/vendor-status-cache.ts';
import { createHeartbeatForwarder } from '../record/heartbeat-inbox.ts';
import { followTransitions } from '../record/transition-feed.ts';
import type { MemoryStatusStore } from '../store/status/memory-status-store.ts';
import {
  type MonitorState,
  NO_FLEET,
  parseMonitorState,
  type Role,
  UNKNOWN_MONITOR_STATE,
} from './active-role.ts';
import { type FollowedServices, followServices } from './follow-services.ts';
import { openReadSamples, type RoleParts } from './open-stores.ts';

/** The serving role, and the steps that end it when this process becomes the monitor. */
export interface ServingRole extends Role {
  /** Publishes all transitions in the registry. Later ones come only from the monitor. */
  catchUp(): Promise<void>;
  readonly services: FollowedServices;
  /** Stops following the statuses, and returns the copy of them, which it still serves. */
  handOver(): MemoryStatusStore;
  /** Stops when every client that waits for the monitor has its response. */
  retire(): Promise<void>;
}

/** The time for which a start waits for Redis, milliseconds; then the last statuses of the registry are served. */
const REDIS_TIMEOUT_MS = 1_000;
/** The time for which a stop waits for the monitor's responses to open requests, milliseconds. */
const STOP_TIMEOUT_MS = 5_000;
/** Time between two reads of vendor statuses without a notification by the monitor, milliseconds. */
const VENDOR_POLL_MS = 60_000;

const NO_POLLS = { good: 0, failed: 0 };

/** Starts following the monitor. Requires Redis. */
export async function startServing(parts: RoleParts): Promise<ServingRole> {
  const { config, shared, directory, clock, log } = parts;
  const { registry, redis } = shared;
  if (redis === null) throw new Error('a process can serve beside a monitor only with storage.redis.url');

  const vendorStatuses = createVendorStatusCache({
    intervalMs: config.incidents.feedIntervalMs,
    now: clock.now,
  });
  const services = await followServices(parts, ({ serviceId, service }) => {
    if (service === null) vendorStatuses.forget(serviceId);
  });
  const samples = await openReadSamples(parts);

  // State of the monitor, and vendor statuses.
  let monitor: MonitorState = UNKNOWN_MONITOR_STATE;
  async function readVendors(): Promise<void> {
    try {
      for (const state of await registry.loadVendorStates())
        if (directory.byId(state.serviceId) !== null) vendorStatuses.put(state);
    } catch (error) {
      log.debug({ problem: messageOf(error) }, 'vendor statuses could not be read');
    }
  }
  const inRedis = redis.openServing((fields) => {
    const { vendorChanges } = monitor;
    monitor = parseMonitorState(fields);
    vendorStatuses.keepFeeds(new Set(monitor.feeds.map(({ feedId }) => feedId)));
    for (const { feedId, readAt, problem } of monitor.feeds) {
      if (readAt !== null) vendorStatuses.notePoll(feedId, readAt, null);
      if (problem !== null) vendorStatuses.notePoll(feedId, readAt ?? 0, problem);
    }
    if (monitor.vendorChanges !== vendorChanges) void readVendors();
  });
  await readVendors();
  const stopVendors = clock.every(VENDOR_POLL_MS, () => void readVendors());

  const { status } = inRedis;
  await status.learn(services.takeStates().map(({ current }) => current));
  if (!(await status.loaded(REDIS_TIMEOUT_MS)))
    log.warn({}, 'Redis does not respond; serving the last known statuses from the registry');
  const transitions = await followTransitions({ registry, status, clock, log });
  const forwarder = createHeartbeatForwarder({
    inbox: registry.forRequests,
    serviceOf: directory.byId,
    learn: (record) => status.learn([record]),
    clockOffsetMs: parts.node.clockOffsetMs,
    clock,
  });

  async function stop(): Promise<void> {
    await Promise.race([
      forwarder.idle(),
      new Promise<void>((resolve) => clock.after(STOP_TIMEOUT_MS, resolve)),
    ]);
    forwarder.stop();
    transitions.stop();
    stopVendors();
    services.stop();
    await samples.close();
    await inRedis.close();
  }

  return {
    name: 'serving',
    status,
    samples,
    heartbeats: forwarder,
    vendorOf: (service) => vendorStatuses.statusOf(service.id, service.statusPage),
    watchTransitions: transitions.watch,
    prober: () => monitor.prober,
    stores: () => monitor.stores,
    fleet: NO_FLEET,
    feeds: vendorStatuses.feeds,
    polls: () => NO_POLLS,
    services,
    handOver: inRedis.handOver,
    catchUp: transitions.catchUp,
    // The monitor handles the catalogue.
    reload: async () => {},
    stop,
    async retire() {
      await forwarder.idle();
      await stop();
    },
  };
}
