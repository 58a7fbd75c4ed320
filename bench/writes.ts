/**
 * Changes by API that are on disk before they are answered: `node bench/writes.ts`. In each round services of fifty accounts are
 * created, then the first ones changed, and changed again one after the other, over HTTP into a registry in its thread that has
 * the catalogue. The floor is a row and a commit in SQLite for each. Then the same over Debian's PostgreSQL on loopback with its
 * usual durability.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createApiKey } from '../src/auth/api-keys.ts';
import { createLocalSignIn } from '../src/auth/password-sign-in.ts';
import { createSessions } from '../src/auth/sessions.ts';
import { systemClock } from '../src/clock.ts';
import { ANY_DESTINATION } from '../src/domain/allowed-destinations.ts';
import { KEY_SCOPES } from '../src/domain/role.ts';
import { silentLog } from '../src/log.ts';
import { openRegistry } from '../src/store/registry/open-registry.ts';
import { createMemoryStatusStore } from '../src/store/status/memory-status-store.ts';
import { createBadgeAddresses } from '../src/view/badge-url.ts';
import { createServiceDirectory } from '../src/view/service-directory.ts';
import { double } from '../test/support/double.ts';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../test/support/postgres-server.ts';
import { absent, atLeast, type BenchRow, floor, median, printRows } from './row.ts';
import { sendConcurrently } from './send-concurrently.ts';
import { serveApp } from './serve-app.ts';
import { makeServices } from './services.ts';

const ROUNDS = 5;
const AT_ONCE = 64;
/** An account registers no more than 200 domains a day. */
const ACCOUNTS = 50;
/** Created in each round. */
const SERVICES = 1_000;
const CHANGES = 4_000;
const ALONE = 500;
const IN_CATALOGUE = 520;
const USUAL_TIMING = {
  intervalMs: 300_000,
  timeoutMs: 10_000,
  slowOverMs: 3_000,
  confirmAfterMs: [2_000, 4_000],
};

/** Measures all. Without a PostgreSQL there are no rows of it. */
export async function run(): Promise<readonly BenchRow[]> {
  const plain = median(Array.from({ length: ROUNDS }, writePlain));
  const embedded = await measure(null);
  const rows = [
    floor('writes: a row and a commit each in SQLite (floor)', plain, 'writes/s'),
    atLeast(
      'writes: services changed by API, durable',
      embedded.changed,
      'writes/s',
      1_000,
      embedded.changed / plain,
    ),
    atLeast(
      'writes: services created with an Idempotency-Key',
      ...([embedded.created, 'writes/s', 1_000, embedded.created / plain] as const),
    ),
    floor('writes: services changed one after the other', embedded.alone, 'writes/s'),
    floor('writes: definitions read with the key of the account', embedded.read, 'reads/s'),
  ];
  return printRows([...rows, ...(await runOverPostgres())]);
}

async function runOverPostgres(): Promise<BenchRow[]> {
  const name = 'writes over PostgreSQL:';
  if ('skip' in NEEDS_POSTGRES) return [absent(`${name} services changed by API`, NEEDS_POSTGRES.skip)];
  const ends: (() => unknown)[] = [];
  try {
    const server = await startPostgres({ teardown: (end) => void ends.unshift(end) }, { durable: true });
    await createDatabase(server.url('postgres'), 'upbeat');
    const { created, changed, alone } = await measure(server.url('upbeat'));
    return [
      atLeast(`${name} services changed by API, durable`, changed, 'writes/s', 1_000),
      atLeast(`${name} services created with an Idempotency-Key`, created, 'writes/s', 1_000),
      floor(`${name} services changed one after the other`, alone, 'writes/s'),
    ];
  } finally {
    for (const end of ends) await end();
  }
}

/** Medians of the rounds, a second. `postgresUrl` null: over SQLite. */
async function measure(postgresUrl: string | null) {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  const world = await openWorld(folder, postgresUrl);
  const rates = {
    created: [] as number[],
    changed: [] as number[],
    alone: [] as number[],
    read: [] as number[],
  };
  for (let round = 0; round < ROUNDS; round++) {
    const first = round * SERVICES;
    rates.created.push(await sendConcurrently(SERVICES, AT_ONCE, (index) => world.create(first + index)));
    rates.changed.push(await sendConcurrently(CHANGES, AT_ONCE, world.change));
    rates.alone.push(await sendConcurrently(ALONE, 1, world.change));
    rates.read.push(await sendConcurrently(CHANGES, AT_ONCE, world.read));
  }
  await world.close();
  rmSync(folder, { recursive: true, force: true });
  return {
    created: median(rates.created),
    changed: median(rates.changed),
    alone: median(rates.alone),
    read: median(rates.read),
  };
}

/** A registry, and senders of changes. */
export async function openWorld(dataDir: string, postgresUrl: string | null = null) {
  const clock = systemClock;
  const log = silentLog;
  const registry = await openRegistry({ dataDir, postgresUrl, log, clock, domainsPerAccount: SERVICES });
  await registry.putCatalogue(
    makeServices(IN_CATALOGUE).map(({ id: _, revision: _r, ...service }) => service),
  );
  const status = createMemoryStatusStore({ log });
  const directory = createServiceDirectory();
  directory.load((await registry.loadServices()).map(({ service }) => service));
  registry.watchChanges(await registry.lastChange(), (change) => directory.apply(change));
  const keys = await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, number) =>
      createApiKey(registry, {
        account: `bench ${number}`,
        name: 'bench',
        expiresAt: null,
        now: clock.now(),
        scopes: KEY_SCOPES,
      }),
    ),
  );
  const away = async () => {
    throw new Error('not of this benchmark');
  };
  const { port, close } = await serveApp({
    directory,
    status,
    keys: registry,
    registry,
    heartbeats: { takeHeartbeat: away, noteRefusal() {} },
    watchTransitions: () => () => {},
    owners: {
      registry,
      sessions: createSessions({ registry, clock }),
      samples: double({ newest: async () => [], query: async () => [] }),
      providers: [],
      local: createLocalSignIn({
        registry,
        secretKey: new Uint8Array(32),
        siteUrl: 'http://localhost:8080',
        now: clock.now,
        log,
      }),
      destinations: async () => ANY_DESTINATION,
      bounds: { usual: USUAL_TIMING, minIntervalMs: 30_000, regions: () => [] },
      kinds: {},
      acknowledgeLinks: { read: () => null },
      badgeAddresses: createBadgeAddresses(new Uint8Array(32), 'http://localhost:8080'),
      charge: away,
      tryCheck: away,
      proofs: {
        instructions: (_, domain) => ({ recordName: `_upbeat.${domain}`, word: 'word', fileUrl: domain }),
        check: away,
        addresses: async () => [],
        derive: () => Buffer.alloc(32),
      },
    },
  });
  const agent = new Agent({ keepAlive: true });
  const ask = (method: string, path: string, index: number, body: object | null, more: object = {}) =>
    new Promise<void>((resolve, reject) => {
      const authorization = `Bearer ${keys[index % ACCOUNTS]?.key}`;
      const headers = {
        authorization,
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...more,
      };
      const sending = request({ port, path, method, headers, agent }, (response) => {
        response.resume();
        if ((response.statusCode ?? 500) < 300) response.on('end', resolve);
        else reject(new Error(`${method} ${path} was answered ${response.statusCode}`));
      });
      sending.on('error', reject);
      sending.end(body === null ? undefined : JSON.stringify(body));
    });
  const pathOf = (index: number) => `/api/v1/services/own-${index % SERVICES}-example-com`;
  const definitionOf = (index: number) => ({
    domain: `own-${index}.example.com`,
    name: `Own service ${index}`,
    check: { kind: 'http', settings: { path: `/health/${index}` } },
  });
  return {
    create: (index: number) =>
      ask('POST', '/api/v1/services', index, definitionOf(index), { 'idempotency-key': `create-${index}` }),
    change: (index: number) =>
      ask('PATCH', pathOf(index), index, {
        name: `Own service ${index} at ${Math.round(performance.now())}`,
      }),
    pause: (index: number) => ask('PATCH', pathOf(index), index, { paused: index % 2 === 0 }),
    read: (index: number) => ask('GET', pathOf(index), index, null),
    async close() {
      agent.destroy();
      await close();
      await registry.close();
    },
  };
}

/** The floor: changes per second of one connection with a commit for each. */
function writePlain(): number {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-plain-'));
  const database = new DatabaseSync(join(folder, 'plain.sqlite'));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE services (id INTEGER PRIMARY KEY, name TEXT, definition TEXT)`);
  const insert = database.prepare('INSERT INTO services (name, definition) VALUES (?, ?)');
  const startedMs = performance.now();
  for (let index = 0; index < SERVICES; index++)
    insert.run(`Own service ${index}`, JSON.stringify({ domain: `own-${index}.example.com`, index }));
  const rate = SERVICES / ((performance.now() - startedMs) / 1_000);
  database.close();
  rmSync(folder, { recursive: true, force: true });
  return rate;
}

if (import.meta.main) await run();
