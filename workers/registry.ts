/** Entry of the registry's thread. The first call opens the database, so that the caller receives the error if it cannot be opened. */
import { parentPort, workerData } from 'node:worker_threads';
import { openDescribed } from '../src/store/registry/open-registry.ts';
import type { RegistryThreadData } from '../src/store/registry/registry-thread.ts';
import { serveThread } from '../src/thread/rpc.ts';

if (parentPort !== null) {
  const methods = {
    /** Opens the registry; returns what the thread then serves. */
    open: async () => {
      const opened = await openDescribed(workerData as RegistryThreadData);
      Object.assign(methods, opened.methods);
      return opened.described;
    },
  };
  serveThread(parentPort, methods);
}
