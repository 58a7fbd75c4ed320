/** The steps of the registry's tables: released ones stay as they were, to the letter. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { POSTGRES_STEPS, SQLITE_STEPS } from '../../../src/store/database/migrations.ts';

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

/** The same of PostgreSQL's steps, most of which are SQLite's with other types. */
const RELEASED_POSTGRES: Readonly<Record<string, string>> = {
  '0001-first-tables': '7825c00cf8fdda02',
  '0002-regions': 'f63f5997740728c8',
  '0003-shards': 'bc58f47c91777720',
  '0004-heartbeat-logs': '61d80bb73c8f2f8c',
  '0005-key-scopes-compatible': '2b00db94bcc26660',
  '0006-people-compatible': 'ebba4675d09720eb',
  '0007-sign-in-methods-compatible': 'b32f90f93a02b8e9',
  '0008-invitations-compatible': 'f40dd2e643ec85ea',
  '0009-idempotency-compatible': '9050e025304bb6b7',
  '0010-claims-of-every-kind-compatible': 'f6c4b1466de08e90',
  '0011-invitation-setups-compatible': 'd367a0211e3d39ad',
  '0012-alerts-compatible': '5d633a29dd5dd968',
  '0013-owners-words-compatible': '7acb9f8fa0b60c3c',
  '0014-channel-failures-compatible': '67cc07b329365749',
  '0015-subscriptions-compatible': 'a7d530dd5df5cb8f',
  '0016-looks-of-pages-compatible': '633679a929342e60',
  '0017-page-domains-compatible': 'd398ca6e3ccf01f5',
  '0018-resolved-incidents-compatible': '466a7398e8e019f3',
  '0019-maintenance-list-compatible': 'b54c07bc1718ef6b',
  '0020-favicons-compatible': '00f2bcceedaf26f9',
  '0021-passwords-of-pages-compatible': '1032f285779cfaf4',
  '0022-tries-of-messages-compatible': 'f4f3b9ad17f372f8',
  '0023-maintenance-elsewhere-compatible': '25ed44f75d40de94',
  '0024-ages-compatible': '327ba6726009d801',
  '0025-inbox-notice-compatible': '368ab3ad66812d9b',
  '0026-links-of-invitations-compatible': '605b1451fbf3c8f0',
  '0027-page-maintenance-compatible': 'ab31a266889f2e78',
  '0028-owner-updates-compatible': '553e7da6be2f17ac',
  '0029-stopped-channels-compatible': 'cd97289d57c8894c',
  '0030-tries-of-letters-compatible': '91cf1045833dec68',
  '0031-post-bytes-compatible': 'cd536b4a9432e3a5',
  '0032-notes-of-services-compatible': 'ee96ad4b9294194a',
  '0033-notes-of-pages-compatible': 'beb62928d87553a9',
  '0034-further-services-compatible': '7b912dfba23459f9',
  '0035-visibility-of-services': '60802d986ff47c73',
  '0036-trusted-accounts-compatible': 'c6cd09f31d435b24',
  '0037-parents-of-services-compatible': '4fac0d46acbc107b',
  '0038-unread-pages-compatible': '8b750facc39c44c6',
};

t.test('it changes no step that was released', async (t) => {
  for (const [steps, released] of [
    [SQLITE_STEPS, RELEASED],
    [POSTGRES_STEPS, RELEASED_POSTGRES],
  ] as const)
    for (const [name, digest] of Object.entries(released)) {
      const statements = steps.statementsOf(name);
      const found = createHash('sha256').update(statements.join('\n')).digest('hex').slice(0, 16);
      t.equal(found, digest, name);
    }
  t.same(SQLITE_STEPS.names.slice(0, Object.keys(RELEASED).length), Object.keys(RELEASED));
  t.same(
    POSTGRES_STEPS.names.slice(0, Object.keys(RELEASED_POSTGRES).length),
    Object.keys(RELEASED_POSTGRES),
  );
});

/** What PostgreSQL 14 and 15 brought to SQL and its functions; the tests run on 15, so that nothing newer can be used. */
const AFTER_13 =
  /\bMERGE INTO\b|NULLS NOT DISTINCT|security_invoker|GROUP BY DISTINCT|\bSEARCH (BREADTH|DEPTH)\b|multirange|\b(regexp_(count|like|substr|instr)|string_to_table|date_bin|bit_count|trim_array|range_agg|range_intersect_agg|unistr|pg_get_catalog_foreign_keys)\(|pg_terminate_backend\([^)]*,|idle_session_timeout\s*=|client_connection_check_interval/i;

t.test('its statements need nothing that came after PostgreSQL 13', async (t) => {
  const folder = join(import.meta.dirname, '../../../src/store');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  t.ok(files.length > 30);
  const newer = files.filter((name) => AFTER_13.test(readFileSync(join(folder, name), 'utf8')));
  t.same(newer, []);
  t.match('SELECT regexp_like(name, $1) FROM services', AFTER_13);
});
