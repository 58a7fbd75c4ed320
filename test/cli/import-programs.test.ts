/** What import reads of the files of Prometheus, Statping, cState, StatusCake and Pingdom. */
import { join } from 'node:path';
import t from 'tap';
import type { ListedItem } from '../../src/cli/import/listed-content.ts';
import type { ListedService } from '../../src/cli/import/listed-service.ts';
import { readImport, readImportFile } from '../../src/cli/import/read-import.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const fixture = (name: string) => readImportFile(join(FIXTURES, name), 0);
const asJson = (document: unknown) => readImport(JSON.stringify(document), 'x.json');

/** The names, kinds, hosts and settings of services. */
function summaryOf(services: readonly ListedService[]) {
  return services.map(({ name, kind, domain, url, settings }) => [name, kind, url ?? domain, settings]);
}

function documentsOf(items: readonly ListedItem[]) {
  const names = { service: ({ name }: ListedService) => name, has: () => true };
  return items.map((item) => [item.list, item.document(names)]);
}

function reasonsOf(list: readonly { readonly entry: string; readonly field?: string }[]) {
  return list.map(({ entry, field }) => (field === undefined ? entry : `${entry}: ${field}`));
}

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
  t.strictSame(documentsOf(items), [
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

t.test('it reads the systems of cState that have a link, and its page', async (t) => {
  const { format, services, items, skipped, notCarried } = await fixture('cstate-config.yml');
  t.equal(format, 'cstate');
  t.strictSame(summaryOf(services), [
    ['Backup Gateway', 'root', 'https://gateway.eggsample.example/health', null],
    ['Website', 'root', 'eggsample.example', null],
  ]);
  t.match(documentsOf(items), [
    [
      'pages',
      {
        ...{ slug: 'eggsample-status', title: 'Eggsample Status', text: /^We continuously/ },
        ...{ brand_colour: '#0a0c0f', custom_domain: 'status.eggsample.example' },
        groups: [{ name: 'North Coast', services: ['Backup Gateway'] }, { services: ['Website'] }],
      },
    ],
  ]);
  t.same(reasonsOf(skipped), ['Gateway', 'API']);
  t.same(reasonsOf(notCarried), ['the file: logo', 'the file: categories.description']);
});

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

t.test('contacts and maintenance beside checks of StatusCake and Pingdom are imported', async (t) => {
  const now = Date.parse('2026-11-28T12:00:00Z');
  const read = (document: unknown) => readImport(JSON.stringify(document), 'x.json', now);
  const web = { test_type: 'HTTP', check_rate: 60, timeout: 5, website_url: 'https://a.example/' };
  const cake = read([
    { data: { ...web, id: '1', name: 'A', contact_groups: ['7'], trigger_rate: 5, enable_ssl_alert: true } },
    { data: { ...web, id: '2', name: 'B', contact_groups: ['7'], trigger_rate: 0, tags: ['shop'] } },
    {
      data: [
        {
          ...{ id: '7', name: 'Team', email_addresses: ['a@example.com', 'b@example.com'], ping_url: null },
          ...{ integrations: ['3'], mobile_numbers: [] },
        },
      ],
    },
    {
      data: [
        {
          ...{ id: '9', name: 'Weekly', start_at: '2026-11-02T22:30:00Z', end_at: '2026-11-02T23:30:00Z' },
          ...{
            repeat_interval: '2w',
            timezone: 'Europe/Berlin',
            tests: ['1'],
            tags: ['shop'],
            state: 'pending',
          },
        },
        {
          ...{ id: '10', name: 'Past', start_at: '2026-01-02T22:30:00Z', end_at: '2026-01-02T23:30:00Z' },
          ...{ repeat_interval: 'never', timezone: 'UTC', tests: ['1'], tags: [] },
        },
      ],
    },
  ]);
  const channels = ['Team', 'Team (2)'];
  t.strictSame(documentsOf(cake.items), [
    ['channels', { name: 'Team', kind: 'email', settings: { to: 'a@example.com' } }],
    ['channels', { name: 'Team (2)', kind: 'email', settings: { to: 'b@example.com' } }],
    [
      'rules',
      { name: 'Team', services: ['A'], channels, events: ['down', 'up', 'certificate'], after: '5m' },
    ],
    ['rules', { name: 'Team (2)', services: ['B'], channels, events: ['down', 'up'] }],
    [
      'maintenances',
      {
        ...{ title: 'Weekly', time_zone: 'Europe/Berlin', starts_at: '2026-11-30T23:30', duration: '60m' },
        ...{ recurrence: 'FREQ=DAILY;INTERVAL=14', services: ['A', 'B'] },
      },
    ],
  ]);
  t.match(cake.skipped, [{ entry: 'Past', reason: 'it is over' }]);
  t.same(reasonsOf(cake.notCarried), ['Team: integrations']);

  const cakeAgain = {
    id: '1',
    name: 'A',
    website_url: 'https://a.example/',
    test_type: 'HTTP',
    paused: false,
  };
  t.equal(read([{ data: [cakeAgain] }, { data: { ...cakeAgain, ...web } }]).services.length, 1);
  const target = { hostname: 'a.example', resolution: 5, type: { ping: {} } };
  const at = (time: string) => Date.parse(time) / 1_000;
  const dom = read([
    { checks: [{ ...target, id: 1, name: 'A', type: 'ping' }] },
    { check: { ...target, id: 1, name: 'A', userids: [1], notifyagainevery: 2, notifywhenbackup: true } },
    { check: { ...target, id: 2, name: 'B', userids: [1, 2], notifywhenbackup: false } },
    {
      contacts: [
        {
          ...{ id: 1, name: 'Ada', paused: false },
          notification_targets: {
            email: [{ severity: 'HIGH', address: 'ada@example.com' }],
            sms: [{ number: '1' }],
          },
        },
        {
          id: 2,
          name: 'Bob',
          paused: true,
          notification_targets: { email: [{ address: 'bob@example.com' }] },
        },
      ],
    },
    {
      maintenance: [
        {
          ...{
            id: 1,
            description: 'Monthly',
            from: at('2026-11-05T02:00:00Z'),
            to: at('2026-11-05T03:00:00Z'),
          },
          ...{ recurrencetype: 'month', repeatevery: 1, effectiveto: at('2027-11-05T03:00:00Z') },
          checks: { uptime: [1], tms: [] },
        },
      ],
    },
  ]);
  t.strictSame(documentsOf(dom.items), [
    ['channels', { name: 'Ada', kind: 'email', settings: { to: 'ada@example.com' } }],
    ['rules', { name: 'Ada', services: ['A'], channels: ['Ada'], events: ['down', 'up'], repeat: '10m' }],
    ['rules', { name: 'Ada (2)', services: ['B'], channels: ['Ada'], events: ['down'] }],
    [
      'maintenances',
      {
        ...{ title: 'Monthly', time_zone: 'UTC', starts_at: '2026-12-05T02:00', duration: '60m' },
        ...{ recurrence: 'FREQ=MONTHLY;BYMONTHDAY=5;UNTIL=20271105', services: ['A'] },
      },
    ],
  ]);
  t.match(dom.skipped, [{ entry: 'Bob', reason: 'it is paused' }]);
  t.same(reasonsOf(dom.notCarried), ['Ada: sms']);
});
