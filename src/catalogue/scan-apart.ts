/**
 * Reads a large catalogue in a separate thread, which ends with the reading: the same reading in the main thread would take turns with
 * checks' results and requests, take twice as long and delay them.
 */
import type { Clock } from '../clock.ts';
import { startThread } from '../thread/rpc.ts';
import type { CatalogueScan, Wanted } from './scan-catalogue.ts';

const ENTRY = new URL('../../workers/catalogue.ts', import.meta.url);
/** The interval at which the reader asks whether the rest is still needed, milliseconds. */
const LOOK_MS = 50;

export type ScanMethods = {
  scan(file: string, wanted: Wanted): Promise<CatalogueScan>;
};

/** {@link scanCatalogue} in a separate thread. Null: the rest was no longer needed. Rejects if the file cannot be read, or if the thread ends first. */
export async function scanApart(
  file: string,
  wanted: Wanted,
  isOutdated: () => boolean,
  clock: Clock,
): Promise<CatalogueScan | null> {
  const thread = startThread<ScanMethods>(ENTRY, null, () => {});
  const outdated = Promise.withResolvers<null>();
  const stopLooking = clock.every(LOOK_MS, () => {
    if (isOutdated()) outdated.resolve(null);
  });
  try {
    const scan = thread.call('scan', [file, wanted]);
    // If it is no longer needed, `terminate` rejects this call, and nothing else would catch that.
    scan.catch(() => {});
    return await Promise.race([scan, outdated.promise]);
  } finally {
    stopLooking();
    await thread.terminate();
  }
}
