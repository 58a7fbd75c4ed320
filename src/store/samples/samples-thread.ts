/** What the sample store's thread serves, and its own timetable. */

import { systemClock } from '../../clock.ts';
import { HOUR_MS } from '../../domain/durations.ts';
import { createSampleBook, type SampleBook, type SampleBookState } from './sample-book.ts';
import { openSamplesDatabase } from './samples-database.ts';

/** What the thread is started with. */
export interface SamplesThreadData {
  readonly dataDir: string;
  readonly rawRetentionMs: number;
  readonly rollupRetentionMs: number;
  /** Another process writes; this one only reads. */
  readonly follows: boolean;
  /** Identity of the installation; undefined: it does not matter. */
  readonly installation: string | undefined;
}

/** The thread's methods; `open` comes first. */
export type SamplesMethods = {
  /** Where a damaged file was moved, so that a new one could begin; null: there was none. */
  readonly open: () => { readonly setAside: string | null };
  readonly state: () => SampleBookState;
  readonly append: (packed: Float64Array) => SampleBookState;
  readonly flush: () => SampleBookState;
  readonly query: SampleBook['query'];
  readonly newest: SampleBook['newest'];
  readonly tidy: () => Promise<void>;
  readonly close: () => SampleBookState;
};

/** At the most so much is lost when the power goes. */
const COMMIT_MS = 500;
const TIDY_MS = HOUR_MS;

/** Makes the methods; nothing is opened before `open`. */
export function createSamplesMethods(data: SamplesThreadData): SamplesMethods {
  let book: SampleBook | null = null;
  const opened = () => {
    if (book === null) throw new Error('the sample store is not open');
    return book;
  };
  const timers: NodeJS.Timeout[] = [];
  return {
    open() {
      const now = () => systemClock.now();
      const { dataDir, installation, follows } = data;
      const database = openSamplesDatabase(dataDir, {
        ...(installation === undefined ? {} : { installation }),
        mayReplace: !follows,
        now,
      });
      const { setAside } = database;
      book = createSampleBook({ ...data, database, now });
      if (follows) return { setAside };
      const quietly = (work: () => unknown) => async () => {
        try {
          await work();
        } catch {
          // The state of the next append tells; what waits is tried again.
        }
      };
      timers.push(
        setInterval(
          quietly(() => opened().flush()),
          COMMIT_MS,
        ),
      );
      timers.push(
        setInterval(
          quietly(() => opened().tidy()),
          TIDY_MS,
        ),
      );
      return { setAside };
    },
    state: () => opened().state(),
    append: (packed) => opened().append(packed),
    flush: () => opened().flush(),
    query: (query) => opened().query(query),
    newest: (serviceId, limit) => opened().newest(serviceId, limit),
    tidy: () => opened().tidy(),
    close() {
      for (const timer of timers) clearInterval(timer);
      const last = opened().close();
      book = null;
      return last;
    },
  };
}
