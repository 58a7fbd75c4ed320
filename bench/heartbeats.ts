/**
 * Heartbeats that are on disk before they are answered: `node bench/heartbeats.ts`. Those of a thousand services pass the
 * record into a registry in its thread; the floor is a row and a commit in SQLite for each. Then those of one service, one
 * after the other, and those of all services over HTTP.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createApiKey } from '../src/auth/api-keys.ts';
import { systemClock } from '../src/clock.ts';
import { readHeartbeat } from '../src/domain/heartbeat/heartbeat-body.ts';
import { silentLog } from '../src/log.ts';
import { ResultRecord } from '../src/record/record.ts';
import { openRegistry } from '../src/store/registry/open-registry.ts';
import { createMemoryStatusStore } from '../src/store/status/memory-status-store.ts';
import { createServiceDirectory } from '../src/view/service-directory.ts';
import { atLeast, type BenchRow, floor, median, printRows } from './row.ts';
import { sendConcurrently } from './send-concurrently.ts';
import { serveApp } from './serve-app.ts';
import { RECORD_OPTIONS } from './services.ts';

const SERVICES = 1_000;
/** An account registers no more than 200 domains a day. */
const ACCOUNTS = 10;
const ROUNDS = 5;
const AT_ONCE = 256;
const THROUGH_RECORD = 10_000;
const THROUGH_HTTP = 5_000;
const ALONE = 1_000;

/** Measures all. */
export async function run(): Promise<readonly BenchRow[]> {
  const plain = median(Array.from({ length: ROUNDS }, writePlain));
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  const world = await openWorld(folder);
  const rates = { record: [] as number[], alone: [] as number[], http: [] as number[] };
  await sendConcurrently(SERVICES, AT_ONCE, world.take);
  for (let round = 0; round < ROUNDS; round++) {
    rates.record.push(await sendConcurrently(THROUGH_RECORD, AT_ONCE, world.take));
    rates.alone.push(await sendConcurrently(ALONE, 1, world.take));
    rates.http.push(await sendConcurrently(THROUGH_HTTP, 64, world.post));
  }
  await world.close();
  rmSync(folder, { recursive: true, force: true });
  const accepted = (name: string, value: number): BenchRow =>
    atLeast(name, value, 'heartbeats/s', 2_000, value / plain);
  const rows = [
    floor('heartbeats: a row and a commit each in SQLite (floor)', plain, 'heartbeats/s'),
    accepted('heartbeats: accepted, durable, by the record', median(rates.record)),
    accepted('heartbeats: accepted, durable, over HTTP (sender included)', median(rates.http)),
    floor('heartbeats: one after the other, by the record', median(rates.alone), 'heartbeats/s'),
  ];
  return printRows(rows);
}

/** A heartbeat of one of the services. */
export function bodyOf(index: number): string {
  const checks = {
    database: { status: 'ok', latency: 12 + (index % 40) },
    cache: { status: 'ok', latency: 1 },
  };
  return JSON.stringify({ domain: `service-${index % SERVICES}.example`, status: 'ok', checks });
}

/** A record over a registry, and senders of heartbeats. `postgresUrl` null: the registry is in `dataDir`. */
export async function openWorld(dataDir: string, postgresUrl: string | null = null) {
  const clock = systemClock;
  const log = silentLog;
  const registry = await openRegistry({ dataDir, postgresUrl, log, clock, domainsPerAccount: 2 * SERVICES });
  const status = createMemoryStatusStore({ log });
  const directory = createServiceDirectory();
  const record = new ResultRecord({
    registry,
    status,
    samples: { append: async () => {} },
    heartbeats: { registry, isCatalogueDomain: () => false, silenceMs: 600_000 },
    ...RECORD_OPTIONS,
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
  /** The owner of the service in {@link bodyOf}. */
  const ownerOf = (index: number) => owners[(index % SERVICES) % ACCOUNTS] ?? { accountId: 0, headers: {} };
  const app = await serveApp({
    directory,
    status,
    keys: registry,
    registry,
    heartbeats: record,
    watchTransitions: record.watchTransitions,
  });
  const { port } = app;
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
    ...{ registry, record, ownerOf },
    take,
    post,
    async close() {
      agent.destroy();
      await app.close();
      await record.stop();
      await registry.close();
    },
  };
}

/** The floor: heartbeats per second of one connection with a commit for each. */
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
