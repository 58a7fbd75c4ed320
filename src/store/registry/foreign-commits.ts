/** Notices commits of other connections to an SQLite file, in the thread that writes to it. */
import { type FSWatcher, watch } from 'node:fs';
import type { Cancel, Clock } from '../../clock.ts';

/**
 * Delay after a write that was noticed, milliseconds: a commit is complete some time after its first write. It is shorter than the end
 * of a process that ran a command, so that its changes are visible by then.
 */
const SETTLE_MS = 25;
/** A write that is noticed within this time after an own commit, milliseconds, is taken for that one. */
const OWN_MS = 20;
/** Interval of looking where writes are noticed, milliseconds: some file systems do not tell all of them. */
const LOOK_MS = 1_000;

/** The number of a file that cannot be read. */
const UNREADABLE = -2;

/** The dependencies of the watch. */
export interface ForeignCommitsOptions {
  readonly file: string;
  /** `PRAGMA data_version`: another number after a commit of another connection. */
  readonly version: () => number;
  readonly clock: Clock;
  /** Default: {@link watchWrites}. */
  readonly watchFile?: typeof watchWrites;
}

/** Creates a watch, which begins with the first wait. */
export function createForeignCommits({
  file,
  version,
  clock,
  watchFile = watchWrites,
}: ForeignCommitsOptions) {
  let known = version();
  let ownMs = Number.NEGATIVE_INFINITY;
  let changed = Promise.withResolvers<void>();
  let hasBegun = false;
  let isStopped = false;
  let watcher: ReturnType<typeof watchWrites> = null;
  let cancelLooks: Cancel = () => {};
  let cancelSoon: Cancel | null = null;

  function look(): void {
    let now = UNREADABLE;
    try {
      now = version();
    } catch {
      // It may have changed: the reads that follow report the fault.
    }
    if (now === known) return;
    known = now;
    changed.resolve();
    changed = Promise.withResolvers();
  }

  function noteWrite(): void {
    if (isStopped) return;
    look();
    if (clock.monotonic() - ownMs < OWN_MS) return;
    cancelSoon ??= clock.after(SETTLE_MS, () => {
      cancelSoon = null;
      look();
    });
  }

  function begin(): void {
    hasBegun = true;
    watcher = watchFile(file, noteWrite, () => {
      cancelLooks();
      if (!isStopped) cancelLooks = clock.every(SETTLE_MS, look);
    });
    cancelLooks = clock.every(watcher === null ? SETTLE_MS : LOOK_MS, look);
  }

  return {
    /** Resolves with a number other than `seen` as soon as there is one, or with any after {@link stop}. */
    async after(seen: number): Promise<number> {
      if (!hasBegun) begin();
      if (!isStopped) look();
      while (known === seen && !isStopped) await changed.promise;
      return known;
    },
    /** The own connection has committed. */
    noteOwn(): void {
      ownMs = clock.monotonic();
    },
    stop(): void {
      isStopped = true;
      watcher?.close();
      cancelLooks();
      cancelSoon?.();
      changed.resolve();
    },
  };
}

/**
 * Calls `onWrite` for each write to the log that stands before an SQLite file, by any process of this machine. `onFault` is called once
 * if the system ends the watch. Null: the system cannot watch it. It does not keep the process alive.
 */
export function watchWrites(
  file: string,
  onWrite: () => void,
  onFault: () => void,
): { readonly close: () => void } | null {
  const log = `${file}-wal`;
  const start = () =>
    watch(log, { persistent: false }, (event) => {
      onWrite();
      // The file has another name or is gone; the next one of this name is another file.
      if (event === 'rename') renew();
    }).on('error', fail);
  const fail = (): void => {
    watcher.close();
    onFault();
  };
  const renew = (): void => {
    watcher.close();
    try {
      watcher = start();
    } catch {
      onFault();
    }
  };
  let watcher: FSWatcher;
  try {
    watcher = start();
  } catch {
    return null;
  }
  return { close: () => watcher.close() };
}
