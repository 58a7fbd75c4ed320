/** The progress of a command on standard error. */
import type { Clock } from '../clock.ts';

/** Delay of the first progress line and minimum time between two lines, milliseconds. */
const PAUSE_MS = 1_000;

/** Starts reporting progress of `total` items. */
export function startProgress(
  total: number,
  what: string,
  clock: Pick<Clock, 'monotonic'>,
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
) {
  let shownMs = clock.monotonic();
  let isShown = false;
  return {
    /** Reports the number of completed items. */
    note(done: number): void {
      const now = clock.monotonic();
      if (now - shownMs < PAUSE_MS || done >= total) return;
      shownMs = now;
      isShown = true;
      const line = `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${what}`;
      stream.write(stream.isTTY ? `\r${line}` : `${line}\n`);
    },
    /** Ends the report. */
    end(): void {
      if (isShown && stream.isTTY) stream.write('\r\u001b[K');
    },
  };
}
