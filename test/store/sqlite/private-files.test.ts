/** The registry's file: what is refused with which words, and how fast long lists are read. */

import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import t, { type Test } from 'tap';
import { type Log, silentLog } from '../../../src/log.ts';
import { openRegistryDatabase } from '../../../src/store/database/registry-database.ts';
import { explainSqliteError } from '../../../src/store/database/registry-error.ts';
import type { Queries } from '../../../src/store/database/registry-store.ts';
import { createSqliteStore } from '../../../src/store/database/sqlite-store.ts';
import { listIncidents } from '../../../src/store/registry/incidents/incident-rows.ts';
import {
  createForeignCommits,
  openRegistryMethods,
  watchWrites,
} from '../../../src/store/registry/registry-thread.ts';
import { followCommits, startChangeWatch } from '../../../src/store/registry/watch-changes.ts';
import { registryFile } from '../../../src/store/sqlite/private-files.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { entry, NOON } from '../registry-fixtures.ts';

/** Opens the file and closes it again: what a start would say of it. */
async function open(dataDir: string): Promise<void> {
  const { database } = await openRegistryDatabase(dataDir);
  database.close();
}

/** A directory with a registry of one service in it, closed. */
async function filled(t: Test): Promise<string> {
  const dataDir = join(t.testdir(), 'not', 'yet');
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 1 });
  await methods.putCatalogue([entry('a')]);
  await methods.close();
  return dataDir;
}

t.test('it makes the data directory and leaves one file behind', async (t) => {
  const dataDir = await filled(t);
  t.ok(existsSync(registryFile(dataDir)));
  t.notOk(existsSync(`${registryFile(dataDir)}-wal`), 'the log was folded in');
  const database = new DatabaseSync(registryFile(dataDir));
  t.same({ ...database.prepare('PRAGMA journal_mode').get() }, { journal_mode: 'wal' });
  database.close();
});

t.test('it waits for the disk at every commit', async (t) => {
  const { database } = await openRegistryDatabase(t.testdir());
  t.same({ ...database.prepare('PRAGMA synchronous').get() }, { synchronous: 2 });
  t.same({ ...database.prepare('PRAGMA journal_mode').get() }, { journal_mode: 'wal' });
  database.close();
});

t.test('it says that a file is damaged and what to do', async (t) => {
  const dataDir = await filled(t);
  const file = registryFile(dataDir);
  const whole = readFileSync(file);
  const damages: [string, () => void][] = [
    [
      'no database',
      () => writeFileSync(file, 'something else entirely, and long enough to be a header'.repeat(99)),
    ],
    ['cut off', () => truncateSync(file, 3 * 4096)],
    ['pages overwritten', () => writeFileSync(file, Buffer.from(whole).fill(0xab, 4096))],
  ];
  for (const [what, damage] of damages) {
    writeFileSync(file, whole);
    damage();
    await t.rejects(
      open(dataDir),
      { code: 'registry_damaged', message: /registry\.sqlite is damaged .*backup/ },
      what,
    );
  }
  writeFileSync(file, whole);
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 1 });
  t.match(await methods.loadServices(), [{ service: { slug: 'a' } }]);
  await methods.close();
});

t.test('it refuses a registry of a newer version and names what it does not know', async (t) => {
  const dataDir = await filled(t);
  const database = new DatabaseSync(registryFile(dataDir));
  database.exec(`INSERT INTO kysely_migration (name, timestamp) VALUES ('0099-from-tomorrow', '')`);
  database.close();
  await t.rejects(open(dataDir), {
    code: 'registry_newer',
    message: /newer version.*0099-from-tomorrow.*Start that version/,
  });
});

t.test('it opens a registry to which a newer version has only added what it can ignore', async (t) => {
  const dataDir = await filled(t);
  const change = (statement: string) => {
    const database = new DatabaseSync(registryFile(dataDir));
    database.exec(statement);
    database.close();
  };
  change('ALTER TABLE services ADD COLUMN tomorrow TEXT');
  change(`INSERT INTO kysely_migration (name, timestamp) VALUES ('0099-tomorrow-compatible', '')`);
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount: 1 });
  t.match(await methods.loadServices(), [{ service: { slug: 'a' } }]);
  await methods.close();
  change(`DELETE FROM kysely_migration WHERE name LIKE '0017%'`);
  await t.rejects(
    open(dataDir),
    { code: 'registry_newer' },
    'one that lacks an earlier step is of another line',
  );
});

t.test('it leaves a database of another program alone', async (t) => {
  const dataDir = t.testdir();
  const database = new DatabaseSync(registryFile(dataDir));
  database.exec('CREATE TABLE theirs (n INTEGER)');
  await t.rejects(open(dataDir), { code: 'registry_foreign', message: /storage\.dataDir/ });
  t.same(
    database
      .prepare('SELECT name FROM sqlite_master')
      .all()
      .map(({ name }) => name),
    ['theirs'],
  );
  database.close();
});

t.test('it begins no new registry beside the stores of an old one', async (t) => {
  for (const beside of ['samples.sqlite', 'influx-spool.sqlite', 'monitor.alive', 'secret.key']) {
    for (const content of [undefined, '']) {
      const dataDir = t.testdir({
        [beside]: 'what an earlier installation left',
        ...(content === undefined ? {} : { 'registry.sqlite': content }),
      });
      await t.rejects(
        open(dataDir),
        {
          code: 'registry_missing',
          message: new RegExp(`registry\\.sqlite is missing or empty, but .*${beside}`),
        },
        `${beside}, registry ${content === undefined ? 'missing' : 'empty'}`,
      );
      rmSync(join(dataDir, beside));
      await open(dataDir);
    }
  }
});

t.test('it says that a place cannot be used', async (t) => {
  const dataDir = t.testdir({ file: 'a file, not a folder' });
  await t.rejects(open(join(dataDir, 'file')), { code: 'registry_unusable', message: /cannot be made/ });
  t.testdir({ 'registry.sqlite': {} });
  await t.rejects(open(dataDir), { code: 'registry_unusable', message: /read and write access/ });
});

t.test('it says in plain words what SQLite complains about', async (t) => {
  const table = [
    [5, 'storage_busy'],
    [261, 'storage_busy'],
    [8, 'registry_unusable'],
    [11, 'registry_damaged'],
    [267, 'registry_damaged'],
    [13, 'storage_full'],
    [778, 'storage_full'],
    [14, 'registry_unusable'],
    [26, 'registry_damaged'],
  ] as const;
  for (const [errcode, code] of table) {
    const error = Object.assign(new Error('sqlite says'), { errcode });
    t.match(
      explainSqliteError(error, '/d/registry.sqlite'),
      { code, message: /\/d\/registry\.sqlite/ },
      `${errcode}`,
    );
  }
  const bug = Object.assign(new Error('constraint'), { errcode: 19 });
  t.equal(explainSqliteError(bug, 'f'), bug);
  t.match(explainSqliteError('thrown', 'f'), { message: 'thrown' });
});

t.test('it pages through 100,000 incidents along an index', async (t) => {
  const opened = await openRegistryDatabase(t.testdir());
  const { database } = opened;
  t.teardown(() => database.close());
  const { store } = createSqliteStore(() => opened, { monotonic: () => 0, busyTimeoutMs: () => 0 });
  database.exec(`BEGIN;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
      INSERT INTO services (id, slug, dashed, name, domain, category, origin, verified, paused, check_definition, revision, removed,
        public_dependencies, ever_verified)
      SELECT i, 's' || i, 's' || i, 's', 's', 'ai', 'catalogue', 1, 0, '{}', 1, 0, 0, 1 FROM n;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO incidents SELECT 'own-' || i, 1 + i % 700, iif(i % 500 = 0, 'vendor', 'own'), 'It is down',
        'no answer for a while', iif(i % 250 = 0, 'maintenance', 'major'),
        CASE i % 4 WHEN 0 THEN 'monitoring' ELSE 'resolved' END, ${NOON} + (i * 7919) % 100000, NULL, 'https://x.example',
        0, '[]', 1, 1, 0, 0 FROM n;
    COMMIT`);
  const after = { startedAt: NOON + 90_000, id: 'own-5' };
  const table = [
    [{}, 'incidents_listed'],
    [{ verifiedOnly: true }, 'incidents_verified'],
    [{ verifiedOnly: true, offset: 99_900 }, 'incidents_verified'],
    [{ status: 'resolved' }, 'incidents_status'],
    [{ verifiedOnly: true, status: 'resolved', offset: 70_000 }, 'incidents_status_verified'],
    [{ status: 'identified' }, 'incidents_status'],
    [{ serviceId: 7 }, 'incidents_service'],
    [{ serviceId: 7, status: 'resolved', verifiedOnly: true }, 'incidents_service'],
    [{ verifiedOnly: true, after }, 'incidents_verified'],
    [{ verifiedOnly: true, status: 'resolved', after }, 'incidents_status_verified'],
    [{ serviceId: 7, after }, 'incidents_service'],
    [{ verifiedOnly: true, maintenanceOnly: true }, 'incidents_maintenance'],
    [{ verifiedOnly: true, orOf: [1, 2] }, 'incidents_verified'],
    [{ verifiedOnly: true, orOf: [1, 2], after }, 'incidents_verified'],
  ] as const;
  for (const [query, index] of table) {
    const plan: string[] = [];
    const explain: Queries['all'] = async (built) => {
      const { sql, parameters } = built.compile();
      const lines = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(parameters as SQLInputValue[]));
      plan.push(...lines.map(({ detail }) => String(detail)));
      return [];
    };
    await listIncidents(
      { ...store, queries: { ...store.queries, all: explain } },
      { limit: 9, offset: 0, ...query },
    );
    t.match(
      plan.filter((line) => / INDEX incidents_/.test(line)),
      [new RegExp(` INDEX ${index}( |$)`)],
      `${JSON.stringify(query)} goes along ${index}: ${plan.join('; ')}`,
    );
    t.equal(
      plan.filter((line) => /TEMP B-TREE/.test(line)).length <= ('orOf' in query ? 2 : 1),
      true,
      `at most the page itself is sorted, and what few accounts have: ${plan.join('; ')}`,
    );
    let fastestMs = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 5 || (run < 25 && fastestMs >= 100); run++) {
      const startedAt = performance.now();
      const page = await listIncidents(store, { limit: 100, offset: 0, ...query });
      fastestMs = Math.min(fastestMs, performance.now() - startedAt);
      if (!('status' in query && query.status === 'identified')) t.equal(page.length, 100);
    }
    t.comment(`${JSON.stringify(query)} ${fastestMs.toFixed(2)} ms`);
    // 10 ms is what is wanted; a loaded machine gets ten times that. A list without its index takes longer still.
    t.ok(fastestMs < 100, `${JSON.stringify(query)} took ${fastestMs.toFixed(1)} ms`);
  }
});

t.test('it asks again after the feed of changes was out of reach, and complains once', async (t) => {
  const clock = createFakeClock();
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (_, message) => void errors.push(message) };
  let reachable = false;
  const changesAfter = async (seq: number) => {
    if (!reachable) throw new Error('away');
    return seq < 1 ? [{ seq: 1, serviceId: 1, slug: 'a', service: null }] : [];
  };
  const heard: number[] = [];
  const watch = startChangeWatch({ changesAfter, clock, log }, 0, ({ seq }) => heard.push(seq));
  await clock.advance(1_000);
  t.same(errors, ['the change feed cannot be read']);
  reachable = true;
  await clock.advance(1_000);
  t.same(heard, [1]);
  watch.stop();
  reachable = false;
  await clock.advance(1_000);
  t.same(errors.length, 1);
});

t.test('it reads the feed after writes, those of a moment together, and not without one', async (t) => {
  const clock = createFakeClock();
  let reads = 0;
  const changesAfter = async () => {
    reads++;
    return [];
  };
  const watch = startChangeWatch({ changesAfter, clock, log: silentLog }, 0, () => {});
  await clock.advance(10_000);
  t.equal(reads, 1, 'once, at the start');
  for (let writes = 0; writes < 5; writes++) watch.pokeSoon();
  await clock.advance(50);
  t.equal(reads, 2);
  watch.stop();
  watch.pokeSoon();
  await clock.advance(10_000);
  t.equal(reads, 2);
});

t.test('it looks for commits of other connections after each write, and seldom without one', async (t) => {
  const clock = createFakeClock();
  let version = 1;
  let looks = 0;
  let write = () => t.fail('nothing is watched');
  let fault = () => t.fail('nothing is watched');
  let isWatched = true;
  const commits = createForeignCommits({
    ...{ file: 'one.sqlite', clock },
    version() {
      looks++;
      return version;
    },
    watchFile(_, onWrite, onFault) {
      write = () => onWrite() as never;
      fault = () => onFault() as never;
      return {
        close() {
          isWatched = false;
        },
      };
    },
  });
  const looksIn = async (ms: number) => {
    const before = looks;
    await clock.advance(ms);
    return looks - before;
  };
  t.equal(await looksIn(10_000), 0, 'nobody waits');
  const seen = await commits.after(0);
  t.equal(seen, 1);
  let heard: number | null = null;
  void commits.after(seen).then((next) => {
    heard = next;
  });
  t.equal(await looksIn(10_000), 10, 'once a second');
  commits.noteOwn();
  write();
  t.equal(await looksIn(100), 0, 'an own commit');
  for (let writes = 0; writes < 5; writes++) write();
  version = 2;
  t.equal(await looksIn(50), 1, 'by the time that a command which wrote has ended');
  t.equal(heard, 2);
  fault();
  t.equal(await looksIn(1_000), 40, 'as without a watch');
  const last = commits.after(2);
  commits.stop();
  t.equal(isWatched, false);
  t.equal(await last, 2);
  write();
  t.equal(await looksIn(10_000), 0);
});

t.test('a file that cannot be read for a moment ends no watch, and may have changed meanwhile', async (t) => {
  const clock = createFakeClock();
  let isReadable = true;
  const commits = createForeignCommits({
    ...{ file: 'one.sqlite', clock, watchFile: () => null },
    version() {
      if (!isReadable) throw new Error('database is not open');
      return 7;
    },
  });
  let seen = await commits.after(-1);
  const heard: number[] = [];
  const follow = async () => {
    for (;;) {
      seen = await commits.after(seen);
      heard.push(seen);
    }
  };
  void follow();
  isReadable = false;
  await clock.advance(25);
  t.equal(heard.length, 1);
  await t.resolves(clock.advance(25));
  isReadable = true;
  await clock.advance(1_000);
  t.equal(heard.at(-1), 7);
  const { length } = heard;
  await clock.advance(1_000);
  t.equal(heard.length, length);
});

t.test('it notices writes of other connections to the file', async (t) => {
  const file = join(t.testdir(), 'one.sqlite');
  const writer = new DatabaseSync(file);
  t.teardown(() => writer.close());
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE words (word TEXT)');
  const wrote = Promise.withResolvers<void>();
  const watch = watchWrites(file, wrote.resolve, () => t.fail('the watch has ended'));
  t.teardown(() => watch?.close());
  // The system may need a moment to begin.
  const again = setInterval(() => writer.exec("INSERT INTO words VALUES ('one')"), 20);
  await wrote.promise;
  clearInterval(again);
  t.equal(
    watchWrites(
      join(t.testdir(), 'not', 'there', 'one.sqlite'),
      () => {},
      () => {},
    ),
    null,
  );
});

t.test('it delivers nothing after a watch was stopped, even what was on its way', async (t) => {
  const answer = Promise.withResolvers<[{ seq: number; serviceId: number; slug: string; service: null }]>();
  const feed = { changesAfter: () => answer.promise, clock: createFakeClock(), log: silentLog };
  const watch = startChangeWatch(feed, 0, () => t.fail('a change was delivered'));
  watch.stop();
  answer.resolve([{ seq: 1, serviceId: 1, slug: 'a', service: null }]);
  await new Promise((resolve) => setImmediate(resolve));
});

t.test('it asks again after a pause where commits are noticed no more', async (t) => {
  const clock = createFakeClock();
  let calls = 0;
  let news = 0;
  const stop = followCommits(
    async () => {
      calls++;
      return 2;
    },
    clock,
    () => news++,
  );
  await new Promise((resolve) => setImmediate(resolve));
  t.same([calls, news], [2, 1], 'an answer at once that is none');
  await clock.advance(60_000);
  t.ok(calls > 2 && calls < 120, `${calls} calls in a minute`);
  stop();
  const before = calls;
  await clock.advance(60_000);
  t.equal(calls, before);
});
