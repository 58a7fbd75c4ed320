/** The thread of the embedded sample store: its methods, and the times at which it writes and compacts. */
import { type Cancel, systemClock } from '../../clock.ts';
import { HOUR_MS } from '../../domain/durations.ts';
import type { Methods } from '../../thread/rpc.ts';
import { SampleEngine } from './sample-engine.ts';
import { openSamplesDatabase } from './samples-database.ts';

export interface SamplesThreadData {
  readonly dataDir: string;
  readonly rawRetentionMs: number;
  readonly rollupRetentionMs: number;
  /** Another process writes; this one only reads. */
  readonly follows: boolean;
  /** Identity of the installation; undefined: any file is accepted. */
  readonly installation: string | undefined;
}

/** The thread's methods: `open` first, then those of the engine. */
export type SamplesMethods = { readonly [Name in keyof SampleEngine]: SampleEngine[Name] } & {
  readonly open: () => {
    /** The path to which a damaged file was moved; null: there was none. */
    readonly setAside: string | null;
    /** A copy of a damaged log; null: it was whole. */
    readonly damagedLog: string | null;
    /** The regions of the store, in the order of their numbers. */
    readonly regions: readonly string[];
  };
};

/** Minimum time between two writes, milliseconds. A power cut loses at most the samples of this time. */
const COMMIT_MS = 500;
const COMPACT_MS = HOUR_MS;

/** Creates the methods; `open` opens the file and adds the engine's. */
export function createSamplesMethods(data: SamplesThreadData): Methods {
  const methods: Methods & Pick<SamplesMethods, 'open'> = {
    open() {
      const { dataDir, installation, follows } = data;
      const { now, every, after, monotonic } = systemClock;
      const database = openSamplesDatabase(dataDir, {
        ...(installation === undefined ? {} : { installation }),
        mayReplace: !follows,
        now,
      });
      const engine = new SampleEngine({ ...data, database, now });
      let committedMs = Number.NEGATIVE_INFINITY;
      let cancelCommit: Cancel | null = null;
      const commit = (): void => {
        cancelCommit = null;
        committedMs = monotonic();
        try {
          engine.flush();
        } catch {
          // The state shows it. Other calls come first, however long the disk took to refuse.
          cancelCommit = after(COMMIT_MS, commit);
        }
      };
      const commitSoon = (): void => {
        const waitMs = committedMs + COMMIT_MS - monotonic();
        if (cancelCommit === null && waitMs > 0) cancelCommit = after(waitMs, commit);
        else if (cancelCommit === null) commit();
      };
      const stopCompacting = follows
        ? () => {}
        : every(
            COMPACT_MS,
            ignoreErrors(() => engine.compact()),
          );
      if (!follows) void ignoreErrors(() => engine.fillLevels())();
      const close = () => {
        cancelCommit?.();
        stopCompacting();
        return engine.close();
      };
      Object.assign(methods, {
        regions: () => engine.regions(),
        isEmpty: () => engine.isEmpty(),
        append(...args) {
          engine.append(...args);
          commitSoon();
          return engine.state();
        },
        flush: () => engine.flush(),
        state: () => engine.state(),
        query: (query) => engine.query(query),
        queryInSlices: (query) => engine.queryInSlices(query),
        cells: (queries) => engine.cells(queries),
        fillLevels: () => engine.fillLevels(),
        newest: (...args) => engine.newest(...args),
        regionsOf: (serviceId) => engine.regionsOf(serviceId),
        compact: () => engine.compact(),
        close,
      } satisfies Omit<SamplesMethods, 'open'>);
      const { setAside, damagedLog } = database;
      return { setAside, damagedLog, regions: engine.regions() };
    },
  };
  return methods;
}

/** Errors show in the engine's state, and the next call retries. */
function ignoreErrors(work: () => unknown): () => Promise<void> {
  return async () => {
    try {
      await work();
    } catch {}
  };
}
