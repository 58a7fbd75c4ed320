/** Ways of making a check that benchmarks compare: floors, undici, an attempt of the prober. */
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import type { CheckTarget, RunAttempt } from '../src/domain/check-target.ts';
import { NO_MEMORY } from '../src/domain/result.ts';
import { createProber } from '../src/probe/prober.ts';

/** One way of making a check of the address number `n`, in a slot. */
export type Way = (n: number, slot: number) => Promise<unknown>;

/** Authority of the certificates of the benchmarks' servers. */
export const CA_FILE = join(import.meta.dirname, '../test/certs/ca.pem');

/** A prober that may check the loopback interface, with `concurrency` attempts at a time. */
export function createLoopbackProber(concurrency: number) {
  return createProber({
    version: '0.0.0',
    siteUrl: 'http://localhost:8080',
    allowPrivate: ['127.0.0.0/8'],
    ports: [80, 443],
    nameservers: [],
    ownersMayProbePrivate: false,
    concurrency,
  });
}

/** `count` services at ports of the loopback interface, in turn. */
export function targetsOf(scheme: string, ports: readonly number[], count: number): CheckTarget[] {
  return Array.from({ length: count }, (_, index): CheckTarget => {
    const url = `${scheme}://127.0.0.1:${ports[index % ports.length]}/`;
    const check = { kind: 'root', url, method: null, accept: null, caFile: CA_FILE } as const;
    const service = { serviceId: index + 1, revision: 1, domain: '127.0.0.1', origin: 'catalogue' } as const;
    return { ...service, accountId: null, check, memory: NO_MEMORY, lastCheckedAt: null };
  });
}

/** An attempt of the prober. */
export function attempt(runAttempt: RunAttempt, scheme: string, ports: readonly number[]): Way {
  const targets = targetsOf(scheme, ports, ports.length);
  const { signal } = new AbortController();
  return async (n, slot) => {
    const target = targets[n % targets.length];
    if (target === undefined) throw new RangeError('no targets');
    const result = await runAttempt(target, { timeoutMs: 10_000, number: 0, slot, signal });
    if (result.statusCode !== 204) throw new Error(JSON.stringify(result));
  };
}

/** A request of undici as in its documentation. */
export function request(dispatcher: Dispatcher, url: string): Promise<unknown> {
  return dispatcher
    .request({ origin: new URL(url).origin, path: '/', method: 'HEAD', reset: true })
    .then(({ body }) => body.dump());
}

/** A reused Client per slot with a connector to the slot's current target: undici at its leanest. */
export function slotClient(ports: readonly number[], slots: number): Way {
  const targets = new Array<number>(slots).fill(0);
  const clients = targets.map((_, slot) => {
    const connect: buildConnector.connector = (_options, callback) => {
      const socket = createConnection({
        host: '127.0.0.1',
        port: targets[slot] ?? 0,
        autoSelectFamily: false,
      });
      socket.on('connect', () => callback(null, socket));
      socket.on('error', (error) => callback(error, null));
    };
    return new Client('http://slot.invalid', {
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect,
    });
  });
  return (n, slot) =>
    new Promise((resolve, reject) => {
      targets[slot] = ports[n % ports.length] ?? 0;
      clients[slot]?.dispatch(
        { path: '/', method: 'HEAD', headers: ['host', `127.0.0.1:${targets[slot]}`], reset: true },
        {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData() {},
          onResponseEnd: () => setImmediate(resolve, null),
          onResponseError: (_, error) => reject(error),
        },
      );
    });
}

/** The floor in Node: a request written by hand. Resolves with the status code. */
export function handMade(port: number): Promise<unknown> {
  return converse(createConnection({ host: '127.0.0.1', port, autoSelectFamily: false }), 'connect');
}

/** The same over TLS with a full handshake. */
export function handMadeTls(port: number, secureContext: SecureContext): Promise<unknown> {
  const options = { host: '127.0.0.1', port, servername: '', secureContext, autoSelectFamily: false };
  return converse(connectTls(options), 'secureConnect');
}

function converse(socket: Socket, ready: 'connect' | 'secureConnect'): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on(ready, () => socket.write('HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'));
    socket.on('data', (chunk: Buffer) => {
      if (!chunk.includes('\r\n\r\n')) return;
      socket.destroy();
      resolve(chunk.toString('latin1', 9, 12));
    });
  });
}
