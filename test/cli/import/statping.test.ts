/** Services of Statping, from services.yml and from an export. */
import { join } from 'node:path';
import t from 'tap';
import { readImportFile } from '../../../src/cli/import/read-import.ts';
import { listsOf, reasonsOf, summaryOf } from './reading-summaries.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');

const fixture = (name: string) => readImportFile(join(FIXTURES, name), 0);

t.test('it reads services.yml of Statping', async (t) => {
  const { format, services, skipped, notCarried } = await fixture('statping-services.yml');
  t.equal(format, 'statping');
  t.strictSame(summaryOf(services), [
    ['Shop', 'root', 'shop.example', { followRedirects: true }],
    [
      ...['JSON API Tester', 'http', 'api.shop.example'],
      {
        ...{ path: '/posts', method: 'POST', certificate: 'ignore', followRedirects: false },
        headers: ['X-Mode: probe', 'Content-Type: application/json'],
        assertions: ['body matches (title)": "((\\\\"|[statping])*)"'],
      },
    ],
    ['Postgres', 'tcp', '192.0.2.17', { port: 5432 }],
    ['Router', 'icmp', '192.0.2.1', null],
    ['Backend', 'grpc', 'grpc.shop.example', { port: 50_051, plain: true }],
  ]);
  t.match(services, [
    { accept: [200], method: 'GET', choice: { intervalMs: 30_000, timeoutMs: 30_000 } },
    { accept: [201], secrets: { secretHeaders: ['Authorization: Bearer abc'] } },
    { visibility: 'private', choice: { intervalMs: 60_000 } },
    {},
    {},
  ]);
  t.same(reasonsOf(skipped), ['Game', 'By hand']);
  t.same(reasonsOf(notCarried), ['Shop: permalink', 'JSON API Tester: expected', 'Postgres: timeout']);
});

t.test('it reads an export of Statping with its groups, notifiers and checkins', async (t) => {
  const { services, items, skipped, notCarried } = await fixture('statping-export.json');
  t.match(services, [
    { name: 'Shop', settings: { certificate: 'ignore', assertions: ['body contains Welcome'] } },
    { name: 'DNS', kind: 'tcp', texts: { note: 'Group: Main Services' } },
    { name: 'Private Service', visibility: 'private' },
    { name: 'Nightly backup', domain: 'nightly-backup', kind: 'heartbeat', periodMs: 3_600_000 },
  ]);
  const events = ['down', 'up'];
  t.strictSame(listsOf(items), [
    [
      'channels',
      { name: 'slack', kind: 'slack', settings: { url: 'https://hooks.slack.com/services/T0/B0/x' } },
    ],
    ['rules', { name: 'slack', services: ['Shop'], channels: ['slack'], events, after: '90s' }],
    ['rules', { name: 'slack (2)', services: ['DNS'], channels: ['slack'], events }],
    ['channels', { name: 'telegram', kind: 'telegram', settings: { token: '123:ABC', chat: '-1001' } }],
    ['rules', { name: 'telegram', services: ['Shop'], channels: ['telegram'], events, after: '90s' }],
    ['rules', { name: 'telegram (2)', services: ['DNS'], channels: ['telegram'], events }],
    [
      'pages',
      {
        ...{ slug: 'shop-status', title: 'Shop Status', text: 'How the shop is doing' },
        custom_domain: 'status.shop.example',
        groups: [{ name: 'Main Services', services: [{ service: 'DNS', name: 'DNS' }, 'Shop'] }],
      },
    ],
  ]);
  t.same(reasonsOf(skipped), ['notifier twilio']);
  t.same(reasonsOf(notCarried), [
    'Nightly backup: api_key',
    'the file: messages',
    'the file: users',
    'Shop Status: footer',
  ]);
});
