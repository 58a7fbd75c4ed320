/** Sites of Upptime as services, a page and channels. */
import t from 'tap';
import { readImport } from '../../../src/cli/import/read-import.ts';
import { documentsOf, fixture } from './imported-fixture.ts';

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
