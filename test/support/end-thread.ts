/**
 * Loaded into every thread of a program by `NODE_OPTIONS`: ends the thread by a fault once a file with the name of its entry
 * and the content `end` appears in the folder of `TEST_END_THREADS`. With `hang`, the thread hangs until the file is gone; it writes `hangs`
 * to the file first; with `slow` it stands still for three quarters of the time. No signal reaches a single thread. Entries are
 * those of `workers/`, and Piscina's `worker.js` for a probe thread.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const POLL_MS = 50;

/** Blocks the thread until a file is gone. */
function hangWhile(file: string): void {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  writeFileSync(file, 'hangs');
  while (existsSync(file)) Atomics.wait(nothing, 0, 0, POLL_MS);
}

const folder = process.env.TEST_END_THREADS;
if (!isMainThread && folder !== undefined)
  setInterval(() => {
    // A bundled entry has another ending.
    const order = join(folder, basename(process.argv[1] ?? '').replace(/\.cjs$/, '.ts'));
    if (!existsSync(order)) return;
    const word = readFileSync(order, 'utf8');
    if (word === 'hang') hangWhile(order);
    if (word === 'slow') {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * POLL_MS);
      return;
    }
    // A file is empty at first, and the thread that hung may have been replaced by this one.
    if (word !== 'end') return;
    rmSync(order);
    throw new Error(`the test ends ${order}`);
  }, POLL_MS).unref();
