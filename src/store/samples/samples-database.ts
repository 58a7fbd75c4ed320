/** The file of the sample store: a journal, a block for each series and day, and summaries of the hours and the day. */
import { mkdirSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { levelOfDay, levelsKeyOf, withLevel } from './day-levels.ts';
import { MAX_SAMPLE_REGIONS } from './encoding.ts';
import {
  type OpenedSamples,
  openSamplesFile,
  regionFact,
  type SamplesFileOptions,
  samplesFile,
  setPatience,
} from './samples-file.ts';

/** The number of days since 1970 that a key can contain. */
export const KEY_DAYS = 65_536;

/** A block or a summary by its key, `series × KEY_DAYS + day since 1970`. */
interface KeyedBytes {
  readonly key: number;
  readonly bytes: Uint8Array;
}

/** The tables with a key for each series and day: the blocks, or the summaries of days and their hours. */
export type DayTable = 'blocks' | 'summaries';

const DAY_KEYS = { blocks: 'blocks', summaries: 'days' } as const;

export type SamplesDatabase = ReturnType<typeof openSamplesDatabase>;

/** Opens or creates the file. Throws a SamplesError with what to do. */
export function openSamplesDatabase(dataDir: string, options: Omit<SamplesFileOptions, 'dataDir'> = {}) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = samplesFile(dataDir);
  const open = () => openSamplesFile({ ...options, dataDir });
  let opened: OpenedSamples = open();
  let sql = prepareStatements(opened.database);
  const { setAside, damagedLog } = opened;

  /** Opens a file again that could not be shared when it was opened, because its disk may accept writes by now. */
  const share = (): void => {
    if (opened.access === 'shared') return;
    opened.database.close();
    opened = open();
    sql = prepareStatements(opened.database);
    if (opened.access !== 'shared') throw new Error(`the disk of ${file} takes no writes`);
  };
  const keysOf = (rows: readonly Record<string, unknown>[]) => rows.map(({ key }) => Number(key));
  const freePages = () => Number(sql.freePages.get()?.count ?? 0);
  const putLevel = (key: number, ofDay: Uint8Array): void => {
    const rowKey = levelsKeyOf(key);
    const row = (sql.levels.row.get(rowKey)?.bytes as Uint8Array | undefined) ?? null;
    sql.levels.put.run(rowKey, withLevel(row, key, levelOfDay(ofDay)));
  };

  return {
    /** The path to which a damaged file was moved when this one was opened; null: there was none. */
    setAside,
    /** The copy of a damaged log that was found when this file was opened; null: it was whole. */
    damagedLog,
    /** Runs `work` in one transaction, on disk when it returns; rolls back and rethrows what it throws. */
    transaction<T>(work: () => T): T {
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
    /** The names of the regions, in the order of their numbers. */
    regions(): string[] {
      const names: string[] = [];
      for (let number = 1; number <= MAX_SAMPLE_REGIONS; number++) {
        const found = sql.fact.get(regionFact(number));
        if (found === undefined) break;
        names.push(String(found.value));
      }
      return names;
    },
    putRegion: (number: number, name: string) => void sql.putFact.run(regionFact(number), name),
    /** A fact about the file; null: it is not known. */
    fact: (name: string): string | null => {
      const found = sql.fact.get(name);
      return found === undefined ? null : String(found.value);
    },
    putFact: (name: string, value: string) => void sql.putFact.run(name, value),
    /** Returns true if there is a block or a summary in a range of keys, of which the last is left out. */
    hasDays: (fromKey: number, beforeKey: number): boolean =>
      sql.hasDays.get({ from: fromKey, before: beforeKey })?.found === 1,
    addToJournal: (bytes: Uint8Array) => void sql.addToJournal.run(bytes),
    /** Entries after `afterSeq`, in order. */
    *journal(afterSeq: number) {
      const rows = opened.database.prepare('SELECT seq, bytes FROM journal WHERE seq > ? ORDER BY seq');
      for (const row of rows.iterate(afterSeq))
        yield { seq: Number(row.seq), bytes: row.bytes as Uint8Array };
    },
    /** Number of the oldest entry; 0: there is none. */
    firstJournalSeq: () => Number(sql.firstSeq.get()?.seq ?? 0),
    lastJournalSeq: () => Number(sql.lastSeq.get()?.seq ?? 0),
    deleteJournal: (upToSeq: number) => void sql.deleteJournal.run(upToSeq),
    block: (key: number): Uint8Array | null => (sql.block.get(key)?.bytes as Uint8Array | undefined) ?? null,
    putBlock: (key: number, bytes: Uint8Array) => void sql.blocks.put.run(key, bytes),
    blocks: (fromKey: number, toKey: number) =>
      sql.blocks.range.all(fromKey, toKey) as unknown as KeyedBytes[],
    /** The newest block in a range of keys; null: there is none. */
    newestBlock: (fromKey: number, toKey: number) =>
      (sql.newest.get(fromKey, toKey) as unknown as KeyedBytes | undefined) ?? null,
    hours: (fromKey: number, toKey: number) => sql.hours.range.all(fromKey, toKey) as unknown as KeyedBytes[],
    days: (fromKey: number, toKey: number) => sql.days.range.all(fromKey, toKey) as unknown as KeyedBytes[],
    /** The rows of the levels of days in a range of keys of days; see `day-levels.ts`. */
    levels: (fromKey: number, toKey: number) =>
      sql.levels.range.all(levelsKeyOf(fromKey), levelsKeyOf(toKey)) as unknown as KeyedBytes[],
    putLevel,
    /** Stores the summaries of a day and of its hours, and its level. */
    putSummaries(key: number, ofHours: Uint8Array, ofDay: Uint8Array): void {
      sql.hours.put.run(key, ofHours);
      sql.days.put.run(key, ofDay);
      putLevel(key, ofDay);
    },
    /** The series of a table, in order; each is looked up when it is asked for. */
    *series(table: DayTable) {
      for (let from = 0; ; ) {
        const found = sql[DAY_KEYS[table]].next.get(from);
        if (found === undefined) return;
        const series = Math.floor(Number(found.key) / KEY_DAYS);
        yield series;
        from = (series + 1) * KEY_DAYS;
      }
    },
    /** Keys of the blocks in a range, of which the last is left out, that have no summary. */
    unsummarized: (fromKey: number, beforeKey: number) => keysOf(sql.unsummarized.all(fromKey, beforeKey)),
    /** Keys of the summaries in a range, of which the last is left out. */
    summarized: (fromKey: number, beforeKey: number) => keysOf(sql.days.keys.all(fromKey, beforeKey)),
    /** Deletes the blocks, or the summaries of days with their hours and levels, in a range of keys, of which the last is left out. */
    deleteDays(table: DayTable, fromKey: number, beforeKey: number): void {
      if (table === 'blocks') {
        sql.blocks.deleteRange.run(fromKey, beforeKey);
        return;
      }
      // Rows that end within the range; the triggers see to the last one.
      sql.levels.deleteRange.run(levelsKeyOf(fromKey), levelsKeyOf(beforeKey));
      sql.hours.deleteRange.run(fromKey, beforeKey);
      sql.days.deleteRange.run(fromKey, beforeKey);
    },
    /** Deletes the summaries of a day and of its hours. */
    deleteSummaries(key: number): void {
      sql.hours.delete.run(key);
      sql.days.delete.run(key);
    },
    /** Returns at most `pages` pages that hold nothing to the file system; false: there are no more. */
    vacuum(pages: number): boolean {
      opened.database.exec(`PRAGMA incremental_vacuum(${pages})`);
      return freePages() > 0;
    },
    /** Number of pages of the file that hold nothing. */
    freePages,
    /** Moves what was written into the file, so that the write-ahead log is empty. */
    checkpoint: () => opened.database.exec('PRAGMA wal_checkpoint(TRUNCATE)'),
    fileBytes: () => Number(sql.pages.get()?.bytes ?? 0) + walBytes(file),
    /** Lets the next transaction wait for a process that holds the file, since it is the last one. */
    waitLonger: () => setPatience(opened.database),
    close: () => opened.database.close(),
  };
}

function prepareStatements(database: DatabaseSync) {
  const table = (name: string) => ({
    put: database.prepare(`INSERT OR REPLACE INTO ${name} (key, bytes) VALUES (?, ?)`),
    range: database.prepare(`SELECT key, bytes FROM ${name} WHERE key >= ? AND key <= ? ORDER BY key`),
    delete: database.prepare(`DELETE FROM ${name} WHERE key = ?`),
    next: database.prepare(`SELECT key FROM ${name} WHERE key >= ? ORDER BY key LIMIT 1`),
    keys: database.prepare(`SELECT key FROM ${name} WHERE key >= ? AND key < ?`),
    deleteRange: database.prepare(`DELETE FROM ${name} WHERE key >= ? AND key < ?`),
  });
  return {
    blocks: table('blocks'),
    hours: table('summaries'),
    days: table('days'),
    levels: {
      row: database.prepare('SELECT bytes FROM levels WHERE key = ?'),
      range: database.prepare('SELECT key, bytes FROM levels WHERE key >= ? AND key <= ? ORDER BY key'),
      put: database.prepare('INSERT OR REPLACE INTO levels (key, bytes) VALUES (?, ?)'),
      deleteRange: database.prepare('DELETE FROM levels WHERE key >= ? AND key < ?'),
    },
    addToJournal: database.prepare('INSERT INTO journal (bytes) VALUES (?)'),
    deleteJournal: database.prepare('DELETE FROM journal WHERE seq <= ?'),
    lastSeq: database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM journal'),
    firstSeq: database.prepare('SELECT coalesce(min(seq), 0) AS seq FROM journal'),
    block: database.prepare('SELECT bytes FROM blocks WHERE key = ?'),
    newest: database.prepare(
      'SELECT key, bytes FROM blocks WHERE key >= ? AND key <= ? ORDER BY key DESC LIMIT 1',
    ),
    unsummarized: database.prepare(
      'SELECT b.key AS key FROM blocks b LEFT JOIN days d ON d.key = b.key WHERE d.key IS NULL AND b.key >= ? AND b.key < ?',
    ),
    freePages: database.prepare('SELECT freelist_count AS count FROM pragma_freelist_count()'),
    hasDays: database.prepare(
      `SELECT ${['blocks', 'days', 'summaries'].map((name) => `EXISTS (SELECT 1 FROM ${name} WHERE key >= :from AND key < :before)`).join(' OR ')} AS found`,
    ),
    fact: database.prepare('SELECT value FROM facts WHERE name = ?'),
    putFact: database.prepare('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)'),
    pages: database.prepare(
      'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()',
    ),
  };
}

function walBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
