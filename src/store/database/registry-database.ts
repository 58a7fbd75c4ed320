/** Opens the registry's file: creates it, migrates its tables, and refuses a damaged or foreign file. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../error.ts';
import { findLogDamage } from '../sqlite/log-damage.ts';
import { findDamage, isDiskRefusal, openWithoutRoom, type SqliteAccess } from '../sqlite/open-full.ts';
import { registryFile } from '../sqlite/private-files.ts';
import { SQLITE_STEPS } from './migrations.ts';
import {
  damagedLog,
  damagedRegistry,
  explainSqliteError,
  fullDisk,
  missingRegistry,
  RegistryError,
} from './registry-error.ts';
import { Kysely } from './registry-store.ts';
import type { RegistrySchema } from './schema.ts';
import { createSqliteDialect } from './sqlite-store.ts';

/** The application ID in SQLite's header: the letters `UPBT`. */
const APPLICATION_ID = 0x55504254;

/** Maximum time that a process waits for the transaction of another one. Transactions of Upbeat last milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/** A file up to this size, bytes, is completely checked at start, which takes less than half a second. */
const CHECKED_BYTES = 64 * 1024 * 1024;

export interface RegistryDatabase {
  readonly file: string;
  readonly database: DatabaseSync;
  /** Builds queries, which `createQueries` runs. */
  readonly kysely: Kysely<RegistrySchema>;
  /** Other than `shared`: the disk accepts no writes, and the caller reopens the file once it does. */
  readonly access: SqliteAccess;
}

/**
 * Opens or creates the registry of `dataDir`. `alone`: no other process may have it open until it is closed. Throws a
 * RegistryError with a code of RegistryFaultCode; it is `storage_busy` if another process has it open and this one must be alone.
 */
export async function openRegistryDatabase(dataDir: string, alone = false): Promise<RegistryDatabase> {
  const file = registryFile(dataDir);
  makeDirectory(dataDir);
  const damage = findLogDamage(file);
  if (damage !== null) throw damagedLog(file, damage);
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    // With a log, each open connection holds a shared lock of the file, which excludes this one.
    if (alone) database.exec('PRAGMA locking_mode = EXCLUSIVE');
    claimFile(database, file);
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    database.exec(`PRAGMA journal_size_limit = ${CHECKED_BYTES}`);
    const detail = statSync(file).size > CHECKED_BYTES ? null : findDamage(database);
    if (detail !== null) throw damagedRegistry(file, detail);
    const opened = withQueries(file, database, 'shared');
    const done = executedMigrations(database);
    await SQLITE_STEPS.migrate(opened.kysely, done, file, 'put back the copy of the data directory');
    return opened;
  } catch (error) {
    database?.close();
    if (isDiskRefusal(error, file) && existsSync(file)) return openForReading(file);
    throw explainSqliteError(error, file);
  }
}

/** Opens an existing registry whose disk refuses writes. Throws `storage_full` if its tables are of another version. */
function openForReading(file: string): RegistryDatabase {
  try {
    const { database, access } = openWithoutRoom(file);
    const isOurs = readNumber(database, 'PRAGMA application_id') === APPLICATION_ID;
    if (isOurs && SQLITE_STEPS.areAll(executedMigrations(database)))
      return withQueries(file, database, access);
    database.close();
  } catch (error) {
    throw explainSqliteError(error, file);
  }
  throw fullDisk(file);
}

function withQueries(file: string, database: DatabaseSync, access: SqliteAccess): RegistryDatabase {
  // Sorting must not need the disk.
  database.exec('PRAGMA temp_store = MEMORY');
  const kysely = new Kysely<RegistrySchema>({ dialect: createSqliteDialect(database) });
  return { file, database, kysely, access };
}

/** Creates the data directory if it does not exist. Throws `registry_unusable`. */
export function makeDirectory(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new RegistryError(
      'registry_unusable',
      `The data directory ${dataDir} cannot be made (${messageOf(error)}). Make it for this user, or set storage.dataDir to another folder.`,
      { cause: error },
    );
  }
}

/** Sets the application ID of a new file, and refuses the file of another program. */
function claimFile(database: DatabaseSync, file: string): void {
  if (readNumber(database, 'PRAGMA application_id') === APPLICATION_ID) return;
  database.exec('BEGIN IMMEDIATE');
  // Reads the ID again under the lock, since another process may have claimed the file meanwhile.
  const owner = readNumber(database, 'PRAGMA application_id');
  const tables = readNumber(database, 'SELECT count(*) FROM sqlite_master');
  if (owner !== APPLICATION_ID && (owner !== 0 || tables > 0)) {
    database.exec('ROLLBACK');
    throw new RegistryError(
      'registry_foreign',
      `${file} is a database of another program. Set storage.dataDir to a folder of Upbeat's own, or move the file away.`,
    );
  }
  const remains = formerStores(dirname(file));
  if (remains.length > 0) {
    database.exec('ROLLBACK');
    throw missingRegistry(file, remains);
  }
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  database.exec('COMMIT');
}

/** Files of an installation beside its registry, once its monitor has started. */
function formerStores(dataDir: string): string[] {
  return ['samples.sqlite', 'influx-spool.sqlite', 'monitor.alive', 'secret.key']
    .map((name) => join(dataDir, name))
    .filter((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0);
}

function executedMigrations(database: DatabaseSync): string[] {
  const table = database.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'kysely_migration'`).get();
  if (table === undefined) return [];
  return database
    .prepare('SELECT name FROM kysely_migration ORDER BY name')
    .all()
    .map((row) => String(row.name));
}

function readNumber(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
}
