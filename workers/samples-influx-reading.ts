/** Entry of the thread that reads samples from InfluxDB in a process that only serves. */
import { parentPort, workerData } from 'node:worker_threads';
import { createInfluxReadingMethods } from '../src/store/samples/influx/influx-reading.ts';
import type { InfluxSettings } from '../src/store/samples/influx/influx-settings.ts';
import { serveThread } from '../src/thread/rpc.ts';

if (parentPort !== null) serveThread(parentPort, createInfluxReadingMethods(workerData as InfluxSettings));
