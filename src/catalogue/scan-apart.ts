/**
 * Reads a large catalogue in a thread of its own, which ends with the reading: in the main thread the same reading would take
 * turns with results of checks and requests, take twice as long, and make each of them wait.
 */
import type { Clock } from '../clock.ts';
import { startThread } from '../thread/rpc.ts';
import type { CatalogueScan, Wanted } from './scan-catalogue.ts';

const ENTRY = new URL('../../workers/catalogue.ts', import.meta.url);
/** The thread is ended within this time when nobody needs the rest, milliseconds. */
const LOOK_MS = 50;

/** What the thread does. */
export type ScanMethods = {
  scan(file: string, wanted: Wanted): Promise<CatalogueScan>;
};

/** {@link scanCatalogue} in a thread of its own. Rejects if the file cannot be read, and if the thread ends before. */
export async function scanApart(
  file: string,
  wanted: Wanted,
  isOutdated: () => boolean,
  clock: Pick<Clock, 'every'>,
): Promise<CatalogueScan | null> {
  const thread = startThread<ScanMethods>(ENTRY, null, () => {});
  const outdated = Promise.withResolvers<null>();
  const stopLooking = clock.every(LOOK_MS, () => {
    if (isOutdated()) outdated.resolve(null);
  });
  try {
    const scan = thread.call('scan', [file, wanted]);
    // When nobody needs it, the end of the thread ends the call.
    scan.catch(() => {});
    return await Promise.race([scan, outdated.promise]);
  } finally {
    stopLooking();
    await thread.terminate();
  }
}
