/** Gathers samples for a moment, so that they go to a store's thread together. */
import type { Sample } from '../../domain/sample.ts';

/** Samples of this long go together. */
const GATHER_MS = 50;
/** So many are enough to go at once. */
const MAX_BATCH = 5_000;

/** What gathers; samples, or what goes beside them. */
export interface SampleGatherer<T = Sample> {
  /** Takes samples; resolves when the thread has taken them, rejects with its error. */
  append(samples: readonly T[]): Promise<void>;
  /** Sends what is gathered now: what was appended before is seen by what is asked after it. */
  sendFirst(): Promise<void>;
  /** Samples gathered and not sent yet. */
  readonly waiting: number;
  /** Samples taken since the beginning. */
  readonly appended: number;
}

/** Makes a gatherer that hands batches to `send`, one after the other in their order. */
export function createSampleGatherer<T = Sample>(
  send: (samples: readonly T[]) => Promise<void>,
): SampleGatherer<T> {
  let gathered: T[] = [];
  /** Resolves for all callers of the current batch. */
  let taken: PromiseWithResolvers<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let appended = 0;

  const sendNow = async (): Promise<void> => {
    clearTimeout(timer);
    const [samples, waiting] = [gathered, taken];
    gathered = [];
    taken = null;
    try {
      await send(samples);
      waiting?.resolve();
    } catch (error) {
      waiting?.reject(error);
    }
  };

  return {
    append(samples) {
      if (samples.length === 0) return Promise.resolve();
      appended += samples.length;
      for (const sample of samples) gathered.push(sample);
      if (taken === null) {
        taken = Promise.withResolvers();
        // This timer keeps the process alive until the accepted samples are written.
        timer = setTimeout(() => void sendNow(), GATHER_MS);
      }
      const { promise } = taken;
      if (gathered.length >= MAX_BATCH) void sendNow();
      return promise;
    },
    async sendFirst() {
      if (taken !== null) await sendNow();
    },
    get waiting() {
      return gathered.length;
    },
    get appended() {
      return appended;
    },
  };
}
