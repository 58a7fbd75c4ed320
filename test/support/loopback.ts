/** Servers on loopback for tests: a free port, a count of what is open, and a close that leaves nothing behind. */
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';

/** A listening server. */
export interface Loopback {
  readonly port: number;
  /** Connections that are open now. */
  readonly open: () => number;
  /** Connections since the start. */
  readonly accepted: () => number;
  /** Destroys all connections and stops listening. */
  close(): Promise<void>;
}

/** Lets a server listen on loopback. Errors of its connections are nothing to the test. */
export async function listenOn(server: Server, host = '127.0.0.1', port = 0): Promise<Loopback> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    open: () => sockets.size,
    accepted: () => accepted,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server that does as told with each connection, below HTTP. */
export function listenRaw(handle: (socket: Socket) => void, host?: string, port?: number): Promise<Loopback> {
  return listenOn(createServer(handle), host, port);
}

/** Waits until `condition` holds; throws after `limitMs`. */
export async function until(condition: () => boolean, limitMs = 45_000): Promise<void> {
  const endsAt = Date.now() + limitMs;
  while (!condition()) {
    if (Date.now() > endsAt) throw new Error(`still not true after ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
