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
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { Agent, type buildConnector, Client, type Dispatcher } from 'undici';
import type { CheckTarget, RunAttempt } from '../src/domain/check-target.ts';
import { NO_MEMORY } from '../src/domain/result.ts';
import { createProber } from '../src/probe/prober.ts';
import { type BenchRow, floor, median, printRows } from './row.ts';
import { checkThroughEngine } from './whole-engine.ts';

/** One way of making a check of the address number `n`, in a slot. */
type Way = (n: number, slot: number) => Promise<unknown>;

const LISTENERS = 64;
const OPEN = 32;
const HTTP_CHECKS = 3000;
const HTTPS_CHECKS = 800;
const ROUNDS = 5;
const CA_FILE = join(import.meta.dirname, '../test/certs/ca.pem');

/** Measures all ways. */
export async function run(): Promise<BenchRow[]> {
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
  const engine = (scheme: string, list: readonly number[]) => (count: number) =>
    checkThroughEngine(targetsOf(scheme, list, count), prober.runAttempt, OPEN);

  const http = await measure(
    {
      floor: each((n) => handMade(ports.http[n % LISTENERS] ?? 0)),
      slot: each(slotClient(ports.http)),
      agent: each((n) => request(agents.plain, `http://127.0.0.1:${ports.http[n % LISTENERS]}/`)),
      attempt: each(attempt(prober.runAttempt, 'http', ports.http)),
      engine: engine('http', ports.http),
    },
    HTTP_CHECKS,
  );
  const https = await measure(
    {
      floor: each((n) => handMadeTls(ports.https[n % LISTENERS] ?? 0, secureContext)),
      agent: each((n) => request(agents.shared, `https://127.0.0.1:${ports.https[n % LISTENERS]}/`)),
      attempt: each(attempt(prober.runAttempt, 'https', ports.https)),
      engine: engine('https', ports.https),
    },
    HTTPS_CHECKS,
  );
  await prober.close();
  await Promise.all([agents.plain.close(), agents.shared.close()]);
  server.stdin.end();

  const unit = 'µs CPU a check';
  const beside = (
    name: string,
    value: number,
    other: number,
    target: string,
    reached: boolean,
  ): BenchRow => ({
    name,
    value,
    unit,
    ratio: value / other,
    target,
    reached,
  });
  const rows = [
    floor('HTTP: node:net, hand-made request (floor)', http.floor, unit),
    floor('HTTP: bare undici Client in a slot', http.slot, unit),
    floor('HTTP: undici, one Agent over distinct origins (peer)', http.agent, unit),
    {
      ...floor('HTTP: one attempt, beside the slot Client', http.attempt, unit),
      ratio: http.attempt / http.slot,
    },
    beside(
      'HTTP: whole engine, beside the slot Client',
      http.engine,
      http.slot,
      '<= 1.6',
      http.engine <= 1.6 * http.slot,
    ),
    floor('HTTP: whole engine, one core', 1_000_000 / http.engine, 'checks/s'),
    floor('HTTPS: node:tls, hand-made request (floor)', https.floor, unit),
    floor('HTTPS: undici, one Agent, shared context (peer)', https.agent, unit),
    {
      ...floor('HTTPS: one attempt, beside undici', https.attempt, unit),
      ratio: https.attempt / https.agent,
    },
    beside(
      'HTTPS: whole engine, beside undici',
      https.engine,
      https.agent,
      '<= 1.2',
      https.engine <= 1.2 * https.agent,
    ),
  ];
  printRows(rows);
  return rows;
}

/** Makes `count` checks. */
type Load = (count: number) => Promise<void>;

/** A load of single checks, `OPEN` at a time. */
function each(way: Way): Load {
  return async (count) => {
    let next = 0;
    await Promise.all(
      Array.from({ length: OPEN }, async (_, slot) => {
        while (next < count) await way(next++, slot);
      }),
    );
  };
}

/** Runs every load in turn, `ROUNDS` times, after one round that does not count; medians in µs of CPU for each check. */
async function measure<K extends string>(
  loads: Readonly<Record<K, Load>>,
  count: number,
): Promise<Record<K, number>> {
  const costs = new Map<string, number[]>();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, load] of Object.entries<Load>(loads)) {
      const before = process.cpuUsage();
      await load(count);
      const { user, system } = process.cpuUsage(before);
      if (round > 0) costs.set(name, [...(costs.get(name) ?? []), (user + system) / count]);
    }
  }
  return Object.fromEntries([...costs].map(([name, rounds]) => [name, median(rounds)])) as Record<K, number>;
}

function targetsOf(scheme: string, list: readonly number[], count: number): CheckTarget[] {
  return Array.from({ length: count }, (_, index): CheckTarget => {
    const url = `${scheme}://127.0.0.1:${list[index % list.length]}/`;
    const check = { kind: 'root', url, method: null, accept: null, caFile: CA_FILE } as const;
    const service = { serviceId: index + 1, revision: 1, domain: '127.0.0.1', origin: 'catalogue' } as const;
    return { ...service, check, memory: NO_MEMORY, lastCheckedAt: null };
  });
}

function attempt(runAttempt: RunAttempt, scheme: string, list: readonly number[]): Way {
  const targets = targetsOf(scheme, list, list.length);
  const { signal } = new AbortController();
  return async (n, slot) => {
    const target = targets[n % targets.length];
    if (target === undefined) throw new RangeError('no targets');
    const result = await runAttempt(target, { timeoutMs: 10_000, number: 0, slot, signal });
    if (result.statusCode !== 204) throw new Error(JSON.stringify(result));
  };
}

function request(dispatcher: Dispatcher, url: string): Promise<unknown> {
  return dispatcher
    .request({ origin: new URL(url).origin, path: '/', method: 'HEAD', reset: true })
    .then(({ body }) => body.dump());
}

/** A reused Client per slot with a connector that dials the slot's present target: undici at its leanest. */
function slotClient(ports: readonly number[]): Way {
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
      targets[slot] = ports[n % LISTENERS] ?? 0;
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

function handMadeTls(port: number, secureContext: SecureContext): Promise<unknown> {
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

if (import.meta.main) await run();
