/** The file of the sample store: a journal of what came in, a block for each service and day, summaries of its hours and of it. */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Why the store cannot be opened. */
export class SamplesError extends Error {
  readonly code: 'samples_unusable' | 'samples_newer';

  constructor(code: SamplesError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Days since 1970 that a key has room for. */
export const KEY_DAYS = 65_536;

/** A block or a summary by its key, `service × KEY_DAYS + day since 1970`. */
export interface KeyedBytes {
  readonly key: number;
  readonly bytes: Uint8Array;
}

/** The open file, as the statements that are needed. */
export interface SamplesDatabase {
  /** Runs `work` in one transaction, on disk when it returns; rolls back and rethrows what it throws. */
  transaction<T>(work: () => T): T;
  addToJournal(bytes: Uint8Array): void;
  /** Entries after `afterSeq`, in their order. */
  journal(afterSeq: number): Iterable<{ readonly seq: number; readonly bytes: Uint8Array }>;
  /** Of the oldest entry that is there; 0: there is none. */
  firstJournalSeq(): number;
  lastJournalSeq(): number;
  cutJournal(upToSeq: number): void;
  block(key: number): Uint8Array | null;
  putBlock(key: number, bytes: Uint8Array): void;
  blocks(fromKey: number, toKey: number): KeyedBytes[];
  /** Newest first. */
  newestBlocks(fromKey: number, toKey: number, limit: number): KeyedBytes[];
  cutBlocks(fromKey: number, beforeKey: number): void;
  /** The hours of days. */
  hours(fromKey: number, toKey: number): KeyedBytes[];
  /** Days as a whole. */
  days(fromKey: number, toKey: number): KeyedBytes[];
  /** Puts the summaries of a day: of its hours, and of it as a whole. */
  putSummaries(key: number, hours: Uint8Array, day: Uint8Array): void;
  cutSummaries(fromKey: number, beforeKey: number): void;
  /** Keys of blocks before `today` that have no summary. */
  unsummarised(today: number): number[];
  /** Keys of blocks of days before `day`. */
  outdated(day: number): number[];
  /** Gives the pages that the journal no longer needs back to the file system. */
  shrink(): void;
  fileBytes(): number;
  close(): void;
}

const FORM = 1;
const APPLICATION_ID = 0x55505453;

/** Opens or makes the file. Throws {@link SamplesError} with what to do. */
export function openSamplesDatabase(dataDir: string): SamplesDatabase {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, 'samples.sqlite');
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(file, { timeout: 5_000 });
    prepareFile(database, file);
  } catch (error) {
    if (error instanceof SamplesError) throw error;
    throw new SamplesError(
      'samples_unusable',
      `${file} cannot be opened: ${(error as Error).message}. Move it and its -wal and -shm files away to begin anew, or restore a copy.`,
    );
  }
  const addToJournal = database.prepare('INSERT INTO journal (bytes) VALUES (?)');
  const cutJournal = database.prepare('DELETE FROM journal WHERE seq <= ?');
  const lastSeq = database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM journal');
  const firstSeq = database.prepare('SELECT coalesce(min(seq), 0) AS seq FROM journal');
  const block = database.prepare('SELECT bytes FROM blocks WHERE key = ?');
  const putBlock = database.prepare('INSERT OR REPLACE INTO blocks (key, bytes) VALUES (?, ?)');
  const blocks = database.prepare('SELECT key, bytes FROM blocks WHERE key >= ? AND key <= ? ORDER BY key');
  const newest = database.prepare(
    'SELECT key, bytes FROM blocks WHERE key >= ? AND key <= ? ORDER BY key DESC LIMIT ?',
  );
  const cutBlocks = database.prepare('DELETE FROM blocks WHERE key >= ? AND key < ?');
  const hours = database.prepare('SELECT key, bytes FROM summaries WHERE key >= ? AND key <= ? ORDER BY key');
  const days = database.prepare('SELECT key, bytes FROM days WHERE key >= ? AND key <= ? ORDER BY key');
  const putHours = database.prepare('INSERT OR REPLACE INTO summaries (key, bytes) VALUES (?, ?)');
  const putDay = database.prepare('INSERT OR REPLACE INTO days (key, bytes) VALUES (?, ?)');
  const cutHours = database.prepare('DELETE FROM summaries WHERE key >= ? AND key < ?');
  const cutDays = database.prepare('DELETE FROM days WHERE key >= ? AND key < ?');
  const pages = database.prepare(
    'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
  );
  const keysOf = (sql: string, day: number) =>
    database
      .prepare(sql)
      .all(day)
      .map((row) => Number(row.key));

  return {
    transaction(work) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    addToJournal: (bytes) => void addToJournal.run(bytes),
    *journal(afterSeq) {
      const rows = database.prepare('SELECT seq, bytes FROM journal WHERE seq > ? ORDER BY seq');
      for (const row of rows.iterate(afterSeq))
        yield { seq: Number(row.seq), bytes: row.bytes as Uint8Array };
    },
    firstJournalSeq: () => Number(firstSeq.get()?.seq ?? 0),
    lastJournalSeq: () => Number(lastSeq.get()?.seq ?? 0),
    cutJournal: (upToSeq) => void cutJournal.run(upToSeq),
    block: (key) => (block.get(key)?.bytes as Uint8Array | undefined) ?? null,
    putBlock: (key, bytes) => void putBlock.run(key, bytes),
    blocks: (fromKey, toKey) => blocks.all(fromKey, toKey) as unknown as KeyedBytes[],
    newestBlocks: (fromKey, toKey, limit) => newest.all(fromKey, toKey, limit) as unknown as KeyedBytes[],
    cutBlocks: (fromKey, beforeKey) => void cutBlocks.run(fromKey, beforeKey),
    hours: (fromKey, toKey) => hours.all(fromKey, toKey) as unknown as KeyedBytes[],
    days: (fromKey, toKey) => days.all(fromKey, toKey) as unknown as KeyedBytes[],
    putSummaries(key, ofHours, ofDay) {
      putHours.run(key, ofHours);
      putDay.run(key, ofDay);
    },
    cutSummaries(fromKey, beforeKey) {
      cutHours.run(fromKey, beforeKey);
      cutDays.run(fromKey, beforeKey);
    },
    unsummarised: (today) =>
      keysOf(
        'SELECT b.key AS key FROM blocks b LEFT JOIN days d ON d.key = b.key WHERE d.key IS NULL AND (b.key & 65535) < ?',
        today,
      ),
    outdated: (day) => keysOf('SELECT key FROM blocks WHERE (key & 65535) < ?', day),
    shrink: () => database.exec('PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)'),
    fileBytes: () => Number(pages.get()?.bytes ?? 0) + walBytes(file),
    close: () => database.close(),
  };
}

function prepareFile(database: DatabaseSync, file: string): void {
  const { application_id: owner } = database.prepare('PRAGMA application_id').get() as {
    application_id: number;
  };
  const { user_version: form } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  const isNew =
    owner === 0 && database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.count === 0;
  if (!isNew && owner !== APPLICATION_ID) {
    throw new SamplesError(
      'samples_unusable',
      `${file} is a database of another program. Set storage.dataDir to another folder.`,
    );
  }
  if (form > FORM) {
    throw new SamplesError(
      'samples_newer',
      `${file} was written by a newer version of Upbeat. Run that version, or restore a copy.`,
    );
  }
  database.exec(`
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA journal_size_limit = 16777216;
    PRAGMA application_id = ${APPLICATION_ID};
    PRAGMA user_version = ${FORM};
    CREATE TABLE IF NOT EXISTS journal (seq INTEGER PRIMARY KEY AUTOINCREMENT, bytes BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS blocks (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS summaries (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS days (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  `);
}

function walBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
