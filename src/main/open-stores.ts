/** Opens the stores that the configuration names, and the lease of the data directory. */
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceDirectory } from '../api/service-directory.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import type { Log } from '../log.ts';
import { openRegistry } from '../store/registry/sqlite-registry.ts';
import { acquireLease } from '../store/registry/writer-lease.ts';
import { openInfluxSamples } from '../store/samples/influx/influx-samples.ts';
import { DEFAULT_BUCKET } from '../store/samples/influx/influx-settings.ts';
import { openSamples } from '../store/samples/sqlite-samples.ts';
import { createMemoryStatusStore } from '../store/status/memory-status-store.ts';

/** What opening needs. */
export interface StoreParts {
  readonly config: Config;
  /** Names of services, for the tags of samples. */
  readonly directory: ServiceDirectory;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the program for a fault that it cannot live with. */
  readonly fail: (what: string) => (error: Error) => void;
}

const LEASE_PATIENCE_MS = 6_000;
const LEASE_RETRY_MS = 200;

/** Opens them. Rejects with what is wrong, in one sentence. */
export async function openStores({ config, directory, clock, log, fail }: StoreParts) {
  const { dataDir, rawRetentionMs, rollupRetentionMs, influx, redis: redisSettings } = config.storage;
  const { domainsPerAccount } = config.limits;
  mkdirSync(dataDir, { recursive: true });
  const onEnd = fail('a store has ended');
  const registry = await openRegistry({ dataDir, log, clock, domainsPerAccount, onEnd });
  const onLost = fail('the lease of the data directory was lost');
  const lease = await waitForLease(() => acquireLease({ book: registry.lease, dataDir, clock, onLost }), log);
  const influxSamples =
    influx.url === null
      ? null
      : await openInfluxSamples({
          settings: {
            ...influx,
            url: influx.url.replace(/\/+$/, ''),
            bucket: influx.bucket ?? DEFAULT_BUCKET,
          },
          dataDir,
          labelsOf: directory.byId,
          retentionMs: rawRetentionMs,
          log,
          onEnd,
        });
  const samples =
    influxSamples ?? (await openSamples({ dataDir, rawRetentionMs, rollupRetentionMs, log, onEnd }));
  const { url } = redisSettings;
  // ioredis is loaded only where it is of use.
  const redis =
    url === null
      ? null
      : (await import('../store/status/redis-parts.ts')).openRedisParts({ url, clock, log });
  const status = redis?.status ?? createMemoryStatusStore({ log });

  return {
    registry,
    samples,
    /** Null with the embedded store, which keeps samples alone. */
    observations: influxSamples?.observations ?? null,
    redis,
    status,
    /** What `/readyz` says of the stores outside of the process. */
    parts: () => ({
      ...(redis === null ? {} : { redis: { problem: redis.problem() } }),
      ...(influxSamples === null ? {} : { influx: { problem: influxSamples.problem() } }),
    }),
    async close() {
      await samples.close();
      await redis?.close();
      await lease.release();
      await registry.close();
    },
  };
}

/**
 * A process that was killed may still be in the system's list, and one that was told to stop still at it: the lease is
 * asked for until it would be stale, before a start is refused.
 */
async function waitForLease<T>(acquire: () => Promise<T>, log: Log): Promise<T> {
  const until = systemClock.monotonic() + LEASE_PATIENCE_MS;
  for (let told = false; ; told = true) {
    try {
      return await acquire();
    } catch (error) {
      const isHeld = (error as { code?: string }).code === 'lease_held';
      if (!isHeld || systemClock.monotonic() > until) throw error;
      if (!told) log.info({ problem: (error as Error).message }, 'waiting for another process to end');
      await sleep(LEASE_RETRY_MS);
    }
  }
}
