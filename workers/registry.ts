/** Entry of the registry's thread. The first call opens the database, so that the caller receives the error if it cannot be opened. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openDescribed } from '../src/store/registry/open-registry.ts';
import type { RegistryThreadData } from '../src/store/registry/registry-thread.ts';
import type { SamplesThreadData } from '../src/store/samples/samples-thread.ts';
import { serveBeside, serveThread } from '../src/thread/rpc.ts';
import { collectLater } from '../src/thread/v8-options.ts';

if (parentPort !== null) {
  const methods = {
    /** Opens the registry; returns what the thread then serves. */
    open: async () => {
      const opened = await openDescribed(workerData as RegistryThreadData);
      Object.assign(methods, opened.methods);
      return opened.described;
    },
    /** Serves the embedded store of samples, too. */
    serveSamples: async (data: SamplesThreadData, port: MessagePort) => {
      const { createSamplesMethods } = await import('../src/store/samples/samples-thread.ts');
      serveBeside(port, createSamplesMethods(data));
    },
  };
  serveThread(parentPort, methods);
  collectLater();
}
