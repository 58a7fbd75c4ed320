/** A thread for the tests of calls between threads. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { serveBeside, serveThread } from '../../src/thread/rpc.ts';

export const methods = {
  greet: (name: string) => `${workerData.greeting} ${name}`,
  fail: () => {
    throw Object.assign(new Error('no luck'), { code: 'out_of_luck' });
  },
  sum: (bytes: Uint8Array) => bytes.reduce((total, byte) => total + byte, 0),
  hang: () => {
    for (;;);
  },
  exit: (code: number) => process.exit(code),
  host: (port: MessagePort): void => serveBeside(port, methods),
};

if (parentPort !== null) serveThread(parentPort, methods);
