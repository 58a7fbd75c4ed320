/** The side of both stores of samples towards their thread: samples are sent together, and a thread that hangs is noticed. */
import { systemClock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { SILENCE_MS, watchSilence } from '../../thread/silence-watch.ts';
import { SampleReadError } from '../ports/samples.ts';

/** Time between two batches, milliseconds. What comes later than this after a batch is sent at once. */
const BATCH_MS = 50;
/** A batch of this size is sent at once. */
const MAX_BATCH = 5_000;

/** Creates a batcher of samples, or of the lines that are written beside them. It passes batches to `send` in order. */
export function createSampleBatcher<T>(send: (items: readonly T[]) => Promise<void>) {
  let batch: T[] = [];
  /** Settles for all callers of the current batch; null: it is empty. */
  let sent: PromiseWithResolvers<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let appended = 0;
  let sentMs = Number.NEGATIVE_INFINITY;

  const flush = async (): Promise<void> => {
    if (sent === null) return;
    clearTimeout(timer);
    sentMs = performance.now();
    const [items, { resolve, reject }] = [batch, sent];
    batch = [];
    sent = null;
    await send(items).then(resolve, reject);
  };

  return {
    /** Adds items to the batch; resolves when the thread has taken them, rejects with its error. */
    append(items: readonly T[]): Promise<void> {
      if (items.length === 0) return Promise.resolve();
      appended += items.length;
      for (const item of items) batch.push(item);
      const waitMs = sentMs + BATCH_MS - performance.now();
      if (sent === null) {
        sent = Promise.withResolvers();
        // This timer keeps the process alive until the accepted samples are written.
        if (waitMs > 0) timer = setTimeout(() => void flush(), waitMs);
      }
      const { promise } = sent;
      if (waitMs <= 0 || batch.length >= MAX_BATCH) void flush();
      return promise;
    },
    /** Sends the batch now, so that a query that follows sees everything that was appended before. */
    flush,
    /** Items in the batch. */
    get waiting(): number {
      return batch.length;
    },
    /** Items appended since the start. */
    get appended(): number {
      return appended;
    },
  };
}

// Notices that a thread of samples hangs, and refuses reads meanwhile.

export interface ThreadSilence {
  /** Why the thread cannot be asked, one line; null: it answers. */
  problem(): string | null;
  /** Throws {@link SampleReadError} while the thread hangs: a read would wait for as long. */
  refuse(): void;
  end(): void;
}

/** Watches a thread; the log tells when it hangs, and when it answers again. */
export function watchSampleThread(thread: { readonly ping: () => Promise<void> }, log: Log): ThreadSilence {
  let problem: string | null = null;
  const end = watchSilence({
    ping: thread.ping,
    clock: systemClock,
    onChange(isSilent) {
      problem = isSilent ? `the samples thread has not answered for ${SILENCE_MS / 1_000} s` : null;
      if (isSilent)
        log.error({}, 'the samples thread does not answer; past checks cannot be read, and new ones wait');
      else log.info({}, 'the samples thread answers again');
    },
  });
  return {
    problem: () => problem,
    refuse() {
      if (problem !== null) throw new SampleReadError('samples_away', problem);
    },
    end,
  };
}
