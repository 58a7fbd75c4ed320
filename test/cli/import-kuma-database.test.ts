/** Imports of databases of Uptime Kuma: what is read of them, and what becomes of it in an installation. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { readKumaChannel } from '../../src/cli/import/kuma-channels.ts';
import { readKumaMaintenance } from '../../src/cli/import/kuma-maintenance.ts';
import type { ListedItem } from '../../src/cli/import/listed-content.ts';
import { PLAIN_SERVICE, type Row } from '../../src/cli/import/listed-service.ts';
import { readImportFile } from '../../src/cli/import/read-import.ts';
import { systemClock } from '../../src/clock.ts';
import { hashAddressSecret } from '../../src/domain/heartbeat/heartbeat-rules.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { install } from '../support/program.ts';
import { createKumaDatabase, type KumaRow } from './kuma-databases.ts';
import { runCommandHere } from './run-command.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');
const ALL: Parameters<ListedItem['document']>[0] = { service: ({ domain }) => domain, has: () => true };
const TOKEN = 'Qx7PzM2kLr';

const telegram = {
  ...{
    type: 'telegram',
    telegramBotToken: '123456:ABC-DEF_ghi',
    telegramChatID: '-1001',
    applyExisting: true,
  },
  telegramProtectContent: true,
};

/** What a household has. */
function fill(insert: (table: string, ...rows: readonly KumaRow[]) => void): void {
  insert('setting', { key: 'serverTimezone', value: '"Europe/Berlin"', type: 'general' });
  insert(
    'monitor',
    { id: 1, name: 'Home', type: 'group' },
    {
      id: 2,
      name: 'Shop',
      type: 'http',
      url: 'https://shop.example.com/',
      parent: 1,
      interval: 60,
      expiry_notification: 1,
    },
    {
      ...{
        id: 3,
        name: 'API',
        type: 'keyword',
        url: 'https://api.example.com/health',
        keyword: 'ok',
        interval: 60,
      },
      ...{ expiry_notification: 0, description: 'behind the balancer', headers: '{"X-Token":"s3cret"}' },
    },
    {
      id: 4,
      name: 'Nightly backup',
      type: 'push',
      push_token: TOKEN,
      interval: 3_600,
      maxretries: 2,
      retry_interval: 60,
    },
    {
      id: 5,
      name: 'Nightly Backup',
      type: 'push',
      push_token: 'another-token-of-32-characters-xx',
      interval: 60,
    },
    { id: 6, name: 'Off', type: 'group', active: 0 },
    {
      id: 7,
      name: 'NAS',
      type: 'port',
      hostname: '192.168.1.5',
      port: 5000,
      parent: 6,
      resend_interval: 10,
      interval: 60,
    },
    { id: 8, name: 'Game', type: 'gamedig', hostname: 'play.example.com', port: 27_015, game: 'csgo' },
  );
  insert('tag', { id: 1, name: 'prod', color: '#059669' }, { id: 2, name: 'room', color: '#059669' });
  insert(
    'monitor_tag',
    { monitor_id: 2, tag_id: 1, value: '' },
    { monitor_id: 2, tag_id: 2, value: 'cellar' },
  );
  insert(
    'notification',
    { id: 1, name: 'Phone', user_id: 1, is_default: 1, config: JSON.stringify(telegram) },
    {
      id: 2,
      name: 'Mail',
      user_id: 1,
      config: '{"type":"smtp","smtpTo":"a@example.com, B <b@example.com>","smtpHost":"mail.example.com"}',
    },
    { id: 3, name: 'Bark', user_id: 1, config: '{"type":"Bark","barkEndpoint":"https://bark.example.com"}' },
  );
  insert(
    'monitor_notification',
    { monitor_id: 1, notification_id: 1 },
    { monitor_id: 3, notification_id: 1 },
    { monitor_id: 7, notification_id: 1 },
    { monitor_id: 4, notification_id: 2 },
  );
  insert('status_page', {
    ...{
      id: 1,
      slug: 'our-home',
      title: 'Our home',
      description: 'What runs here.',
      icon: '/upload/logo1.png?t=1',
      theme: 'dark',
    },
    ...{ footer_text: 'Bye', custom_css: 'body {}' },
  });
  insert('status_page_cname', { status_page_id: 1, domain: 'status.example.com' });
  insert(
    'group',
    { id: 1, name: 'Jobs', public: 1, weight: 2, status_page_id: 1 },
    { id: 2, name: 'Web', public: 1, weight: 1, status_page_id: 1 },
  );
  insert(
    'monitor_group',
    { monitor_id: 3, group_id: 2, weight: 1 },
    { monitor_id: 1, group_id: 2, weight: 2, send_url: 1 },
    { monitor_id: 4, group_id: 1 },
  );
  insert('maintenance', {
    ...{
      id: 1,
      title: 'Disks',
      description: 'New disks.',
      strategy: 'recurring-weekday',
      timezone: 'SAME_AS_SERVER',
    },
    ...{
      start_time: '23:30:00',
      end_time: '01:00:00',
      weekdays: '[2,0]',
      start_date: '2026-01-05 00:00:00',
      end_date: '2027-01-05 00:00:00',
    },
  });
  insert('monitor_maintenance', { monitor_id: 1, maintenance_id: 1 }, { monitor_id: 4, maintenance_id: 1 });
  insert('maintenance_status_page', { status_page_id: 1, maintenance_id: 1 });
  insert('proxy', { user_id: 1, protocol: 'http', host: 'proxy', port: 3128, auth: 0 });
}

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

t.test('monitors of containers are checked at their Docker host', async (t) => {
  const { file, database, insert } = createKumaDatabase(t.testdir(), 2);
  insert(
    'docker_host',
    { id: 1, user_id: 1, docker_daemon: '/var/run/docker.sock', docker_type: 'socket', name: 'Here' },
    {
      id: 2,
      user_id: 1,
      docker_daemon: 'unix:///run/podman/podman.sock',
      docker_type: 'socket',
      name: 'Podman',
    },
    { id: 3, user_id: 1, docker_daemon: 'tcp://192.168.1.5:2375', docker_type: 'tcp', name: 'NAS' },
    { id: 4, user_id: 1, docker_daemon: 'https://192.168.1.5:2376', docker_type: 'tcp', name: 'TLS' },
  );
  for (const host of [1, 2, 3, 4, 5])
    insert('monitor', {
      ...{ id: host, name: `Container ${host}`, type: 'docker', interval: 60 },
      ...{ docker_host: host, docker_container: `app_${host}` },
    });
  database.close();
  const { services, skipped, notCarried } = await readImportFile(file, NOW);
  t.match(services, [
    { kind: 'docker', domain: 'localhost', name: 'Container 1', settings: { container: 'app_1' } },
    { domain: 'localhost', settings: { container: 'app_2', socket: '/run/podman/podman.sock' } },
    { domain: '192.168.1.5', settings: { container: 'app_3', port: 2375 } },
  ]);
  t.same(
    skipped.map(({ reason }) => reason),
    ['a Docker host is asked at a socket, or by HTTP without TLS', 'its Docker host is not in the file'],
  );
  t.same(
    notCarried.map(({ field }) => field),
    ['heartbeat'],
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

t.test('maintenance keeps its times', async (t) => {
  const at = { timezone: 'Europe/Berlin', start_time: '02:00', end_time: '03:00' };
  const rows: readonly (readonly [row: KumaRow, expected: object | string | RegExp])[] = [
    [
      {
        strategy: 'single',
        timezone: 'UTC',
        start_date: '2026-12-01 22:00:00',
        end_date: '2026-12-02T00:30',
      },
      { starts_at: '2026-12-01T22:00', duration: '150m', time_zone: 'UTC', recurrence: undefined },
    ],
    [
      { strategy: 'single', start_date: '2026-01-01 22:00:00', end_date: '2026-01-02 00:30:00' },
      'it is over',
    ],
    [{ strategy: 'single', start_date: 'soon', end_date: 'later' }, 'its times cannot be read'],
    [{ strategy: 'manual' }, 'a maintenance without an end has no equal here'],
    [{ ...at, active: 0, strategy: 'recurring-weekday', weekdays: '[1]' }, 'it is switched off'],
    [
      { ...at, strategy: 'recurring-interval', interval_day: 3, start_date: '2026-11-01 00:00:00' },
      { starts_at: '2026-11-28T02:00', duration: '60m', recurrence: 'FREQ=DAILY;INTERVAL=3' },
    ],
    [
      { ...at, strategy: 'recurring-day-of-month', days_of_month: '[15,"lastDay1"]' },
      { starts_at: '2026-11-30T02:00', recurrence: 'FREQ=MONTHLY;BYMONTHDAY=-1,15' },
    ],
    [{ ...at, strategy: 'recurring-weekday', weekdays: '[]' }, /recurrence "recurring-weekday" has no equal/],
    [{ ...at, strategy: 'recurring-weekday', weekdays: '[1]', end_date: '2026-11-01' }, 'it is over'],
    [
      { strategy: 'cron', timezone: 'UTC', cron: '30 3 * * 1-5', duration: 1_800 },
      { starts_at: '2026-11-30T03:30', duration: '30m', recurrence: 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR' },
    ],
    [
      { strategy: 'cron', timezone: 'UTC', cron: '0 3 L * *', duration: 600 },
      { starts_at: '2026-11-30T03:00', recurrence: 'FREQ=MONTHLY;BYMONTHDAY=-1' },
    ],
    [
      { strategy: 'cron', timezone: 'UTC', cron: '0 3 * * *', duration: 600 },
      { starts_at: '2026-11-28T03:00', recurrence: 'FREQ=DAILY' },
    ],
    [{ strategy: 'cron', timezone: 'UTC', cron: '*/5 * * * *', duration: 60 }, 'its times cannot be read'],
    [{ strategy: 'cron', timezone: 'UTC', cron: '0 3 1 * 1', duration: 60 }, /"0 3 1 \* 1" has no equal/],
    [
      { ...at, timezone: 'Mars', strategy: 'recurring-weekday', weekdays: '[1]' },
      'its time zone is not known',
    ],
  ];
  for (const [row, expected] of rows) {
    const {
      active = 1,
      start_date,
      end_date,
      start_time,
      end_time,
      interval_day,
      days_of_month,
      ...rest
    } = row;
    const reading = readKumaMaintenance(
      {
        ...{
          title: 'Disks',
          active,
          startDate: start_date,
          endDate: end_date,
          startTime: start_time,
          endTime: end_time,
        },
        ...{ intervalDay: interval_day, daysOfMonth: days_of_month, ...rest },
      },
      'UTC',
      NOW,
    );
    if ('document' in reading) t.match(reading.document, expected, JSON.stringify(row));
    else t.match(reading.problem, expected, JSON.stringify(row));
  }
});

const config = (type: string, more: object) => ({ config: JSON.stringify({ type, name: 'X', ...more }) });

t.test('notifications become channels with their secrets', async (t) => {
  const hook = 'https://hooks.slack.com/services/T0/B0/x';
  const rows: readonly (readonly [Row, kind: string, settings: object, lost?: readonly string[]])[] = [
    [
      config('discord', { discordWebhookUrl: 'https://discord.com/api/webhooks/1/x', discordUsername: 'K' }),
      'discord',
      { url: 'https://discord.com/api/webhooks/1/x' },
      ['discordUsername'],
    ],
    [
      config('slack', { slackwebhookURL: hook, slackiconemo: ':robot_face:', slackchannel: '#a' }),
      'slack',
      { url: hook },
      ['slackchannel'],
    ],
    [
      config('webhook', {
        webhookURL: 'https://a.example/x',
        webhookContentType: 'json',
        httpMethod: 'post',
      }),
      'webhook',
      { url: 'https://a.example/x' },
      ['webhookContentType'],
    ],
    [config('teams', { webhookUrl: 'https://a.example/t' }), 'teams', { url: 'https://a.example/t' }],
    [
      config('mattermost', { mattermostWebhookUrl: 'https://a.example/m' }),
      'mattermost',
      { url: 'https://a.example/m' },
    ],
    [
      config('GoogleChat', { googleChatWebhookURL: 'https://a.example/g' }),
      'google-chat',
      { url: 'https://a.example/g' },
    ],
    [
      config('matrix', {
        homeserverUrl: 'https://m.example',
        internalRoomId: '!a:m.example',
        accessToken: 't',
      }),
      'matrix',
      { server: 'https://m.example', room: '!a:m.example', token: 't' },
    ],
    [
      config('ntfy', {
        ntfytopic: 'home',
        ntfyserverurl: 'https://ntfy.sh',
        ntfyAuthenticationMethod: 'accessToken',
        ntfyaccesstoken: 'tk_1',
      }),
      'ntfy',
      { topic: 'home', token: 'tk_1' },
    ],
    [
      config('gotify', {
        gotifyserverurl: 'https://g.example',
        gotifyapplicationToken: 'A',
        gotifyPriority: 8,
      }),
      'gotify',
      { server: 'https://g.example', token: 'A' },
      ['gotifyPriority'],
    ],
    [
      config('pushover', { pushoveruserkey: 'u', pushoverapptoken: 'a', pushoverpriority: '2' }),
      'pushover',
      { user: 'u', token: 'a', emergency: true },
    ],
    [
      config('PagerDuty', {
        pagerdutyIntegrationKey: 'k',
        pagerdutyIntegrationUrl: 'https://events.eu.pagerduty.com/v2/enqueue',
      }),
      'pagerduty',
      { key: 'k', region: 'eu' },
    ],
    [
      config('Opsgenie', { opsgenieApiKey: 'k', opsgenieRegion: 'eu' }),
      'opsgenie',
      { key: 'k', region: 'eu' },
    ],
  ];
  for (const [row, kind, settings, lost = []] of rows) {
    const reading = readKumaChannel(row);
    if ('problem' in reading) t.fail(`${kind}: ${reading.problem}`);
    else
      t.same(
        [reading.kind, reading.settings, reading.lost.map(({ field }) => field)],
        [kind, [settings], lost],
        kind,
      );
  }
});

t.test('it imports once what has an equal, as apply would, and says the rest', async (t) => {
  const { file, database, insert } = createKumaDatabase(
    t.testdir({ upload: { 'logo1.png': 'no picture' } }),
    2,
  );
  fill(insert);
  insert('monitor', { id: 30, name: 'job.example.com', type: 'push', push_token: TOKEN, interval: 60 });
  insert('monitor', { id: 31, name: 'short.example.com', type: 'push', push_token: 'abc', interval: 60 });
  insert('monitor_group', { monitor_id: 30, group_id: 1 });
  insert('monitor_notification', { monitor_id: 30, notification_id: 2 });
  database.exec("UPDATE monitor SET name = 'backup.example.com' WHERE id = 4");
  database.exec("UPDATE monitor SET name = 'other.example.com' WHERE id = 5");
  database.exec("UPDATE status_page SET icon = 'data:/upload/logo1.png'");
  database.close();
  const installation = await install([]);
  t.teardown(() => installation.remove());
  const run = (...args: readonly string[]) =>
    runCommandHere([...args, '--account', 'ada', '--config', join(installation.folder, 'upbeat.yaml')]);

  const planned = await run('services', 'import', file, '--dry-run');
  t.match(
    planned.stdout,
    /lists 7 services, 3 channels, 4 rules, 2 pages, 1 maintenance, 2 without an equal\n/,
  );
  for (const line of ['+ service shop.example.com', '+ page our-home', '+ channel Phone'])
    t.ok(planned.stdout.includes(`${line}\n`), line);
  t.match(planned.stdout, /6 to add, 4 left out\n/);
  t.notMatch(planned.stdout + planned.stderr, /123456:ABC|s3cret/, 'no secret is shown');
  const nothing = await runCommandHere([
    'accounts',
    'list',
    '--json',
    '--config',
    join(installation.folder, 'upbeat.yaml'),
  ]);
  t.notMatch(nothing.stdout, /ada/, 'a dry run makes no account');

  const made = await run('services', 'import', file, '--json');
  const outcome = JSON.parse(made.stdout);
  t.same(outcome.added.toSorted(), [
    ...[
      'api-example-com',
      'backup-example-com',
      'job-example-com',
      'other-example-com',
      'shop-example-com',
      'short-example-com',
    ],
  ]);
  t.same(outcome.created.map(({ type, key }: { type: string; key: string }) => `${type} ${key}`).toSorted(), [
    ...['channel Mail', 'channel Mail (2)', 'channel Phone', 'maintenance Disks', 'page our-home'],
    ...['page uptime-kuma-groups', 'rule Mail', 'rule Phone', 'rule Phone (2)'],
  ]);
  t.match(
    outcome.skipped.map(({ entry, reason }: { entry: string; reason: string }) => `${entry}: ${reason}`),
    [
      'Game: monitors of type gamedig have no equal here',
      'Bark: notifications of type "Bark" have no equal here',
      'NAS: domain "192.168.1.5" must not be an IP address',
      'Phone (3): nothing that it is about is imported',
    ],
  );
  const lost = outcome.not_carried.map(
    ({ entry, field, reason }: Record<string, string>) => `${field} of ${entry}: ${reason}`,
  );
  t.match(
    lost.find((line: string) => line.startsWith('logo of our-home: ')),
    /picture|PNG/,
  );
  t.ok(lost.includes('pushToken of job.example.com: another service has it'));
  t.ok(lost.includes('pushToken of short.example.com: it is so short that it could be guessed'));

  const again = JSON.parse((await run('services', 'import', file, '--json')).stdout);
  t.match(again, { added: [], created: [], unchanged: { length: 6 } }, 'what is there stays as it is');

  const registry = await openRegistry({
    dataDir: join(installation.folder, 'data'),
    clock: systemClock,
    log: silentLog,
  });
  const states = await registry.loadServices();
  const hashes = Object.fromEntries(states.map(({ service }) => [service.slug, service.check.addressHash]));
  await registry.close();
  t.match(hashes, {
    'backup-example-com': hashAddressSecret(TOKEN),
    'other-example-com': hashAddressSecret('another-token-of-32-characters-xx'),
    'job-example-com': undefined,
    'short-example-com': undefined,
  });
  const config = join(installation.folder, 'upbeat.yaml');
  t.match(await runCommandHere(['accounts', 'trust', 'ada', '--config', config]), { status: 0 });
  const home = JSON.parse((await run('services', 'import', file, '--json')).stdout);
  t.match(
    home,
    { added: ['192-168-1-5'], created: [{ type: 'rule', key: 'Phone (3)' }] },
    'a trusted account has a NAS',
  );
  const exported = await runCommandHere([
    'export',
    '--account',
    'ada',
    '--config',
    join(installation.folder, 'upbeat.yaml'),
  ]);
  t.match(exported.stdout, /name: Phone\n +services:\n +- shop\.example\.com/);
});

t.test('it gives several monitors of one host a service each, which rules and pages name', async (t) => {
  const { file, database, insert } = createKumaDatabase(t.testdir(), 2);
  insert(
    'monitor',
    { id: 1, name: 'Site', type: 'http', url: 'https://shop.example.com/' },
    { id: 2, name: 'API', type: 'http', url: 'https://shop.example.com/api' },
    { id: 3, name: 'Port', type: 'port', hostname: 'shop.example.com', port: 443 },
  );
  insert('status_page', { id: 1, slug: 'shop', title: 'Shop', icon: '/icon.svg', theme: 'auto' });
  insert('group', { id: 1, name: 'All', public: 1, status_page_id: 1 });
  insert('monitor_group', { monitor_id: 3, group_id: 1 }, { monitor_id: 2, group_id: 1 });
  database.close();
  const installation = await install([]);
  t.teardown(() => installation.remove());
  const run = (...args: readonly string[]) =>
    runCommandHere([
      ...args,
      '--account',
      'ada',
      '--json',
      '--config',
      join(installation.folder, 'upbeat.yaml'),
    ]);
  const planned = JSON.parse((await run('services', 'import', file, '--dry-run')).stdout);
  t.match(planned, {
    skipped: [],
    created: [
      ...['shop.example.com', 'shop-example-com-api', 'shop-example-com-port'].map((key) => ({
        type: 'service',
        key,
      })),
      { type: 'page', key: 'shop' },
    ],
  });
  t.match(JSON.parse((await run('services', 'import', file)).stdout), {
    added: ['shop-example-com', 'shop-example-com-api', 'shop-example-com-port'],
    created: [{ type: 'page', key: 'shop' }],
    skipped: [],
  });
});
