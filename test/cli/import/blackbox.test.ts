/** Modules of blackbox_exporter as checks. */
import t from 'tap';
import { readImport } from '../../../src/cli/import/read-import.ts';

const asJson = (document: unknown) => readImport(JSON.stringify(document), 'x.json');

t.test('modules of blackbox_exporter become checks, or are named', async (t) => {
  const rows: readonly (readonly [
    target: string,
    module: object,
    service: object | null,
    lost?: string[],
  ])[] = [
    [
      'a.example/x',
      { prober: 'http', http: { method: 'POST', body: 'a', basic_auth: { username: 'u', password: 'p' } } },
      {
        domain: 'a.example',
        settings: { path: '/x', plain: true, method: 'POST', followRedirects: true },
        secrets: { username: 'u', password: 'p', body: 'a' },
      },
    ],
    [
      'https://a.example',
      { prober: 'http', http: { valid_status_codes: [200, 401], no_follow_redirects: true } },
      { kind: 'root', accept: [200, 401], settings: { followRedirects: false }, paused: false },
    ],
    [
      'https://a.example',
      {
        prober: 'http',
        http: { bearer_token_file: '/run/token', tls_config: { insecure_skip_verify: true } },
      },
      { kind: 'http', paused: true, settings: { certificate: 'ignore' } },
      ['bearer_token_file'],
    ],
    [
      'https://a.example',
      {
        prober: 'http',
        http: { authorization: { credentials: 't' }, fail_if_body_matches_regexp: ['a.*b'] },
      },
      { secrets: { token: 't' } },
      ['fail_if_body_matches_regexp'],
    ],
    [
      'https://a.example',
      {
        prober: 'http',
        http: { fail_if_header_matches: [{ header: 'Set-Cookie', allow_missing: true, regexp: '.*' }] },
      },
      { settings: { assertions: ['header Set-Cookie missing'] } },
    ],
    ['[2001:db8::1]:443', { prober: 'tcp' }, { domain: '2001:db8::1', settings: { port: 443 } }],
    ['a.example', { prober: 'tcp' }, null],
    [
      'a.example:6667',
      { prober: 'tcp', tcp: { query_response: [{ send: 'NICK a' }, { expect: '001' }] } },
      { kind: 'tcp', settings: { port: 6667 } },
      ['query_response'],
    ],
    [
      'a.example:110',
      { prober: 'tcp', tcp: { query_response: [{ expect: '^READY' }] } },
      { kind: 'tcp', settings: { port: 110, banner: 'READY' } },
    ],
    [
      'a.example:443',
      { prober: 'tcp', tcp: { tls: true, tls_config: { insecure_skip_verify: true } } },
      { kind: 'tcp' },
      ['tls', 'tls_config'],
    ],
    [
      'a.example:50051',
      { prober: 'grpc', grpc: { service: 's' } },
      { settings: { service: 's', plain: true } },
    ],
    ['192.0.2.53', { prober: 'dns', dns: { query_name: 'a.example' } }, null],
    ['192.0.2.53', { prober: 'dns', dns: { query_name: 'a.example', valid_rcodes: ['NXDOMAIN'] } }, null],
    ['a.example', { prober: 'unix' }, null],
  ];
  for (const [target, module, service, lost = []] of rows) {
    const { services, skipped, notCarried } = asJson({
      modules: { m: module },
      scrape_configs: [
        {
          job_name: 'j',
          metrics_path: '/probe',
          params: { module: ['m'] },
          static_configs: [{ targets: [target] }],
          relabel_configs: [{ source_labels: ['__address__'], target_label: '__param_target' }],
        },
      ],
    });
    const title = `${target} ${JSON.stringify(module)}`;
    t.match(services, service === null ? [] : [service], title);
    t.equal(skipped.length, service === null ? 1 : 0, title);
    t.same(
      notCarried.map(({ field }) => field),
      lost,
      title,
    );
  }
});
