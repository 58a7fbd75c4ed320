/** Jobs of Prometheus that probe as services. */
import { join } from 'node:path';
import t from 'tap';
import { readImport, readImportFile } from '../../../src/cli/import/read-import.ts';
import { reasonsOf, summaryOf } from './reading-summaries.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');

const fixture = (name: string) => readImportFile(join(FIXTURES, name), 0);

const asJson = (document: unknown) => readImport(JSON.stringify(document), 'x.json');

t.test('it reads jobs of Prometheus that probe by blackbox_exporter', async (t) => {
  for (const file of ['prometheus', 'prometheus/prometheus.yml']) {
    const { format, services, skipped, notCarried } = await fixture(file);
    t.equal(format, 'prometheus');
    t.strictSame(summaryOf(services), [
      ['http://shop.example', 'root', 'http://shop.example/', null],
      ['https://shop.example/login', 'root', 'https://shop.example/login', null],
      ['plain.example:8080', 'root', 'http://plain.example:8080/', null],
      [
        ...['API', 'http', 'api.shop.example'],
        {
          path: '/health',
          headers: ['Origin: example.com'],
          assertions: [
            'body lacks maintenance',
            'body matches "status": ?"ok"',
            'header Access-Control-Allow-Origin matches (\\*|example\\.com)',
          ],
        },
      ],
      ['Database', 'tcp', 'db.shop.example', { port: 5432 }],
      ['Mail', 'smtp', 'mail.shop.example', { port: 25, security: 'starttls' }],
      ['Shell', 'ssh', 'ssh.shop.example', { port: 22 }],
      ['Name server', 'dns', 'example.com', { record: 'A', server: '192.0.2.53' }],
      ['POP', 'tls', 'pop.shop.example', { port: 995 }],
      ['shop.example', 'icmp', 'shop.example', null],
    ]);
    t.match(services[0], {
      accept: ['2xx'],
      choice: { intervalMs: 90_000, timeoutMs: 5_000 },
      texts: { note: 'Job: blackbox\nTags: env: production' },
    });
    t.match(services.at(-1)?.choice, { intervalMs: 15_000, timeoutMs: 5_000 });
    t.match(skipped, [{ entry: 'https://own.example', reason: /"our_own"/ }]);
    t.same(
      reasonsOf(notCarried),
      [
        'prometheus: scrape_configs',
        'blackbox-files: file_sd_configs',
        'API: fail_if_body_not_matches_regexp',
        'Name server: ip_protocol_fallback',
        'Name server: validate_answer_rrs',
        'POP: query_response',
        'blackbox-icmp: dns_sd_configs',
        'the file: alerting',
      ],
      file,
    );
  }
});

t.test('jobs alone are read, and rules with any value', async (t) => {
  const probe = [{ source_labels: ['__address__'], target_label: '__param_target' }];
  const job = { job_name: 'j', metrics_path: '/probe', params: { module: ['icmp'] } };
  const targets = [
    { targets: ['a.example'], labels: { probed: 'true' } },
    { targets: ['b.example'], labels: { probed: 'false' } },
  ];
  const keep = { source_labels: ['probed'], action: 'keep', regex: true };
  t.match(asJson([{ ...job, static_configs: targets, relabel_configs: [keep, ...probe] }]), {
    format: 'prometheus',
    services: [{ domain: 'a.example', kind: 'icmp' }],
    skipped: [],
  });
  const wrong = { ...probe[0], regex: '(' };
  t.match(asJson([{ ...job, static_configs: targets, relabel_configs: [wrong] }]).skipped, [
    { entry: 'a.example', reason: /cannot be read/ },
    { entry: 'b.example' },
  ]);
});

t.test('a list of targets alone is imported as far as it tells what is checked', async (t) => {
  const { services, skipped, notCarried } = asJson([
    { targets: ['https://a.example/x', 'b.example:9100'], labels: { team: 'shop' } },
    { targets: ['c.example:5432'], labels: { module: 'tcp_connect' } },
  ]);
  t.strictSame(summaryOf(services), [
    ['https://a.example/x', 'root', 'https://a.example/x', null],
    ['c.example:5432', 'tcp', 'c.example', { port: 5432 }],
  ]);
  t.match(skipped, [{ entry: 'b.example:9100', reason: /prometheus\.yml/ }]);
  t.same(reasonsOf(notCarried), ['https://a.example/x: module']);
});
