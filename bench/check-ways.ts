/** Ways of making a check that benchmarks compare: floors, undici, an attempt of the prober, the whole engine. */
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { MessageChannel } from 'node:worker_threads';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { systemClock } from '../src/clock.ts';
import type { CheckTarget, RunAttempt } from '../src/domain/check-target.ts';
import { unknownStatus } from '../src/domain/current.ts';
import { type CheckResult, NO_MEMORY } from '../src/domain/result.ts';
import type { Service } from '../src/domain/service.ts';
import { runHost } from '../src/engine/host/host.ts';
import { type FromHost, unpackResults } from '../src/engine/protocol.ts';
import { silentLog } from '../src/log.ts';
import { createProber } from '../src/probe/prober.ts';
import { createRecord, type ResultRecord } from '../src/record/record.ts';
import { packSamples } from '../src/store/samples/encoding.ts';
import { createMemoryStatusStore } from '../src/store/status/memory-status-store.ts';
import { engineSettings, makeServices, RECORD_OPTIONS } from './services.ts';

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
    return { ...service, check, memory: NO_MEMORY, lastCheckedAt: null };
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

/** Options of {@link checkThroughEngine}. */
interface EngineRunOptions {
  readonly onResults?: (results: readonly CheckResult[]) => void;
  /** How results get from the engine to the record; default: at once. `taken` counts those that it has. */
  readonly road?: (record: ResultRecord) => {
    readonly take: (results: readonly CheckResult[]) => void;
    readonly taken: () => number;
  };
}

function directRoad(record: ResultRecord) {
  let count = 0;
  return {
    take(results: readonly CheckResult[]) {
      record.takeResults(results);
      count += results.length;
    },
    taken: () => count,
  };
}

/**
 * Checks every target once in one thread: timing wheel, actor, attempt, packing, unpacking, evaluation, status and sample,
 * without the disks. All targets are due at once, so that only work is measured. Resolves when all results are evaluated.
 */
export async function checkThroughEngine(
  targets: readonly CheckTarget[],
  runAttempt: RunAttempt,
  concurrency: number,
  { onResults = () => {}, road = directRoad }: EngineRunOptions = {},
): Promise<void> {
  const record = createRecord({
    registry: {
      commitUpdates: async (updates) => updates.map(() => ({ kind: 'committed', transition: null })),
      listIncidents: async () => [],
      transitionsAfter: async () => [],
      lastTransition: async () => 0,
    },
    status: createMemoryStatusStore({ log: silentLog }),
    samples: { append: async (samples) => void packSamples(samples) },
    heartbeats: {
      registry: { claimDomain: () => Promise.reject(new Error('no heartbeats here')) },
      isCatalogueDomain: () => false,
      silenceMs: 600_000,
    },
    ...RECORD_OPTIONS,
  });
  await record.load(
    targets.map((target) => ({
      service: serviceOf(target),
      current: unknownStatus(target.serviceId),
      memory: NO_MEMORY,
      openIncident: null,
    })),
  );
  const { port1, port2 } = new MessageChannel();
  const done = Promise.withResolvers<void>();
  let left = targets.length;
  const { take, taken } = road(record);
  port1.on('message', (message: FromHost) => {
    if (message.type === 'ready') port1.postMessage({ type: 'assign', services: targets, spreadMs: 0 });
    if (message.type !== 'results') return;
    const results = unpackResults(message.packed);
    take(results);
    onResults(results);
    left -= results.length;
    if (left === 0) done.resolve();
  });
  const settings = engineSettings({ intervalMs: 3_600_000, firstSpreadMs: 0, concurrency });
  const task = { epoch: 1, port: port2, loopTicks: new SharedArrayBuffer(4), settings, prober: null };
  const host = runHost(task, runAttempt, systemClock);
  await done.promise;
  while (taken() < targets.length) await new Promise((resolve) => setTimeout(resolve, 5));
  port1.postMessage({ type: 'stop' });
  await host;
  await record.stop();
  port1.close();
}

function serviceOf({ serviceId, revision, domain, check }: CheckTarget): Service {
  const [service] = makeServices(1);
  if (service === undefined) throw new RangeError('no services');
  return { ...service, id: serviceId, slug: `s${serviceId}`, name: domain, domain, check, revision };
}
