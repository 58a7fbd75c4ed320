/** Opens the file of the sample store: creates it, moves a damaged one away, refuses the file of another program. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../error.ts';
import { copyDamagedLog, findLogDamage, setFileAside } from '../sqlite/log-damage.ts';
import {
  findDamage,
  isDamage,
  isDiskRefusal,
  openWithoutRoom,
  type SqliteAccess,
} from '../sqlite/open-full.ts';
import { LEVEL_TABLES } from './day-levels.ts';

/** Why the store cannot be opened. */
class SamplesError extends Error {
  readonly code: 'samples_unusable' | 'samples_newer' | 'samples_foreign' | 'samples_damaged';

  constructor(code: SamplesError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export interface SamplesFileOptions {
  readonly dataDir: string;
  /**
   * Identity of the installation, shared by its stores. A file of another one is refused; a new file, and one of a version
   * without identities, gets it. Absent: any file is accepted.
   */
  readonly installation?: string;
  /** False: a damaged file is refused, because another process writes it. Default true: it is moved away. */
  readonly mayReplace?: boolean;
  /** Epoch milliseconds, for the name of a damaged file. Default: 1970. */
  readonly now?: () => number;
}

export interface OpenedSamples {
  readonly database: DatabaseSync;
  /** Other than `shared`: the disk accepts no writes, and the caller reopens the file once it does. */
  readonly access: SqliteAccess;
  /** The path to which a damaged file was moved; null: there was none. */
  readonly setAside: string | null;
  /** A copy of a log that was damaged, of which SQLite reads the beginning only; null: there was none. */
  readonly damagedLog: string | null;
}

type OpenedFile = Pick<OpenedSamples, 'database' | 'access'>;

const FORMAT = 1;
const APPLICATION_ID = 0x55505453;
/** The time for which a start and a stop wait for a process that holds the file. */
const BUSY_TIMEOUT_MS = 5_000;
/** The same for writes in between, which are repeated: the thread may serve the registry, too. */
const WRITE_TIMEOUT_MS = 100;
/** Up to this size the whole file is checked at start, which takes about a second. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024;

/** The name of the fact with the name of a region, by its number. */
export function regionFact(number: number): string {
  return `region.${number}`;
}

export function samplesFile(dataDir: string): string {
  return join(dataDir, 'samples.sqlite');
}

/** Opens or creates the file. Throws a {@link SamplesError} with what to do. */
export function openSamplesFile(options: SamplesFileOptions): OpenedSamples {
  const { dataDir, mayReplace = true, now = () => 0 } = options;
  const file = samplesFile(dataDir);
  const damagedLog = mayReplace ? copyDamagedLog(file, now()) : null;
  try {
    return { ...openFile(file, options), setAside: null, damagedLog };
  } catch (error) {
    if (error instanceof SamplesError && error.code !== 'samples_damaged') throw error;
    const detail = damageOf(error);
    if (detail === null) throw unusable(file, error);
    if (!mayReplace) throw damaged(file, detail);
    const setAside = setFileAside(file, now());
    return { ...openFile(file, options), setAside, damagedLog };
  }
}

/** The damage of the store's file, of any size; null: none, or there is no file. */
export function examineSamplesFile(dataDir: string): string | null {
  const file = samplesFile(dataDir);
  if (!existsSync(file)) return null;
  const damage = findLogDamage(file);
  if (damage !== null) return `its log after ${damage.keptBytes} bytes`;
  try {
    const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    try {
      return findDamage(database);
    } finally {
      database.close();
    }
  } catch (error) {
    return messageOf(error);
  }
}

function openFile(file: string, options: SamplesFileOptions): OpenedFile {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    prepareFile(database, file, options);
    return { database, access: 'shared' };
  } catch (error) {
    database?.close();
    if (!isDiskRefusal(error, file)) throw error;
    return openOnFullDisk(file);
  }
}

/** Opens the file for reading; without a file that has its tables, an empty store in memory replaces it. */
function openOnFullDisk(file: string): OpenedFile {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    const { database, access } = openWithoutRoom(file);
    const hasTable = (name: string) =>
      database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined;
    if (hasTable('days')) {
      // A file of a version without levels is read without them.
      if (!hasTable('levels')) database.exec(NO_LEVELS);
      return { database, access };
    }
    database.close();
  }
  const database = new DatabaseSync(':memory:');
  database.exec(TABLES);
  return { database, access: 'frozen' };
}

const TABLES = `
  CREATE TABLE IF NOT EXISTS journal (seq INTEGER PRIMARY KEY AUTOINCREMENT, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS blocks (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS summaries (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS days (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  ${LEVEL_TABLES}
`;
/** Stands for the table in a file that takes no writes. */
const NO_LEVELS = `
  PRAGMA temp_store = MEMORY;
  CREATE TEMP TABLE levels (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
`;

function prepareFile(database: DatabaseSync, file: string, { installation }: SamplesFileOptions): void {
  const { application_id: owner } = database.prepare('PRAGMA application_id').get() as {
    application_id: number;
  };
  const { user_version: format } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  const isNew =
    owner === 0 && database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.count === 0;
  if (!isNew && owner !== APPLICATION_ID) {
    throw new SamplesError(
      'samples_foreign',
      `${file} is a database of another program. Set storage.dataDir to another folder.`,
    );
  }
  if (format > FORMAT) {
    throw new SamplesError(
      'samples_newer',
      `${file} was written by a newer version of Upbeat. Run that version, or restore a copy.`,
    );
  }
  const detail = isNew || statSync(file).size > MAX_CHECKED_BYTES ? null : findDamage(database);
  if (detail !== null) throw damaged(file, detail);
  database.exec(`
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA temp_store = MEMORY;
    PRAGMA journal_size_limit = 16777216;
  `);
  if (isNew) database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}`);
  database.exec(TABLES);
  if (installation !== undefined) claimFor(database, file, installation);
  setPatience(database, WRITE_TIMEOUT_MS);
}

/** Sets the time for which writes wait for a process that holds the file. Default: as long as a start does. */
export function setPatience(database: DatabaseSync, timeoutMs = BUSY_TIMEOUT_MS): void {
  database.exec(`PRAGMA busy_timeout = ${timeoutMs}`);
}

/** Claims a file that belongs to no installation yet, and refuses that of another one. */
function claimFor(database: DatabaseSync, file: string, installation: string): void {
  const read = () => database.prepare("SELECT value FROM facts WHERE name = 'installation'").get()?.value;
  const found = read();
  if (found === installation) return;
  if (found !== undefined)
    throw new SamplesError(
      'samples_foreign',
      `${file} belongs to another installation than the registry beside it: its history would be shown under the wrong services. Put back the registry.sqlite that belongs to it, or move ${file} with its -wal and -shm files away to begin without history.`,
    );
  database.prepare("INSERT OR IGNORE INTO facts (name, value) VALUES ('installation', ?)").run(installation);
}

/** SQLite's message for damaged content; null: the error has another cause. */
function damageOf(error: unknown): string | null {
  if (error instanceof SamplesError) return error.message;
  return isDamage(error) ? messageOf(error) : null;
}

function damaged(file: string, detail: string): SamplesError {
  return new SamplesError(
    'samples_damaged',
    `${file} is damaged (${detail}). It holds history alone. Restart the monitor, which sets it aside and begins anew, or put a backup in its place.`,
  );
}

function unusable(file: string, error: unknown): SamplesError {
  return new SamplesError(
    'samples_unusable',
    `${file} cannot be opened (${messageOf(error)}). Give this user read and write access to the file and its folder, or end the program that holds it.`,
  );
}
