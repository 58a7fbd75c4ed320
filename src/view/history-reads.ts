/** Reads of past checks for pages, which are shown without their history rather than wait for a sample store that hangs. */
import type { Clock } from '../clock.ts';
import { isSampleReadError } from '../store/ports/samples.ts';

/** Maximum time that a page or a request of the API waits for past checks, milliseconds. */
export const HISTORY_TIMEOUT_MS = 3_000;
/** Number of unanswered reads that no request waits for any longer, from which on no request begins another one. */
export const MAX_OVERDUE_READS = 50;

/**
 * Reads past checks for one request. Null: the sample store is unavailable, or does not respond in the time that the request has;
 * the read then continues, so that a cache has the value for the next request. Throws all other errors.
 */
export type ReadHistory = <Value>(read: () => Promise<Value>) => Promise<Value | null>;

/** Begins the reads of a request: they have {@link HISTORY_TIMEOUT_MS} from now on, all together. */
export type BeginHistory = () => ReadHistory;

/** Creates the function that begins the reads of a request. */
export function createHistoryReads(clock: Clock): BeginHistory {
  let overdue = 0;

  /** Null: the answer takes longer than `timeoutMs`. */
  const within = async <Value>(answer: Promise<Value>, timeoutMs: number): Promise<Value | null> => {
    let cancel = () => {};
    const late = new Promise<null>((resolve) => {
      cancel = clock.after(timeoutMs, () => {
        overdue += 1;
        const end = () => {
          overdue -= 1;
        };
        answer.then(end, end);
        resolve(null);
      });
    });
    return await Promise.race([answer, late]).finally(cancel);
  };

  return () => {
    const endsAt = clock.monotonic() + HISTORY_TIMEOUT_MS;
    return async (read) => {
      const leftMs = endsAt - clock.monotonic();
      // A store that hangs should not have to answer every visitor of that time when it is back.
      if (leftMs <= 0 || overdue >= MAX_OVERDUE_READS) return null;
      try {
        return await within(read(), leftMs);
      } catch (error) {
        if (!isSampleReadError(error)) throw error;
        return null;
      }
    };
  };
}
