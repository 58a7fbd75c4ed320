/**
 * How often a write over PostgreSQL waits for the server: what that costs over a long road shows on no loopback. Also the
 * texts and numbers of a batch.
 */
import pg from 'pg';
import t from 'tap';
import { connectTo } from '../../../../src/store/database/postgres/postgres-servers.ts';
import {
  connectionSettings,
  createPostgresQueries,
  WRITE_LOCK,
} from '../../../../src/store/database/postgres/postgres-store.ts';
import type { Batch } from '../../../../src/store/database/registry-store.ts';
import type { HeartbeatWrite } from '../../../../src/store/ports/heartbeats.ts';
import { openPostgresMethods } from '../../../../src/store/registry/postgres-methods.ts';
import { executeSql, NEEDS_POSTGRES } from '../../../support/postgres-server.ts';
import { createRegistry, usePostgres } from '../../../support/run-servers.ts';
import { firstTurn, NOON, owned, stay, turn } from '../../registry-fixtures.ts';

t.setTimeout(120_000);

/** Counts how often a connection that waits for nothing sends something, from now on. */
function countRoundTrips(scope: { teardown(task: () => void): void }) {
  const { query } = pg.Client.prototype;
  const waiting = new Map<unknown, number>();
  let trips = 0;
  pg.Client.prototype.query = function count(this: pg.Client, ...args: unknown[]) {
    // Each process asks its server every second whether it is there.
    if (/pg_is_in_recovery/.test(String(args[0]))) return Reflect.apply(query, this, args);
    const before = waiting.get(this) ?? 0;
    if (before === 0) trips += 1;
    waiting.set(this, before + 1);
    const answer = Reflect.apply(query, this, args);
    const done = () => void waiting.set(this, (waiting.get(this) ?? 1) - 1);
    answer.then(done, done);
    return answer;
  } as typeof query;
  scope.teardown(() => {
    pg.Client.prototype.query = query;
  });
  return async (work: () => Promise<unknown>): Promise<number> => {
    const before = trips;
    await work();
    return trips - before;
  };
}

t.test('a heartbeat is written in few round trips', NEEDS_POSTGRES, async (t) => {
  const server = await usePostgres(t);
  await createRegistry(server, 'round_trips');
  const methods = await openPostgresMethods(server.url('round_trips'), {
    dataDir: t.testdir(),
    domainsPerAccount: 10,
  });
  t.teardown(() => methods.close());
  const { id: accountId } = await methods.ensureAccount('ada', NOON);
  const { id } = await methods.addService(owned('job.example', accountId));
  const beat = (at: number): HeartbeatWrite => ({
    ...{ accountId, kind: 'beat', arrivedAt: at, timestamp: null, counted: true, verdict: 'up' },
    ...{ responseTimeMs: 5, dependencies: null, run: null, body: '{}' },
  });
  const first = firstTurn(id, 'up', NOON);
  await methods.commitUpdates([{ ...first, heartbeat: beat(NOON) }]);
  const tripsOf = countRoundTrips(t);
  // The transaction, the state of the service, its update, the heartbeat, the commit.
  const same = { ...stay(first.current, NOON + 1), heartbeat: beat(NOON + 1) };
  t.ok((await tripsOf(() => methods.commitUpdates([same]))) <= 5);
  // And the transition with what waits for it, beside each other.
  const down = { ...turn(first.current, 'down', NOON + 2), heartbeat: beat(NOON + 2) };
  const trips = await tripsOf(() => methods.commitUpdates([down]));
  t.ok(trips <= 6, `${trips}`);
});

t.test('what a serving node writes for a heartbeat waits for no transaction', NEEDS_POSTGRES, async (t) => {
  const server = await usePostgres(t);
  await createRegistry(server, 'unordered');
  const open = async () => {
    const methods = await openPostgresMethods(server.url('unordered'), {
      dataDir: t.testdir(),
      domainsPerAccount: 10,
    });
    t.teardown(() => methods.close());
    return methods;
  };
  const [node, monitor] = [await open(), await open()];
  const { id: account } = await node.ensureAccount('ada', NOON);
  const key = {
    accountId: account,
    prefix: 'upb_',
    createdAt: NOON,
    expiresAt: null,
    scopes: ['read'],
  } as const;
  const keys: number[] = [];
  for (const n of [1, 2, 3]) {
    const { id } = await node.createKey({ ...key, name: `laptop ${n}`, sha256: new Uint8Array(32).fill(n) });
    keys.push(id);
  }
  const entry = { kind: 'beat', accountId: account, arrivedAt: NOON, body: '{}' } as const;
  await node.putInInbox(entry);
  // A far process is in the middle of its transaction.
  const { client, end } = await connectTo(server.url('unordered'));
  await client.query(`BEGIN; ${WRITE_LOCK}`);
  const heard = await monitor.commitAfter(-1);
  const tripsOf = countRoundTrips(t);
  t.equal(await tripsOf(() => node.putInInbox(entry)), 1);
  t.equal(await tripsOf(() => node.touchKeys(keys.map((id) => [id, NOON + 1]))), 1);
  await client.query('ROLLBACK');
  await end();
  t.equal((await monitor.openInInbox(0)).length, 2);
  t.not(await monitor.commitAfter(heard), heard);
  t.same(
    (await node.listKeys(account)).map(({ lastUsedAt }) => lastUsedAt),
    keys.map(() => NOON + 1),
  );
});

t.test(
  'what a judge reads before it begins takes two round trips, however much it is',
  NEEDS_POSTGRES,
  async (t) => {
    const server = await usePostgres(t);
    await createRegistry(server, 'vendors');
    const url = server.url('vendors');
    const methods = await openPostgresMethods(url, { dataDir: t.testdir(), domainsPerAccount: 10 });
    t.teardown(() => methods.close());
    const { id: accountId } = await methods.ensureAccount('ada', NOON);
    const made = await methods.addServices(
      ['a', 'b', 'c', 'd'].map((name) => owned(`${name}.example`, accountId)),
    );
    await executeSql(
      url,
      `INSERT INTO vendor_entries (service_id, feed, entry, id, document, kind, open)
     SELECT id, 'feed', 'entry', 'vendor-' || id, 'document', 'incident', 0 FROM services`,
    );
    // The statements of a step are beside each other.
    await Promise.all([1, 2, 3].map(() => methods.lastTransition()));
    const tripsOf = countRoundTrips(t);
    let states: readonly unknown[] = [];
    const trips = await tripsOf(async () => {
      states = await methods.loadVendorStates();
    });
    t.equal(states.length, made.length);
    t.ok(trips <= 5, `${trips} statements in two steps`);
  },
);

t.test(
  'a lease is renewed while another process is in the middle of its transaction',
  NEEDS_POSTGRES,
  async (t) => {
    const server = await usePostgres(t);
    await createRegistry(server, 'renewed');
    const url = server.url('renewed');
    const methods = await openPostgresMethods(url, { dataDir: t.testdir(), domainsPerAccount: 10 });
    t.teardown(() => methods.close());
    const { fence: replacing, renewedAt } = await methods.readLease();
    await methods.setFact('warm', 'the writing connection is open');
    const claim = { pid: 1, host: 'far', replacing, renewedAt, now: NOON };
    const tripsOf = countRoundTrips(t);
    let fence: number | null = null;
    const take = async () => {
      fence = await methods.takeLease(claim);
    };
    t.ok((await tripsOf(take)) <= 1, 'taken in one round trip');
    t.equal(fence, replacing + 1);
    t.equal(await methods.takeLease({ ...claim, pid: 2 }), null, 'once');
    const { client, end } = await connectTo(url);
    await client.query(`BEGIN; ${WRITE_LOCK}`);
    t.equal(await tripsOf(() => methods.renewLease(fence ?? 0, NOON + 1_000)), 1);
    t.equal((await methods.readLease()).renewedAt, NOON + 1_000);
    await t.rejects(methods.renewLease(7, NOON + 2_000), { code: 'lease_lost' });
    let isTaken = false;
    const next = methods
      .takeLease({ ...claim, pid: 2, replacing: fence ?? 0, renewedAt: NOON + 1_000 })
      .finally(() => {
        isTaken = true;
      });
    await methods.lastChange();
    t.notOk(isTaken, 'the next holder waits for the transaction that another process is in the middle of');
    await client.query('ROLLBACK');
    t.equal(await next, replacing + 2);
    await end();
  },
);

t.test('texts and numbers of a batch arrive as they are', NEEDS_POSTGRES, async (t) => {
  const server = await usePostgres(t);
  const client = new pg.Client(connectionSettings(server.url('postgres')));
  await client.connect();
  t.teardown(() => client.end());
  const queries = createPostgresQueries(() => client);
  const batch: Batch<{ a: string | null; b: number | null; c: string | null }> = {
    types: ['text', 'bigint', 'text'],
    sql: 'SELECT ? AS a, ? AS b, ? AS c',
  };
  const texts = [
    '',
    'S',
    'U',
    '\u0010S',
    '\u0010U\u0010',
    '\0',
    '"',
    "'",
    '\\N',
    '{,}',
    'NULL',
    'é😀',
    '?',
    null,
  ];
  for (const a of texts) {
    const [only] = await queries.firstEach(batch, [[a, null, a]]);
    t.same(only, { a, b: null, c: a }, JSON.stringify(a));
  }
  const lists = texts.flatMap((a) => texts.map((c, b) => [a, b === 3 ? null : b - 2 ** 52, c] as const));
  const found = await queries.firstEach(batch, lists);
  t.same(
    found,
    lists.map(([a, b, c]) => ({ a, b, c })),
  );
});
