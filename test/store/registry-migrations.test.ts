/** The steps of the registry's tables: released ones stay as they were, to the letter. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SQLITE_STEPS } from '../../src/store/database/registry-database.ts';

/** First 16 digits of the SHA-256 of the statements of each released step. */
const RELEASED: Readonly<Record<string, string>> = {
  '0001-first-tables': 'e57bccfa4760cb75',
  '0002-vendor-entries': '3e7a4fc3b8cc3069',
  '0003-heartbeats': '5af143e3392e4305',
  '0004-sign-in': '4b146608de497f25',
  '0005-ownership': '4d3f8c1f237098b5',
  '0006-webhooks': '6fa95e9f356600b5',
  '0007-owner-addresses': 'f07d75876a21a48f',
  '0008-status-pages': 'ec3f42f40fb0de6e',
  '0009-heartbeat-inbox': 'c8ea68564d6090bc',
  '0010-webhook-queues': '48182833c3c08de9',
  '0011-slugs': '9dc3cfac8ea6fa17',
  '0012-lease-process': '235e127da2a6a876',
  '0013-catalogue-names': '75d944ab1c143696',
  '0014-webhook-events': '2a6225a586dd8181',
  '0015-notice-codes': 'eb8176cde94178b8',
  '0016-reason-codes': 'fbf04d0250d601a5',
};

/** The same of PostgreSQL's steps. */
const RELEASED_POSTGRES: Readonly<Record<string, string>> = { '0001-first-tables': '7825c00cf8fdda02' };

t.test('it changes no step that was released', async (t) => {
  for (const [folder, released] of [
    ['migrations', RELEASED],
    ['postgres/migrations', RELEASED_POSTGRES],
  ] as const)
    for (const [name, digest] of Object.entries(released)) {
      const { statements } = await import(`../../src/store/database/${folder}/${name}.ts`);
      const found = createHash('sha256').update(statements.join('\n')).digest('hex').slice(0, 16);
      t.equal(found, digest, `${folder}/${name}`);
    }
  t.same(SQLITE_STEPS.names.slice(0, Object.keys(RELEASED).length), Object.keys(RELEASED));
});

/** What PostgreSQL 14 and 15 brought to SQL and its functions; the tests run on 15, so that nothing newer can be used. */
const AFTER_13 =
  /\bMERGE INTO\b|NULLS NOT DISTINCT|security_invoker|GROUP BY DISTINCT|\bSEARCH (BREADTH|DEPTH)\b|multirange|\b(regexp_(count|like|substr|instr)|string_to_table|date_bin|bit_count|trim_array|range_agg|range_intersect_agg|unistr|pg_get_catalog_foreign_keys)\(|pg_terminate_backend\([^)]*,|idle_session_timeout\s*=|client_connection_check_interval/i;

t.test('its statements need nothing that came after PostgreSQL 13', async (t) => {
  const folder = join(import.meta.dirname, '../../src/store');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  t.ok(files.length > 30);
  const newer = files.filter((name) => AFTER_13.test(readFileSync(join(folder, name), 'utf8')));
  t.same(newer, []);
  t.match('SELECT regexp_like(name, $1) FROM services', AFTER_13);
});
