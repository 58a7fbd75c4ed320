import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import t, { type Test } from 'tap';
import {
  createGroupCommit,
  type GroupCommitOptions,
  type JointWrites,
} from '../../../src/store/database/group-commit.ts';
import { createSqliteDialect, createSqliteStore } from '../../../src/store/database/sqlite-store.ts';

interface Waiting {
  readonly busyTimeoutMs: number;
}

/** A group commit over a table of numbers, and what happened to it. */
function setUp(t: Test, { busyTimeoutMs = 0, ...options }: Partial<GroupCommitOptions & Waiting> = {}) {
  const file = join(t.testdir(), 'numbers.sqlite');
  const database = new DatabaseSync(file, { timeout: 0 });
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE numbers (n INTEGER PRIMARY KEY)');
  const other = new DatabaseSync(file, { timeout: 0 });
  t.teardown(() => {
    database.close();
    other.close();
  });
  let commits = 0;
  const failing = { commit: false };
  const counting = new Proxy(database, {
    get(target, name) {
      if (name === 'exec') {
        return (sql: string) => {
          if (sql === 'COMMIT' && failing.commit) throw new Error('the disk has gone');
          if (sql === 'COMMIT') commits++;
          target.exec(sql);
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const monotonic = options.monotonic ?? (() => 0);
  const connection = {
    database: counting,
    kysely: new Kysely<never>({ dialect: createSqliteDialect(database) }),
  };
  const { transactions } = createSqliteStore(() => connection, {
    monotonic,
    busyTimeoutMs: () => busyTimeoutMs,
  });
  const group = createGroupCommit({
    transactions,
    maxGroupMs: 5,
    monotonic,
    guard: async () => null,
    ...options,
  });
  const insert = (n: number) => async () => {
    database.prepare('INSERT INTO numbers VALUES (?)').run(n);
    return n;
  };
  return {
    database,
    other,
    group,
    insert,
    failing,
    commits: () => commits,
    seen: () =>
      other
        .prepare('SELECT n FROM numbers ORDER BY n')
        .all()
        .map(({ n }) => n),
  };
}

t.test('it commits writes that arrive together once, in their order', async (t) => {
  const { group, insert, commits, seen } = setUp(t);
  const answers = Promise.all([1, 2, 3].map((n) => group.write(insert(n))));
  t.same(seen(), [], 'nothing is written before the turn ends');
  t.same(await answers, [1, 2, 3]);
  t.equal(commits(), 1);
  t.same(seen(), [1, 2, 3], 'others see what was answered');
  t.equal(await group.write(insert(4)), 4);
  t.equal(commits(), 2);
});

t.test('it ends a group after its time, so that none waits for a long queue', async (t) => {
  let now = 0;
  const { group, insert, commits, seen } = setUp(t, { monotonic: () => now });
  const slow = (n: number) => async () => {
    now += 2;
    return await insert(n)();
  };
  const order: number[] = [];
  await Promise.all([1, 2, 3, 4, 5, 6, 7].map((n) => group.write(slow(n)).then(() => order.push(n))));
  t.equal(commits(), 3, 'groups of three, three and one');
  t.same(order, [1, 2, 3, 4, 5, 6, 7]);
  t.same(seen(), order);
});

t.test('it undoes what throws, and nothing else', async (t) => {
  const { group, insert, commits, seen } = setUp(t);
  const answers = await Promise.allSettled([
    group.write(insert(1)),
    group.write(async () => {
      await insert(2)();
      throw new Error('no');
    }),
    group.write(insert(1)),
    group.write(insert(3)),
  ]);
  t.same(
    answers.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  t.same(seen(), [1, 3]);
  t.equal(commits(), 1);
});

/** Writes of numbers that are made together: even ones are inserted, those above 90 are refused, odd ones are left. */
function jointWrites(t: Test, insert: (n: number) => () => Promise<number>) {
  const calls: (readonly number[])[] = [];
  const kind: JointWrites<number, string> = {
    async make(items) {
      calls.push(items);
      for (const n of items) if (n % 2 === 0 && n <= 90) await insert(n)();
      return items.map((n) =>
        n > 90 ? { error: new Error('too much') } : n % 2 === 0 ? { value: `${n}` } : null,
      );
    },
  };
  t.teardown(() => {
    calls.length = 0;
  });
  return { calls, joint: (item: number) => ({ kind, item }) };
}

t.test('it makes neighbours of a kind together, and on their own what is left of them', async (t) => {
  const { group, insert, commits, seen } = setUp(t);
  const { calls, joint } = jointWrites(t, insert);
  const write = (n: number) => group.write(insert(n), joint(n));
  const answers = await Promise.allSettled([
    ...[write(2), write(3), write(92), write(4)],
    group.write(insert(5)),
    ...[write(6), write(8)],
  ]);
  t.match(answers, [
    { value: '2' },
    { value: 3 },
    { reason: { message: 'too much' } },
    { value: '4' },
    { value: 5 },
    { value: '6' },
    { value: '8' },
  ]);
  t.same(calls, [
    [2, 3, 92, 4],
    [6, 8],
  ]);
  t.same(seen(), [2, 3, 4, 5, 6, 8]);
  t.equal(commits(), 1);
  t.equal(await write(10), 10, 'one alone is made as ever');
});

t.test('it makes writes on their own where they cannot be made together, and nothing twice', async (t) => {
  const { group, insert, commits, seen, failing } = setUp(t);
  const { calls, joint } = jointWrites(t, insert);
  const write = (n: number) => group.write(insert(n), joint(n));
  const answers = await Promise.allSettled([write(2), write(4), write(2)]);
  t.match(answers, [{ value: 2 }, { value: 4 }, { reason: { message: /UNIQUE/ } }]);
  t.same(calls, [[2, 4, 2]]);
  t.same([seen(), commits()], [[2, 4], 1]);
  failing.commit = true;
  t.match(await Promise.allSettled([write(6), write(8)]), [{ reason: { message: /disk/ } }, {}]);
  failing.commit = false;
  t.same(await Promise.all([write(6), write(8)]), ['6', '8']);
});

t.test('it rejects the whole group where the guard refuses, and works again when it does not', async (t) => {
  let refuse = true;
  const guard = async () => {
    if (refuse) throw new Error('refused');
    return null;
  };
  const { group, insert, seen } = setUp(t, { guard });
  const answers = await Promise.allSettled([group.write(insert(1)), group.write(insert(2))]);
  t.match(answers, [{ reason: { message: 'refused' } }, { reason: { message: 'refused' } }]);
  t.same(seen(), []);
  refuse = false;
  t.equal(await group.write(insert(3)), 3);
});

t.test('it rejects while another process holds the lock, and works again afterwards', async (t) => {
  const { group, insert, other, seen } = setUp(t);
  other.exec('BEGIN IMMEDIATE');
  await t.rejects(group.write(insert(1)), { message: /locked/ });
  other.exec('ROLLBACK');
  t.equal(await group.write(insert(2)), 2);
  t.same(seen(), [2]);
});

t.test('it lets reads go on while it waits for a lock, and writes when the lock is free', async (t) => {
  const { group, insert, other, seen } = setUp(t, {
    monotonic: () => performance.now(),
    busyTimeoutMs: 60_000,
  });
  other.exec('BEGIN IMMEDIATE');
  const written = group.write(insert(1));
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  t.same(seen(), []);
  other.exec('ROLLBACK');
  t.equal(await written, 1);
});

t.test('it calls back what its guard returned after the commit, and only after one', async (t) => {
  const told: string[] = [];
  const { group, insert, failing } = setUp(t, { guard: async () => () => void told.push('committed') });
  failing.commit = true;
  await t.rejects(group.write(insert(1)));
  t.same(told, []);
  failing.commit = false;
  await group.write(insert(1));
  t.same(told, ['committed']);
});

t.test('it fails a group as a whole where the transaction is lost', async (t) => {
  const { group, insert, database, seen } = setUp(t);
  const answers = await Promise.allSettled([
    group.write(insert(1)),
    group.write(async () => {
      // As SQLite itself does when the disk is full.
      database.exec('ROLLBACK');
      throw new Error('disk full');
    }),
    group.write(insert(2)),
  ]);
  t.match(answers, [{ status: 'rejected' }, { status: 'rejected' }, { status: 'fulfilled' }]);
  t.same(seen(), [2], 'nothing that was rejected is there');
});

t.test('it answers after the commit: where that fails, everybody hears of it', async (t) => {
  const { group, insert, failing, seen } = setUp(t);
  failing.commit = true;
  const answers = await Promise.allSettled([group.write(insert(1)), group.write(insert(2))]);
  t.match(answers, [{ reason: { message: /disk/ } }, { reason: { message: /disk/ } }]);
  failing.commit = false;
  t.equal(await group.write(insert(3)), 3);
  t.same(seen(), [3]);
});

t.test('it is idle when everything taken before is written', async (t) => {
  const { group, insert, seen } = setUp(t);
  const answers = Promise.all([group.write(insert(1)), group.write(insert(2))]);
  await group.idle();
  t.same(seen(), [1, 2]);
  t.same(await answers, [1, 2]);
});
