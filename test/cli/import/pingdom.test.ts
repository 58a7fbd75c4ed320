/** Checks of Pingdom as services. */
import { join } from 'node:path';
import t from 'tap';
import { readImport, readImportFile } from '../../../src/cli/import/read-import.ts';
import { reasonsOf, summaryOf } from './reading-summaries.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');

const fixture = (name: string) => readImportFile(join(FIXTURES, name), 0);

const asJson = (document: unknown) => readImport(JSON.stringify(document), 'x.json');

t.test('it reads checks of Pingdom, and pauses those of which the list tells the host alone', async (t) => {
  const { format, services, skipped, notCarried } = await fixture('pingdom-checks.json');
  t.equal(format, 'pingdom');
  t.strictSame(summaryOf(services), [
    ['My check 1', 'root', 'example.com', null],
    ['My check 2', 'icmp', 'mydomain.example', null],
    [
      ...['My check 7', 'http', 's7.mydomain.example'],
      {
        ...{ path: '/login?a=b', port: 8443, headers: ['X-Mode: probe'] },
        assertions: ['body contains Welcome', 'time below 2300'],
      },
    ],
    ['My check 7 (certificate)', 'tls', 's7.mydomain.example', { port: 8443, minDays: 10 }],
    ['Mail', 'tcp', 'mail.mydomain.example', { port: 110, banner: '+OK' }],
    ['DNS', 'dns', 'dns.mydomain.example', { record: 'A', server: '192.0.2.53', values: ['192.0.2.7'] }],
  ]);
  t.match(services, [
    { paused: true, choice: { intervalMs: 60_000, timeoutMs: 30_000 }, texts: { note: 'Tags: apache' } },
    { paused: true },
    { paused: false, accept: ['2xx', '3xx'], secrets: { username: 'probe', password: 'secret' } },
    {},
    {},
    {},
  ]);
  t.match(skipped, [
    { entry: 'My check 3', reason: /"tcp"/ },
    { entry: 'UDP', reason: /"udp"/ },
  ]);
  t.same(reasonsOf(notCarried), [
    'My check 1: responsetime_threshold',
    'My check 1: type',
    'My check 7: integrationids',
  ]);
  const one = {
    ...{ hostname: 'a.example', name: 'A', resolution: 1, verify_certificate: false },
    type: { http: { url: '/', encryption: true, port: 443, postdata: 'a=b' } },
  };
  t.match(asJson({ check: one }).services, [
    {
      settings: {
        ...{ method: 'POST', certificate: 'ignore', followRedirects: true },
        headers: ['Content-Type: application/x-www-form-urlencoded'],
      },
    },
  ]);
});
