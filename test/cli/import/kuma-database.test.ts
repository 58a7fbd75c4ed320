/** Databases of Uptime Kuma: which are read, and what of them. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import type { ListedItem } from '../../../src/cli/import/listed-content.ts';
import { PLAIN_SERVICE } from '../../../src/cli/import/listed-service.ts';
import { readImportFile } from '../../../src/cli/import/read-import.ts';
import { createKumaDatabase } from '../kuma-databases.ts';
import { fill, TOKEN } from './kuma-household.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');

const ALL: Parameters<ListedItem['document']>[0] = { service: ({ domain }) => domain, has: () => true };

function filled(t: Test, version: 1 | 2) {
  const folder = t.testdir({ upload: { 'logo1.png': 'PNG' } });
  const { file, database, insert } = createKumaDatabase(folder, version);
  fill(insert);
  return { folder, file, database, insert };
}

for (const version of [1, 2] as const)
  t.test(`it reads the database of version ${version}`, async (t) => {
    const { file, database } = filled(t, version);
    database.close();
    const { format, services, items, skipped, notCarried } = await readImportFile(file, NOW);
    t.equal(format, 'uptime-kuma');
    const minutely = { intervalMs: 60_000 };
    t.same(services, [
      {
        ...PLAIN_SERVICE,
        ...{ domain: 'shop.example.com', name: 'Shop', method: 'GET', accept: ['2xx'], choice: minutely },
        texts: { note: 'Group: Home\nTags: prod, room: cellar' },
      },
      {
        ...PLAIN_SERVICE,
        ...{ domain: 'api.example.com', name: 'API', kind: 'http', accept: ['2xx'], choice: minutely },
        settings: { path: '/health', assertions: ['body contains ok'] },
        secrets: { secretHeaders: ['X-Token: s3cret'] },
        texts: { note: 'behind the balancer' },
      },
      {
        ...PLAIN_SERVICE,
        ...{ domain: 'nightly-backup', name: 'Nightly backup', kind: 'heartbeat', pushToken: TOKEN },
        ...{ periodMs: 3_600_000, graceMs: 121_000 },
      },
      {
        ...PLAIN_SERVICE,
        ...{ domain: 'nightly-backup-2', name: 'Nightly Backup', kind: 'heartbeat' },
        ...{ periodMs: 60_000, graceMs: 1_000, pushToken: 'another-token-of-32-characters-xx' },
      },
      {
        ...PLAIN_SERVICE,
        ...{ domain: '192.168.1.5', name: 'NAS', kind: 'tcp', settings: { port: 5000 }, paused: true },
        ...{ choice: minutely, texts: { note: 'Group: Off' } },
      },
    ]);
    t.same(
      items.map((item) => [item.list, item.document(ALL)]),
      [
        [
          'channels',
          { name: 'Phone', kind: 'telegram', settings: { token: '123456:ABC-DEF_ghi', chat: '-1001' } },
        ],
        ['rules', { name: 'Phone', services: ['shop.example.com'], channels: ['Phone'] }],
        [
          'rules',
          { name: 'Phone (2)', services: ['api.example.com'], channels: ['Phone'], events: ['down', 'up'] },
        ],
        ['rules', { name: 'Phone (3)', services: ['192.168.1.5'], channels: ['Phone'], repeat: '10m' }],
        ['channels', { name: 'Mail', kind: 'email', settings: { to: 'a@example.com' } }],
        ['channels', { name: 'Mail (2)', kind: 'email', settings: { to: 'b@example.com' } }],
        ['rules', { name: 'Mail', services: ['nightly-backup'], channels: ['Mail', 'Mail (2)'] }],
        [
          'pages',
          {
            ...{
              slug: 'our-home',
              title: 'Our home',
              text: 'What runs here.',
              logo: 'data:image/png;base64,UE5H',
            },
            custom_domain: 'status.example.com',
            groups: [
              { name: 'Web', services: ['api.example.com', 'shop.example.com'] },
              { name: 'Jobs', services: [{ service: 'nightly-backup', name: 'Nightly backup' }] },
            ],
          },
        ],
        [
          'pages',
          {
            ...{ slug: 'uptime-kuma-groups', title: 'Groups of Uptime Kuma', access: 'members' },
            groups: [
              { name: 'Home', services: ['shop.example.com'] },
              { name: 'Off', services: [{ service: '192.168.1.5', name: 'NAS' }] },
            ],
          },
        ],
        [
          'maintenances',
          {
            ...{
              title: 'Disks',
              text: 'New disks.',
              time_zone: 'Europe/Berlin',
              starts_at: '2026-11-29T23:30',
            },
            ...{ duration: '90m', recurrence: 'FREQ=WEEKLY;BYDAY=SU,TU;UNTIL=20270105' },
            ...{ services: ['shop.example.com', 'nightly-backup'], pages: ['our-home'] },
          },
        ],
      ],
    );
    t.same(skipped, [
      { entry: 'Game', reason: 'monitors of type gamedig have no equal here' },
      { entry: 'Bark', reason: 'notifications of type "Bark" have no equal here' },
    ]);
    t.same(
      notCarried.map(({ entry, field }) => `${field} of ${entry}`),
      [
        ...[
          'heartbeat of the file',
          'proxy of the file',
          'telegramProtectContent of Phone',
          'isDefault of Phone',
        ],
        ...['smtpHost of Mail', 'footerText of Our home', 'customCss of Our home', 'links of Our home'],
        'theme of Our home',
      ],
    );
  });

t.test('it reads what is in the log beside a database, and changes neither', async (t) => {
  const { folder, file, database, insert } = filled(t, 2);
  const fingerprint = () =>
    readdirSync(folder)
      .filter((name) => name.startsWith('kuma.db') && !name.endsWith('-shm'))
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
  insert('monitor', { id: 20, name: 'Late', type: 'ping', hostname: 'late.example.com' });
  const before = fingerprint();
  t.match(before, [['kuma.db'], ['kuma.db-wal']]);
  const { services } = await readImportFile(file, NOW);
  t.match(services.at(-1), { domain: 'late.example.com', kind: 'icmp' });
  t.same(fingerprint(), before);
  database.close();
});

t.test('it leaves nothing beside a database', async (t) => {
  const { folder, file, database } = filled(t, 1);
  database.close();
  await readImportFile(file, NOW);
  t.same(readdirSync(folder).toSorted(), ['kuma.db', 'upload']);
});

t.test('it refuses databases that Uptime Kuma has not written', async (t) => {
  const rows: readonly (readonly [
    name: string,
    build: (sql: (text: string) => void) => void,
    message: RegExp,
  ])[] = [
    ['another program', (sql) => sql('CREATE TABLE users (id INTEGER)'), /has no monitors of Uptime Kuma/],
    [
      'a view without end',
      (sql) =>
        sql(
          'CREATE VIEW monitor AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n',
        ),
      /monitor is not a plain table/,
    ],
    [
      'a computed column',
      (sql) => sql('CREATE TABLE monitor (id INTEGER, name TEXT AS (hex(zeroblob(1000000000))))'),
      /monitor is not a plain table/,
    ],
    [
      'a virtual table',
      (sql) => sql('CREATE VIRTUAL TABLE monitor USING fts5(name)'),
      /monitor is not a plain table/,
    ],
    [
      'a million rows',
      (sql) => {
        sql('CREATE TABLE monitor (id INTEGER, name TEXT)');
        sql(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000) INSERT INTO monitor SELECT i, 'x' FROM n",
        );
      },
      /more than 50,000 rows in the table monitor/,
    ],
    [
      'a huge text',
      (sql) => {
        sql('CREATE TABLE monitor (id INTEGER, name TEXT)');
        sql("INSERT INTO monitor VALUES (1, printf('%.*c', 50000000, 'x'))");
      },
      /values in the table monitor that are too long/,
    ],
  ];
  for (const [name, build, message] of rows) {
    const file = join(t.testdir(), 'kuma.db');
    const database = new DatabaseSync(file);
    build((text) => database.exec(text));
    database.close();
    await t.rejects(readImportFile(file, NOW), { code: 'bad_import', message }, name);
  }
  const { file, database } = filled(t, 2);
  database.close();
  const whole = readFileSync(file);
  for (const size of [16, 100, 4_096, whole.length - 5_000]) {
    writeFileSync(file, whole.subarray(0, size));
    await t.rejects(
      readImportFile(file, NOW),
      { code: 'bad_import', message: /cannot be read as a database/ },
      `${size}`,
    );
  }
  const torn = Buffer.from(whole);
  torn.fill(0x5a, 100, 3_000);
  writeFileSync(file, torn);
  await t.rejects(readImportFile(file, NOW), { code: 'bad_import' });
});

t.test('it takes values of any type and names of any form', async (t) => {
  const { file, database, insert } = createKumaDatabase(t.testdir(), 2);
  database.exec(`ALTER TABLE monitor ADD COLUMN "x""; DROP TABLE monitor; --" TEXT`);
  database.exec('ALTER TABLE monitor ADD COLUMN __proto__ TEXT');
  const odd = [null, -1, 2 ** 40, 'x', '[]', '{"a":', '\0', new Uint8Array([0xff])];
  for (const type of [
    'http',
    'keyword',
    'json-query',
    'port',
    'ping',
    'dns',
    'push',
    'grpc-keyword',
    'mqtt',
    'postgres',
    'mongodb',
    'smtp',
    'group',
    'x',
  ])
    for (const value of odd)
      insert('monitor', {
        ...{
          name: value,
          type,
          url: value,
          hostname: value,
          port: value,
          parent: value,
          headers: value,
          body: value,
        },
        ...{
          accepted_statuscodes_json: value ?? '',
          interval: value ?? '',
          timeout: value ?? '',
          maxretries: value ?? '',
        },
        ...{
          retry_interval: value ?? '',
          push_token: value,
          conditions: value ?? '',
          description: value,
          json_path: value,
        },
        ...{ keyword: value, database_connection_string: value },
      });
  for (const value of odd) {
    insert('notification', { user_id: 1, name: value, config: value });
    insert('status_page', {
      slug: `${value}`,
      title: value ?? '',
      icon: value ?? '',
      theme: value ?? '',
      description: value,
    });
    insert('maintenance', {
      ...{
        title: value ?? '',
        description: value ?? '',
        strategy: value ?? '',
        weekdays: value,
        days_of_month: value,
      },
      ...{
        start_date: value,
        end_date: value,
        start_time: value,
        cron: value,
        timezone: value,
        interval_day: value,
      },
    });
  }
  insert(
    'monitor',
    { id: 900, name: 'Round', type: 'group', parent: 901 },
    { id: 901, name: 'and round', type: 'group', parent: 900 },
  );
  insert('monitor', { name: 'In it', type: 'ping', hostname: 'a.example.com', parent: 900 });
  database.close();
  const { services, items } = await readImportFile(file, NOW);
  t.match(services.at(-1), { domain: 'a.example.com', texts: { note: 'Group: and round / Round' } });
  for (const { document } of items) document(ALL);
});
