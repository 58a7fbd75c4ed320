/** Entry of the sample store's thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { createSamplesMethods, type SamplesThreadData } from '../src/store/samples/samples-thread.ts';
import { serveThread } from '../src/thread/rpc.ts';

if (parentPort !== null) serveThread(parentPort, createSamplesMethods(workerData as SamplesThreadData));
