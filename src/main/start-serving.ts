/**
 * The part of a process that only serves, beside the monitor of its data directory: statuses come from Redis, all else
 * from what the two share; what owners write goes to the shared registry, heartbeats through its inbox.
 */
import { createVendorBoard } from '../feeds/vendor-board.ts';
import { createHeartbeatForwarder } from '../record/forward-heartbeats.ts';
import { followTransitions } from './follow-transitions.ts';
import { type MonitorState, readWords, SILENT_MONITOR } from './monitor-words.ts';
import { openReadSamples } from './open-stores.ts';
import type { Role } from './present-role.ts';
import type { RoleParts } from './start-monitor.ts';

/** The serving part, and its end where this process becomes the monitor. */
export interface ServingRole extends Role {
  /** Tells every transition that is in the registry; none comes after it but those of a monitor. */
  catchUp(): Promise<void>;
  /** Stops when everybody who waits for the monitor's word has it. */
  retire(): Promise<void>;
}

/** A process that begins waits so long for Redis; without it the registry's last word of each service is told. */
const FIRST_PATIENCE_MS = 1_000;
/** Whoever waits for the monitor's word when this process ends waits so long still. */
const LAST_ANSWERS_MS = 5_000;
/** What vendors say is read again so often even where the monitor does not tell of changes. */
const VENDORS_MS = 60_000;

const NO_FLEET = { services: 0, restarts: 0, checksDone: 0, hosts: [] };
const NO_POLLS = { good: 0, failed: 0 };

/** Starts to follow the monitor. Only with Redis. */
export async function startServing(parts: RoleParts): Promise<ServingRole> {
  const { config, shared, directory, clock, log } = parts;
  const { registry, redis } = shared;
  if (redis === null) throw new Error('a process can serve beside a monitor only with storage.redis.url');

  const lastChange = await registry.lastChange();
  const states = await registry.loadServices();
  directory.load(states.map(({ service }) => service));
  const board = createVendorBoard({ intervalMs: config.incidents.feedIntervalMs, now: clock.now });
  const unwatchChanges = registry.watchChanges(lastChange, (change) => {
    directory.apply(change);
    if (change.service === null) board.forget(change.serviceId);
  });
  const samples = await openReadSamples(parts);

  // What the monitor says of itself, and what vendors say.
  let monitor: MonitorState = SILENT_MONITOR;
  async function readVendors(): Promise<void> {
    try {
      for (const state of await registry.loadVendorStates())
        if (directory.byId(state.serviceId) !== null) board.put(state);
    } catch (error) {
      log.debug({ problem: (error as Error).message }, 'vendor statuses could not be read');
    }
  }
  const inRedis = redis.openServing((words) => {
    const { vendorChanges } = monitor;
    monitor = readWords(words);
    board.keepFeeds(new Set(monitor.feeds.map(({ feedId }) => feedId)));
    for (const { feedId, readAt, problem } of monitor.feeds) {
      if (readAt !== null) board.notePoll(feedId, readAt, null);
      if (problem !== null) board.notePoll(feedId, readAt ?? 0, problem);
    }
    if (monitor.vendorChanges !== vendorChanges) void readVendors();
  });
  await readVendors();
  const stopVendors = clock.every(VENDORS_MS, () => void readVendors());

  const { status } = inRedis;
  await status.learn(states.map(({ current }) => current));
  if (!(await status.loaded(FIRST_PATIENCE_MS)))
    log.warn({}, 'Redis does not respond; serving the last known statuses from the registry');
  const transitions = await followTransitions({ registry, status, clock, log });
  const forwarder = createHeartbeatForwarder({
    inbox: registry,
    serviceOf: directory.byId,
    learn: (record) => status.learn([record]),
    clock,
  });

  async function stop(): Promise<void> {
    await Promise.race([
      forwarder.idle(),
      new Promise<void>((resolve) => clock.after(LAST_ANSWERS_MS, resolve)),
    ]);
    forwarder.stop();
    transitions.stop();
    stopVendors();
    unwatchChanges();
    await samples.close();
    await inRedis.close();
  }

  return {
    name: 'serving',
    status,
    samples,
    heartbeats: forwarder,
    vendorOf: (service) => board.word(service.id, service.statusPage),
    watchTransitions: transitions.watch,
    prober: () => monitor.prober,
    stores: () => monitor.stores,
    fleet: { report: () => NO_FLEET },
    feeds: board.feeds,
    polls: () => NO_POLLS,
    catchUp: transitions.catchUp,
    // The catalogue is the monitor's.
    reload: async () => {},
    stop,
    async retire() {
      await forwarder.idle();
      await stop();
    },
  };
}
