/** How far long work has come, on standard error: one line that changes on a terminal, a line now and then elsewhere. */
import type { Clock } from '../clock.ts';

/** Progress of some work. */
export interface Progress {
  /** So many are done. */
  note(done: number): void;
  /** The work has ended. */
  end(): void;
}

/** Work that is done sooner shows none, and no two lines come closer, milliseconds. */
const PAUSE_MS = 1_000;

/** Begins to watch work on `total` things. */
export function startProgress(
  total: number,
  what: string,
  clock: Pick<Clock, 'monotonic'>,
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
): Progress {
  let shownMs = clock.monotonic();
  let isShown = false;
  return {
    note(done) {
      const now = clock.monotonic();
      if (now - shownMs < PAUSE_MS || done >= total) return;
      shownMs = now;
      isShown = true;
      const line = `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${what}`;
      stream.write(stream.isTTY ? `\r${line}` : `${line}\n`);
    },
    end() {
      if (isShown && stream.isTTY) stream.write('\r\u001b[K');
    },
  };
}
