/**
 * Heartbeats that are on disk before they are answered: `node bench/heartbeats.ts`. Through the record into a registry in
 * its thread, from a thousand services; beside the floor, a row a heartbeat in SQLite with a commit each. Then one
 * service alone, whose heartbeats follow one another, and the whole way with HTTP.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createApiKey } from '../src/auth/api-keys.ts';
import { createKeyAuthenticator } from '../src/auth/key-authenticator.ts';
import { systemClock } from '../src/clock.ts';
import { readHeartbeat } from '../src/domain/heartbeat-body.ts';
import { createHttpServer } from '../src/http/server.ts';
import { silentLog } from '../src/log.ts';
import { createMetrics } from '../src/metrics/metrics.ts';
import { createRecord } from '../src/record/record.ts';
import { createApp } from '../src/site/app.ts';
import { openRegistry } from '../src/store/registry/sqlite-registry.ts';
import { createMemoryStatusStore } from '../src/store/status/memory-status-store.ts';
import { createServiceDirectory } from '../src/view/service-directory.ts';
import { type BenchRow, floor, median, printRows } from './row.ts';

const SERVICES = 1_000;
/** An account registers no more than 200 domains a day. */
const ACCOUNTS = 10;
const ROUNDS = 5;
const AT_ONCE = 256;
const THROUGH_RECORD = 10_000;
const THROUGH_HTTP = 5_000;
const ALONE = 1_000;
/** Above what a benchmark can ask for in a minute. */
const NO_LIMIT = 1_000_000_000;

/** Measures all. */
export async function run(): Promise<BenchRow[]> {
  const plain = median(Array.from({ length: ROUNDS }, writePlain));
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  const world = await openWorld(folder);
  const rates = { record: [] as number[], alone: [] as number[], http: [] as number[] };
  await world.send(SERVICES, AT_ONCE, world.take);
  for (let round = 0; round < ROUNDS; round++) {
    rates.record.push(await world.send(THROUGH_RECORD, AT_ONCE, world.take));
    rates.alone.push(await world.send(ALONE, 1, world.take));
    rates.http.push(await world.send(THROUGH_HTTP, 64, world.post));
  }
  await world.close();
  rmSync(folder, { recursive: true, force: true });
  const accepted = (name: string, value: number): BenchRow => ({
    name,
    value,
    unit: 'heartbeats/s',
    ratio: value / plain,
    target: '>= 2,000/s',
    reached: value >= 2_000,
  });
  const rows = [
    floor('heartbeats: a row and a commit each in SQLite (floor)', plain, 'heartbeats/s'),
    accepted('heartbeats: accepted, durable, by the record', median(rates.record)),
    accepted('heartbeats: accepted, durable, over HTTP (sender included)', median(rates.http)),
    floor('heartbeats: one after the other, by the record', median(rates.alone), 'heartbeats/s'),
  ];
  printRows(rows);
  return rows;
}

function bodyOf(index: number): string {
  const checks = {
    database: { status: 'ok', latency: 12 + (index % 40) },
    cache: { status: 'ok', latency: 1 },
  };
  return JSON.stringify({ domain: `service-${index % SERVICES}.example`, status: 'ok', checks });
}

async function openWorld(dataDir: string) {
  const clock = systemClock;
  const log = silentLog;
  const registry = await openRegistry({ dataDir, log, clock, domainsPerAccount: 2 * SERVICES });
  const status = createMemoryStatusStore({ log });
  const directory = createServiceDirectory();
  const record = createRecord({
    registry,
    status,
    samples: { append: async () => {} },
    clock,
    log,
    settings: { slowOverMs: 3_000, firstSpreadMs: 0, controlTargets: 1 },
    heartbeats: {
      registry,
      isCatalogueDomain: () => false,
      silenceMs: 600_000,
    },
    askControlTargets: async () => true,
    onRecheck() {},
    sourceUrl: () => '',
    isInMaintenance: () => false,
  });
  await record.load(await registry.loadServices());
  registry.watchChanges(await registry.lastChange(), (change) => {
    directory.apply(change);
    record.applyChange(change);
  });
  record.startListening();
  const keys = await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, number) =>
      createApiKey(registry, {
        account: `bench ${number}`,
        name: 'bench',
        expiresAt: null,
        now: clock.now(),
      }),
    ),
  );
  const owners = keys.map(({ key, record: { accountId } }) => ({
    accountId,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  }));
  /** Of the service that {@link bodyOf} names. */
  const ownerOf = (index: number) => owners[(index % SERVICES) % ACCOUNTS] ?? { accountId: 0, headers: {} };
  const authenticator = createKeyAuthenticator({ registry, clock, log });
  const api = createApp({
    settings: {
      siteUrl: 'http://localhost',
      version: 'bench',
      trustedProxies: [],
      intervalMs: 300_000,
      slowOverMs: 3_000,
      silenceMs: 600_000,
      domainsPerAccount: 100,
      anonymousPerMinute: NO_LIMIT,
      authenticatedPerMinute: NO_LIMIT,
    },
    directory,
    status,
    samples: { query: async () => [] },
    registry,
    heartbeats: record,
    vendorOf: () => null,
    owners: null,
    ownedPages: null,
    renderBadge: async () => Buffer.alloc(0),
    pictures: { chart: async () => Buffer.alloc(0), heatmap: async () => Buffer.alloc(0) },
    watchTransitions: record.watchTransitions,
    readiness: () => ({ phase: 'serving', role: 'monitor', prober: record.prober(), parts: {} }),
    authenticator,
    metrics: createMetrics(),
    clock,
    log,
  });
  const server = createHttpServer(api.listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });

  const take = async (index: number): Promise<void> => {
    const body = bodyOf(index);
    const reading = readHeartbeat(body, 'beat');
    if (!reading.ok) throw new Error(reading.problem);
    const { report } = reading;
    await record.takeHeartbeat({ report, accountId: ownerOf(index).accountId, arrivedAt: clock.now(), body });
  };
  const post = (index: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const { headers } = ownerOf(index);
      const options = { port, path: '/api/v1/heartbeat', method: 'POST', headers, agent };
      const sending = request(options, (response) => {
        response.resume();
        if (response.statusCode === 200) response.on('end', resolve);
        else reject(new Error(`answered ${response.statusCode}`));
      });
      sending.on('error', reject);
      sending.end(bodyOf(index));
    });

  return {
    take,
    post,
    /** Sends `count` heartbeats, so many at a time; how many a second were answered. */
    async send(count: number, atOnce: number, one: (index: number) => Promise<void>): Promise<number> {
      let next = 0;
      const startedMs = performance.now();
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (next < count) await one(next++);
        }),
      );
      return count / ((performance.now() - startedMs) / 1_000);
    },
    async close() {
      agent.destroy();
      api.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await record.stop();
      await authenticator.close();
      await registry.close();
    },
  };
}

/** The floor: what one connection writes, a commit for each heartbeat. */
function writePlain(): number {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-plain-'));
  const database = new DatabaseSync(join(folder, 'plain.sqlite'));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE heartbeats (id INTEGER PRIMARY KEY, service TEXT, at INTEGER, body TEXT)`);
  const insert = database.prepare('INSERT INTO heartbeats (service, at, body) VALUES (?, ?, ?)');
  const startedMs = performance.now();
  for (let index = 0; index < ALONE; index++)
    insert.run(`service-${index % SERVICES}`, systemClock.now(), bodyOf(index));
  const rate = ALONE / ((performance.now() - startedMs) / 1_000);
  database.close();
  rmSync(folder, { recursive: true, force: true });
  return rate;
}

if (import.meta.main) await run();
