/** The registry over PostgreSQL: what it finds by an index, and when a process hears of its own changes. */
import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import pg from 'pg';
import t from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { SHARDS } from '../../../src/domain/node.ts';
import { joinCalls, openPostgresMethods } from '../../../src/store/registry/postgres-methods.ts';
import { NEEDS_POSTGRES } from '../../support/postgres-server.ts';
import { registryHere } from '../../support/registry-here.ts';
import { createRegistry, usePostgres } from '../../support/run-servers.ts';
import { NOON, owned } from '../registry-fixtures.ts';

async function makeDatabase(): Promise<string> {
  const server = await usePostgres(t);
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await createRegistry(server, name);
  return server.url(name);
}

t.test('it finds the services of shards by an index', NEEDS_POSTGRES, async (t) => {
  const url = await makeDatabase();
  // A start makes its tables.
  await (await openPostgresMethods(url, { dataDir: t.testdir(), domainsPerAccount: 100 })).close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  // The planner takes the whole table where it is as small as this one.
  await client.query('SET enable_seqscan = off; SET enable_bitmapscan = off');
  const live = 'removed = 0 AND paused = 0 AND verified = 1';
  const { rows } = await client.query(
    `EXPLAIN SELECT id FROM services WHERE ${live} AND services.id % ${SHARDS} IN (1, 2)`,
  );
  t.match(JSON.stringify(rows), /services_shard/);
});

t.test(
  'a change that was answered is delivered in this process before its notice arrives',
  NEEDS_POSTGRES,
  async (t) => {
    const { emit } = pg.Client.prototype;
    pg.Client.prototype.emit = function hold(this: pg.Client, event: string | symbol, ...args: unknown[]) {
      return event === 'notification' || Reflect.apply(emit, this, [event, ...args]);
    } as typeof emit;
    t.teardown(() => {
      pg.Client.prototype.emit = emit;
    });
    const methods = await openPostgresMethods(await makeDatabase(), {
      dataDir: t.testdir(),
      domainsPerAccount: 100,
    });
    const registry = registryHere(methods, systemClock);
    t.teardown(() => registry.close());
    const { id: account } = await registry.ensureAccount('ada', NOON);
    const known = new Map<number, string | null>();
    const stop = registry.watchChanges(await registry.lastChange(), ({ serviceId, service }) => {
      known.set(serviceId, service?.name ?? null);
    });
    t.teardown(stop);
    for (let n = 1; n <= 10; n++) {
      const { id, slug } = await registry.addService(owned(`n${n}.example`, account));
      t.equal(known.get(id), `n${n}.example`);
      await registry.changeService(slug, { name: 'renamed' });
      t.equal(known.get(id), 'renamed');
      await registry.removeService(slug);
      t.equal(known.get(id), null);
    }
  },
);

t.test('calls that come while others wait are made together, in their order', async (t) => {
  const made: { readonly items: readonly number[]; readonly end: (error?: Error) => void }[] = [];
  const call = joinCalls<number, string>(
    (items) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error ? reject(error) : resolve(items.map((item) => `v${item}`)));
        made.push({ items, end });
      }),
    { maxAtOnce: 2, maxItems: 3 },
  );
  const values = [1, 2, 3, 4, 5, 6].map((item) => call(item).catch((error: Error) => error.message));
  await turn();
  const items = () => made.map((one) => one.items);
  t.same(items(), [[1], [2]]);
  made[0]?.end();
  await turn();
  t.same(items(), [[1], [2], [3, 4, 5]], 'at most as many items as it may have');
  made[1]?.end(new Error('away'));
  made[2]?.end();
  await turn();
  t.same(items().slice(3), [[6]]);
  made[3]?.end();
  t.same(await Promise.all(values), ['v1', 'away', 'v3', 'v4', 'v5', 'v6']);
  const later = call(7);
  await turn();
  made[4]?.end();
  t.equal(await later, 'v7', 'it goes on after it was idle');
});
