/** The embedded sample store: an SQLite file in the data directory, served by a thread. */
import { existsSync } from 'node:fs';
import type { MessagePort } from 'node:worker_threads';
import { systemClock } from '../../clock.ts';
import type { Sample } from '../../domain/sample.ts';
import type { Log } from '../../log.ts';
import { hostStore, superviseStoreThread } from '../../thread/supervised-thread.ts';
import type { SampleReadError, SampleStore } from '../ports/samples.ts';
import { createRegionNumbers, packSamples } from './encoding.ts';
import type { SampleEngineState } from './sample-engine.ts';
import { createSampleBatcher, watchSampleThread } from './sample-thread.ts';
import type { SamplesMethods, SamplesThreadData } from './samples-thread.ts';

/** The port, and what only this adapter has. */
export interface SqliteSamples extends SampleStore {
  /** Why samples wait in memory, one line; null: the disk accepts them, and the thread answers. */
  problem(): string | null;
  /** Samples dropped since the start, because the disk accepted none for too long. */
  lost(): number;
  /** The path to which a damaged file was moved when the store was opened; null: there was none. */
  readonly setAside: string | null;
  /** Why history before the start is missing, until the operator removes what was kept of the damaged file; null: it is not. */
  missingHistory(): string | null;
  /** Resolves to true if no process has written a sample. */
  isEmpty(): Promise<boolean>;
  /** Moves the journal into blocks and deletes what is out of retention; this also happens hourly. */
  compact(): Promise<void>;
}

const ENTRY = new URL('../../../workers/samples.ts', import.meta.url);
const POLL_MS = 1_000;
const NO_STATE: SampleEngineState = { pending: 0, fileBytes: 0, problem: null, lost: 0, damaged: 0 };

/** Opens the store. Rejects with a sentence that says what to do; its `code` is that of a SamplesError. */
export async function openSamples(options: {
  /** Folder of `samples.sqlite`; it is created if it does not exist. */
  readonly dataDir: string;
  /** The time for which single samples are kept, milliseconds. */
  readonly rawRetentionMs: number;
  /** The time for which hourly summaries are kept, milliseconds. */
  readonly rollupRetentionMs: number;
  /** True: another process writes the store, and this one only reads. Default false. */
  readonly follows?: boolean;
  /** Identity of the installation that the store belongs to; absent: any store is accepted. */
  readonly installation?: string;
  /** Lets another thread serve the store at a port. Absent: it has a separate thread. */
  readonly host?: (data: SamplesThreadData, port: MessagePort) => Promise<unknown>;
  readonly log: Log;
  /** Called if the thread ends by a fault. */
  readonly onEnd?: (reason: Error) => void;
}): Promise<SqliteSamples> {
  const {
    dataDir,
    rawRetentionMs,
    rollupRetentionMs,
    follows = false,
    installation,
    host,
    log,
    onEnd,
  } = options;
  const data: SamplesThreadData = { dataDir, rawRetentionMs, rollupRetentionMs, follows, installation };
  const name = 'the samples thread';
  const thread =
    host === undefined
      ? superviseStoreThread<SamplesMethods>({ name, entry: ENTRY, workerData: data, log, onEnd })
      : await hostStore<SamplesMethods>(name, (port) => host(data, port));
  let opened: ReturnType<SamplesMethods['open']>;
  try {
    opened = await thread.call('open', []);
  } catch (error) {
    await thread.stop();
    throw error;
  }

  const { setAside, damagedLog } = opened;
  const regions = createRegionNumbers(opened.regions);
  if (setAside !== null)
    log.error(
      { setAside },
      'samples.sqlite was damaged and is set aside: the history up to now is missing. Put a backup in its place while the program is stopped, or save what can be read of it with "sqlite3 FILE .recover"',
    );
  if (damagedLog !== null)
    log.error(
      { damagedLog },
      'samples.sqlite-wal was damaged: the last samples before the start are missing. A copy of it is kept',
    );

  let state = NO_STATE;

  const note = (next: SampleEngineState) => {
    if (next.problem !== null && state.problem === null) {
      log.error({ problem: next.problem }, 'samples cannot be written; they are kept in memory');
    } else if (next.problem === null && state.problem !== null) {
      log.info({ lost: next.lost }, 'samples are written again');
    }
    if (next.lost > state.lost && state.lost === 0)
      log.error({ lost: next.lost }, 'samples are dropped: the disk has accepted none for too long');
    if (next.damaged > state.damaged)
      log.error(
        { damaged: next.damaged },
        'samples.sqlite is damaged in places: samples of some days of services cannot be read, and are left out',
      );
    state = next;
  };
  const batcher = createSampleBatcher<Sample>(async (samples) => {
    const packed = packSamples(samples, regions.numberOf);
    note(await thread.call('append', [packed, regions.takeNew()], [packed.buffer]));
  });

  // The thread retries failed writes even if no samples arrive.
  const stopPolling = systemClock.every(POLL_MS, () => {
    if (state.problem !== null) thread.call('state', []).then(note, () => {});
  });

  const silence = watchSampleThread(thread, log);
  /** Reads after all samples that were appended before. Throws {@link SampleReadError} while the thread hangs. */
  const read = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
    silence.refuse();
    await batcher.flush();
    return await ask();
  };

  return {
    setAside,
    missingHistory() {
      if (setAside !== null && existsSync(setAside))
        return `samples.sqlite was damaged; the history up to the start is in ${setAside}`;
      if (damagedLog !== null && existsSync(damagedLog))
        return `samples.sqlite-wal was damaged; the last samples before the start are missing, and a copy of it is ${damagedLog}`;
      return null;
    },
    problem: () => silence.problem() ?? state.problem,
    lost: () => state.lost,
    append: batcher.append,
    query: (query) => read(() => thread.call('queryInSlices', [query])),
    cells: (queries) => read(() => thread.call('cells', [queries])),
    newest: (serviceId, limit) => read(() => thread.call('newest', [serviceId, limit])),
    regionsOf: (serviceId) => read(() => thread.call('regionsOf', [serviceId])),
    isEmpty: () => read(() => thread.call('isEmpty', [])),
    async flush() {
      await batcher.flush();
      note(await thread.call('flush', []));
    },
    stats: () => ({
      appended: batcher.appended,
      pending: batcher.waiting + state.pending,
      fileBytes: state.fileBytes,
    }),
    async compact() {
      await batcher.flush();
      await thread.call('compact', []);
    },
    async close() {
      stopPolling();
      silence.end();
      await batcher.flush();
      note(await thread.call('close', []));
      await thread.stop();
    },
  };
}
