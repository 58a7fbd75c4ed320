/** The progress of commands on standard error: a bar on a terminal, lines elsewhere. */
import { type Clock, systemClock } from '../clock.ts';

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;

/** Delay of the first report and minimum time between two, milliseconds. */
const PAUSE_MS = 1_000;
/** The same for a bar on a terminal, once it is shown. */
const BAR_PAUSE_MS = 100;
const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[K';

/** Starts reporting the progress of `total` items. */
export function startProgress(total: number, what: string, clock: Clock, stream: Stream = process.stderr) {
  let shownMs = clock.monotonic();
  let isShown = false;
  return {
    /** Reports the number of completed items. */
    note(done: number): void {
      const now = clock.monotonic();
      if (now - shownMs < (isShown && stream.isTTY ? BAR_PAUSE_MS : PAUSE_MS) || done >= total) return;
      shownMs = now;
      isShown = true;
      const line = `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${what}`;
      stream.write(stream.isTTY ? `${CLEAR_LINE}${barOf(done / total)}  ${line}` : `${line}\n`);
    },
    end(): void {
      if (isShown && stream.isTTY) stream.write(CLEAR_LINE);
    },
  };
}

/** A bar for a share from 0 to 1, with the percentage. */
function barOf(share: number): string {
  const full = Math.floor(share * BAR_WIDTH);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${percent} %`;
}

/**
 * Reports on a terminal what a command waits for, with the seconds so far, if the work takes over a second. Elsewhere nothing is
 * written, so that standard error has only what matters. Returns the result of the work, or throws its error.
 */
export async function whileWaiting<T>(
  what: string,
  work: () => Promise<T>,
  clock: Clock = systemClock,
  stream: Stream = process.stderr,
): Promise<T> {
  const startedMs = clock.monotonic();
  let seconds = 0;
  const cancel = clock.every(PAUSE_MS, () => {
    seconds = Math.floor((clock.monotonic() - startedMs) / 1_000);
    if (seconds > 0 && stream.isTTY) stream.write(`${CLEAR_LINE}${what} … ${seconds} s`);
  });
  try {
    return await work();
  } finally {
    cancel();
    if (seconds > 0 && stream.isTTY) stream.write(CLEAR_LINE);
  }
}
