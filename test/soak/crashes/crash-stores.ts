/** The stores of a program that is being killed: files of its own, or PostgreSQL, Redis and InfluxDB 1.6. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { systemClock } from '../../../src/clock.ts';
import { silentLog } from '../../../src/log.ts';
import type { Registry } from '../../../src/store/ports/registry.ts';
import { openRegistryInProcess } from '../../../src/store/registry/open-registry.ts';
import { SampleEngine } from '../../../src/store/samples/sample-engine.ts';
import { openSamplesDatabase } from '../../../src/store/samples/samples-database.ts';
import { findLogDamage } from '../../../src/store/sqlite/log-damage.ts';
import { registryFile } from '../../../src/store/sqlite/private-files.ts';
import { rowsOf } from '../../store/influx-world.ts';
import { SECRET_KEY } from '../../support/cluster.ts';
import { createDatabase } from '../../support/postgres-server.ts';
import { type Scope, useInflux, usePostgres, useRedis } from '../../support/run-servers.ts';
import type { CommitWatch } from './crash-aim.ts';
import type { RegistryFacts } from './crash-verdict.ts';

/** The stores of one trial. `dataDir`: that of the program. */
export interface CrashStores {
  /** Settings of the program over those of the trial. */
  readonly settings: object;
  /** Begins to watch the commits of the registry. */
  watchCommits(dataDir: string): Promise<CommitWatch>;
  /** The commit of a deed is among so many next ones that are seen, since others write too. */
  readonly commitAmong: number;
  /** Opens the registry beside the program. */
  openRegistry(dataDir: string): Promise<Registry>;
  /** Reads the registry past the program, which has ended and finds its files as it has left them. */
  readFacts(dataDir: string): Promise<RegistryFacts>;
  /** What a start would take for damaged, sentences. */
  findDamage(dataDir: string): string[];
  /** Times of all samples of services, epoch milliseconds, by number of the service. */
  readSampleTimes(
    dataDir: string,
    services: readonly number[],
  ): Promise<ReadonlyMap<number, readonly number[]>>;
}

const DAY_MS = 86_400_000;
const QUERIES = {
  transitions: `SELECT position, service_id AS "serviceId", seq, from_status AS "from", to_status AS "to"
    FROM transitions ORDER BY position`,
  services: 'SELECT id, domain, status, current.seq AS seq FROM services JOIN current ON service_id = id',
  heartbeats: 'SELECT domain, timestamp FROM heartbeats JOIN services ON services.id = heartbeats.id / 100',
  incidents: `SELECT id, service_id AS "serviceId", status FROM incidents WHERE source = 'own'`,
} as const;

/** What changes with the commit of any part of a deed, and not with other heartbeats and checks. */
const CHANGED = `SELECT (SELECT sum(seq) FROM current) AS statuses, (SELECT max(position) FROM transitions) AS transitions,
  (SELECT count(*) FROM incidents) AS incidents, (SELECT count(*) FROM services) AS services`;

/** The files of the data directory. */
export const EMBEDDED: CrashStores = {
  settings: {},
  async watchCommits(dataDir) {
    const watcher = watch(join(dataDir, 'registry.sqlite-wal'));
    return { next: (signal) => once(watcher, 'change', { signal }), close: () => watcher.close() };
  },
  // Each heartbeat changes the file.
  commitAmong: 3,
  openRegistry: (dataDir) => openRegistryInProcess({ dataDir, log: silentLog, clock: systemClock }),
  async readFacts(dataDir) {
    // SQLite folds the log in when the last one closes the file.
    const folder = join(dataDir, '..', 'copy');
    mkdirSync(folder);
    for (const end of ['', '-wal'])
      if (existsSync(registryFile(dataDir) + end))
        copyFileSync(registryFile(dataDir) + end, registryFile(folder) + end);
    const database = new DatabaseSync(registryFile(folder));
    try {
      return await readFacts(async (sql) => database.prepare(sql).all());
    } finally {
      database.close();
      rmSync(folder, { recursive: true });
    }
  },
  findDamage: (dataDir) =>
    ['registry.sqlite', 'samples.sqlite']
      .filter((name) => findLogDamage(join(dataDir, name)) !== null)
      .map((name) => `${name}-wal is taken for damaged`),
  async readSampleTimes(dataDir, services) {
    const database = openSamplesDatabase(dataDir);
    const retention = { rawRetentionMs: 90 * DAY_MS, rollupRetentionMs: 730 * DAY_MS };
    const engine = new SampleEngine({ database, ...retention, now: Date.now });
    const timesOf = (id: number) => engine.newest(id, Number.MAX_SAFE_INTEGER).map(({ at }) => at);
    const times = new Map(services.map((id) => [id, timesOf(id)]));
    engine.close();
    return times;
  },
};

/** A new database, key prefix and InfluxDB database, on servers that end with `scope`. */
export async function openServers(scope: Scope): Promise<CrashStores> {
  const [postgres, redis, influx] = await Promise.all([
    usePostgres(scope),
    useRedis(scope),
    useInflux(scope),
  ]);
  const name = `crashes_${randomUUID().replaceAll('-', '')}`;
  await createDatabase(postgres.url('postgres'), name);
  const postgresUrl = postgres.url(name);
  return {
    settings: {
      storage: {
        postgres: { url: postgresUrl },
        redis: { url: `${redis.url}?prefix=${redis.prefix}` },
        influx: { url: influx.url, bucket: influx.database, api: 'v1' },
      },
      secrets: { key: SECRET_KEY },
    },
    async watchCommits() {
      const client = new pg.Client({ connectionString: postgresUrl });
      await client.connect();
      const read = async () => JSON.stringify((await client.query(CHANGED)).rows);
      return {
        async next(signal) {
          const before = await read();
          while ((await read()) === before) signal.throwIfAborted();
        },
        close: () => client.end(),
      };
    },
    // Only what deeds and failing services write is looked at.
    commitAmong: 1,
    openRegistry: (dataDir) =>
      openRegistryInProcess({
        ...{ dataDir, postgresUrl, secretKey: SECRET_KEY },
        ...{ log: silentLog, clock: systemClock },
      }),
    async readFacts() {
      // Whole numbers as numbers: all are below 2^53.
      const types = { getTypeParser: (id: number) => (id === 20 ? Number : (text: string) => text) };
      const client = new pg.Client({ connectionString: postgresUrl, types });
      await client.connect();
      try {
        // The server may still commit what the program has sent before its end.
        await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
        return await readFacts(async (sql) => (await client.query(sql)).rows);
      } finally {
        await client.end();
      }
    },
    findDamage: (dataDir) =>
      findLogDamage(join(dataDir, 'influx-spool.sqlite')) === null
        ? []
        : ['influx-spool.sqlite-wal is taken for damaged'],
    async readSampleTimes(_, services) {
      const times = new Map<number, number[]>();
      for (const id of services) {
        const statement = `SELECT up FROM upbeat_check WHERE service_id = '${id}'`;
        const rows = await rowsOf(influx.url, influx.database, statement);
        times.set(
          id,
          rows.map(({ time }) => Number(time)),
        );
      }
      return times;
    },
  };
}

async function readFacts(all: (sql: string) => Promise<readonly unknown[]>): Promise<RegistryFacts> {
  const read = async <Row>(sql: string) => (await all(sql)) as Row[];
  return {
    transitions: await read(QUERIES.transitions),
    services: await read(QUERIES.services),
    heartbeats: await read(QUERIES.heartbeats),
    incidents: await read(QUERIES.incidents),
  };
}
