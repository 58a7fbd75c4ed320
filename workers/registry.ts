/** Entry of the registry's thread. The file is opened by the first call, so that the caller hears why it cannot be. */
import { parentPort, workerData } from 'node:worker_threads';
import { openRegistryMethods, type RegistryThreadData } from '../src/store/registry/registry-thread.ts';
import { serveThread } from '../src/thread/rpc.ts';

if (parentPort !== null) {
  const methods = {
    open: async () => {
      Object.assign(methods, await openRegistryMethods(workerData as RegistryThreadData));
    },
  };
  serveThread(parentPort, methods);
}
