/** A render thread for tests: the name says what to do. */
import { parentPort } from 'node:worker_threads';
import { serveThread } from '../../src/thread/rpc.ts';

let drawn = 0;

export const methods = {
  badge: ({ name }: { readonly name: string }) => {
    if (name === 'exit') process.exit(7);
    if (name === 'fail') throw new Error('no ink');
    return Uint8Array.of(++drawn);
  },
};

if (parentPort !== null) serveThread(parentPort, methods);
