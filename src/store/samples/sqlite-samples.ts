/** The embedded sample store: an SQLite file of the data directory, served by a thread of its own. */
import type { Sample } from '../../domain/sample.ts';
import type { Log } from '../../log.ts';
import { startThread } from '../../thread/rpc.ts';
import type { SampleStore } from '../ports/samples.ts';
import type { SampleBookState } from './sample-book.ts';
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
  readonly log: Log;
  /** Called if the thread ends unasked. */
  readonly onEnd?: (reason: Error) => void;
}

/** The port, and what only this adapter has. */
export interface SqliteSamples extends SampleStore {
  /** Moves what came in to its final place now, and deletes what is out of retention; it happens hourly by itself. */
  tidy(): Promise<void>;
}

const ENTRY = new URL('../../../workers/samples.ts', import.meta.url);
/** Samples of this long go to the thread together. */
const GATHER_MS = 50;
const NO_STATE: SampleBookState = { pending: 0, fileBytes: 0, problem: null, lost: 0 };

/** Opens the store. Rejects with a sentence that says what to do; its `code` is `samples_unusable` or `samples_newer`. */
export async function openSamples(options: SamplesOptions): Promise<SqliteSamples> {
  const { dataDir, rawRetentionMs, rollupRetentionMs, log, onEnd } = options;
  const data: SamplesThreadData = { dataDir, rawRetentionMs, rollupRetentionMs };
  const thread = startThread<SamplesMethods>(ENTRY, data, (reason) => {
    log.error({ problem: reason.message }, 'the thread of the sample store has ended');
    onEnd?.(reason);
  });
  try {
    await thread.call('open', []);
  } catch (error) {
    await thread.terminate();
    throw error;
  }

  let gathered: Sample[] = [];
  /** For everybody whose samples are being gathered: resolved when the thread has taken them. */
  let taken: PromiseWithResolvers<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let state = NO_STATE;
  let appended = 0;

  const note = (next: SampleBookState) => {
    if (next.problem !== null && state.problem === null) {
      log.error({ problem: next.problem }, 'samples cannot be written; they wait in memory');
    } else if (next.problem === null && state.problem !== null) {
      log.info({ lost: next.lost }, 'samples are written again');
    }
    state = next;
  };
  const send = async () => {
    clearTimeout(timer);
    const [packed, waiting] = [packSamples(gathered), taken];
    gathered = [];
    taken = null;
    try {
      note(await thread.call('append', [packed], [packed.buffer]));
      waiting?.resolve();
    } catch (error) {
      waiting?.reject(error);
    }
  };
  /** What was appended before is seen by what is asked after it. */
  const sendFirst = async () => {
    if (taken !== null) await send();
  };

  return {
    append(samples) {
      if (samples.length === 0) return Promise.resolve();
      appended += samples.length;
      for (const sample of samples) gathered.push(sample);
      if (taken === null) {
        taken = Promise.withResolvers();
        // This timer keeps the process alive: what was taken is to be written.
        timer = setTimeout(() => void send(), GATHER_MS);
      }
      return taken.promise;
    },
    async query(query) {
      await sendFirst();
      return thread.call('query', [query]);
    },
    async newest(serviceId, limit) {
      await sendFirst();
      return thread.call('newest', [serviceId, limit]);
    },
    async flush() {
      await sendFirst();
      note(await thread.call('flush', []));
    },
    stats: () => ({ appended, pending: gathered.length + state.pending, fileBytes: state.fileBytes }),
    async tidy() {
      await sendFirst();
      await thread.call('tidy', []);
    },
    async close() {
      await sendFirst();
      await thread.call('close', []);
      await thread.terminate();
    },
  };
}
