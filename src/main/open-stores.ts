/**
 * Opens the configured stores, for the monitor to write and for other processes to read; and sends the samples that this process kept on
 * disk as the monitor.
 */
import { retry } from '../async/retry.ts';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../config/config-error.ts';
import { type Config, isClustered } from '../config/resolve-config.ts';
import { createSharedStatuses } from '../domain/status/shared-statuses.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import { SampleReadError } from '../store/ports/samples.ts';
import { refusalOf } from '../store/ports/storage-health.ts';
import { openRegistry } from '../store/registry/open-registry.ts';
import type { RegistryClient } from '../store/registry/registry-client.ts';
import { type InfluxSamples, openInfluxSamples } from '../store/samples/influx/influx-samples.ts';
import { adviceFor, DEFAULT_BUCKET, type InfluxSettings } from '../store/samples/influx/influx-settings.ts';
import { hasSpool } from '../store/samples/influx/spool.ts';
import { openSamples, type SqliteSamples } from '../store/samples/sqlite-samples.ts';
import { closeDataDirectory, makeFilesPrivate } from '../store/sqlite/private-files.ts';
import { isRestorePending } from '../store/sqlite/sync-files.ts';
import { createMemoryStatusStore, type MemoryStatusStore } from '../store/status/memory-status-store.ts';
import { hasSmallHeaps } from '../thread/v8-options.ts';
import type { PartState, PartStates } from '../view/monitor.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import type { ThisNode } from './join-nodes.ts';

/** Options for opening stores. */
export interface StoreParts {
  readonly config: Config;
  /** Names of services, for the tags of samples. */
  readonly directory: ServiceDirectory;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the program after a fatal fault. */
  readonly fail: (what: string) => (error: Error) => void;
}

/** A start waits for PostgreSQL for about ten minutes, in pauses of this length, milliseconds. Then its supervisor starts it again. */
const WAIT_MS = 1_000;
const MAX_WAITS = 600;

/** Stores that all processes of a data directory share. */
type SharedStores = Awaited<ReturnType<typeof openSharedStores>>;

/** The arguments of a role. */
export interface RoleParts extends StoreParts {
  readonly shared: SharedStores;
  readonly node: ThisNode;
}

/** Opens the stores of every process. Rejects with an error whose message is one sentence. */
export async function openSharedStores({ config, clock, log, fail }: StoreParts) {
  const { dataDir, postgres, redis: redisSettings } = config.storage;
  const { domainsPerAccount } = config.limits;
  const onEnd = fail('a store has ended');
  makeFilesPrivate();
  await applyPendingRestore(dataDir, clock, log);
  closeDataDirectory(dataDir, log);
  const { key: secretKey, checksKey } = config.secrets;
  const registry = await whenReachable(log, () =>
    openRegistry({
      ...{ dataDir, log, clock, domainsPerAccount, secretKey, checksKey, onEnd },
      postgresUrl: postgres.url,
    }),
  );
  // A node that only makes checks does not need secrets.
  if (config.node.roles.some((role) => role !== 'probe')) await protectSecrets(registry, log);
  const { url } = redisSettings;
  const installation = url === null ? null : await installationOf(registry, config);
  // ioredis is loaded only if it is used.
  const redis =
    url === null
      ? null
      : (await import('../store/status/redis-parts.ts')).openRedisParts({ url, clock, log, installation });
  const close = async () => {
    await redis?.close();
    await registry.close();
  };
  try {
    await redis?.claimPrefix();
  } catch (error) {
    await close();
    throw error;
  }
  return { registry, redis, installation, close };
}

/** Repeats `open` while PostgreSQL is away, for at most {@link MAX_WAITS} pauses. A signal ends the process meanwhile. */
async function whenReachable<T>(log: Log, open: () => Promise<T>): Promise<T> {
  const stop = () => process.exit(0);
  try {
    return await retry(open, {
      maxRetries: MAX_WAITS,
      pauseMs: WAIT_MS,
      isTransient: (error) => refusalOf(error)?.code === 'storage_unreachable',
      onFirstRetry(error) {
        log.warn({ problem: messageOf(error) }, 'PostgreSQL is away; the start waits for it');
        for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, stop);
      },
    });
  } finally {
    for (const signal of ['SIGTERM', 'SIGINT']) process.off(signal, stop);
  }
}

/** Puts the files of "upbeat restore" into their places before the stores are opened. */
async function applyPendingRestore(dataDir: string, clock: Clock, log: Log): Promise<void> {
  if (!isRestorePending(dataDir)) return;
  const { applyRestore } = await import('../store/backup/apply-restore.ts');
  const outcome = await applyRestore(dataDir, clock);
  if (outcome.kind === 'applied')
    log.info({ replaced: outcome.replaced }, 'the stores were replaced by those of a backup');
  if (outcome.kind === 'pending')
    log.warn(
      { dataDir },
      'a restored backup waits until all processes of this data directory have ended; this one uses the present stores',
    );
}

/** Opens InfluxDB for writing; null: it is not configured. Throws a ConfigError if the server takes no point without `org`. */
export async function openConfiguredInflux({
  config,
  directory,
  log,
  fail,
}: StoreParts): Promise<InfluxSamples | null> {
  const settings = influxSettings(config);
  if (settings === null) return null;
  if (settings.api === 'v2' && settings.org === null) {
    const { findMissingOrg } = await import('../store/samples/influx/set-up-influx.ts');
    const problem = await findMissingOrg(settings);
    const message = `is not set; ${adviceFor('org', settings)} (${problem})`;
    if (problem !== null) throw new ConfigError([{ path: 'storage.influx.org', message, place: null }]);
  }
  const { dataDir, rawRetentionMs } = config.storage;
  return await openInfluxSamples({
    settings,
    dataDir,
    labelsOf: directory.byId,
    retentionMs: rawRetentionMs,
    log,
    onEnd: fail('a store has ended'),
  });
}

export type MonitorStores = Awaited<ReturnType<typeof openMonitorStores>>;

/** The stores that this process has used before it became the monitor. */
interface OpenBefore {
  /** InfluxDB, opened for writing; null: it is not open. */
  readonly influx: InfluxSamples | null;
  /** The statuses that it has read while it served; null: it has not. */
  readonly copy: MemoryStatusStore | null;
}

/** Opens the stores that only the monitor writes. The caller holds the lease; writes stop when `isFresh` is false. */
export async function openMonitorStores(
  parts: StoreParts,
  { registry, redis, ...shared }: SharedStores,
  isFresh: () => boolean,
  { influx, copy }: OpenBefore,
) {
  const { config, log, fail } = parts;
  const { dataDir, rawRetentionMs, rollupRetentionMs } = config.storage;
  const onEnd = fail('a store has ended');
  const influxSamples = influx ?? (await openConfiguredInflux(parts));
  const installation =
    influxSamples === null ? (shared.installation ?? (await installationOf(registry, config))) : null;
  const ownSamples =
    influxSamples === null
      ? await openSamples({
          ...{ dataDir, rawRetentionMs, rollupRetentionMs, log, onEnd },
          ...(installation === null ? {} : { installation }),
          // The fewer checks are made, the less a separate thread is worth its 9 MB.
          ...(hasSmallHeaps() ? { host: registry.hostSamples } : {}),
        })
      : null;
  const samples = influxSamples ?? ownSamples;
  if (samples === null) throw new Error('no store of samples was opened');
  const inRedis = redis?.openMonitor(isFresh, copy) ?? null;
  // Kept once for both: with Redis, the statuses that a process has followed are not those of a record.
  const statuses = inRedis === null ? createSharedStatuses() : null;
  return {
    samples,
    /** The statuses of the record, if the status store shares them. */
    recorded: statuses?.recorded,
    /** Null with the embedded store, which keeps only samples. */
    observations: influxSamples?.observations ?? null,
    redis: inRedis,
    status:
      inRedis?.status ?? createMemoryStatusStore({ log, ...(statuses && { rows: statuses.published }) }),
    /** The states of stores other than Redis, to which every process connects itself. */
    states: (): PartStates => ({
      storage: {
        problem:
          registry.health.problem()?.message ?? registry.health.damage() ?? ownSamples?.problem() ?? null,
      },
      ...(ownSamples === null ? {} : { history: { problem: ownSamples.missingHistory() } }),
      ...(influxSamples === null
        ? {}
        : { influx: influxState(influxSamples), histories: { problem: influxSamples.missingHistory() } }),
    }),
    async close() {
      await samples.close();
      await inRedis?.close();
    },
  };
}

/** Opens the samples for a serving process, which only reads them. */
export async function openReadSamples({ config, log, fail }: StoreParts) {
  const { dataDir, rawRetentionMs, rollupRetentionMs } = config.storage;
  const onEnd = fail('a store has ended');
  const settings = influxSettings(config);
  if (settings !== null) {
    // It loads the vendor's client, 7 MB.
    const { openInfluxReading } = await import('../store/samples/influx/influx-reading.ts');
    return openInfluxReading({ settings, log, onEnd });
  }
  return readWhereKept(
    await openSamples({ dataDir, rawRetentionMs, rollupRetentionMs, follows: true, log, onEnd }),
  );
}

/** Refuses reads while the store is empty: the monitor keeps its samples on another machine, and an empty history would be wrong. */
function readWhereKept(samples: SqliteSamples): SqliteSamples {
  let isKept = false;
  const read = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
    isKept ||= !(await samples.isEmpty());
    if (!isKept) throw new SampleReadError('samples_away', NO_SAMPLES);
    return await ask();
  };
  const { cells } = samples;
  return {
    ...samples,
    query: (query) => read(() => samples.query(query)),
    ...(cells === undefined ? {} : { cells: (queries) => read(() => cells(queries)) }),
    newest: (serviceId, limit) => read(() => samples.newest(serviceId, limit)),
    regionsOf: (serviceId) => read(() => samples.regionsOf(serviceId)),
  };
}

const NO_SAMPLES =
  'this node has no samples: without storage.influx, each monitor keeps them in its own data directory';

async function protectSecrets(registry: RegistryClient, log: Log): Promise<void> {
  try {
    await registry.checkSecrets();
    const sealed = await registry.sealSecrets();
    if (sealed > 0)
      log.warn({ webhooks: sealed }, 'webhook secrets were stored in clear text; they are encrypted now');
  } catch (error) {
    // If the disk accepts no writes, a later start completes this step.
    if (refusalOf(error) !== null) return;
    await registry.close();
    throw error;
  }
}

/** The identity of this installation; null if the registry cannot store one yet, or this process may not read it. */
async function installationOf({ installation }: RegistryClient, { node }: Config): Promise<string | null> {
  try {
    return await installation();
  } catch (error) {
    // A user of PostgreSQL for nodes that only make checks reads no secrets, and the identity is beside them.
    if (refusalOf(error) === null && node.roles.some((role) => role !== 'probe')) throw error;
    return null;
  }
}

function influxState(samples: InfluxSamples): PartState {
  return {
    problem: samples.problem(),
    advice: samples.advice(),
    waiting: samples.stats().pending,
    missingSince: samples.missingSince(),
    lost: samples.lost(),
  };
}

function influxSettings({ storage }: Config): InfluxSettings | null {
  const { url, bucket, ...rest } = storage.influx;
  return url === null ? null : { ...rest, url: url.replace(/\/+$/, ''), bucket: bucket ?? DEFAULT_BUCKET };
}

export interface SpooledSamples {
  /** The open store, for a process that becomes the monitor and continues with it; null: everything was sent. */
  take(): Promise<InfluxSamples | null>;
  /** Stops. What was not sent stays on disk. */
  stop(): Promise<void>;
}

const POLL_MS = 1_000;

/** Starts to send what is on disk. Null: there is nothing, or no cluster. */
export async function sendSpooledSamples(parts: StoreParts): Promise<SpooledSamples | null> {
  const { config, clock, log } = parts;
  if (!isClustered(config) || !hasSpool(config.storage.dataDir)) return null;
  let samples = await openConfiguredInflux(parts);
  if (samples === null) return null;
  let closing: Promise<void> = Promise.resolve();
  const { pending } = samples.stats();
  if (pending > 0)
    log.info({ points: pending }, 'points that this process kept as the monitor are being sent');

  function close(): Promise<void> {
    cancel();
    closing = samples?.close() ?? closing;
    samples = null;
    return closing;
  }

  const cancel = clock.every(POLL_MS, () => {
    if (samples?.stats().pending === 0) void close();
  });
  return {
    async take() {
      cancel();
      await closing;
      const taken = samples;
      samples = null;
      return taken;
    },
    stop: close,
  };
}
