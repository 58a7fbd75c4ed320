/**
 * Loaded into every thread of a program by `NODE_OPTIONS`: ends the thread by a fault once a file with the name of its entry
 * appears in the folder of `TEST_END_THREADS`. No signal reaches a single thread. Entries are those of `workers/`, and
 * Piscina's `worker.js` for a probe thread.
 */
import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const folder = process.env.TEST_END_THREADS;
if (!isMainThread && folder !== undefined)
  setInterval(() => {
    const order = join(folder, basename(process.argv[1] ?? ''));
    if (!existsSync(order)) return;
    rmSync(order);
    throw new Error(`the test ends ${order}`);
  }, 50).unref();
