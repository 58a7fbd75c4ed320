/** Answers of the API of StatusCake as services. */
import { join } from 'node:path';
import t from 'tap';
import { readImport, readImportFile } from '../../../src/cli/import/read-import.ts';
import { reasonsOf, summaryOf } from './reading-summaries.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');

const fixture = (name: string) => readImportFile(join(FIXTURES, name), 0);

const asJson = (document: unknown) => readImport(JSON.stringify(document), 'x.json');

t.test('it reads answers of the API of StatusCake', async (t) => {
  const list = await fixture('statuscake-uptime.json');
  t.match(list.services, [
    {
      ...{ name: 'shop.example', domain: 'www.shop.example', kind: 'root', accept: null },
      ...{ choice: { intervalMs: 300_000 }, texts: { note: 'Tags: testing' } },
    },
  ]);
  t.same(reasonsOf(list.skipped), ['Port']);
  t.same(reasonsOf(list.notCarried), ['the file: conditions', 'shop.example: contact_groups']);

  const { services, skipped, notCarried } = await fixture('statuscake-test.json');
  t.match(services, [
    {
      settings: {
        ...{ method: 'POST', followRedirects: true, headers: ['User-Agent: Mozilla/5.0'] },
        assertions: ['body contains Hello, world'],
      },
      secrets: { body: 'key=value', secretHeaders: ['Authorization: Bearer abc123'] },
      choice: { intervalMs: 3_600_000, timeoutMs: 10_000 },
      texts: { note: 'Host: AWS\nTags: testing' },
    },
  ]);
  const accepted = services[0]?.accept ?? [];
  t.ok(accepted.includes(200) && accepted.includes(302) && accepted.includes('1xx'));
  t.ok(accepted.length <= 50, 'a check takes them');
  t.notOk([204, 303, 404, 503].some((code) => accepted.includes(code)));
  t.same(skipped, []);
  t.same(
    notCarried.map(({ field }) => field),
    ['contact_groups', 'final_endpoint', 'servers', 'trigger_rate'],
  );
});

t.test('other tests of StatusCake, and those of its older API', async (t) => {
  const contact_groups: string[] = [];
  const { services, skipped, notCarried } = asJson([
    {
      data: [
        { id: '1', name: 'Nightly job', url: 'https://push.example/?PK=a', period: 1800, contact_groups },
      ],
    },
    { data: [{ id: '2', website_url: 'https://shop.example', check_rate: 86_400, alert_at: [1, 7, 30] }] },
    { data: [{ id: '3', name: 'Speed', website_url: 'https://shop.example', alert_bigger: 5 }] },
    {
      data: {
        ...{ name: 'DNS', website_url: 'shop.example', test_type: 'DNS', timeout: 5, check_rate: 60 },
        ...{ dns_ips: ['192.0.2.1'], dns_server: '192.0.2.53' },
      },
    },
    {
      TestID: 4,
      Paused: true,
      TestType: 'HTTP',
      WebsiteName: 'Old',
      WebsiteURL: 'https://old.example/',
      CheckRate: 60,
    },
    {
      ...{
        TestID: 5,
        TestType: 'HTTP',
        WebsiteName: 'Secret',
        URI: 'https://secret.example/',
        CheckRate: 60,
      },
      ...{ Timeout: 20, BasicUser: 'u', FindString: 'gone', DoNotFind: true },
    },
    { TestID: 6, TestType: 'TCP', WebsiteName: 'Port', URI: 'tcp.example', Timeout: 20, Port: 25 },
  ]);
  t.strictSame(summaryOf(services), [
    ['Nightly job', 'heartbeat', 'nightly-job', null],
    ['shop.example (certificate)', 'tls', 'shop.example', null],
    ['DNS', 'dns', 'shop.example', { record: 'A', server: '192.0.2.53', values: ['192.0.2.1'] }],
    ['Old', 'root', 'old.example', null],
    ['Secret', 'http', 'secret.example', { assertions: ['body lacks gone'] }],
    ['Port', 'tcp', 'tcp.example', { port: 25 }],
  ]);
  t.match(services, [{ periodMs: 1_800_000, graceMs: null }, {}, {}, { paused: true }, { paused: true }, {}]);
  t.same(reasonsOf(skipped), ['Speed']);
  t.same(reasonsOf(notCarried), [
    'the file: conditions',
    'Nightly job: url',
    'entry 2: alert_at',
    'Secret: basic_password',
  ]);
});
