/** The contract on PostgreSQL: a database for each registry, as a data directory is for SQLite. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { SHARDS } from '../../src/domain/node.ts';
import { COPIED_TABLES } from '../../src/store/backup/copy-registry.ts';
import {
  connectionSettings,
  createPostgresQueries,
} from '../../src/store/database/postgres/postgres-store.ts';
import type { Batch } from '../../src/store/database/registry-store.ts';
import { openPostgresMethods } from '../../src/store/registry/postgres-methods.ts';
import { NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { registryHere } from '../support/registry-here.ts';
import { createRegistry, usePostgres } from '../support/run-servers.ts';
import { runRegistryContract } from './registry-contract.ts';
import { NOON, owned } from './registry-fixtures.ts';

/** Runs statements on a database. */
async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

/** Empties a database in a fraction of the time that a new one takes. */
const EMPTY = [
  ...COPIED_TABLES.toReversed().map(([table]) => `DELETE FROM ${table}`),
  'UPDATE lease SET fence = 0, pid = NULL, host = NULL, process = NULL, renewed_at = 0',
  `SELECT setval(oid, 1, false) FROM pg_class
   WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace`,
].join('; ');

if ('skip' in NEEDS_POSTGRES) {
  t.test('the contract of the registry on PostgreSQL', NEEDS_POSTGRES, async () => {});
} else {
  const server = await usePostgres(t);
  const warnings: Error[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  /** The databases of the data directories of the running test. */
  const databases = new Map<string, string>();
  const spare: string[] = [];
  let open = 0;
  const databaseOf = async (dataDir: string): Promise<string> => {
    const known = databases.get(dataDir);
    if (known !== undefined) return known;
    if (open === 0) {
      // The test before has ended.
      spare.push(...databases.values());
      databases.clear();
    }
    let url = spare.pop();
    if (url === undefined) {
      const name = `test_${randomUUID().replaceAll('-', '')}`;
      await createRegistry(server, name);
      url = server.url(name);
    } else await query(url, EMPTY);
    databases.set(dataDir, url);
    return url;
  };
  runRegistryContract({
    async open(dataDir, { domainsPerAccount = 100 } = {}) {
      const url = await databaseOf(dataDir);
      open += 1;
      const registry = registryHere(
        await openPostgresMethods(url, { dataDir, domainsPerAccount }),
        systemClock,
      );
      let isOpen = true;
      return {
        ...registry,
        async close() {
          if (isOpen) open -= 1;
          isOpen = false;
          await registry.close();
        },
      };
    },
    execute: async (dataDir, sql) => query(await databaseOf(dataDir), sql),
  });

  t.test('it finds the services of shards by an index', async (t) => {
    const client = new pg.Client({ connectionString: await databaseOf(t.testdirName) });
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

  t.test('a change that was answered is delivered in this process before its notice arrives', async (t) => {
    const { emit } = pg.Client.prototype;
    pg.Client.prototype.emit = function hold(this: pg.Client, event: string | symbol, ...args: unknown[]) {
      return event === 'notification' || Reflect.apply(emit, this, [event, ...args]);
    } as typeof emit;
    t.teardown(() => {
      pg.Client.prototype.emit = emit;
    });
    const methods = await openPostgresMethods(await databaseOf(t.testdirName), {
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
  });

  t.test('texts and numbers of a batch arrive as they are', async (t) => {
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

  t.test('it uses the driver in no way that is deprecated', (t) => {
    t.same(
      warnings.map(({ message }) => message),
      [],
    );
    t.end();
  });
}
