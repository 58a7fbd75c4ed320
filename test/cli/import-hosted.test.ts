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
