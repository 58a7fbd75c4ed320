/** An address that drops connections: what a dead machine looks like to those who dial it. */
import { createConnection, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { Test } from 'tap';

/**
 * A listener on `port`, 0 for a free one, that accepts nothing and whose backlog is full. Its port; null where the
 * system takes connections beyond the backlog.
 */
export async function openBlackHole(t: Test, host: string, port = 0): Promise<number | null> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const server = require('node:net').createServer();
     server.listen({ host: '${host}', port: ${port}, backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       // From here on the thread accepts nothing more.
       setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 0);
     });`,
    { eval: true },
  );
  const fillers: Socket[] = [];
  t.teardown(async () => {
    for (const socket of fillers) socket.destroy();
    await worker.terminate();
  });
  const bound = await new Promise<number>((resolve) => worker.once('message', resolve));
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (let n = 0; n < 32; n++) {
    const filler = createConnection({ host, port: bound });
    filler.on('error', () => {});
    fillers.push(filler);
    const made = await Promise.race([
      new Promise<boolean>((resolve) => filler.on('connect', () => resolve(true))),
      new Promise<boolean>((resolve) => setTimeout(resolve, 500, false)),
    ]);
    if (!made) return bound;
  }
  return null;
}
