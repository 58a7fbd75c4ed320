/** The registry on a PostgreSQL whose files are damaged: what cannot be read is refused and reported, and never taken for missing. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../src/clock.ts';
import { type Log, silentLog } from '../../../../src/log.ts';
import { eventOf } from '../../../../src/log-events.ts';
import { examinePostgres } from '../../../../src/store/database/postgres/examine-postgres.ts';
import { openRegistryInProcess } from '../../../../src/store/registry/open-registry.ts';
import {
  createDatabase,
  NEEDS_POSTGRES,
  type PostgresServer,
  startPostgres,
} from '../../../support/postgres-server.ts';

t.setTimeout(180_000);

const PAGE_BYTES = 8_192;
const FACTS = 2_000;
const DAMAGED = { code: 'registry_damaged', message: /cannot read what it has stored .*put back a backup/ };

async function execute(url: string, sql: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

/** Damages a page of a table or an index while the server is stopped. */
async function damage(server: PostgresServer, name: string, change: (page: Buffer) => void): Promise<void> {
  const url = server.url('upbeat');
  await execute(url, 'VACUUM ANALYZE facts');
  const [row] = await execute(url, `SELECT pg_relation_filepath('${name}') AS path`);
  const file = join(server.folder, 'data', row?.path ?? '');
  await server.stop();
  const bytes = readFileSync(file);
  change(bytes.subarray(PAGE_BYTES, 2 * PAGE_BYTES));
  writeFileSync(file, bytes);
  await server.start();
}

/** A server with a registry of {@link FACTS} facts, in pages of several, and what opens it. */
async function startFilled(t: Test) {
  const server = await startPostgres(t, { checksums: true });
  await createDatabase(server.url('postgres'), 'upbeat');
  const events: (string | null)[] = [];
  const log: Log = { ...silentLog, error: (_, message) => void events.push(eventOf(message)) };
  const open = async () => {
    const registry = await openRegistryInProcess({
      ...{ dataDir: t.testdir(), postgresUrl: server.url('upbeat') },
      ...{ log, clock: systemClock },
    });
    t.teardown(() => registry.close());
    return registry;
  };
  const registry = await open();
  await execute(
    server.url('upbeat'),
    `INSERT INTO facts (name, value) SELECT 'fact-' || n, 'stored' FROM generate_series(1, ${FACTS}) AS n`,
  );
  await registry.close();
  return { server, open, events };
}

/** What becomes of reading each fact: its value, or the code of the refusal. */
async function readAll(registry: {
  getFact(name: string): Promise<string | null>;
}): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let n = 1; n <= FACTS; n += 7) {
    const found = await registry.getFact(`fact-${n}`).catch((error: { readonly code: string }) => error.code);
    counts.set(String(found), (counts.get(String(found)) ?? 0) + 1);
  }
  return counts;
}

t.test('a page with changed bytes', NEEDS_POSTGRES, async (t) => {
  const { server, open, events } = await startFilled(t);
  await damage(server, 'facts', (page) => page.writeUInt8(page.readUInt8(5_000) ^ 1, 5_000));
  const registry = await open();
  const counts = await readAll(registry);
  t.same(
    [...counts.keys()].sort(),
    ['registry_damaged', 'stored'],
    'the rest is served, and nothing is missing',
  );
  t.same(events, ['registry_damaged'], 'it is said once');
  t.match(registry.health.damage(), DAMAGED.message);
  t.equal(registry.health.problem(), null, 'writes go on');
  await registry.setFact('later', 'stored');
  t.equal(await registry.getFact('later'), 'stored');
  const findings = await examinePostgres(server.url('upbeat'), systemClock);
  t.equal(findings.find(({ what }) => what === 'checksums')?.found, 'damage of the files is noticed');
});

t.test('an index with a page of zeros', NEEDS_POSTGRES, async (t) => {
  const { server, open } = await startFilled(t);
  await damage(server, 'facts_pkey', (page) => page.fill(0));
  const registry = await open();
  const counts = await readAll(registry);
  t.ok((counts.get('registry_damaged') ?? 0) > 0);
  t.notOk(counts.has('null'), 'nothing is taken for missing');
  await execute(server.url('upbeat'), 'REINDEX INDEX facts_pkey');
  t.same([...(await readAll(registry)).keys()], ['stored'], 'it is whole again as the message says');
});
