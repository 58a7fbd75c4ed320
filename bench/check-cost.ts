/**
 * What one check costs in CPU, beside its floors: `node bench/check-cost.ts`. A new connection each, HEAD answered 204
 * over loopback by another process, distinct origins, interleaved rounds, medians.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { Agent, type buildConnector, Client, type Dispatcher } from 'undici';
import type { CheckTarget } from '../src/domain/check-target.ts';
import { NO_MEMORY } from '../src/domain/result.ts';
import { createProber } from '../src/probe/prober.ts';

/** One way of making a check of the address number `n`, in a slot. */
type Way = (n: number, slot: number) => Promise<unknown>;

const LISTENERS = 64;
const OPEN = 32;
const HTTP_CHECKS = 3000;
const HTTPS_CHECKS = 800;
const ROUNDS = 5;
const CA_FILE = join(import.meta.dirname, '../test/certs/ca.pem');

const server = spawn(process.execPath, [join(import.meta.dirname, 'check-server.ts'), String(LISTENERS)], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
const ports = JSON.parse(line) as { http: number[]; https: number[] };
const prober = createProber({
  version: '0.0.0',
  siteUrl: 'http://localhost:8080',
  allowPrivate: ['127.0.0.0/8'],
  ports: [80, 443],
  nameservers: [],
  ownersMayProbePrivate: false,
  concurrency: OPEN,
});
const secureContext = createSecureContext({ ca: readFileSync(CA_FILE), ecdhCurve: 'X25519:P-256:P-384' });
const agents = {
  plain: new Agent({ allowH2: false }),
  shared: new Agent({ allowH2: false, connect: { secureContext, maxCachedSessions: 0 } }),
};

const http: Readonly<Record<string, Way>> = {
  'node:net, hand-made request': (n) => handMade(ports.http[n % LISTENERS] ?? 0),
  'undici Client per slot': slotClient(),
  'undici request, one Agent': (n) => request(agents.plain, `http://127.0.0.1:${ports.http[n % LISTENERS]}/`),
  runAttempt: attempt('http', ports.http),
};
const https: Readonly<Record<string, Way>> = {
  'node:tls, hand-made request': (n) => handMadeTls(ports.https[n % LISTENERS] ?? 0),
  'undici request, one Agent, shared context': (n) =>
    request(agents.shared, `https://127.0.0.1:${ports.https[n % LISTENERS]}/`),
  runAttempt: attempt('https', ports.https),
};

console.log('µs CPU per check            median   (rounds)');
for (const [scheme, ways, count] of [
  ['HTTP', http, HTTP_CHECKS],
  ['HTTPS', https, HTTPS_CHECKS],
] as const) {
  const costs = await measure(ways, count);
  for (const [name, rounds] of costs) {
    const middle = rounds.toSorted((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0;
    const all = rounds.map((each) => each.toFixed(0)).join(' ');
    console.log(`${scheme.padEnd(6)}${name.padEnd(44)}${middle.toFixed(0).padStart(6)}   (${all})`);
  }
}
await prober.close();
await Promise.all([agents.plain.close(), agents.shared.close()]);
server.stdin.end();

/** Runs every way in turn, `ROUNDS` times, after one round that does not count. */
async function measure(ways: Readonly<Record<string, Way>>, count: number): Promise<Map<string, number[]>> {
  const costs = new Map<string, number[]>();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const before = process.cpuUsage();
      let next = 0;
      await Promise.all(
        Array.from({ length: OPEN }, async (_, slot) => {
          while (next < count) await way(next++, slot);
        }),
      );
      const { user, system } = process.cpuUsage(before);
      if (round > 0) costs.set(name, [...(costs.get(name) ?? []), (user + system) / count]);
    }
  }
  return costs;
}

function attempt(scheme: string, list: readonly number[]): Way {
  const targets = list.map((port, index): CheckTarget => {
    const url = `${scheme}://127.0.0.1:${port}/`;
    const check = { kind: 'root', url, method: null, accept: null, caFile: CA_FILE } as const;
    const service = { serviceId: index, revision: 1, domain: '127.0.0.1', origin: 'catalogue' } as const;
    return { ...service, check, memory: NO_MEMORY, lastCheckedAt: null };
  });
  const { signal } = new AbortController();
  return async (n, slot) => {
    const target = targets[n % targets.length];
    if (target === undefined) throw new RangeError('no targets');
    const result = await prober.runAttempt(target, { timeoutMs: 10_000, number: 0, slot, signal });
    if (result.statusCode !== 204) throw new Error(JSON.stringify(result));
  };
}

function request(dispatcher: Dispatcher, url: string): Promise<unknown> {
  return dispatcher
    .request({ origin: new URL(url).origin, path: '/', method: 'HEAD', reset: true })
    .then(({ body }) => body.dump());
}

/** A reused Client per slot with a connector that dials the slot's present target: undici at its leanest. */
function slotClient(): Way {
  const targets = new Array<number>(OPEN).fill(0);
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
      targets[slot] = ports.http[n % LISTENERS] ?? 0;
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

function handMade(port: number): Promise<unknown> {
  return converse(createConnection({ host: '127.0.0.1', port, autoSelectFamily: false }), 'connect');
}

function handMadeTls(port: number): Promise<unknown> {
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
