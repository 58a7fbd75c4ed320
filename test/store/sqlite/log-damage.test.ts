/** Damage in the middle of SQLite's write-ahead log, told from the end that a kill or a power cut leaves. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { findLogDamage } from '../../../src/store/sqlite/log-damage.ts';
import { createRandom } from '../../support/random.ts';

const HEADER = 32;
const FRAME = 24 + 4096;
const COMMITS = 12;
/** Each commit writes rows of three pages. */
const TEXT = 'x'.repeat(9_000);

/** Opens a database as the stores do. The log is folded in only where a test asks for it. */
function open(file: string, isNew = true): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0');
  if (!isNew) return database;
  database.exec('CREATE TABLE IF NOT EXISTS rows (n INTEGER PRIMARY KEY, text TEXT) STRICT');
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  return database;
}

function insert(database: DatabaseSync, n: number): void {
  database.prepare('INSERT INTO rows VALUES (?, ?)').run(n, TEXT);
}

/** Copies the files of a database that is open, as a kill leaves them. */
function copyAsKilled(from: string, to: string, ends: readonly string[] = ['', '-wal', '-shm']): string {
  for (const end of ends) copyFileSync(from + end, to + end);
  return to;
}

/** The files of a killed program that has committed {@link COMMITS} rows, and the length of the log after each. */
function killed(t: Test, prepare: (database: DatabaseSync) => void = () => {}) {
  const folder = t.testdir();
  const file = join(folder, 'live.sqlite');
  const database = open(file);
  prepare(database);
  const lengths: number[] = [];
  for (let n = 1; n <= COMMITS; n++) {
    insert(database, n);
    lengths.push(statSync(`${file}-wal`).size);
  }
  copyAsKilled(file, join(folder, 'killed.sqlite'));
  database.close();
  let copies = 0;
  return {
    lengths,
    /** New copies of the files, changed. */
    copy(change: (log: Buffer) => Buffer | undefined, withIndex = false): string {
      copies += 1;
      const ends = withIndex ? ['', '-wal', '-shm'] : ['', '-wal'];
      const copy = copyAsKilled(join(folder, 'killed.sqlite'), join(folder, `${copies}.sqlite`), ends);
      const log = readFileSync(`${copy}-wal`);
      writeFileSync(`${copy}-wal`, change(log) ?? log);
      return copy;
    },
  };
}

/** The rows that SQLite reads. */
function rowsOf(file: string): number[] {
  const database = new DatabaseSync(file);
  const rows = database.prepare('SELECT n FROM rows ORDER BY n').all();
  database.close();
  return rows.map(({ n }) => Number(n));
}

const flip = (at: number) => (log: Buffer) => {
  log[at] = (log[at] ?? 0) ^ 1;
  return log;
};

t.test(
  'a byte that is changed anywhere is found, with what SQLite reads and what it leaves out',
  async (t) => {
    const { lengths, copy } = killed(t);
    const random = createRandom(1);
    const last = lengths.at(-3) ?? 0;
    for (let tries = 0; tries < 60; tries++) {
      const at = HEADER + Math.floor(random() * (last - HEADER));
      const file = copy(flip(at));
      const damage = findLogDamage(file);
      const whole = lengths.findLastIndex((length) => length <= at);
      t.equal(damage?.keptBytes, lengths[whole] ?? 0, `byte ${at}`);
      t.ok((damage?.lostCommits ?? 0) >= COMMITS - whole - 3, `byte ${at}`);
      truncateSync(`${file}-wal`, damage?.keptBytes);
      t.equal(findLogDamage(file), null, 'what is left is whole');
      const kept = copy(flip(at));
      t.same(rowsOf(file), rowsOf(kept), 'it is what SQLite reads of the damaged log');
    }
  },
);

t.test('a torn header is found', async (t) => {
  const { copy } = killed(t);
  for (let at = 0; at < HEADER; at++)
    t.match(findLogDamage(copy(flip(at))), { keptBytes: 0, lostCommits: COMMITS }, `byte ${at}`);
  t.match(findLogDamage(copy((log) => log.fill(0, 0, 4096))), { keptBytes: 0 });
});

t.test('many bytes that are overwritten are found', async (t) => {
  const { lengths, copy } = killed(t);
  const [first = 0, second = 0] = lengths;
  const damage = findLogDamage(copy((log) => log.fill(255, second - 5_000, second + 20_000)));
  t.equal(damage?.keptBytes, first);
});

t.test('a log that is cut off anywhere is an end', async (t) => {
  const { lengths, copy } = killed(t);
  const random = createRandom(2);
  const whole = lengths.at(-1) ?? 0;
  for (let tries = 0; tries < 100; tries++) {
    const length = Math.floor(random() * whole);
    t.equal(findLogDamage(copy((log) => log.subarray(0, length))), null, `${length} bytes`);
  }
  t.equal(findLogDamage(join(t.testdir(), 'none.sqlite')), null, 'no log');
});

t.test('with the index, a log that lacks a commit is damaged', async (t) => {
  const { lengths, copy } = killed(t);
  const [before = 0, whole = 0] = lengths.slice(-2);
  t.equal(findLogDamage(copy((log) => log, true)), null, 'it is whole');
  for (const length of [whole - 1, before + FRAME, before, HEADER + FRAME, HEADER + 5])
    t.ok(findLogDamage(copy((log) => log.subarray(0, length), true)), `cut off after ${length} bytes`);
  t.same(findLogDamage(copy(flip(whole - 100), true)), { keptBytes: before, lostCommits: 1 });
  const torn = copy(flip(whole - 100), true);
  const index = readFileSync(`${torn}-shm`);
  writeFileSync(`${torn}-shm`, flip(20)(index));
  t.equal(findLogDamage(torn), null, 'an index that is torn itself says nothing');
});

t.test('the last commit, of which a power cut has written any part, is an end', async (t) => {
  const { lengths, copy } = killed(t);
  const [before = 0, whole = 0] = lengths.slice(-2);
  const frames = (whole - before) / FRAME;
  t.ok(frames > 2);
  for (let missing = 0; missing < frames; missing++) {
    const start = before + missing * FRAME;
    t.equal(
      findLogDamage(copy((log) => log.fill(0, start, start + FRAME))),
      null,
      `without frame ${missing}`,
    );
    t.equal(
      findLogDamage(copy((log) => log.fill(0, start, start + 512))),
      null,
      `without a part of ${missing}`,
    );
  }
});

t.test('what is left of a log before it began anew is no damage, and hides none', async (t) => {
  const { lengths, copy } = killed(t, (database) => {
    for (let n = 100; n < 140; n++) insert(database, n);
    database.exec('PRAGMA wal_checkpoint(RESTART)');
  });
  t.ok(
    lengths.every((length) => length === lengths[0]),
    'it is longer than what was written since',
  );
  t.equal(findLogDamage(copy((log) => log)), null);
  t.equal(findLogDamage(copy((log) => log, true)), null);
  t.ok(findLogDamage(copy(flip(HEADER + 2 * FRAME + 50))));
});

t.test('what a rolled back transaction has left is no damage', async (t) => {
  const { copy } = killed(t, (database) => {
    database.exec('PRAGMA cache_size = 1; BEGIN');
    for (let n = 100; n < 160; n++) insert(database, n);
    database.exec('ROLLBACK');
  });
  t.equal(findLogDamage(copy((log) => log)), null);
  t.equal(findLogDamage(copy((log) => log, true)), null);
});

t.test(
  'what is left of commits that the disk refused, and that another one has overwritten, is no damage',
  async (t) => {
    const { copy } = killed(t);
    const commit = (text: string) => {
      const file = copy((log) => log);
      const database = open(file, false);
      database.prepare('INSERT INTO rows VALUES (100, ?)').run(text);
      const later = copyAsKilled(file, file.replace('.sqlite', '-later.sqlite'));
      database.close();
      return { later, log: readFileSync(`${later}-wal`) };
    };
    const first = commit('x'.repeat(50_000)).log;
    const second = commit('x'.repeat(20_000)).log;
    const { later, log } = commit('x');
    t.ok(log.length < second.length - FRAME && second.length < first.length - FRAME);
    const rests = [second.subarray(log.length), first.subarray(second.length)];
    writeFileSync(`${later}-wal`, Buffer.concat([log, ...rests]));
    t.equal(findLogDamage(later), null);
    rmSync(`${later}-shm`);
    t.equal(findLogDamage(later), null);
  },
);

t.test('a log that another process writes, and folds in, is never damaged', async (t) => {
  const file = join(t.testdir(), 'live.sqlite');
  open(file).close();
  const writer = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { DatabaseSync } from 'node:sqlite';
     const database = new DatabaseSync(process.argv[1]);
     database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 40');
     const insert = database.prepare('INSERT INTO rows VALUES (NULL, ?)');
     for (;;) {
       insert.run('y'.repeat(9000));
       if (Math.random() < 0.3) database.exec('DELETE FROM rows WHERE n % 2 = 0');
     }`,
    file,
  ]);
  t.teardown(() => writer.kill('SIGKILL'));
  while (!existsSync(`${file}-wal`)) await sleep(20);
  for (let tries = 0; tries < 300; tries++) {
    t.equal(findLogDamage(file), null);
    await sleep(2);
  }
  writer.kill('SIGKILL');
  await once(writer, 'exit');
  t.equal(findLogDamage(file), null, 'after kill -9');
  rmSync(`${file}-shm`);
  t.equal(findLogDamage(file), null);
});
