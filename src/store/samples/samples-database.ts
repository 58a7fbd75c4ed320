/** The file of the sample store: a journal of what came in, a block for each service and day, summaries of its hours and of it. */
import { mkdirSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { type OpenedSamples, openSamplesFile, type SamplesFileOptions, samplesFile } from './samples-file.ts';

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
  /** Where a damaged file was moved when this one was opened, so that it begins anew; null: there was none. */
  readonly setAside: string | null;
  close(): void;
}

/** Opens or makes the file. Throws SamplesError with what to do. */
export function openSamplesDatabase(
  dataDir: string,
  options: Omit<SamplesFileOptions, 'dataDir'> = {},
): SamplesDatabase {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = samplesFile(dataDir);
  const open = () => openSamplesFile({ ...options, dataDir });
  let opened: OpenedSamples = open();
  let sql = prepareStatements(opened.database);
  const { setAside } = opened;

  /** Opens a file anew that could not be shared when it was opened: its disk may take writes by now. */
  const share = (): void => {
    if (opened.access === 'shared') return;
    opened.database.close();
    opened = open();
    sql = prepareStatements(opened.database);
    if (opened.access !== 'shared') throw new Error(`the disk of ${file} takes no writes`);
  };
  const keysOf = (text: string, day: number) =>
    opened.database
      .prepare(text)
      .all(day)
      .map((row) => Number(row.key));

  return {
    setAside,
    transaction(work) {
      share();
      const { database } = opened;
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
    addToJournal: (bytes) => void sql.addToJournal.run(bytes),
    *journal(afterSeq) {
      const rows = opened.database.prepare('SELECT seq, bytes FROM journal WHERE seq > ? ORDER BY seq');
      for (const row of rows.iterate(afterSeq))
        yield { seq: Number(row.seq), bytes: row.bytes as Uint8Array };
    },
    firstJournalSeq: () => Number(sql.firstSeq.get()?.seq ?? 0),
    lastJournalSeq: () => Number(sql.lastSeq.get()?.seq ?? 0),
    cutJournal: (upToSeq) => void sql.cutJournal.run(upToSeq),
    block: (key) => (sql.block.get(key)?.bytes as Uint8Array | undefined) ?? null,
    putBlock: (key, bytes) => void sql.putBlock.run(key, bytes),
    blocks: (fromKey, toKey) => sql.blocks.all(fromKey, toKey) as unknown as KeyedBytes[],
    newestBlocks: (fromKey, toKey, limit) => sql.newest.all(fromKey, toKey, limit) as unknown as KeyedBytes[],
    cutBlocks: (fromKey, beforeKey) => void sql.cutBlocks.run(fromKey, beforeKey),
    hours: (fromKey, toKey) => sql.hours.all(fromKey, toKey) as unknown as KeyedBytes[],
    days: (fromKey, toKey) => sql.days.all(fromKey, toKey) as unknown as KeyedBytes[],
    putSummaries(key, ofHours, ofDay) {
      sql.putHours.run(key, ofHours);
      sql.putDay.run(key, ofDay);
    },
    cutSummaries(fromKey, beforeKey) {
      sql.cutHours.run(fromKey, beforeKey);
      sql.cutDays.run(fromKey, beforeKey);
    },
    unsummarised: (today) =>
      keysOf(
        'SELECT b.key AS key FROM blocks b LEFT JOIN days d ON d.key = b.key WHERE d.key IS NULL AND (b.key & 65535) < ?',
        today,
      ),
    outdated: (day) => keysOf('SELECT key FROM blocks WHERE (key & 65535) < ?', day),
    shrink: () => opened.database.exec('PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)'),
    fileBytes: () => Number(sql.pages.get()?.bytes ?? 0) + walBytes(file),
    close: () => opened.database.close(),
  };
}

function prepareStatements(database: DatabaseSync) {
  return {
    addToJournal: database.prepare('INSERT INTO journal (bytes) VALUES (?)'),
    cutJournal: database.prepare('DELETE FROM journal WHERE seq <= ?'),
    lastSeq: database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM journal'),
    firstSeq: database.prepare('SELECT coalesce(min(seq), 0) AS seq FROM journal'),
    block: database.prepare('SELECT bytes FROM blocks WHERE key = ?'),
    putBlock: database.prepare('INSERT OR REPLACE INTO blocks (key, bytes) VALUES (?, ?)'),
    blocks: database.prepare('SELECT key, bytes FROM blocks WHERE key >= ? AND key <= ? ORDER BY key'),
    newest: database.prepare(
      'SELECT key, bytes FROM blocks WHERE key >= ? AND key <= ? ORDER BY key DESC LIMIT ?',
    ),
    cutBlocks: database.prepare('DELETE FROM blocks WHERE key >= ? AND key < ?'),
    hours: database.prepare('SELECT key, bytes FROM summaries WHERE key >= ? AND key <= ? ORDER BY key'),
    days: database.prepare('SELECT key, bytes FROM days WHERE key >= ? AND key <= ? ORDER BY key'),
    putHours: database.prepare('INSERT OR REPLACE INTO summaries (key, bytes) VALUES (?, ?)'),
    putDay: database.prepare('INSERT OR REPLACE INTO days (key, bytes) VALUES (?, ?)'),
    cutHours: database.prepare('DELETE FROM summaries WHERE key >= ? AND key < ?'),
    cutDays: database.prepare('DELETE FROM days WHERE key >= ? AND key < ?'),
    pages: database.prepare(
      'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
    ),
  };
}

function walBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
