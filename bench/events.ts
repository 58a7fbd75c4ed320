/**
 * One transition sent to ten thousand event streams, compared with `node:http` that writes to as many responses in a loop:
 * `node bench/events.ts`. The servers are processes of their own; the clients are sockets of this process, ten from each of
 * a thousand loopback addresses, the maximum for one address.
 */
import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { type Server, startServer } from './api.ts';
import { absent, atMost, type BenchRow, floor, median, printRows } from './row.ts';

const STREAMS = 10_000;
const STREAMS_PER_ADDRESS = 10;
const CHANGES = 7;
/** Sockets that are opened at a time. */
const OPENING = 200;
const MAX_TOTAL_MS = 1_000;
const NAME = 'events: one change sent to 10,000 streams, to the last of them';

/** Runs the benchmark, prints its table and returns its lines. Takes about half a minute. */
export async function run(): Promise<readonly BenchRow[]> {
  const files = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
  if (files < STREAMS + 500) {
    return printRows([absent(NAME, `not measured: a process may open ${files} files (ulimit -n)`)]);
  }
  const bare = await timeOf('bare');
  const upbeat = await timeOf('upbeat');
  return printRows([
    floor('node:http, a write to each in a loop', bare, 'ms'),
    atMost(NAME, upbeat, 'ms', MAX_TOTAL_MS, upbeat / bare),
  ]);
}

async function timeOf(kind: string): Promise<number> {
  const server = await startServer(kind);
  const clients = createClients();
  try {
    for (let at = 0; at < STREAMS; at += OPENING)
      await Promise.all(Array.from({ length: OPENING }, (_, index) => clients.open(server.port, at + index)));
    const times: number[] = [];
    for (let change = 0; change < CHANGES; change++) times.push(await clients.timeOfChange(server));
    // The first one runs code that is not compiled yet.
    return median(times.slice(1));
  } finally {
    clients.close();
    server.process.disconnect();
  }
}

/** Opens streams and measures the time until a transition reaches the last of them. */
function createClients() {
  const sockets = new Set<Socket>();
  let waiting = 0;
  let onAllReceived: () => void = () => {};

  /** Opens a stream; resolves when its beginning has arrived. */
  const open = (port: number, index: number): Promise<void> => {
    const address = Math.floor(index / STREAMS_PER_ADDRESS);
    const localAddress = `127.1.${Math.floor(address / 250)}.${1 + (address % 250)}`;
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    sockets.add(socket);
    return new Promise((resolve, reject) => {
      let text = '';
      let isOpen = false;
      socket.setEncoding('latin1');
      socket.once('error', reject);
      socket.once('close', () => reject(new Error(`a stream was ended: ${text.slice(0, 200)}`)));
      socket.on('data', (chunk: string) => {
        if (isOpen) {
          if (!chunk.includes('data: ')) return;
          waiting -= 1;
          if (waiting === 0) onAllReceived();
          return;
        }
        text += chunk;
        // Status line and headers, and a first event or comment.
        const [head, body] = text.split('\r\n\r\n');
        if (body === undefined || !body.includes('\n\n')) return;
        if (!head?.startsWith('HTTP/1.1 200')) return reject(new Error(head));
        isOpen = true;
        resolve();
      });
      socket.write('GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n');
    });
  };

  return {
    open,
    async timeOfChange({ process }: Server): Promise<number> {
      waiting = sockets.size;
      const received = new Promise<void>((resolve) => {
        onAllReceived = resolve;
      });
      const startedMs = performance.now();
      process.send('change');
      await received;
      return performance.now() - startedMs;
    },
    close() {
      for (const socket of sockets) socket.removeAllListeners('close').destroy();
    },
  };
}

if (import.meta.main) await run();
