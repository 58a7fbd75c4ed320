/** Entry of the thread that writes samples to InfluxDB and reads them. */
import { parentPort, workerData } from 'node:worker_threads';
import { createInfluxMethods, type InfluxThreadData } from '../src/store/samples/influx/influx-thread.ts';
import { serveThread } from '../src/thread/rpc.ts';

if (parentPort !== null) serveThread(parentPort, createInfluxMethods(workerData as InfluxThreadData));
