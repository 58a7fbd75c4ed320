/** What import reads of the files of Upptime, Healthchecks, OpenStatus, UptimeRobot and Better Stack. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ImportReading } from '../../src/cli/import/listed-content.ts';
import { readImport } from '../../src/cli/import/read-import.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');

function fixture(name: string, env: Readonly<Record<string, string>> = {}): ImportReading {
  return readImport(readFileSync(join(import.meta.dirname, 'fixtures', name), 'utf8'), name, NOW, env);
}

/** The documents of all other lists, if all services keep their names. */
function documentsOf(reading: ImportReading): object[] {
  const names = { service: ({ name }: { readonly name: string }) => name, has: () => true };
  return reading.items.map(({ list, document }) => ({ list, ...document(names) }));
}

const SECRETS = { NEXTCLOUD: '192.0.2.7', MY_API_KEY: 'k1', SECRET_SITE_2: 's2' };

t.test('it reads the sites of Upptime', async (t) => {
  const { format, services, skipped } = fixture('upptime.yaml', SECRETS);
  t.equal(format, 'upptime');
  const choice = { intervalMs: 900_000 };
  const web = { ...choice, timeoutMs: 30_000 };
  t.match(services, [
    {
      name: 'API - Cloud Servers',
      domain: 'api.cloud.example',
      kind: 'tcp',
      settings: { port: 443 },
      choice,
    },
    {
      name: 'Nextcloud - Storage Backend',
      domain: '192.0.2.7',
      settings: { port: 80 },
      visibility: 'private',
    },
    { name: 'Plesk - Falkenstein (DE)', domain: 'fsn1.hosting.example', settings: { port: 8443 } },
    { name: 'Service - Customer Portal', kind: 'root', url: null, accept: ['2xx', '3xx'], choice: web },
    { name: 'Slack Community', accept: [302], settings: { followRedirects: false } },
    {
      name: 'API endpoint with data',
      kind: 'http',
      visibility: 'private',
      settings: { path: '/login?api_key=k1', method: 'POST', headers: ['Content-Type: application/json'] },
      secrets: { body: '{ "password": "hello" }', secretHeaders: ['Authorization: Bearer s2'] },
      choice: { ...web, slowOverMs: 5_000 },
      texts: { note: 'Tags: api, login' },
    },
    {
      name: 'Syncthing',
      settings: {
        port: 8384,
        certificate: 'ignore',
        assertions: ['body lacks File not found', 'body contains "status":"UP"'],
      },
    },
    { name: 'Realtime', kind: 'websocket', domain: 'live.hosting.example', settings: { path: '/socket' } },
    { name: 'Wikipedia', kind: 'icmp', domain: 'wiki.hosting.example' },
  ]);
  t.same(skipped, [{ entry: 'Certificate', reason: 'checks "ssl" have no equal in this import' }]);
  t.same(services[7]?.settings, { path: '/socket' }, 'a site that sends no text back is up there');
});

t.test('it names what Upptime has and we have not, and needs its secrets', async (t) => {
  const { notCarried } = fixture('upptime.yaml', SECRETS);
  t.same(
    notCarried.map(({ entry, field }) => `${entry}: ${field}`),
    [
      'the file: user-agent',
      'Plesk - Falkenstein (DE): ipv6',
      'Service - Customer Portal: assignees',
      'Syncthing: __dangerous__body_degraded',
      'Realtime: body',
      'Wikipedia: type',
      'Wikipedia: location',
      'Hosting Status: logoUrl',
      'Hosting Status: navbar',
    ],
  );
  t.match(fixture('upptime.yaml').skipped, [
    { entry: 'Nextcloud - Storage Backend', reason: /environment variable NEXTCLOUD, which is not set/ },
    { entry: 'API endpoint with data', reason: /MY_API_KEY, SECRET_SITE_2/ },
    { entry: 'Certificate' },
  ]);
  const odd = readImport(
    'repo: a\nsites: [{name: A, url: "https://a.example/$DYNAMIC_RANDOM_NUMBER"}]',
    'x.yml',
  );
  t.match(odd.skipped, [{ entry: 'A', reason: /random texts/ }]);
  for (const [uptime, intervalMs] of [
    ['* * * * *', 60_000],
    ['0 */2 * * *', 7_200_000],
    ['0 * * * *', 3_600_000],
  ] as const)
    t.match(
      readImport(
        JSON.stringify({ sites: [{ name: 'A', url: 'https://a.example' }], workflowSchedule: { uptime } }),
        'x.json',
      ),
      { services: [{ choice: { intervalMs } }], notCarried: [] },
    );
  t.match(
    readImport(
      'sites: [{name: A, url: "https://a.example"}]\nworkflowSchedule: {uptime: 7 3 * * 1}',
      'x.yml',
    ),
    { services: [{ choice: { timeoutMs: 30_000 } }], notCarried: [{ field: 'workflowSchedule.uptime' }] },
  );
});

t.test('the website of Upptime becomes a page, and receivers of its secrets channels', async (t) => {
  const reading = fixture('upptime.yaml', {
    ...SECRETS,
    NOTIFICATION_SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/T0/B0/x',
    NOTIFICATION_EMAIL_TO: 'ops@example.com',
  });
  const services = reading.services.map(({ name }) => name);
  t.match(documentsOf(reading), [
    { list: 'channels', name: 'slack', settings: { url: 'https://hooks.slack.com/services/T0/B0/x' } },
    { list: 'rules', services, channels: ['slack'] },
    { list: 'channels', kind: 'email', settings: { to: 'ops@example.com' } },
    { list: 'rules', services, channels: ['email'] },
    {
      ...{ list: 'pages', slug: 'hosting-status', title: 'Hosting Status' },
      custom_domain: 'status.hosting.example',
      text: /^\*\*Hosting Status\*\*\n\nThis is the status page/,
    },
  ]);
});

t.test('it reads the checks of Healthchecks as heartbeats that keep their UUIDs', async (t) => {
  const { format, services, skipped, notCarried } = fixture('healthchecks.json');
  t.equal(format, 'healthchecks');
  t.match(services, [
    {
      ...{ name: 'Filesystem Backup', domain: 'filesystem-backup', kind: 'heartbeat', paused: false },
      ...{ periodMs: 3_600_000, graceMs: 600_000, schedule: null },
      pushToken: '31365bce-8da9-4729-8ff3-aaa71d56b712',
      texts: { note: 'Runs incremental backup every hour\nTags: backup, fs' },
    },
    {
      ...{
        name: 'Database Backup',
        domain: 'database-backup',
        paused: true,
        periodMs: null,
        graceMs: 1_200_000,
      },
      schedule: { cron: '15 5 * * *', timezone: 'Europe/Riga' },
      pushToken: null,
    },
  ]);
  t.match(skipped, [
    { entry: 'Last day of the month', reason: /"\*-\*~1 12:00 \(UTC\)" is no cron expression/ },
  ]);
  t.same(
    notCarried.map(({ entry, field }) => `${entry}: ${field}`),
    [
      'Filesystem Backup: ping_url',
      'Filesystem Backup: start_kw',
      'Filesystem Backup: success_kw',
      'Filesystem Backup: failure_kw',
      'Filesystem Backup: filter_subject',
      'Filesystem Backup: channels',
      'Database Backup: ping_url',
      'Database Backup: manual_resume',
      'Database Backup: methods',
    ],
  );
});

t.test('it reads the monitors of OpenStatus', async (t) => {
  const { format, services, skipped, notCarried } = fixture('openstatus.yaml');
  t.equal(format, 'openstatus');
  t.same(skipped, []);
  t.match(services, [
    {
      ...{ name: 'Example API', kind: 'root', url: 'https://api.example.com/health', accept: ['2xx'] },
      ...{ method: 'GET', paused: false, visibility: 'private', choice: { intervalMs: 1_800_000 } },
    },
    {
      ...{ name: 'Example Web', kind: 'http', accept: [200], visibility: 'public' },
      settings: {
        ...{ method: 'POST', followRedirects: false, headers: ['User-Agent: OpenStatus'] },
        assertions: ['body is {"status":"ok"}', 'header X-Mode is not test'],
      },
      choice: { intervalMs: 60_000, timeoutMs: 20_000, slowOverMs: 800 },
      texts: { note: 'The web site' },
    },
    { name: 'Database', kind: 'tcp', domain: 'db.example.com', settings: { port: 5432 }, paused: true },
    {
      name: 'Teapot',
      kind: 'http',
      accept: ['4xx', '5xx', '6xx', '7xx', '8xx', '9xx'],
      settings: { assertions: ['status is not 404'] },
    },
  ]);
  t.match(
    notCarried.filter(({ field }) => field !== 'regions'),
    [
      { entry: 'Example API', field: 'retry' },
      { entry: 'Example Web', field: 'openTelemetry' },
      {
        entry: 'Example Web',
        field: 'assertions header',
        reason: 'the comparison "gt" with "10" has no equal here',
      },
    ],
  );
});

t.test('it reads the monitors of UptimeRobot', async (t) => {
  const { format, services, skipped } = fixture('uptimerobot.json');
  t.equal(format, 'uptimerobot');
  const choice = { intervalMs: 300_000 };
  t.match(services, [
    {
      ...{ name: 'Main site', kind: 'http', accept: ['2xx', '3xx'], paused: false },
      ...{ settings: { headers: ['X-Source: uptimerobot'] }, choice: { ...choice, timeoutMs: 30_000 } },
    },
    {
      ...{ name: 'Status page', accept: ['2xx', '3xx', 404] },
      settings: { path: '/status', assertions: ['status is not 301', 'body lacks Error'] },
      secrets: { username: 'u', password: 'p' },
    },
    { name: 'Welcome', kind: 'root', paused: true },
    { name: 'Server ping', kind: 'icmp', domain: '192.0.2.4', choice },
    { name: 'HTTPS port', kind: 'tcp', settings: { port: 443 } },
    { name: 'Own port', kind: 'tcp', settings: { port: 5432 } },
    {
      ...{ name: 'Nightly backup', domain: 'nightly-backup', kind: 'heartbeat', periodMs: 86_400_000 },
      ...{ graceMs: 30_000, pushToken: 'm107-0123456789abcdef' },
    },
    {
      name: 'POST',
      settings: { method: 'POST', headers: ['Content-Type: application/json'] },
      secrets: { body: '{"a":1}' },
    },
  ]);
  t.match(skipped, [
    { entry: 'Unknown', reason: 'monitors of type 99 have no equal in this import' },
    { entry: 'contact 2403925', reason: /type "1" have no equal/ },
  ]);
});

t.test('contacts of UptimeRobot become channels and rules, and what has no equal is named', async (t) => {
  const reading = fixture('uptimerobot.json');
  t.match(documentsOf(reading), [
    { list: 'channels', kind: 'email', settings: { to: 'uptime@example.com' } },
    { list: 'rules', services: ['Main site'], events: ['down', 'up'], after: '5m', repeat: '30m' },
    { list: 'channels', kind: 'slack', name: 'contact 2403924' },
    { list: 'rules', services: ['Main site', 'Status page'], channels: ['contact 2403924'] },
  ]);
  t.match(reading.notCarried, [
    { entry: 'Welcome', field: 'keywordValue', reason: /add "body contains Welcome"/ },
    { entry: 'Nightly backup', field: 'url', reason: /\/beat\/ before the same token/ },
    { entry: 'Nightly backup', field: 'gracePeriod' },
  ]);
});

t.test('it reads version 3 and the CSV of UptimeRobot', async (t) => {
  const monitor = {
    ...{
      id: 1,
      friendlyName: 'Shop',
      type: 'KEYWORD',
      url: 'https://shop.example.com/',
      interval: 300,
      timeout: 30,
    },
    ...{ status: 'PAUSED', keywordType: 'ALERT_NOT_EXISTS', keywordValue: '200 ✓', keywordCaseType: 1 },
    ...{ successHttpResponseCodes: ['2xx', '401'], checkSSLErrors: false, followRedirections: false },
    ...{
      httpMethodType: 'GET',
      authType: 'NONE',
      tags: [{ id: 7, name: 'prod' }],
      responseTimeThreshold: 900,
    },
    ...{ assignedAlertContacts: [{ alertContactId: '9', threshold: 0, recurrence: 0 }], regionalData: 'na' },
    ...{
      lastIncident: null,
      currentStateDuration: 5,
      createDateTime: '2026-01-01',
      apiKey: 'm1-x',
      groupId: 0,
    },
  };
  const answer = { nextLink: null, data: [monitor, { friendlyName: 'UDP', type: 'UDP', url: 'x' }] };
  const reading = readImport(JSON.stringify(answer), 'x.json', NOW, {});
  t.match(reading.services, [
    {
      ...{ name: 'Shop', paused: true, accept: ['2xx', 401], choice: { slowOverMs: 900, timeoutMs: 30_000 } },
      settings: { certificate: 'ignore', followRedirects: false, assertions: ['body contains 200 ✓'] },
      texts: { note: 'Tags: prod' },
    },
  ]);
  t.match(reading.skipped, [
    { entry: 'UDP' },
    { entry: 'contact 9', reason: 'the file has only its number' },
  ]);
  t.match(reading.notCarried, [{ entry: 'Shop', field: 'regionalData' }]);
  t.equal(reading.notCarried.length, 1);
  const table = (interval: number, ...more: string[]) =>
    [
      'Type,Friendly Name,URL/IP,Interval,Alert Contact,Keyword Type,Keyword Value,Port',
      `1,Shop,https://shop.example.com/,${interval},1861777,,,`,
      ...more,
    ].join('\n');
  t.match(
    readImport(table(5, 'Keyword,Page,https://page.example.com/,60,,exists,Error,'), 'x.csv', NOW, {}),
    {
      format: 'uptimerobot',
      services: [
        { name: 'Shop', kind: 'root', choice: { intervalMs: 300_000 } },
        { settings: { assertions: ['body lacks Error'] }, choice: { intervalMs: 3_600_000 } },
      ],
      notCarried: [{ entry: 'Shop', field: 'alertContacts' }],
    },
  );
  t.match(readImport(table(300, 'Port,DB,db.example.com,300,,,,5432'), 'x.csv', NOW, {}).services, [
    { choice: { intervalMs: 300_000 } },
    { kind: 'tcp', domain: 'db.example.com', settings: { port: 5432 } },
  ]);
});

t.test('it reads the monitors and heartbeats of Better Stack', async (t) => {
  const reading = fixture('better-stack.json');
  t.equal(reading.format, 'better-stack');
  t.match(reading.services, [
    {
      ...{ name: 'Uptime homepage', kind: 'http', paused: false, texts: { note: 'Group: Backend services' } },
      settings: { assertions: ['body contains We call you'], headers: ['Content-Type: application/xml'] },
      choice: { intervalMs: 30_000, timeoutMs: 15_000, confirmAfterMs: [120_000] },
    },
    {
      ...{ name: 'Guard', accept: [307], settings: { followRedirects: false }, paused: true },
      choice: { intervalMs: 900_000, confirmAfterMs: [] },
    },
    { name: 'Ping', kind: 'icmp', domain: '192.0.2.4', choice: { timeoutMs: 2_000 } },
    { name: 'Mail', kind: 'smtp', settings: { port: 25, security: 'plain' } },
    { name: 'IMAP', kind: 'tcp', settings: { port: 993 } },
    { name: 'DNS', kind: 'dns', domain: 'example.com', settings: { server: '192.0.2.53' } },
    {
      ...{ name: 'Testing heartbeat', kind: 'heartbeat', periodMs: 10_800_000, graceMs: 300_000 },
      pushToken: 'abcd1234abcd1234abcd1234',
    },
  ]);
  t.match(reading.skipped, [
    { entry: 'Game', reason: 'monitors of type udp have no equal here' },
    { entry: 'Maintenance of Testing heartbeat', reason: 'its times cannot be read' },
  ]);
  t.match(documentsOf(reading), [
    {
      ...{ list: 'maintenances', title: 'Maintenance of Uptime homepage', services: ['Uptime homepage'] },
      ...{ time_zone: 'Europe/Amsterdam', starts_at: '2026-11-30T01:02', duration: '122m' },
      recurrence: /BYDAY=MO,TU/,
    },
  ]);
  t.same(
    reading.notCarried.map(({ entry, field }) => `${entry}: ${field}`),
    [
      ...['call', 'sms', 'email', 'push', 'ssl_expiration', 'domain_expiration'].map(
        (field) => `Uptime homepage: ${field}`,
      ),
      ...['Guard: regions', 'Guard: ip_version', 'Mail: port'],
      ...['url', 'email', 'push', 'team_wait', 'heartbeat_group_id'].map(
        (field) => `Testing heartbeat: ${field}`,
      ),
    ],
  );
  const table =
    'URL,Pronounceable name,Monitor type,Check frequency,Verify SSL\nhttps://a.example/,A,status,60,false\n';
  t.match(readImport(table, 'x.csv', NOW, {}).services, [
    {
      name: 'A',
      kind: 'http',
      accept: ['2xx'],
      settings: { certificate: 'ignore' },
      choice: { intervalMs: 60_000 },
    },
  ]);
});
