/** Hands samples to their store in order, one batch at a time, and waits where the store asks for it. */
import type { Clock } from '../clock.ts';
import type { Sample } from '../domain/sample.ts';
import type { Log } from '../log.ts';
import type { SampleStore } from '../store/ports/samples.ts';

/** About 10 MiB; beyond it the oldest are given up, for the record must not end because a disk is full. */
const MAX_WAITING = 100_000;
const RETRY_MS = 1_000;

/** A queue before the sample store. */
export interface SampleWriter {
  /** Takes samples; the array is not used afterwards. */
  write(samples: readonly Sample[]): void;
  /** Resolves when all samples taken before were accepted by the store, or given up at stop. */
  idle(): Promise<void>;
  /** From now on a batch that the store refuses is given up. */
  stop(): void;
}

/** Makes the queue. */
export function createSampleWriter(
  store: Pick<SampleStore, 'append'>,
  clock: Pick<Clock, 'after'>,
  log: Log,
): SampleWriter {
  let waiting: Sample[] = [];
  let busy = false;
  let failing = false;
  let stopped = false;
  let retryNow: (() => void) | null = null;
  const idlers: (() => void)[] = [];

  async function drain(): Promise<void> {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await store.append(batch);
        if (failing) log.info({}, 'samples are stored again');
        failing = false;
      } catch (error) {
        if (!failing) log.error({ error, samples: batch.length }, 'samples could not be stored; retrying');
        failing = true;
        if (stopped) continue;
        waiting = batch.concat(waiting);
        giveUpOldest();
        await pause();
      }
    }
    busy = false;
    for (const resolve of idlers.splice(0)) resolve();
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(RETRY_MS, resolve);
      retryNow = () => {
        cancel();
        resolve();
      };
    });
  }

  function giveUpOldest(): void {
    const excess = waiting.length - MAX_WAITING;
    if (excess <= 0) return;
    waiting.splice(0, excess);
    log.error({ samples: excess }, 'samples were dropped: the store was unavailable for too long');
  }

  return {
    write(samples) {
      if (samples.length === 0) return;
      for (const sample of samples) waiting.push(sample);
      // Not at every call: the queue is cut in steps, so that cutting costs little.
      if (waiting.length > MAX_WAITING * 1.1) giveUpOldest();
      if (!busy) void drain();
    },
    idle: () => (busy ? new Promise<void>((resolve) => idlers.push(resolve)) : Promise.resolve()),
    stop() {
      stopped = true;
      retryNow?.();
    },
  };
}
