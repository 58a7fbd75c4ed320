/**
 * The samples that this process kept on disk as the monitor while InfluxDB was unavailable. In a cluster the next monitor
 * has a disk of its own, so the former one sends them.
 */
import { isClustered } from '../config/resolve-config.ts';
import type { InfluxSamples } from '../store/samples/influx/influx-samples.ts';
import { hasSpool } from '../store/samples/influx/spool.ts';
import { openConfiguredInflux, type StoreParts } from './open-stores.ts';

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
