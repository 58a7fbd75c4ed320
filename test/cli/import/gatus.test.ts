/** Endpoints of Gatus as services. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PLAIN_SERVICE } from '../../../src/cli/import/listed-service.ts';
import { readImport } from '../../../src/cli/import/read-import.ts';
import { describeLost, describeSkipped } from '../../../src/cli/import-services.ts';
import { STATUS_CLASSES } from '../../../src/domain/service.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');

const fixture = (name: string) => readImport(readFileSync(join(FIXTURES, name), 'utf8'), name);

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

const gatus = (...endpoints: readonly object[]) => readImport(JSON.stringify({ endpoints }), 'gatus.json');

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
