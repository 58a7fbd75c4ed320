/**
 * The servers of a run: `test/run.ts` starts them once, side by side, and test files that need a healthy server share
 * them, each with a database or a key space of its own. A file that is run alone starts its own.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { openPostgresDatabase } from '../../src/store/database/postgres/postgres-database.ts';
import { ask, startInflux, startVictoria } from './influx-server.ts';
import { hasProgram } from './install-servers.ts';
import {
  createDatabase,
  makeNewPostgres,
  NEW_POSTGRES,
  postgresUrl,
  startPostgres,
} from './postgres-server.ts';
import { startRedis } from './redis-server.ts';

/** What ends the servers: a test, or the run. */
export interface Scope {
  teardown(task: () => unknown): void;
}

/** How the run tells its test files where the servers are. */
const NAMES = {
  influx: 'UPBEAT_TEST_INFLUX',
  victoria: 'UPBEAT_TEST_VICTORIA',
  redis: 'UPBEAT_TEST_REDIS',
  postgres: 'UPBEAT_TEST_POSTGRES',
} as const;

/** A database with the tables of a registry, on the server of a run. */
const NEW_REGISTRY = 'new_registry';
/** Nothing looks after dozens of databases that live for a minute each, and nothing is kept of them. */
const FOR_MANY_DATABASES = {
  autovacuum: 'off',
  full_page_writes: 'off',
  jit: 'off',
  max_wal_senders: '0',
  wal_level: 'minimal',
};

/** Starts what is installed and not running already, at once; returns the environment that names it. */
export async function startRunServers(scope: Scope): Promise<Readonly<Record<string, string>>> {
  const folder = makeFolder(scope);
  const starts: readonly (readonly [string, string, () => Promise<string>])[] = [
    [NAMES.influx, 'influxd', async () => (await startInflux(scope, { folder: join(folder, 'influx') })).url],
    [
      NAMES.victoria,
      'victoria-metrics',
      async () => (await startVictoria(scope, { folder: join(folder, 'victoria') })).url,
    ],
    [NAMES.redis, 'redis-server', async () => String((await startRedis(scope)).port)],
    [
      NAMES.postgres,
      'psql',
      async () => {
        const server = await startPostgres(scope, { settings: FOR_MANY_DATABASES });
        await createDatabase(server.url('postgres'), NEW_REGISTRY);
        await openPostgresDatabase(server.url(NEW_REGISTRY));
        return String(server.port);
      },
    ],
    [NEW_POSTGRES, 'psql', () => makeNewPostgres(scope)],
  ];
  const there = starts.filter(([name, program]) => process.env[name] === undefined && hasProgram(program));
  return Object.fromEntries(await Promise.all(there.map(async ([name, , start]) => [name, await start()])));
}

/** A healthy InfluxDB, with a new database for this test. */
export async function useInflux(scope: Scope): Promise<{ readonly url: string; readonly database: string }> {
  const url = process.env[NAMES.influx] ?? (await startInflux(scope, { folder: makeFolder(scope) })).url;
  const database = nameOfItsOwn();
  await ask(url, `CREATE DATABASE ${database}`);
  return { url, database };
}

/** A healthy VictoriaMetrics. It has no databases: others' points are in it too. */
export async function useVictoria(scope: Scope): Promise<{ readonly url: string }> {
  return {
    url: process.env[NAMES.victoria] ?? (await startVictoria(scope, { folder: makeFolder(scope) })).url,
  };
}

/** A healthy Redis, with a prefix of this test's own, and a connection for its own look. */
export async function useRedis(
  scope: Scope,
): Promise<{ readonly url: string; readonly prefix: string; readonly client: Redis }> {
  const port = process.env[NAMES.redis] ?? (await startRedis(scope)).port;
  const client = new Redis({ host: '127.0.0.1', port: Number(port) });
  client.on('error', () => {});
  scope.teardown(() => client.disconnect());
  return { url: `redis://127.0.0.1:${port}`, prefix: nameOfItsOwn(), client };
}

/** A healthy PostgreSQL; `url` is that of a database of it. Each test makes its own. */
export async function usePostgres(scope: Scope): Promise<{ url(database: string): string }> {
  const port = Number(process.env[NAMES.postgres] ?? (await startPostgres(scope)).port);
  return { url: (database) => postgresUrl(port, database) };
}

/** Makes a database for a registry. In a run it has its tables already, whose migrations take longer than most tests. */
export async function createRegistry(
  { url }: { url(database: string): string },
  name: string,
): Promise<void> {
  const hasTables = process.env[NAMES.postgres] !== undefined;
  await createDatabase(url('postgres'), name, hasTables ? `TEMPLATE ${NEW_REGISTRY}` : '');
}

function nameOfItsOwn(): string {
  return `test_${randomUUID().replaceAll('-', '')}`;
}

function makeFolder(scope: Scope): string {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-servers-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
