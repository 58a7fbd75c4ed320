/** A proxy of TCP before a server of loopback, which makes its road slow, loses its answers or falls silent. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import type { Scope } from './run-servers.ts';

/** The road; a test changes it at any time. */
export interface TcpProxy {
  readonly url: string;
  /** Where new connections lead; those that are open stay where they are, as behind a Service of Kubernetes. */
  target: string;
  /** The proxy's server, to be served in a namespace too. */
  readonly server: Server;
  /** Most bytes a second towards the server; null: as fast as it goes. */
  bytesPerSecond: number | null;
  /** The connection ends as soon as the server begins to answer. */
  losesAnswers: boolean;
  /** What the server answers arrives as other bytes. */
  garbles: boolean;
  /** What a request gets in place of the server's answer, by its first bytes, before the connection ends; null: the server's. */
  answers: (request: string) => string | null;
  /** How long each piece takes, in both directions, milliseconds; `bytesPerSecond` does not count then. */
  delayMs: number;
  /** True: all connections have ended, and new ones are refused. */
  isCut: boolean;
  /**
   * Everything vanishes on the way, as behind a cut link; connections stay open. Those that have lost something are
   * closed when it is false again.
   */
  silent: boolean;
  /** Answers that were lost. */
  readonly lost: number;
  /** Connections, refused ones included, and pieces of what clients have sent, since the start. */
  readonly uses: number;
}

const TICK_MS = 20;
const NOTHING = Buffer.alloc(0);

/** Starts a proxy before `url`; it is closed after the test. */
export async function startTcpProxy(scope: Scope, url: string): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let lost = 0;
  let uses = 0;
  let isCut = false;
  let silent = false;
  /** Closes the connections that have lost something while it was silent. */
  const broken = new Set<() => void>();
  const server = createServer((client) => {
    uses++;
    if (isCut) {
      client.destroy();
      return;
    }
    const { port, hostname } = new URL(proxy.target);
    const upstream = connect(Number(port), hostname);
    const close = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        if (silent) broken.add(close);
        // What is on its way arrives before the end.
        else if (proxy.delayMs > 0) setTimeout(close, proxy.delayMs);
        else close();
      });
    }
    const reply = (answer: string) => {
      client.unpipe();
      client.end(answer);
      client.resume();
    };
    const back = inOrder((chunk) => void client.write(chunk));
    client.pipe(slowDown(close, reply), { end: false }).pipe(upstream);
    upstream.on('data', (answer: Buffer) => {
      const chunk = proxy.garbles ? answer.map((byte) => byte ^ 0x55) : answer;
      if (silent) {
        broken.add(close);
        return;
      }
      if (!proxy.losesAnswers) {
        back(chunk);
        return;
      }
      lost++;
      client.destroy();
    });
  });

  /** Passes pieces on with the delay; none overtakes another when the delay ends. */
  const inOrder = (pass: (chunk: Uint8Array) => void) => {
    const waiting: Uint8Array[] = [];
    let lastDelayMs = 0;
    return Object.assign(
      (chunk: Uint8Array) => {
        if (proxy.delayMs === 0 && waiting.length === 0) {
          pass(chunk);
          return;
        }
        if (proxy.delayMs > 0) lastDelayMs = proxy.delayMs;
        waiting.push(chunk);
        setTimeout(() => pass(waiting.shift() ?? NOTHING), lastDelayMs);
      },
      { isIdle: () => waiting.length === 0 },
    );
  };

  const slowDown = (close: () => void, reply: (answer: string) => void) => {
    const late = inOrder((chunk) => void transform.push(chunk));
    const transform: Transform = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        uses++;
        const answer = proxy.answers(chunk.toString('latin1', 0, 32));
        if (answer !== null) {
          reply(answer);
          done();
          return;
        }
        if (silent) {
          broken.add(close);
          done();
          return;
        }
        const forward = (at: number): void => {
          const { bytesPerSecond } = proxy;
          if (bytesPerSecond === null) {
            done(null, chunk.subarray(at));
            return;
          }
          const end = at + Math.max(1, Math.floor((bytesPerSecond * TICK_MS) / 1_000));
          this.push(chunk.subarray(at, end));
          if (end >= chunk.length) setTimeout(done, TICK_MS);
          else setTimeout(forward, TICK_MS, end);
        };
        if (proxy.delayMs === 0 && late.isIdle()) {
          forward(0);
          return;
        }
        // Pieces follow each other as fast as they come, each late by as much.
        late(chunk);
        done();
      },
    });
    return transform;
  };

  const proxy = {
    url: '',
    target: url,
    server,
    get silent() {
      return silent;
    },
    set silent(next: boolean) {
      silent = next;
      if (silent) return;
      for (const close of broken) close();
      broken.clear();
    },
    bytesPerSecond: null as number | null,
    losesAnswers: false,
    garbles: false,
    answers: (_request: string): string | null => null,
    delayMs: 0,
    get isCut() {
      return isCut;
    },
    set isCut(value: boolean) {
      isCut = value;
      if (value) for (const socket of sockets) socket.destroy();
    },
    get lost() {
      return lost;
    },
    get uses() {
      return uses;
    },
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  scope.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return proxy;
}
