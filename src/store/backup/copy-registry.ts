/**
 * Copies a whole registry from one database to another, row by row in one transaction of the target: an interrupted copy leaves no
 * rows behind. Before the commit, the written rows are read again, and their count and digest are compared.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type MigrationSteps, SQLITE_STEPS } from '../database/migrations.ts';
import { openRegistryDatabase } from '../database/registry-database.ts';
import { RegistryError } from '../database/registry-error.ts';
import { type Queries, statement } from '../database/registry-store.ts';
import { createQueries } from '../database/sqlite-store.ts';
import { registryFile } from '../sqlite/private-files.ts';

/** One side of a copy, with an open transaction that sees one snapshot of the database. */
export interface CopyEnd {
  /** Location of the database, for messages. */
  readonly place: string;
  readonly queries: Queries;
  /** The columns of a table, in any order. */
  columnsOf(table: string): Promise<string[]>;
  /** The newest generated ID of each table with generated IDs. */
  readNumbers(): Promise<ReadonlyMap<string, number>>;
  writeNumbers(numbers: ReadonlyMap<string, number>): Promise<void>;
  commit(): Promise<void>;
  /** Rolls back uncommitted changes and closes the database. */
  close(): Promise<void>;
}

/** Progress of a copy, in rows. */
export type NoteProgress = (done: number, total: number) => void;

export interface CopyReport {
  readonly tables: number;
  readonly rows: number;
  /** SHA-256 over the digests of all tables, in hexadecimal digits. */
  readonly digest: string;
}

type Value = string | number | Uint8Array | null;
type Row = Readonly<Record<string, Value>>;

/** All tables, each after those that it refers to, with its key columns. Only the fence of the lease is copied. */
export const COPIED_TABLES: readonly (readonly [table: string, ...key: string[]])[] = [
  ['accounts', 'id'],
  ['people', 'id'],
  ['members', 'account_id', 'person_id'],
  ['invitations', 'id'],
  ['services', 'id'],
  ['changes', 'seq'],
  ['current', 'service_id'],
  ['transitions', 'position'],
  ['incidents', 'id'],
  ['owner_incidents', 'id'],
  ['owner_updates', 'incident_id', 'place'],
  ['owner_maintenances', 'id'],
  ['vendor_entries', 'service_id', 'feed', 'entry'],
  ['unread_pages', 'feed', 'from_at'],
  ['maintenances', 'id'],
  ['heartbeats', 'id'],
  ['heartbeat_services', 'service_id'],
  ['heartbeat_runs', 'id'],
  ['heartbeat_logs', 'id'],
  ['dependency_changes', 'id'],
  ['failing_dependencies', 'service_id', 'name'],
  ['heartbeat_inbox', 'id'],
  ['api_keys', 'id'],
  ['idempotent_changes', 'id'],
  ['identities', 'provider', 'subject'],
  ['sessions', 'sha256'],
  ['passwords', 'person_id'],
  ['recovery_codes', 'person_id', 'sha256'],
  ['passkeys', 'id'],
  ['setup_links', 'sha256'],
  ['sign_in_attempts', 'key'],
  ['used_once', 'sha256'],
  ['domain_claims', 'account_id', 'domain'],
  ['domain_registrations', 'id'],
  ['account_notices', 'id'],
  ['webhooks', 'id'],
  ['deliveries', 'id'],
  ['channels', 'id'],
  ['alert_rules', 'id'],
  ['alert_events', 'position'],
  ['alert_states', 'account_id'],
  ['alert_messages', 'id'],
  ['alert_threads', 'channel_id', 'thread'],
  ['alert_acknowledgements', 'id'],
  ['channel_failures', 'channel_id'],
  ['subscriptions', 'id'],
  ['subscription_changes', 'id'],
  ['letters', 'id'],
  ['letter_counts', 'name', 'day'],
  ['channel_confirmations', 'sha256'],
  ['owner_addresses', 'address', 'service_id'],
  ['status_pages', 'id'],
  ['status_page_logos', 'page_id'],
  ['status_page_favicons', 'page_id'],
  ['facts', 'name'],
];

/** Number of rows that are read and written at a time. */
const PAGE_ROWS = 500;
/** A monitor that renewed its lease within this time is running, milliseconds. Monitors renew every second. */
const MONITOR_FRESH_MS = 5_000;

/**
 * Copies everything from `source` to `target`. Throws if a monitor uses the source, if the target is not empty, or if
 * the written rows differ from the source; the target is then unchanged.
 */
export async function copyRegistry(
  source: CopyEnd,
  target: CopyEnd,
  now: number,
  note: NoteProgress,
): Promise<CopyReport> {
  await refuseMonitor(source, now);
  return await copySnapshot(source, target, note);
}

/**
 * Copies what `source` has at the moment, also while a monitor writes to it: what it writes afterwards is missing in the
 * copy. Throws if the target is not empty, or if the written rows differ from the source; the target is then unchanged.
 */
export async function copySnapshot(
  source: CopyEnd,
  target: CopyEnd,
  note: NoteProgress,
): Promise<CopyReport> {
  let total = 0;
  for (const [table] of COPIED_TABLES) {
    const found = await countRows(target, table);
    if (found > 0)
      throw new Error(
        `${target.place} is not empty: ${table} has ${found} rows. Copy into an empty database, or an empty data directory.`,
      );
    total += await countRows(source, table);
  }
  const whole = createHash('sha256');
  let done = 0;
  for (const [table, ...key] of COPIED_TABLES) {
    const columns = await commonColumns(source, target, table);
    const read = createHash('sha256');
    for await (const page of pagesOf(source, table, key, columns)) {
      for (const row of page) read.update(toLine(row, columns));
      await insertRows(target, table, columns, page);
      done += page.length;
      note(done, total);
    }
    const written = createHash('sha256');
    for await (const page of pagesOf(target, table, key, columns))
      for (const row of page) written.update(toLine(row, columns));
    const digest = read.digest('hex');
    if (written.digest('hex') !== digest)
      throw new Error(
        `${table} in ${target.place} is not what was read from ${source.place}; nothing was copied.`,
      );
    whole.update(`${table} ${digest}\n`);
  }
  await target.writeNumbers(await source.readNumbers());
  const [lease] = await source.queries.all(statement<{ fence: number }>('SELECT fence FROM lease')());
  // The fence keeps earlier monitors from writing to the copy.
  await target.queries.run(statement('UPDATE lease SET fence = ?, renewed_at = 0')((lease?.fence ?? 0) + 1));
  await target.commit();
  return { tables: COPIED_TABLES.length, rows: done, digest: whole.digest('hex') };
}

async function refuseMonitor({ queries, place }: CopyEnd, now: number): Promise<void> {
  const read = statement<{ pid: number | null; host: string | null; renewed_at: number }>(
    'SELECT pid, host, renewed_at FROM lease',
  );
  const lease = await queries.first(read());
  if (lease === undefined || lease.pid === null || Math.abs(now - lease.renewed_at) > MONITOR_FRESH_MS)
    return;
  throw new RegistryError(
    'lease_held',
    `Process ${lease.pid} on ${lease.host} is the monitor of ${place}: what it writes from now on would be missing in the copy. Stop it first.`,
  );
}

async function countRows({ queries }: CopyEnd, table: string): Promise<number> {
  const row = await queries.first(statement<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)());
  return row?.n ?? 0;
}

/** The columns of a table in the order of their names. Throws if the two sides have different columns. */
async function commonColumns(source: CopyEnd, target: CopyEnd, table: string): Promise<string[]> {
  const [columns, others] = [await source.columnsOf(table), await target.columnsOf(table)].map((names) =>
    names.toSorted(),
  );
  if (columns === undefined || columns.join() !== others?.join())
    throw new Error(
      `${source.place} and ${target.place} are of different versions: ${table} has other columns.`,
    );
  return columns;
}

/** The rows of a table in the order of its key. */
async function* pagesOf(
  { queries }: CopyEnd,
  table: string,
  key: readonly string[],
  columns: readonly string[],
): AsyncGenerator<readonly Row[]> {
  const order = key.join(', ');
  const all = `SELECT ${columns.join(', ')} FROM ${table}`;
  const end = `ORDER BY ${order} LIMIT ${PAGE_ROWS}`;
  const readFirst = statement<Row>(`${all} ${end}`);
  const readNext = statement<Row>(`${all} WHERE (${order}) > (${key.map(() => '?').join(', ')}) ${end}`);
  let page = await queries.all(readFirst());
  while (page.length > 0) {
    yield page;
    const last = page.at(-1);
    page = page.length < PAGE_ROWS ? [] : await queries.all(readNext(...key.map((column) => last?.[column])));
  }
}

async function insertRows(
  { queries }: CopyEnd,
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const list = `(${columns.map(() => '?').join(', ')})`;
  const insert = statement(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows.map(() => list).join(', ')}`,
  );
  await queries.run(insert(...rows.flatMap((row) => columns.map((column) => row[column] ?? null))));
}

function toLine(row: Row, columns: readonly string[]): string {
  const values = columns.map((column) => {
    const value = row[column] ?? null;
    return ArrayBuffer.isView(value) ? { bytes: Buffer.from(value).toString('hex') } : value;
  });
  return `${JSON.stringify(values)}\n`;
}

const COLUMNS = statement<{ readonly name: string }>('SELECT name FROM pragma_table_info(?)');
const NUMBERS = statement<{ readonly name: string; readonly seq: number }>(
  'SELECT name, seq FROM sqlite_sequence',
);
const FORGET_NUMBER = statement('DELETE FROM sqlite_sequence WHERE name = ?');
const SET_NUMBER = statement('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');

/** Opens the registry of a data directory for reading. Throws if there is none, or if its version differs. */
export async function openSqliteSource(dataDir: string): Promise<CopyEnd> {
  const file = registryFile(dataDir);
  if (!existsSync(file)) throw new RegistryError('registry_missing', `There is no registry at ${file}.`);
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  database.exec('BEGIN');
  const end = endOf(database, file);
  await refuseOtherVersion(end, SQLITE_STEPS);
  return end;
}

/** Opens or creates the registry of a data directory for writing. */
export async function openSqliteTarget(dataDir: string): Promise<CopyEnd> {
  const { database, file } = await openRegistryDatabase(dataDir);
  database.exec('BEGIN IMMEDIATE');
  return endOf(database, file);
}

/** Throws unless exactly the migrations of this version have been applied. */
export async function refuseOtherVersion(
  { queries, place }: Pick<CopyEnd, 'queries' | 'place'>,
  steps: MigrationSteps,
): Promise<void> {
  const done = await queries.all(statement<{ name: string }>('SELECT name FROM kysely_migration')());
  if (steps.areAll(done.map(({ name }) => name))) return;
  throw new RegistryError(
    'registry_newer',
    `${place} is of another version of Upbeat. Start this version on it once, stop it, and copy then.`,
  );
}

function endOf(database: DatabaseSync, place: string): CopyEnd {
  const queries: Queries = createQueries(() => database);
  return {
    place,
    queries,
    async columnsOf(table) {
      return (await queries.all(COLUMNS(table))).map(({ name }) => name);
    },
    async readNumbers() {
      return new Map((await queries.all(NUMBERS())).map(({ name, seq }) => [name, seq]));
    },
    async writeNumbers(numbers) {
      for (const [table, number] of numbers) {
        await queries.run(FORGET_NUMBER(table));
        await queries.run(SET_NUMBER(table, number));
      }
    },
    async commit() {
      database.exec('COMMIT');
    },
    async close() {
      if (database.isTransaction) database.exec('ROLLBACK');
      database.close();
    },
  };
}
