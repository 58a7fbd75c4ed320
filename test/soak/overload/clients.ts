/** Clients of an overloaded program: some that ask as fast as they are answered, some at a pace, and some that only cost. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a group of clients came to. */
export interface Tally {
  /** Requests by status; 0: the connection ended without an answer. */
  readonly statuses: Map<number, number>;
  /** Time to the whole answer of requests that were served, milliseconds, in order of their end. */
  readonly servedMs: number[];
  /** Time to the answer of requests that were refused with 503, milliseconds. */
  readonly refusedMs: number[];
}

/** Options of {@link runClients}. */
export interface ClientOptions {
  readonly port: number;
  readonly connections: number;
  /** Pause after an answer, milliseconds; 0: none. */
  readonly pauseMs: number;
  /** The text of the next request. */
  readonly next: () => string;
  readonly end: AbortSignal;
}

const PATIENCE_MS = 30_000;

/** Sends requests over as many connections, each after the answer to the one before. */
export async function runClients(options: ClientOptions): Promise<Tally> {
  const { connections, pauseMs, next, end, port } = options;
  const tally: Tally = { statuses: new Map(), servedMs: [], refusedMs: [] };
  const one = async (): Promise<void> => {
    let socket: Socket | null = null;
    while (!end.aborted) {
      socket ??= await open(port);
      const startedMs = performance.now();
      const status = socket === null ? 0 : await ask(socket, next());
      tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
      const ms = performance.now() - startedMs;
      if (status >= 200 && status < 400) tally.servedMs.push(ms);
      if (status === 503) tally.refusedMs.push(ms);
      if (status === 0) {
        socket?.destroy();
        socket = null;
        await sleep(100);
      }
      if (pauseMs > 0) await sleep(pauseMs);
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: connections }, one));
  return tally;
}

/** Opens connections that say nothing, or a byte of a header each second, or do not read; returns how many are open, and their end. */
export async function openIdle(port: number, count: number, write: string, everySecond = '') {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const opened = await Promise.all(
      Array.from({ length: Math.min(200, count - sockets.length) }, () => open(port)),
    );
    for (const socket of opened) {
      if (socket === null) continue;
      sockets.push(socket);
      socket.pause();
      if (write !== '') socket.write(write);
    }
    if (opened.every((socket) => socket === null)) break;
  }
  const writing = setInterval(() => {
    if (everySecond !== '') for (const socket of sockets) if (!socket.destroyed) socket.write(everySecond);
  }, 1_000);
  return {
    opened: sockets.length,
    open: () => sockets.filter(({ destroyed }) => !destroyed).length,
    close() {
      clearInterval(writing);
      for (const socket of sockets) socket.destroy();
    },
  };
}

function open(port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => resolve(null));
    socket.once('connect', () => resolve(socket));
  });
}

/** The status of the answer; 0: there was none. */
function ask(socket: Socket, request: string): Promise<number> {
  return new Promise((resolve) => {
    let head = '';
    let [status, missing] = [0, -1];
    const finish = (found: number) => {
      clearTimeout(timer);
      socket.off('data', read);
      socket.off('close', lost);
      resolve(found);
    };
    const lost = () => finish(0);
    const timer = setTimeout(lost, PATIENCE_MS);
    const read = (chunk: Buffer) => {
      if (missing >= 0) missing -= chunk.length;
      else {
        head += chunk.toString('latin1');
        const headEnd = head.indexOf('\r\n\r\n');
        if (headEnd === -1) return;
        status = Number(head.slice(9, 12));
        missing = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0) - (head.length - headEnd - 4);
      }
      if (missing <= 0) finish(status);
    };
    socket.on('data', read);
    socket.on('close', lost);
    socket.write(request);
  });
}
