/** The embedded sample store: an SQLite file of the data directory, served by a thread of its own. */
import type { Log } from '../../log.ts';
import { FATAL, superviseThread } from '../../thread/supervised-thread.ts';
import type { SampleStore } from '../ports/samples.ts';
import type { SampleBookState } from './sample-book.ts';
import { createSampleGatherer } from './sample-gatherer.ts';
import type { SamplesMethods, SamplesThreadData } from './samples-thread.ts';
import { packSamples } from './wire.ts';

/** How to open the store. */
export interface SamplesOptions {
  /** Folder of `samples.sqlite`; it is made where it does not exist. */
  readonly dataDir: string;
  /** How long single samples are kept, milliseconds. */
  readonly rawRetentionMs: number;
  /** How long hourly summaries are kept, milliseconds. */
  readonly rollupRetentionMs: number;
  /** True: another process writes the store, and this one only reads. Default false. */
  readonly follows?: boolean;
  /** Identity of the installation that the store belongs to; absent: any store is taken. */
  readonly installation?: string;
  readonly log: Log;
  /** Called if the thread ends unasked. */
  readonly onEnd?: (reason: Error) => void;
}

/** The port, and what only this adapter has. */
export interface SqliteSamples extends SampleStore {
  /** Why samples wait in memory, one line; null: the disk takes them. */
  problem(): string | null;
  /** Samples given up since the start, because the disk took none for too long. */
  lost(): number;
  /** Where a damaged file was moved at the opening; null: there was none. */
  readonly setAside: string | null;
  /** Moves what came in to its final place now, and deletes what is out of retention; it happens hourly by itself. */
  tidy(): Promise<void>;
}

const ENTRY = new URL('../../../workers/samples.ts', import.meta.url);
const LOOK_MS = 1_000;
const NO_STATE: SampleBookState = { pending: 0, fileBytes: 0, problem: null, lost: 0 };

/** Opens the store. Rejects with a sentence that says what to do; its `code` is that of a SamplesError. */
export async function openSamples(options: SamplesOptions): Promise<SqliteSamples> {
  const { dataDir, rawRetentionMs, rollupRetentionMs, follows = false, installation, log, onEnd } = options;
  const data: SamplesThreadData = { dataDir, rawRetentionMs, rollupRetentionMs, follows, installation };
  const thread = superviseThread<SamplesMethods>({
    name: 'the samples thread',
    entry: ENTRY,
    workerData: data,
    policy: FATAL,
    onEnd(reason) {
      log.error({ problem: reason.message }, 'the samples thread ended');
      onEnd?.(reason);
    },
  });
  let setAside: string | null;
  try {
    ({ setAside } = await thread.call('open', []));
  } catch (error) {
    await thread.stop();
    throw error;
  }

  if (setAside !== null)
    log.error(
      { setAside },
      'samples.sqlite was damaged and is set aside: the history up to now is missing. Put a backup in its place while the program is stopped, or save what can be read of it with "sqlite3 FILE .recover"',
    );

  let state = NO_STATE;

  const note = (next: SampleBookState) => {
    if (next.problem !== null && state.problem === null) {
      log.error({ problem: next.problem }, 'samples cannot be written; they are kept in memory');
    } else if (next.problem === null && state.problem !== null) {
      log.info({ lost: next.lost }, 'samples are written again');
    }
    if (next.lost > state.lost && state.lost === 0)
      log.error({ lost: next.lost }, 'samples are dropped: the disk has accepted none for too long');
    state = next;
  };
  const gatherer = createSampleGatherer(async (samples) => {
    const packed = packSamples(samples);
    note(await thread.call('append', [packed], [packed.buffer]));
  });

  // What waits is tried again by the thread, whether samples come in or not.
  const look = setInterval(() => {
    if (state.problem !== null) thread.call('state', []).then(note, () => {});
  }, LOOK_MS);
  look.unref();

  return {
    setAside,
    problem: () => state.problem,
    lost: () => state.lost,
    append: gatherer.append,
    async query(query) {
      await gatherer.sendFirst();
      return thread.call('query', [query]);
    },
    async newest(serviceId, limit) {
      await gatherer.sendFirst();
      return thread.call('newest', [serviceId, limit]);
    },
    async flush() {
      await gatherer.sendFirst();
      note(await thread.call('flush', []));
    },
    stats: () => ({
      appended: gatherer.appended,
      pending: gatherer.waiting + state.pending,
      fileBytes: state.fileBytes,
    }),
    async tidy() {
      await gatherer.sendFirst();
      await thread.call('tidy', []);
    },
    async close() {
      clearInterval(look);
      await gatherer.sendFirst();
      note(await thread.call('close', []));
      await thread.stop();
    },
  };
}
