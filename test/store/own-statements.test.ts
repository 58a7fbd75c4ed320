/** What the program runs by itself, over the history of a month: no statement reads a long table as a whole. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import t, { type Test } from 'tap';
import { DAY_MS } from '../../src/domain/durations.ts';
import { messageOf } from '../../src/error.ts';
import { openMethods } from '../../src/store/registry/open-registry.ts';
import { registryFile } from '../../src/store/sqlite/private-files.ts';
import { freePort } from '../support/free-port.ts';
import { addOwners, historyStatements, LONG_TABLES, MAX_ROWS } from '../support/long-history.ts';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../support/postgres-server.ts';
import { type Installation, install } from '../support/program.ts';

t.setTimeout(600_000);

/** The key of secrets, which the processes share. */
const KEY = 'a1'.repeat(32);
/** Maximum number of rows that one statement reads: a page of retention with its look at the statuses, and some more. */
const MAX_READ = 4_000;
/** How long the program is watched: what it does each second, and what it begins with. */
const WATCHED_MS = 2_500;

const settings = async () => ({
  secrets: { key: KEY },
  checks: { interval: '10m' },
  alerts: { smtp: { host: '127.0.0.1', port: await freePort(), from: 'upbeat@example.com', tls: 'none' } },
  storage: { incidentRetention: '30d' },
});

async function makeOwners(dataDir: string, postgresUrl: string | null, now: number): Promise<void> {
  mkdirSync(dataDir, { recursive: true });
  const registry = await openMethods({ dataDir, domainsPerAccount: 1_000, postgresUrl, secretKey: KEY });
  await addOwners(registry, now);
  await registry.close();
}

/** Runs the program until it has done what it does by itself; returns what it has printed. */
async function runProgram(t: Test, installation: Installation): Promise<string> {
  const program = await installation.start(undefined, 240_000);
  t.teardown(() => program.killHard());
  await program.get('/metrics');
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
  await program.killHard();
  return program.output();
}

/**
 * What only a process that serves beside the monitor reads all the time, the inbox of its heartbeats, and what the monitor tidies
 * each minute and hour.
 */
async function serveOnce(dataDir: string, postgresUrl: string): Promise<void> {
  const registry = await openMethods({ dataDir, domainsPerAccount: 1, postgresUrl, secretKey: KEY });
  const last = await registry.lastTransition();
  await registry.transitionsAfter(last - 10, 100);
  await registry.loadVendorStates();
  const id = await registry.putInInbox({ kind: 'beat', accountId: 1, arrivedAt: Date.now(), body: '{}' });
  await registry.inboxAnswers([id]);
  await registry.openInInbox(0);
  const now = Date.now();
  await registry.forgetInbox(now - 600_000);
  await registry.tidySubscriptions(now, now);
  await registry.forgetDeliveries(now - 30 * DAY_MS);
  await registry.close();
}

t.test('over SQLite', async (t) => {
  const log = join(t.testdir(), 'statements');
  const recorder = new URL('../support/recorded-statements.mjs', import.meta.url).href;
  const installation = await install([{ slug: 'shop' }], settings, {
    NODE_OPTIONS: `--import=${recorder}`,
    RECORDED_STATEMENTS: log,
  });
  t.teardown(() => installation.remove());
  const now = Date.now();
  const dataDir = join(installation.folder, 'data');
  await makeOwners(dataDir, null, now);
  const filling = new DatabaseSync(registryFile(dataDir));
  filling.exec(`PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -200000;
    CREATE TEMP TABLE numbers AS
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MAX_ROWS}) SELECT n FROM numbers;
    BEGIN; ${historyStatements(now).join(';')}; COMMIT`);
  filling.close();
  const output = await runProgram(t, installation);
  t.notMatch(output, /"level":(50|60)/);

  const database = new DatabaseSync(registryFile(dataDir));
  t.teardown(() => database.close());
  const statements = new Set(
    readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line): string => JSON.parse(line)),
  );
  t.ok(statements.size > 50, `${statements.size} statements`);
  for (const sql of statements) {
    if (!/^\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(sql)) continue;
    const aliases = new Map(
      [...sql.matchAll(/\b(?:from|join|update|into) "?(\w+)"?(?: (?:as )?"?(\w+)"?)?/gi)].flatMap(
        ([, table = '', alias = table]) =>
          [
            [table, table],
            [alias, table],
          ] as const,
      ),
    );
    const plan = planOf(database, sql);
    // The first rows in the order of an index, or any.
    const isFirst =
      /\blimit \S+$/i.test(sql) && !/\bwhere\b.*\?/is.test(sql) && !/TEMP B-TREE/.test(plan.join());
    const scans = plan.filter((detail) => {
      const [, name = '', index] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? [];
      return LONG_TABLES.has(aliases.get(name) ?? '') && !isShort(database, aliases.get(name) ?? '', index);
    });
    t.ok(isFirst || scans.length === 0, `${sql}: ${scans.join()}`);
  }
});

/** The plan of a statement; empty: it is one of another file, such as that of the samples. */
function planOf(database: DatabaseSync, sql: string): string[] {
  try {
    return database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail));
  } catch (error) {
    if (/no such (?:table|column)/.test(messageOf(error))) return [];
    throw error;
  }
}

/** Whether an index holds few rows of its table. */
function isShort(database: DatabaseSync, table: string, index = ''): boolean {
  const row = database.prepare("SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?").get(index);
  const [, condition] = / WHERE (.*)$/s.exec(String(row?.sql ?? '')) ?? [];
  if (condition === undefined) return false;
  const counted = database.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${condition}`).get();
  return Number(counted?.n) <= MAX_READ;
}

/** A node of a plan of PostgreSQL. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

t.test('over PostgreSQL', NEEDS_POSTGRES, async (t) => {
  const server = await startPostgres(t, {
    settings: {
      session_preload_libraries: 'auto_explain',
      'auto_explain.log_min_duration': '0',
      'auto_explain.log_analyze': 'on',
      'auto_explain.log_timing': 'off',
      'auto_explain.log_format': 'json',
      log_line_prefix: '%a ',
      // Plans follow the statistics below, which are made from all rows: no sample of them, and none made meanwhile.
      autovacuum: 'off',
      default_statistics_target: '1000',
    },
  });
  await createDatabase(server.url('postgres'), 'long');
  const installation = await install([{ slug: 'shop' }], async () => ({
    ...(await settings()),
    storage: { incidentRetention: '30d', postgres: { url: server.url('long') } },
  }));
  t.teardown(() => installation.remove());
  const now = Date.now();
  await makeOwners(t.testdir(), server.url('long'), now);
  const client = new pg.Client({ connectionString: server.url('long'), application_name: 'filling' });
  await client.connect();
  await client.query(`SET session_replication_role = replica; SET auto_explain.log_min_duration = -1;
    CREATE TEMP TABLE numbers AS SELECT n FROM generate_series(1::bigint, ${MAX_ROWS}) AS n; ANALYZE numbers;
    ${historyStatements(now).join(';')}`);
  // Also which pages are visible to all, on which scans of indexes alone depend.
  await client.query('VACUUM ANALYZE');
  await client.end();
  const log = join(server.folder, 'log');
  const lengthOf = () => readFileSync(log, 'utf8').length;
  const before = lengthOf();
  const output = await runProgram(t, installation);
  const between = lengthOf();
  await serveOnce(t.testdir(), server.url('long'));
  t.notMatch(output, /"level":(50|60)/);

  const read = readByStatement(readFileSync(log, 'utf8').slice(before));
  t.ok(read.size > 50, `${read.size} statements`);
  for (const [sql, rows] of read) t.ok(Math.max(...rows) <= MAX_READ, `${Math.max(...rows)} rows: ${sql}`);
  // What runs for one webhook or topic after the other does not read everything in parts either.
  for (const [sql, rows] of readByStatement(readFileSync(log, 'utf8').slice(between))) {
    const total = rows.reduce((sum, one) => sum + one, 0);
    t.ok(total <= MAX_READ, `${total} rows in all: ${sql}`);
  }
});

/** Number of rows that each run of each statement in the log has read. */
function readByStatement(log: string): ReadonlyMap<string, readonly number[]> {
  const read = new Map<string, number[]>();
  for (const [, text = ''] of log.matchAll(/^upbeat LOG: {2}duration: \S+ ms {2}plan:\n((?:\t.*\n)*)/gm)) {
    const { 'Query Text': sql, Plan: plan } = JSON.parse(text) as { 'Query Text': string; Plan: PlanNode };
    const rows = scansOf(plan).reduce((sum, node) => sum + readBy(node), 0);
    read.set(sql, [...(read.get(sql) ?? []), rows]);
  }
  return read;
}

/** The scans of long tables in a plan. */
function scansOf(node: PlanNode): PlanNode[] {
  const below = (node.Plans ?? []).flatMap(scansOf);
  return LONG_TABLES.has(node['Relation Name'] ?? '') && /Scan$/.test(node['Node Type'])
    ? [node, ...below]
    : below;
}

/** Number of rows that a scan has read, those that it left out included. */
function readBy(node: PlanNode): number {
  const left = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return (node['Actual Rows'] + left) * node['Actual Loops'];
}
