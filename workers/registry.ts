/** Entry of the registry's thread. The first call opens the database, so that the caller receives the error if it cannot be opened. */
import { parentPort, workerData } from 'node:worker_threads';
import type { RegistryThreadData } from '../src/store/registry/registry-thread.ts';
import { serveThread } from '../src/thread/rpc.ts';

if (parentPort !== null) {
  const methods = {
    /** Opens the registry; returns the names of the methods that the thread then serves. */
    open: async () => {
      const opened = await openDatabase(workerData as RegistryThreadData);
      Object.assign(methods, opened);
      return Object.keys(opened);
    },
  };
  serveThread(parentPort, methods);
}

/** Each database has a driver, which is loaded only if it is used. */
async function openDatabase(data: RegistryThreadData) {
  const { postgresUrl = null } = data;
  if (postgresUrl === null)
    return await (await import('../src/store/registry/registry-thread.ts')).openRegistryMethods(data);
  const { openPostgresMethods } = await import('../src/store/registry/postgres/postgres-methods.ts');
  return await openPostgresMethods(postgresUrl, data);
}
