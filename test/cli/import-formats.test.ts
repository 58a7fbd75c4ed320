/** What import reads of the files of others, and what it says of the rest. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { PLAIN_SERVICE } from '../../src/cli/import/listed-service.ts';
import { exportServices, readCell, writeCell } from '../../src/cli/import/own-form.ts';
import { readImport, readImportFile } from '../../src/cli/import/read-import.ts';
import { describeLost, describeSkipped } from '../../src/cli/import-services.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { DEFAULT_CHECK, STATUS_CLASSES } from '../../src/domain/service.ts';
import { unknownStatus } from '../../src/domain/status/current.ts';
import { service } from '../site/site-world.ts';
import { anyText } from '../support/any-text.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const fixture = (name: string) => readImport(readFileSync(join(FIXTURES, name), 'utf8'), name);

t.test('it reads CSV with any order of columns', async (t) => {
  const text =
    '\uFEFFName,Domain,kind,category,colour\n"Shop, the big one",shop.example,health,ecommerce,red\n,bücher.de,,,\nHome,Localhost,,\nBad,,,\nMore,more.example,,,,x\n';
  t.same(readImport(text, 'list.csv'), {
    format: 'csv',
    services: [
      {
        ...PLAIN_SERVICE,
        domain: 'shop.example',
        name: 'Shop, the big one',
        kind: 'health',
        category: 'ecommerce',
      },
      { ...PLAIN_SERVICE, domain: 'xn--bcher-kva.de', name: 'xn--bcher-kva.de' },
      // What may be named depends on the account.
      { ...PLAIN_SERVICE, domain: 'localhost', name: 'Home' },
      { ...PLAIN_SERVICE, domain: 'more.example', name: 'More' },
    ],
    items: [],
    skipped: [{ entry: 'Bad', reason: 'it has no domain' }],
    notCarried: [
      { entry: 'Shop, the big one', field: 'colour', reason: 'it is not known' },
      { entry: 'More', field: 'column 6', reason: 'it is not known' },
    ],
  });
});

t.test('it reads our own YAML and JSON, with the check of a catalogue entry', async (t) => {
  const expected = {
    format: 'upbeat',
    services: [
      {
        ...PLAIN_SERVICE,
        domain: 'a.example',
        name: 'A',
        url: 'https://a.example/x',
        method: 'GET',
        accept: ['2xx', 401],
      },
      {
        ...PLAIN_SERVICE,
        ...{ domain: 'b.example', name: 'b.example', kind: 'heartbeat', category: 'ai' },
        ...{ paused: true, periodMs: 90_000, graceMs: 3_600_000, publicDependencies: true },
      },
      {
        ...PLAIN_SERVICE,
        ...{ domain: 'c.example', name: 'c.example', kind: 'heartbeat' },
        schedule: { cron: '30 3 * * 1-5', timezone: 'Europe/Berlin' },
      },
    ],
    items: [],
    skipped: [],
    notCarried: [{ entry: 'A', field: 'check.caFile', reason: 'it is not known' }],
  };
  const services = [
    {
      domain: 'a.example',
      name: 'A',
      check: { url: 'https://a.example/x', method: 'GET', accept: ['2xx', 401], caFile: 'x.pem' },
    },
    {
      ...{ domain: 'b.example', kind: 'heartbeat', category: 'ai', paused: true },
      ...{ period: '90s', grace: '1h', public_dependencies: true },
    },
    { domain: 'c.example', kind: 'heartbeat', schedule: '30 3 * * 1-5', timezone: 'Europe/Berlin' },
  ];
  t.same(readImport(JSON.stringify({ services }), 'x.json'), expected);
  t.same(readImport(`\uFEFF${JSON.stringify(services)}`, 'x.json'), expected);
});

t.test('it reads the services of a file of apply, and names what it leaves out', async (t) => {
  const document = {
    services: [
      { domain: 'a.example', publicDependencies: true, check: { kind: 'tcp', settings: { port: 443 } } },
    ],
    pages: [{ slug: 'acme', title: 'Acme' }],
  };
  t.match(readImport(JSON.stringify(document), 'x.json'), {
    services: [{ domain: 'a.example', kind: 'tcp', settings: { port: 443 }, publicDependencies: true }],
    skipped: [],
    notCarried: [{ entry: 'the file', field: 'pages', reason: /"upbeat apply" reads pages/ }],
  });
});

t.test('it refuses what our own form cannot mean', async (t) => {
  const rows: readonly [object, RegExp][] = [
    [{ kind: 'ping' }, /kind "ping" is not known/],
    [{ category: 'constructor' }, /category "constructor" is not known/],
    [{ accept: ['10xx'] }, /accept must list/],
    [{ url: 'ftp://a.example' }, /must begin with http/],
    [{ url: 'https://user:secret@a.example/' }, /must begin with http/],
    [{ period: 'often' }, /durations/],
    [{ schedule: 'daily' }, /cron expression/],
    [{ schedule: '0 0 30 2 *' }, /never occurs/],
    [{ schedule: '@daily', timezone: 'Mars' }, /no such time zone/],
    [{ timezone: 'UTC' }, /needs a schedule/],
    [{ period: '1h', schedule: '@daily' }, /either a period or a schedule/],
    [{ paused: 'perhaps' }, /true or false/],
  ];
  for (const [row, reason] of rows)
    t.match(readImport(JSON.stringify([{ domain: 'a.example', ...row }]), 'x.json').skipped, [{ reason }]);
});

const MINUTELY = { intervalMs: 60_000, timeoutMs: 48_000 };

t.test("it reads Uptime Kuma's backup, and says what it cannot carry over", async (t) => {
  const { services, items, skipped, notCarried, format } = fixture('uptime-kuma-1.23-backup.json');
  t.equal(format, 'uptime-kuma');
  t.same(services, [
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'shop.example.com', name: 'Shop', method: 'GET', accept: ['2xx'] },
      choice: { ...MINUTELY, confirmAfterMs: [60_000, 60_000] },
      texts: { note: 'Group: Web\nTags: prod' },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'api.example.com', name: 'API health', kind: 'http', accept: [200, 204, 205, 206] },
      settings: { path: '/health?full=1', port: 8443, assertions: ['body lacks maintenance'] },
      secrets: { secretHeaders: ['X-Token: s3cret'] },
      choice: MINUTELY,
      texts: { note: 'behind the balancer' },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'login.example.com', name: 'Login (staging)', kind: 'http', paused: true },
      accept: ['2xx', '3xx', 401],
      settings: {
        ...{ path: '/session', method: 'POST', certificate: 'ignore', followRedirects: true },
        headers: ['Content-Type: application/json'],
      },
      secrets: { body: '{"user":"probe"}', username: 'probe', password: 'hunter2' },
      choice: { ...MINUTELY, confirmAfterMs: [60_000] },
    },
    {
      ...PLAIN_SERVICE,
      ...{
        domain: 'backup.example.com',
        name: 'backup.example.com',
        kind: 'heartbeat',
        periodMs: 86_400_000,
        graceMs: 1_000,
        pushToken: 'Q2hhbmdlTWU',
      },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'my-nightly-job', name: 'My nightly job', kind: 'heartbeat' },
      ...{ periodMs: 86_400_000, graceMs: 1_000, pushToken: 'Zm9vYmFy' },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: '192.0.2.1', name: 'Router', kind: 'icmp', choice: MINUTELY },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'db.example.com', name: 'Database', kind: 'tcp', settings: { port: 5432 } },
      choice: MINUTELY,
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'nas', name: 'NAS', url: 'http://nas:5000/', method: 'GET' },
      accept: ['2xx'],
      choice: MINUTELY,
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: '192.0.2.2', name: 'Switch', kind: 'icmp', choice: MINUTELY },
    },
  ]);
  const names = { service: ({ domain }: { domain: string }) => domain, has: () => true };
  t.same(
    items.map(({ list, document }) => [list, document(names)]),
    [
      ['channels', { name: 'Mail', kind: 'email', settings: { to: 'ops@example.com' } }],
      ['rules', { name: 'Mail', services: ['shop.example.com'], channels: ['Mail'] }],
      [
        'rules',
        {
          ...{ name: 'Mail (2)', channels: ['Mail'], events: ['down', 'up'] },
          services: ['api.example.com', 'login.example.com'],
        },
      ],
      [
        'pages',
        {
          ...{ slug: 'uptime-kuma-groups', title: 'Groups of Uptime Kuma', access: 'members' },
          groups: [{ name: 'Web', services: ['shop.example.com'] }],
        },
      ],
    ],
  );
  t.strictSame(describeSkipped(skipped), [
    'left out: Must not answer: a monitor that is upside down has no equal here',
  ]);
  const lines = describeLost(notCarried);
  for (const field of [
    ...['proxy of the file', 'smtpHost of Mail', 'isDefault of Mail', 'proxyId of Login (staging)'],
    ...['maxredirects of Login (staging)', 'accepted_statuscodes of Login (staging)'],
  ])
    t.ok(
      lines.some((line) => line.startsWith(`not carried over: ${field}`)),
      field,
    );
  t.notMatch(lines.join('\n'), /hunter2|s3cret/, 'no secret is repeated');
  t.notMatch(lines.join('\n'), /weight|dns_resolve|kafka|packetSize|pathName/, 'nor what says nothing');
  t.notMatch(
    lines.join('\n'),
    /: (?:keyword|invertKeyword|headers|method|body|basic_auth_user) of/,
    'nor what is',
  );
});

t.test("it reads Uptime Kuma's monitors that are no web pages", async (t) => {
  const monitorList = [
    { type: 'ping', name: 'Host', hostname: 'host.example.com', packetSize: 1_400 },
    {
      ...{ type: 'websocket-upgrade', name: 'Live', url: 'wss://live.example.com/feed' },
      ...{ wsSubprotocol: 'v1', accepted_statuscodes: ['1000'] },
    },
    {
      type: 'websocket-upgrade',
      name: 'Lax',
      url: 'ws://a.example:81',
      wsIgnoreSecWebsocketAcceptHeader: true,
    },
    { type: 'websocket-upgrade', name: 'Nowhere', url: 'https://a.example' },
    {
      ...{ type: 'grpc-keyword', name: 'Orders', grpcUrl: 'orders.example.com:50051', grpcEnableTls: true },
      ...{ grpcServiceName: 'Health', grpcMethod: 'check', grpcBody: '{"service": "shop.Orders"}' },
      ...{ grpcProtobuf: 'syntax = "proto3";', keyword: 'SERVING', grpcMetadata: '{"a":"b"}' },
    },
    {
      ...{ type: 'grpc-keyword', name: 'Carts', grpcUrl: 'carts.example.com:50051' },
      ...{ grpcServiceName: 'Carts', grpcMethod: 'list', keyword: 'x' },
    },
  ];
  const { services, skipped, notCarried } = readImport(JSON.stringify({ monitorList }), 'kuma.json');
  t.same(services, [
    { ...PLAIN_SERVICE, domain: 'host.example.com', name: 'Host', kind: 'icmp' },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'live.example.com', name: 'Live', kind: 'websocket' },
      settings: { path: '/feed', subprotocol: 'v1' },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'a.example', name: 'Lax', kind: 'websocket', settings: { plain: true, port: 81 } },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'orders.example.com', name: 'Orders', kind: 'grpc' },
      settings: { service: 'shop.Orders', port: 50_051 },
    },
  ]);
  t.match(describeSkipped(skipped), [
    /^left out: Nowhere: it has no domain/,
    /^left out: Carts: of gRPC, only /,
  ]);
  t.match(describeLost(notCarried), [
    /^not carried over: packetSize of Host: /,
    /^not carried over: wsIgnoreSecWebsocketAcceptHeader of Lax: /,
    /^not carried over: grpcMetadata of Orders: /,
  ]);
});

/** A service without an interval of its own there. */
const EVERY_MINUTE = { ...PLAIN_SERVICE, choice: { intervalMs: 60_000 } };

t.test("it reads Gatus' endpoints that are no web pages", async (t) => {
  const endpoints = [
    {
      name: 'Database',
      url: 'tcp://db.example.com:5432',
      conditions: ['[CONNECTED] == true', '[RESPONSE_TIME] < 9'],
    },
    {
      name: 'Mail',
      url: 'tls://mail.example.com:465',
      conditions: ['[CONNECTED] == true', '[CERTIFICATE_EXPIRATION] > 300h'],
    },
    { name: 'Nowhere', url: 'tcp://db.example.com:70000' },
    {
      ...{
        name: 'Jump',
        url: 'ssh://jump.example.com:22',
        ssh: { username: 'ada', password: 'x' },
        body: '{}',
      },
      conditions: ['[CONNECTED] == true', '[STATUS] == 0'],
    },
    { name: 'Name', url: 'https://www.example.com/', conditions: ['[DOMAIN_EXPIRATION] > 720h'] },
    {
      name: 'Relay',
      url: 'starttls://relay.example.com:587',
      conditions: ['[CONNECTED] == true', '[CERTIFICATE_EXPIRATION] > 48h'],
    },
    {
      name: 'Live',
      url: 'wss://live.example.com:8443/feed?v=2',
      body: 'hello',
      conditions: ['[CONNECTED] == true', '[BODY] == pat(*welcome*)', '[BODY].id > 3'],
    },
    {
      name: 'Orders',
      url: 'grpcs://orders.example.com:50051',
      conditions: ['[CONNECTED] == true', '[BODY].status == "SERVING"'],
    },
    { name: 'Carts', url: 'grpc://carts.example.com:50051' },
    { name: 'Plain', url: 'ws://plain.example.com', conditions: ['[CONNECTED] == true'] },
  ];
  const { services, skipped, notCarried } = readImport(JSON.stringify({ endpoints }), 'gatus.json');
  t.same(services, [
    {
      ...EVERY_MINUTE,
      ...{ domain: 'db.example.com', name: 'Database', kind: 'tcp', settings: { port: 5432 } },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'mail.example.com', name: 'Mail', kind: 'tls', settings: { port: 465, minDays: 13 } },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'jump.example.com', name: 'Jump', kind: 'ssh', settings: { port: 22 } },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'www.example.com', name: 'Name', kind: 'domain', settings: { minDays: 30 } },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'relay.example.com', name: 'Relay', kind: 'smtp' },
      settings: { port: 587, security: 'starttls', minDays: 2 },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'live.example.com', name: 'Live', kind: 'websocket' },
      settings: { path: '/feed?v=2', port: 8443, contains: 'welcome' },
      secrets: { send: 'hello' },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'orders.example.com', name: 'Orders', kind: 'grpc', settings: { port: 50_051 } },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'carts.example.com', name: 'Carts', kind: 'grpc' },
      settings: { port: 50_051, plain: true },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'plain.example.com', name: 'Plain', kind: 'websocket', settings: { plain: true } },
    },
  ]);
  t.match(describeLost(notCarried), [
    /^not carried over: condition \[RESPONSE_TIME\] of Database: /,
    /^not carried over: ssh of Jump: /,
    /^not carried over: body of Jump: /,
    /^not carried over: condition \[BODY\] of Live: /,
  ]);
  t.same(describeSkipped(skipped), ['left out: Nowhere: the setting port must be at most 65535']);
});

t.test("it reads the first document of Gatus' files alone, and passes over tags, as Gatus does", (t) => {
  const text = [
    'endpoints:',
    '  - !web',
    '    name: !text 12',
    '    url: !secret https://a.example/',
    '    conditions: !list ["[STATUS] == 200"]',
    '---',
    'endpoints: [{ name: B, url: "https://b.example/" }]',
  ].join('\n');
  const further = {
    entry: 'the file',
    field: '---',
    reason: 'Gatus reads the first document of a file alone',
  };
  const { services, skipped, notCarried } = readImport(text, 'gatus.yaml');
  t.match(services, [{ name: '12', domain: 'a.example' }]);
  t.same([services.length, skipped, notCarried], [1, [], [{ ...further, entry: notCarried[0]?.entry }]]);
  t.throws(() => readImport('services: []\n---\nservices: []', 'upbeat.yaml'), /must be one document/);
  t.end();
});

t.test("it reads Gatus' configuration, and says what it cannot carry over", async (t) => {
  const { services, skipped, notCarried, format } = fixture('gatus-config.yaml');
  t.equal(format, 'gatus');
  t.same(services, [
    {
      ...EVERY_MINUTE,
      ...{ domain: 'front.example.com', name: 'front', category: 'ecommerce', kind: 'http', accept: [200] },
      settings: { assertions: ['time below 300'] },
      choice: { intervalMs: 30_000 },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'front.example.com', name: 'front (certificate)', category: 'ecommerce', kind: 'tls' },
      settings: { port: 443, minDays: 2 },
      choice: { intervalMs: 30_000 },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'api.example.com', name: 'api', kind: 'http', accept: [200, 429] },
      settings: { path: '/v1', certificate: 'ignore', assertions: ['json $.status is UP'] },
      secrets: { secretHeaders: ['Authorization: Bearer hunter2'] },
      choice: { intervalMs: 60_000, timeoutMs: 5_000 },
      texts: { note: 'Group: core' },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'old.example.com', name: 'old', kind: 'http', paused: true },
      accept: ['2xx', '3xx', 401],
      settings: { plain: true, method: 'PATCH' },
      texts: { note: 'Group: core' },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'example.com', name: 'dns', kind: 'dns' },
      settings: { record: 'A', server: '8.8.8.8' },
    },
    { ...EVERY_MINUTE, domain: 'host.example.com', name: 'ssh', kind: 'ssh', settings: { port: 22 } },
    { ...EVERY_MINUTE, domain: 'example.com', name: 'ping', kind: 'icmp' },
    { ...EVERY_MINUTE, domain: 'example.org', name: 'ping two', kind: 'icmp' },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'cron.example.com', name: 'cron.example.com', kind: 'heartbeat', periodMs: 1_800_000 },
    },
  ]);
  t.strictSame(describeSkipped(skipped), []);
  const lines = describeLost(notCarried);
  for (const field of [...['storage of the file', 'security of the file'], ...['token of cron.example.com']])
    t.ok(
      lines.some((line) => line.startsWith(`not carried over: ${field}`)),
      field,
    );
  t.notMatch(lines.join('\n'), /CONNECTED|hunter2/);
});

t.test("texts of Gatus' files are as they stand there, whatever they look like", async (t) => {
  const headers = {
    'X-Mode': '0644',
    'X-Version': '1.10',
    'X-Octal': '0o17',
    'X-On': 'yes',
    'X-Is': 'True',
    'X-Hex': '0x1F',
  };
  const lines = [...Object.entries(headers), ['X-None', '~'], ['X-Quoted', '"1.0"']].map((line) =>
    line.join(': '),
  );
  const body = '012345678901234567890';
  for (const text of [
    `x-h: &h { X-Mode: 0644 }\nendpoints:\n- name: 2.10\n  url: https://a.example/\n  method: POST\n  body: ${body}\n  conditions: ["[STATUS] == 200"]\n  headers:\n    <<: *h\n    ${lines.slice(1).join('\n    ')}\n`,
    `{"endpoints":[{"name":2.10,"url":"https://a.example/","method":"POST","body":${body},"headers":{${Object.entries(
      headers,
    )
      .map(([name, value]) => `"${name}":${value}`)
      .join()},"X-None":null,"X-Quoted":"1.0"}}]}`.replace('"X-Mode":0644', '"X-Mode":"0644"'),
  ]) {
    const { services } = readImport(text, 'gatus.yaml');
    t.match(services, [{ name: '2.10', secrets: { body } }], text);
    const wanted = [...Object.entries(headers), ['X-None', ''], ['X-Quoted', '1.0']].map((line) =>
      line.join(': '),
    );
    t.same(new Set(Object(services[0]?.settings).headers), new Set(wanted));
  }
});

t.test("it reads merge keys, aliases and the booleans of Gatus' files as Gatus does", async (t) => {
  const { services, notCarried } = readImport(
    `defaults: &defaults
  interval: 15m
  enabled: yes
  conditions: ["[STATUS] == 204"]
client: &client { insecure: no, ignore-redirect: on, timeout: 1m30s }
endpoints:
  - name: One
    <<: *defaults
    url: https://one.lab.example/
  - name: Two
    !!merge <<: [{ enabled: n }, *defaults]
    url: https://two.lab.example/ping
    client: *client
    conditions: ["[STATUS] == 200"]
external-endpoints:
  - { <<: *defaults, name: cron.lab.example, enabled: Off }
`,
    'gatus.yaml',
  );
  t.same(services, [
    {
      ...EVERY_MINUTE,
      ...{ domain: 'one.lab.example', name: 'One', accept: [204] },
      choice: { intervalMs: 900_000 },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'two.lab.example', name: 'Two', accept: [200], paused: true },
      ...{ url: 'https://two.lab.example/ping', settings: { followRedirects: false } },
      choice: { intervalMs: 900_000, timeoutMs: 90_000 },
    },
    {
      ...PLAIN_SERVICE,
      ...{
        domain: 'cron.lab.example',
        name: 'cron.lab.example',
        kind: 'heartbeat',
        paused: true,
        periodMs: 365 * 86_400_000,
      },
    },
  ]);
  t.match(notCarried, [{ entry: 'cron.lab.example', field: 'heartbeat' }]);
});

t.test(
  'a file of any length may repeat one set of defaults, and no short one expands without end',
  async (t) => {
    const endpoints = Array.from(
      { length: 2_000 },
      (_, number) =>
        `  - { <<: *defaults, name: n${number}, url: "https://n${number}.example/", client: *client }`,
    );
    const text = `x: &defaults { interval: 1m, enabled: yes }\ny: &client { timeout: 2s }\nendpoints:\n${endpoints.join('\n')}`;
    t.equal(readImport(text, 'gatus.yaml').services.length, 2_000);
    const bomb = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}, *a${at}]`);
    for (const bad of [
      `a0: &a0 [x]\n${bomb.join('\n')}\nendpoints: *a30`,
      'endpoints: &a\n  - *a',
      `a0: &a0 {k0: 1}\n${Array.from({ length: 2_000 }, (_, at) => `a${at + 1}: &a${at + 1} {<<: *a${at}, k${at + 1}: 1}`).join('\n')}`,
    ])
      t.throws(() => readImport(bad, 'gatus.yaml'), { code: 'bad_import' });
  },
);

/** What becomes of a monitor of Uptime Kuma at https://a.example/. */
function readMonitor(row: object) {
  const monitor = { name: 'A', url: 'https://a.example/', method: 'GET', ...row };
  return readImport(JSON.stringify({ monitorList: [monitor] }), 'kuma.json');
}

t.test('requests and expectations of Uptime Kuma become those of an http check', async (t) => {
  const rows: readonly (readonly [object, settings: object, secrets?: object])[] = [
    [{ type: 'keyword', keyword: 'ok' }, { assertions: ['body contains ok'] }],
    [
      { type: 'json-query', jsonPath: '$.status', expectedValue: 'ok' },
      { assertions: ['json $.status is ok'] },
    ],
    [
      { type: 'json-query', jsonPath: 'a[0].b', jsonPathOperator: '>', expectedValue: '3' },
      { assertions: ['json $.a[0].b above 3'] },
    ],
    [
      { type: 'json-query', jsonPath: 'n', jsonPathOperator: '>=', expectedValue: '3' },
      { assertions: ['json $.n above 2.999999'] },
    ],
    [
      { type: 'json-query', jsonPath: 'n', jsonPathOperator: '<=', expectedValue: '0.5' },
      { assertions: ['json $.n below 0.500001'] },
    ],
    [
      { type: 'http', headers: '{"Accept":"text/plain","Cookie":"a=1"}' },
      { headers: ['Accept: text/plain'] },
      { secretHeaders: ['Cookie: a=1'] },
    ],
    [
      { type: 'http', url: 'http://ada:p%40ss@a.example:81/x?y=1#z' },
      { path: '/x?y=1', plain: true, port: 81 },
      { username: 'ada', password: 'p@ss' },
    ],
    [
      { type: 'http', method: 'put', body: '{"a":"b c"}', httpBodyEncoding: 'form', maxredirects: 0 },
      { method: 'PUT', headers: ['Content-Type: application/x-www-form-urlencoded'] },
      { body: 'a=b+c' },
    ],
  ];
  for (const [row, settings, secrets = null] of rows) {
    const { services, skipped, notCarried } = readMonitor(row);
    const title = JSON.stringify(row);
    t.match(services, [{ kind: 'http', domain: 'a.example', url: null }], title);
    t.same(services[0]?.settings, settings, title);
    t.same(services[0]?.secrets, secrets, title);
    t.same([skipped, notCarried], [[], []], title);
  }
  const redirects: readonly (readonly [object, kind: string, settings: object | null])[] = [
    [{ type: 'http', maxredirects: 0 }, 'root', { followRedirects: false }],
    [{ type: 'http', maxredirects: '0' }, 'root', { followRedirects: false }],
    [{ type: 'keyword', keyword: 'a', maxredirects: 0 }, 'http', { followRedirects: false }],
    [{ type: 'http', method: 'POST' }, 'http', { followRedirects: true }],
  ];
  for (const [row, kind, settings] of redirects) {
    const { services, notCarried } = readMonitor(row);
    t.match(
      { services, notCarried },
      { services: [{ kind, settings }], notCarried: [] },
      JSON.stringify(row),
    );
  }
  const kept = readMonitor({ type: 'http' });
  t.match(
    kept.services,
    [{ kind: 'root', method: 'GET', settings: null }],
    'a plain request stays a plain check',
  );
});

t.test('it says of a request what it cannot carry over, and takes the rest', async (t) => {
  const rows: readonly (readonly [object, lost: string])[] = [
    [
      { type: 'json-query', jsonPath: '$count(items)', expectedValue: '3' },
      'jsonPath of A: "json $count(items) is 3" is no expectation that a check can have',
    ],
    [
      { type: 'json-query', jsonPath: 'n', jsonPathOperator: '>=', expectedValue: 'x' },
      'jsonPath of A: "json $.n >= x" is no expectation that a check can have',
    ],
    [
      { type: 'port', hostname: 'a.example', port: 993, smtpSecurity: 'secure', expiryNotification: true },
      'smtpSecurity of A: add a service of the kind "tls" for the certificate',
    ],
    [
      { type: 'port', hostname: 'a.example', port: 993, expectedTlsAlert: 'certificate_required' },
      'expectedTlsAlert of A: a port that refuses TLS counts as up',
    ],
    [
      { type: 'http', method: 'GET', body: '{}' },
      'body of A: the setting body must be one of POST, PUT, PATCH',
    ],
    [
      { type: 'http', method: 'TRACE', maxredirects: 0 },
      'method of A: the setting method must be one of GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE',
    ],
    [{ type: 'http', maxredirects: 20 }, 'maxredirects of A: up to 5 redirects are followed'],
    [{ type: 'http', headers: 'no json' }, 'headers of A: they are no object in JSON'],
    [{ type: 'http', headers: '{"Host":"b","X-A":"1"}' }, 'headers of A: a check cannot send "Host"'],
    [
      { type: 'http', authMethod: 'ntlm', basic_auth_user: 'ada' },
      'authMethod of A: checks sign in by basic authentication, a token, a certificate or headers alone',
    ],
    [
      { type: 'http', basic_auth_user: 'a:b', basic_auth_pass: 'hunter2' },
      'basic authentication of A: the setting username must be a name without a colon',
    ],
  ];
  for (const [row, expected] of rows) {
    const { services, notCarried } = readMonitor(row);
    const lines = describeLost(notCarried);
    t.ok(lines.includes(`not carried over: ${expected}`), `${expected}\n${lines.join('\n')}`);
    t.equal(services.length, 1, expected);
    t.notMatch(lines.join(), /hunter2/);
  }
});

t.test('times become those of the check, where they are within its bounds', async (t) => {
  const monitors: readonly (readonly [object, choice: object, lost?: string])[] = [
    [
      { interval: 20, timeout: 0.5 },
      { intervalMs: 20_000, timeoutMs: 500 },
    ],
    [
      { interval: 30, maxretries: 1, retryInterval: 20 },
      { intervalMs: 30_000, confirmAfterMs: [20_000] },
    ],
    [{ maxretries: 0, retryInterval: 20 }, {}],
    [
      { interval: 20, timeout: 30 },
      { intervalMs: 20_000 },
      'timeout of A: timeout must not be longer than the interval',
    ],
    [{ interval: 200_000 }, {}, 'interval of A: interval must be at most 1d'],
    [{ maxretries: 11, retryInterval: 20 }, {}, 'confirmAfter of A: confirmAfter '],
    [{ interval: 'often' }, {}, 'interval of A: interval '],
  ];
  for (const [row, choice, lost] of monitors) {
    const { services, notCarried } = readMonitor({ type: 'port', hostname: 'a.example', port: 22, ...row });
    const title = JSON.stringify(row);
    t.strictSame(services[0]?.choice, choice, title);
    const [line = ''] = describeLost(notCarried);
    t.ok(line.startsWith(lost === undefined ? '' : `not carried over: ${lost}`), `${title}: ${line}`);
    t.equal(notCarried.length, lost === undefined ? 0 : 1, title);
  }
  const endpoint = { name: 'A', url: 'tcp://a.example:22', interval: '1m30s', client: { timeout: '2s' } };
  t.match(readImport(JSON.stringify({ endpoints: [endpoint] }), 'gatus.json'), {
    services: [{ choice: { intervalMs: 90_000, timeoutMs: 2_000 } }],
    notCarried: [],
  });
  const page = { name: 'A', url: 'https://a.example', client: { 'ignore-redirect': true } };
  t.match(readImport(JSON.stringify({ endpoints: [page] }), 'gatus.json'), {
    services: [{ kind: 'root', settings: { followRedirects: false } }],
    notCarried: [],
  });
  const odd = { ...endpoint, interval: '1m 30' };
  t.match(readImport(JSON.stringify({ endpoints: [odd] }), 'gatus.json').notCarried, [{ field: 'interval' }]);
});

const gatus = (...endpoints: readonly object[]) => readImport(JSON.stringify({ endpoints }), 'gatus.json');

t.test('conditions of Gatus become expectations', async (t) => {
  const rows: readonly (readonly [condition: string, lines: string | readonly string[] | null])[] = [
    ['[RESPONSE_TIME] <= 250', 'time below 251'],
    ['[RESPONSE_TIME] < 1.5s', 'time below 1500'],
    ['300ms > [RESPONSE_TIME]', 'time below 300'],
    ['[RESPONSE_TIME] > 5', 'time above 5'],
    ['[RESPONSE_TIME] >= 5', 'time above 4'],
    ['[BODY] == ok', 'body is ok'],
    ['ok == [BODY]', 'body is ok'],
    ['[BODY] == ', 'body matches ^\\s*$'],
    ['[BODY] == pat(*<h1>Welcome*)', 'body contains <h1>Welcome'],
    ['pat(*<h1>*) == [body]', 'body contains <h1>'],
    ['[BODY] != pat(*error*)', 'body lacks error'],
    ['[BODY] == pat(a.b*c)', 'body matches (?s)^\\s*a\\.b.*c\\s*$'],
    ['[BODY] == pat(a?[0-9]*)', 'body matches (?s)^\\s*a.[0-9]'],
    ['[BODY] == pat(*\\*done)', 'body matches (?s)\\*done\\s*$'],
    ['[BODY] == pat(*)', []],
    ['[BODY] == any(ok, fine)', 'body matches ^\\s*(?:ok|fine)\\s*$'],
    ['[BODY] != any(bad, worse)', ['body is not bad', 'body is not worse']],
    ['[BODY].status == UP', 'json $.status is UP'],
    ['UP == [BODY].status', 'json $.status is UP'],
    ['[BODY].status == "all good"', 'json $.status is all good'],
    ['[BODY].status == true', 'json $.status is true'],
    ['[BODY].status == ""', 'json $.status matches ^$'],
    ['[BODY].data[0].name != x', 'json $.data[0].name is not x'],
    ['[BODY][0].id == 1', 'json $[0].id is 1'],
    ['[BODY].a-b == 1', "json $['a-b'] is 1"],
    ['[BODY].größe == 1', "json $['größe'] is 1"],
    ['[BODY].n < 5', 'json $.n below 5'],
    ['5 > [BODY].n', 'json $.n below 5'],
    ['[BODY].n <= 5', 'json $.n below 6'],
    ['[BODY].n >= 5', 'json $.n above 4.999999'],
    ['[BODY].n > 0.5', 'json $.n above 0.5'],
    ['[BODY] > 3', 'json $ above 3'],
    ['[BODY].name == pat(john*)', 'json $.name matches (?s)^john'],
    ['[BODY].name != pat(*x*)', 'json $.name lacks x'],
    ['[BODY].status == any(UP, DEGRADED)', 'json $.status matches ^(?:UP|DEGRADED)$'],
    ['has([BODY].id) == true', 'json $.id exists'],
    ['has([BODY].id) != false', 'json $.id exists'],
    ['has([BODY].errors) == false', 'json $.errors missing'],
    ['has([BODY].errors) != true', 'json $.errors missing'],
    ['has([BODY]) == true', 'body matches \\S'],
    ['len([BODY].items) > 0', 'json $.items matches ^(?:\\[[^\\]]|[^\\[])'],
    ['len([BODY]) > 0', 'body matches ^\\s*(?:\\[\\s*[^\\]\\s]|[^\\[\\s])'],
    ['len([BODY].errors) == 0', 'json $.errors matches ^(?:\\[\\])?$'],
    ['[CONNECTED] == true', []],
    ['[CONNECTED] != false', []],
    ['[BODY].age == [BODY].id', null],
    ['[BODY].name != pat(john*)', null],
    ['len([BODY].name) == 8', null],
    ['[BODY].n < many', null],
    ['[DOMAIN_EXPIRATION] < 720h', null],
    ['[CERTIFICATE_EXPIRATION] != 0', null],
    ['[IP] == pat(10.*)', null],
    ['[CONTEXT].id == 1', null],
    ['nonsense', null],
  ];
  for (const [condition, given] of rows) {
    const endpoint = { name: 'A', url: 'https://a.example/', conditions: ['[BODY] != x', condition] };
    const { services, notCarried } = gatus(endpoint);
    const lines = typeof given === 'string' ? [given] : given;
    t.same(services[0]?.settings?.assertions, ['body is not x', ...(lines ?? [])], condition);
    t.equal(notCarried.length, lines === null ? 1 : 0, condition);
    if (lines === null) t.ok(notCarried[0]?.reason.startsWith(JSON.stringify(condition)), condition);
  }
});

t.test('conditions of Gatus become accepted statuses', async (t) => {
  const rows: readonly (readonly [conditions: readonly string[], accept: readonly unknown[]])[] = [
    [['[STATUS] < 300'], ['1xx', '2xx']],
    [['300 > [STATUS]'], ['1xx', '2xx']],
    [['[STATUS] == pat(2*)'], ['2xx']],
    [
      ['[STATUS] == pat(20?)', '[STATUS] <= 201'],
      [200, 201],
    ],
    [['[STATUS] != pat(5*)'], ['1xx', '2xx', '3xx', '4xx', '6xx', '7xx', '8xx', '9xx']],
    [['[STATUS] == any(200, 429)'], [200, 429]],
    [['[STATUS] == any(200, 999)'], [200, 999]],
    [['[STATUS] == 999'], [999]],
    [
      ['[STATUS] != any(500,502)', '[STATUS] >= 500', '[STATUS] < 504'],
      [501, 503],
    ],
  ];
  for (const [conditions, accept] of rows)
    t.match(gatus({ name: 'A', url: 'https://a.example/', conditions }), {
      services: [{ accept }],
      notCarried: [],
    });
});

t.test('a status of Gatus that must not come leaves a check with few rules', async (t) => {
  const { services, notCarried } = gatus({
    ...{ name: 'A', url: 'https://a.example/', conditions: ['[STATUS] != 404', '[STATUS] != 500'] },
  });
  t.match(services, [
    {
      kind: 'http',
      accept: STATUS_CLASSES,
      settings: { assertions: ['status is not 404', 'status is not 500'] },
    },
  ]);
  t.same(notCarried, []);
});

t.test('endpoints of Gatus that are healthy only where nothing answers are left out', async (t) => {
  const url = 'https://a.example/';
  const dns = { 'query-name': 'a.example', 'query-type': 'A' };
  const rows: readonly object[] = [
    { url, conditions: ['[CONNECTED] == false'] },
    { url, conditions: ['[STATUS] == 0'] },
    { url: 'tcp://a.example:22', conditions: ['[CONNECTED] != true'] },
    { url: '1.1.1.1', dns, conditions: ['[DNS_RCODE] == NXDOMAIN'] },
    { url: '1.1.1.1', dns, conditions: ['[DNS_RCODE] == any(NXDOMAIN, SERVFAIL)'] },
    { url: '1.1.1.1', dns, conditions: ['[DNS_RCODE] != NOERROR'] },
    { url: 'udp://a.example:53', conditions: ['[CONNECTED] == true'] },
    { url: 'sctp://a.example:53', conditions: ['[CONNECTED] == true'] },
  ];
  for (const row of rows) {
    const { services, skipped } = gatus({ name: 'A', ...row });
    t.same(services, [], JSON.stringify(row));
    t.equal(skipped.length, 1);
  }
});

t.test(
  'what Gatus expects of a certificate, a registration and an address becomes services beside',
  async (t) => {
    const conditions = [
      ...['[STATUS] == 200', '[CERTIFICATE_EXPIRATION] > 240h', '[DOMAIN_EXPIRATION] >= 720h0m0s'],
      ...['[IP] == 192.0.2.1', '[CONNECTED] == true'],
    ];
    const page = { name: 'A', group: 'lab', url: 'https://a.example:8443/x', interval: '5m', conditions };
    const common = { domain: 'a.example', texts: { note: 'Group: lab' }, choice: { intervalMs: 300_000 } };
    const { services, notCarried } = gatus(page);
    t.match(services, [
      { ...common, name: 'A', kind: 'root', accept: [200] },
      { ...common, name: 'A (certificate)', kind: 'tls', settings: { port: 8443, minDays: 10 } },
      { ...common, name: 'A (domain)', kind: 'domain', settings: { minDays: 30 } },
      { ...common, name: 'A (address)', kind: 'dns', settings: { record: 'A', values: ['192.0.2.1'] } },
    ]);
    t.same(notCarried, []);
    const insecure = gatus({ ...page, client: { insecure: 'yes' }, conditions: conditions.slice(0, 2) });
    t.match(insecure.notCarried, [{ entry: 'A', field: 'condition [CERTIFICATE_EXPIRATION]' }]);
    t.equal(insecure.services.length, 1);
    const port = gatus({
      ...{ name: 'B', url: 'tcp://b.example:22', interval: '5m' },
      conditions: ['[CONNECTED] == true', '[DOMAIN_EXPIRATION] > 24h', '[IP] == 192.0.2.1'],
    });
    t.match(port.services, [
      { domain: 'b.example', kind: 'tcp' },
      { domain: 'b.example', kind: 'domain', settings: { minDays: 1 } },
      { domain: 'b.example', kind: 'dns', settings: { values: ['192.0.2.1'] } },
    ]);
    t.same(port.notCarried, []);
  },
);

t.test('variables of Gatus are those of the environment', async (t) => {
  const text = `endpoints:
  - { name: One, url: "https://\${HOST}/$PATH_1", headers: { X-Price: "5$$ a piece" }, conditions: ["[STATUS] == 200"] }
  - { name: Two, url: "https://b.example/\${NOWHERE}", conditions: ["[STATUS] == 200"] }
  - { name: Three, url: "https://b.example/\${NOWHERE:-x}", conditions: ["[STATUS] == 200"] }
`;
  const { services, skipped } = readImport(text, 'gatus.yaml', 0, { HOST: 'a.example', PATH_1: 'x' });
  t.match(services, [{ domain: 'a.example', settings: { path: '/x', headers: ['X-Price: 5$ a piece'] } }]);
  t.equal(services.length, 1);
  t.same(skipped, [
    { entry: 'Two', reason: 'it needs the environment variable NOWHERE, which is not set' },
    { entry: 'Three', reason: 'it needs the environment variable NOWHERE:-x, which is not set' },
  ]);
});

t.test('what else an endpoint of Gatus has is kept, or named', async (t) => {
  const url = 'https://a.example/';
  const rows: readonly (readonly [endpoint: object, service: object, lost?: string])[] = [
    [{ 'extra-labels': { env: 'lab' }, group: 'core' }, { texts: { note: 'Group: core\nTags: env: lab' } }],
    [{ ui: { 'hide-url': true } }, {}, 'ui'],
    [{ client: { 'proxy-url': 'http://proxy:3128' } }, {}, 'client.proxy-url'],
    [{ client: { 'dns-resolver': 'tcp://1.1.1.1:53' } }, {}, 'client.dns-resolver'],
    [{ client: { oauth2: { 'client-id': 'a' } } }, {}, 'client.oauth2'],
    [{ client: { tls: { 'certificate-file': 'a.pem' } } }, {}, 'client.tls'],
    [{ url: 'wss://a.example/', client: { insecure: true } }, { kind: 'websocket' }, 'client.insecure'],
    [
      { method: 'POST', body: '{"of":"[ENDPOINT_GROUP]/[ENDPOINT_NAME]"}', group: 'core' },
      { secrets: { body: '{"of":"core/A"}' } },
    ],
    [{ method: 'POST', body: '[RANDOM_STRING_8]' }, {}, 'body'],
    [{ url: 'ssh://a.example' }, { kind: 'ssh', settings: { port: 22 } }],
    [{ url: 'tcp://[2001:db8::1]:22' }, { kind: 'tcp', settings: { port: 22 } }],
    [{ url: 'icmp://2001:db8::1' }, { kind: 'icmp', domain: '2001:db8::1' }],
    [{ url: 'tcp://a.example:25', body: 'EHLO' }, { kind: 'tcp' }, 'body'],
    [{ client: { 'store-cookies': true } }, {}, 'client.store-cookies'],
    [
      {
        url: '1.1.1.1',
        dns: { 'query-name': 'a.example', 'query-type': 'A' },
        conditions: ['[DNS_RCODE] == any(NOERROR, NXDOMAIN)', 'len([BODY]) > 0', 'has([BODY]) == true'],
      },
      { kind: 'dns', settings: { server: '1.1.1.1', record: 'A' } },
    ],
    [
      { url: 'ws://a.example/', body: 'hi', conditions: ['[BODY] == pat(a*b)'] },
      { settings: { plain: true, matches: '(?s)^\\s*a.*b\\s*$' } },
    ],
  ];
  for (const [endpoint, service, lost] of rows) {
    const { services, notCarried, skipped } = gatus({ name: 'A', url, ...endpoint });
    const title = JSON.stringify(endpoint);
    t.match(services, [service], title);
    t.same(skipped, [], title);
    t.same(
      notCarried.map(({ field }) => field),
      lost === undefined ? [] : [lost],
      title,
    );
  }
  const external = [
    { name: 'Nightly job', token: 'x', heartbeat: { interval: '1h30m' } },
    { name: 'nightly_job' },
  ];
  const suites = [{ name: 'Login', endpoints: [{ name: 'a', url }] }];
  t.match(readImport(JSON.stringify({ 'external-endpoints': external, suites }), 'gatus.json'), {
    services: [
      { domain: 'nightly-job', name: 'Nightly job', kind: 'heartbeat', periodMs: 5_400_000 },
      { domain: 'nightly-job-2', periodMs: 365 * 86_400_000 },
    ],
    notCarried: [
      { entry: 'Nightly job', field: 'token' },
      { entry: 'nightly_job', field: 'heartbeat' },
    ],
    skipped: [{ entry: 'Login' }],
  });
});

t.test('alerts and maintenance of Gatus become channels, rules and maintenance', async (t) => {
  const text = `
alerting:
  slack:
    webhook-url: https://hooks.slack.com/services/T0/B0/x
    title: Oh
    default-alert: { failure-threshold: 5, send-on-resolved: on }
    overrides: [{ group: core, webhook-url: "https://hooks.slack.com/services/T0/B1/y" }]
  telegram: { token: "123:ABC", id: -1001 }
  ntfy: { topic: lab, token: tk_x, url: "https://ntfy.example.com" }
  email: { from: a@example.com, host: mail.example.com, port: 25, to: "a@example.com,b@example.com" }
  twilio: { sid: x }
  gotify: { server-url: "https://gotify.example.com", token: "\${GOTIFY}" }
maintenance: { start: "23:30", duration: 1h, timezone: Europe/Berlin, every: [Monday, Sunday] }
endpoints:
  - name: A
    url: https://a.example/
    conditions: ["[STATUS] == 200"]
    alerts: [{ type: slack, description: Look }, { type: telegram, minimum-reminder-interval: 1h }, { type: twilio }]
  - name: B
    group: core
    interval: 30s
    url: https://b.example/
    conditions: ["[STATUS] == 200"]
    alerts: [{ type: slack }, { type: ntfy, failure-threshold: 1 }, { type: ntfy, enabled: no }, { type: gotify }]
    maintenance-windows: [{ start: "02:00", duration: 90m }]
  - { name: C, url: "https://c.example/", alerts: [{ type: slack }, { type: email }] }
`;
  const { items, skipped, notCarried } = readImport(
    text,
    'gatus.yaml',
    Date.parse('2026-11-28T12:00:00Z'),
    {},
  );
  const names = { service: ({ domain }: { domain: string }) => domain, has: () => true };
  t.same(
    items.map((item) => [item.list, item.document(names)]),
    [
      [
        'channels',
        { name: 'slack', kind: 'slack', settings: { url: 'https://hooks.slack.com/services/T0/B0/x' } },
      ],
      [
        'rules',
        {
          ...{ name: 'slack', services: ['a.example', 'c.example'], channels: ['slack'] },
          ...{ events: ['down', 'up'], after: '4m' },
        },
      ],
      ['channels', { name: 'telegram', kind: 'telegram', settings: { token: '123:ABC', chat: '-1001' } }],
      [
        'rules',
        {
          ...{ name: 'telegram', services: ['a.example'], channels: ['telegram'] },
          ...{ events: ['down'], after: '2m', repeat: '1h' },
        },
      ],
      [
        'channels',
        { name: 'slack (2)', kind: 'slack', settings: { url: 'https://hooks.slack.com/services/T0/B1/y' } },
      ],
      [
        'rules',
        {
          ...{ name: 'slack (2)', services: ['b.example'], channels: ['slack (2)'] },
          ...{ events: ['down', 'up'], after: '2m' },
        },
      ],
      [
        'channels',
        {
          ...{ name: 'ntfy', kind: 'ntfy' },
          settings: { topic: 'lab', token: 'tk_x', server: 'https://ntfy.example.com' },
        },
      ],
      ['rules', { name: 'ntfy', services: ['b.example'], channels: ['ntfy'], events: ['down'] }],
      ['channels', { name: 'email', kind: 'email', settings: { to: 'a@example.com' } }],
      ['channels', { name: 'email (2)', kind: 'email', settings: { to: 'b@example.com' } }],
      [
        'rules',
        {
          ...{ name: 'email', services: ['c.example'], channels: ['email', 'email (2)'] },
          ...{ events: ['down'], after: '2m' },
        },
      ],
      [
        'maintenances',
        {
          ...{
            title: 'Maintenance',
            time_zone: 'Europe/Berlin',
            starts_at: '2026-11-29T23:30',
            duration: '60m',
          },
          ...{ recurrence: 'FREQ=WEEKLY;BYDAY=SU,MO', services: ['a.example', 'b.example', 'c.example'] },
        },
      ],
      [
        'maintenances',
        {
          ...{ title: 'Maintenance of B', time_zone: 'UTC', starts_at: '2026-11-28T02:00', duration: '90m' },
          ...{ recurrence: 'FREQ=DAILY', services: ['b.example'] },
        },
      ],
    ],
  );
  t.match(skipped, [
    { entry: 'alerting.twilio', reason: /provider/ },
    { entry: 'alerting.gotify', reason: /GOTIFY/ },
  ]);
  t.same(
    new Set(notCarried.map(({ entry, field }) => `${field} of ${entry}`)),
    new Set(['title of alerting.slack', 'alerts.description of A', 'host of alerting.email']),
  );
});

t.test('a GraphQL query of Gatus is sent as JSON', async (t) => {
  const query = { name: 'A', url: 'https://a.example/q', method: 'POST', graphql: true, body: '{ ok }' };
  t.match(readImport(JSON.stringify({ endpoints: [query] }), 'gatus.json').services, [
    {
      accept: [...STATUS_CLASSES],
      settings: {
        path: '/q',
        method: 'POST',
        headers: ['Content-Type: application/json'],
      },
      secrets: { body: '{"query":"{ ok }"}' },
    },
  ]);
});

t.test('DNS queries become dns checks', async (t) => {
  const monitor = { type: 'dns', name: 'A', hostname: 'a.example', dns_resolve_type: 'MX', port: 53 };
  const equals = (value: string) => ({ type: 'expression', variable: 'record', operator: 'equals', value });
  const conditions = (...list: object[]) => ({ conditions: JSON.stringify(list) });
  const rows: readonly (readonly [object, settings: object, lost?: string])[] = [
    [{ dns_resolve_server: '1.1.1.1' }, { record: 'MX', server: '1.1.1.1' }],
    [{}, { record: 'MX' }],
    [
      { dns_resolve_server: '1.1.1.1, 8.8.8.8', port: 5353 },
      { record: 'MX', server: '1.1.1.1', port: 5353 },
      'dns_resolve_server',
    ],
    [conditions(equals('10 mail.a.example')), { record: 'MX', values: ['10 mail.a.example'] }],
    [conditions(equals('a'), equals('b')), { record: 'MX' }, 'conditions'],
    [{ conditions: '{' }, { record: 'MX' }, 'conditions'],
  ];
  for (const [row, settings, lost] of rows) {
    const text = JSON.stringify({ monitorList: [{ ...monitor, ...row }] });
    const { services, notCarried } = readImport(text, 'kuma.json');
    t.match(services, [{ kind: 'dns', domain: 'a.example' }], text);
    t.strictSame(services[0]?.settings, settings, text);
    t.same(
      notCarried.map(({ field }) => field),
      lost === undefined ? [] : [lost],
      text,
    );
  }
  const dns = { 'query-name': 'a.example.', 'query-type': 'TXT' };
  const values = ['[DNS_RCODE] == NOERROR', '[BODY] == v=1', '[RESPONSE_TIME] < 5'];
  const endpoints = [{ name: 'A', url: '[2001:db8::53]:5353', dns, conditions: values }];
  t.match(readImport(JSON.stringify({ endpoints }), 'gatus.json'), {
    services: [
      {
        ...{ kind: 'dns', domain: 'a.example' },
        settings: { record: 'TXT', server: '2001:db8::53', port: 5353, values: ['v=1'] },
      },
    ],
    notCarried: [{ field: 'condition [RESPONSE_TIME]' }],
  });
});

t.test('it makes one line of thousands of equal reasons', async (t) => {
  const monitors = Array.from({ length: 9_900 }, (_, index) => ({ type: 'radius', name: `Topic ${index}` }));
  t.strictSame(describeSkipped(readImport(JSON.stringify({ monitorList: monitors }), 'x.json').skipped), [
    'left out: 9,900 entries, such as Topic 0: monitors of type radius have no equal here',
  ]);
});

t.test('it says what is wrong with a file that holds no list', async (t) => {
  t.throws(() => readImport('a: [', 'x.yaml'), {
    code: 'bad_import',
    message: /^x\.yaml is neither JSON nor YAML/,
  });
  for (const text of ['{"a":1}', '[]extra', 'null', '3', '"services"'])
    t.throws(() => readImport(text, 'x.json'), { code: 'bad_import' });
  t.throws(() => readImport('a,b\n1,2\n', 'x.csv'), { code: 'bad_import', message: /"domain" \(Upbeat\)/ });
  for (const mark of [',', ';', '\t'])
    t.match(readImport(`domain${mark}name\nshop.example.com${mark}Shop\n`, 'x.csv'), {
      services: [{ domain: 'shop.example.com', name: 'Shop' }],
    });
});

t.test('it writes cells that no spreadsheet computes, and reads them back as they were', async (t) => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '＝1', "'=1", "''-1", '\t=1', '\r=1', '=\u202e1'])
    t.match(writeCell(text), /^'|^\\u/, JSON.stringify(text));
  for (const text of ['plain', "it's", "'quoted'", 'a=b', '2xx 401', 'back\\slash', 'Ünïcode'])
    t.equal(writeCell(text), text, 'what is harmless stays as it is');
  const any = fc.string({
    unit: fc.constantFrom("'", '=', '-', '\\', 'u', '{', '}', '4', '\u202e', '\u001b', 'x', '\n'),
  });
  fc.assert(fc.property(any, (text) => readCell(writeCell(text)) === text));
  fc.assert(fc.property(anyText(), (text) => readCell(writeCell(text)) === text));
  t.equal(readCell('\\u{FFFFFF}'), '\\u{FFFFFF}');
});

t.test('it reads and writes times and regions in our own form', async (t) => {
  const members = {
    interval: '30s',
    timeout: '5s',
    slowOver: '800ms',
    confirmAfter: ['1s', '2s'],
    regions: ['eu', 'us'],
  };
  const choice = {
    ...{ intervalMs: 30_000, timeoutMs: 5_000, slowOverMs: 800 },
    ...{ confirmAfterMs: [1_000, 2_000], regions: ['eu', 'us'] },
  };
  for (const row of [members, { check: members }, { ...members, confirmAfter: '1s 2s', regions: 'eu us' }]) {
    const { services, notCarried } = readImport(JSON.stringify([{ domain: 'a.example', ...row }]), 'x.json');
    t.strictSame([services[0]?.choice, notCarried], [choice, []]);
  }
  const state = {
    service: service(1, 'a', {
      origin: 'owner',
      accountId: 1,
      check: { ...DEFAULT_CHECK, ...choice, confirmAfterMs: [] },
    }),
    ...{ current: unknownStatus(1), memory: NO_MEMORY, openIncident: null },
  };
  for (const format of ['csv', 'yaml', 'json'] as const) {
    const { services } = readImport(await exportServices([state], format), `x.${format}`);
    t.strictSame(services[0]?.choice, { ...choice, confirmAfterMs: [] }, format);
  }
  t.match(
    readImport(JSON.stringify([{ domain: 'a.example', interval: '500ms', regions: 'EU' }]), 'x.json').skipped,
    [
      {
        reason: 'regions must be names of regions such as "eu us", interval must be at least 1s',
      },
    ],
  );
});

t.test('a file may be in UTF-16, as PowerShell writes what a command prints', async (t) => {
  const text = '\uFEFFendpoints:\r\n- { name: Küche, url: "https://one.example/" }\r\n';
  const folder = t.testdir({ 'gatus.yaml': Buffer.from(text, 'utf16le') });
  const { services } = await readImportFile(`${folder}/gatus.yaml`, 0);
  t.match(services, [{ name: 'Küche', domain: 'one.example' }]);
});

t.test('the YAML files of a folder are one configuration of Gatus', async (t) => {
  const folder = t.testdir({
    '..data': { 'old.yaml': 'endpoints: [{ name: Old, url: "https://old.example/" }]' },
    'a.yaml': `x-common: &common { interval: 5m, conditions: ["[STATUS] == 200"] }
alerting: { slack: { webhook-url: "https://hooks.slack.com/services/T/B/x", default-alert: { enabled: true } } }
endpoints: [{ <<: *common, name: One, url: "https://one.example/", headers: { X-Mode: 0644 }, alerts: [{ type: slack }] }]
`,
    more: {
      'b.yml': `alerting: { slack: { webhook-url: "https://hooks.slack.com/services/T/B/y" } }
endpoints:
  - { name: Two, url: "https://two.example/", headers: { X-Version: 1.10 }, conditions: ["[STATUS] == 200"], alerts: [{ type: slack }] }
`,
      'notes.txt': 'endpoints: []',
    },
  });
  const { format, services, items, notCarried } = await readImportFile(folder, 0);
  t.equal(format, 'gatus');
  t.match(services, [
    { domain: 'one.example', settings: { headers: ['X-Mode: 0644'] }, choice: { intervalMs: 300_000 } },
    { domain: 'two.example', settings: { headers: ['X-Version: 1.10'] } },
  ]);
  t.same(
    items.map(({ list }) => list),
    ['channels', 'rules', 'rules'],
  );
  t.match(notCarried, [{ entry: 'the file', field: 'alerting.slack.webhook-url' }]);
  await t.rejects(readImportFile(t.testdir({ 'a.yaml': 'x: 1' }), 0), { code: 'bad_import' });
});
