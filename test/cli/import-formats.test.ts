/** What import reads of the files of others, and what it says of the rest. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { PLAIN_SERVICE } from '../../src/cli/import/listed-service.ts';
import { readCell, writeCell } from '../../src/cli/import/own-form.ts';
import { readImport } from '../../src/cli/import/read-import.ts';
import { describeLost, describeSkipped } from '../../src/cli/import-services.ts';
import { anyText } from '../support/any-text.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const fixture = (name: string) => readImport(readFileSync(join(FIXTURES, name), 'utf8'), name);

t.test('it reads CSV with any order of columns', async (t) => {
  const text =
    '\uFEFFName,Domain,kind,category,colour\n"Shop, the big one",shop.example,health,ecommerce,red\n,bücher.de,,,\nBad,localhost,,\nMore,more.example,,,,x\n';
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
      { ...PLAIN_SERVICE, domain: 'more.example', name: 'More' },
    ],
    skipped: [{ entry: 'Bad', reason: 'domain "localhost" needs at least two labels, such as example.com' }],
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

t.test('it refuses what our own form cannot mean', async (t) => {
  const rows: readonly [object, RegExp][] = [
    [{ kind: 'ping' }, /kind "ping" is not known/],
    [{ category: 'constructor' }, /category "constructor" is not known/],
    [{ accept: ['9xx'] }, /accept must list/],
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

t.test("it reads Uptime Kuma's backup, and says what it cannot carry over", async (t) => {
  const { services, skipped, notCarried, format } = fixture('uptime-kuma-1.23-backup.json');
  t.equal(format, 'uptime-kuma');
  t.same(services, [
    { ...PLAIN_SERVICE, domain: 'shop.example.com', name: 'Shop', method: 'GET', accept: ['2xx'] },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'api.example.com', name: 'API health', url: 'https://api.example.com:8443/health?full=1' },
      ...{ method: 'GET', accept: [200, 204, 205, 206] },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'login.example.com', name: 'Login (staging)', url: 'https://login.example.com/session' },
      ...{ accept: ['2xx', '3xx', 401], paused: true },
    },
    {
      ...PLAIN_SERVICE,
      ...{
        domain: 'backup.example.com',
        name: 'backup.example.com',
        kind: 'heartbeat',
        periodMs: 86_400_000,
      },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'db.example.com', name: 'Database', kind: 'tcp', settings: { port: 5432 } },
    },
  ]);
  t.strictSame(describeSkipped(skipped), [
    'left out: My nightly job: domain "My nightly job" must be a host name alone, without scheme, port or path',
    'left out: 2 entries, such as Router: monitors of type ping have no equal here',
    'left out: Web: monitors of type group have no equal here',
    'left out: Must not answer: a monitor that is upside down has no equal here',
    'left out: NAS: domain "nas" needs at least two labels, such as example.com',
  ]);
  const lines = describeLost(notCarried);
  for (const field of [
    ...['notificationList of the file', 'proxyList of the file'],
    ...['interval of 4 entries, such as Shop', 'maxretries of 2 entries', 'timeout of 4 entries'],
    ...[
      'keyword of API health',
      'headers of API health',
      'method of Login (staging)',
      'body of Login (staging)',
    ],
    ...[
      'basic_auth_user of Login (staging)',
      'ignoreTls of Login (staging)',
      'parent of Shop',
      'tags of Shop',
    ],
    ...['description of API health', 'notificationIDList of 3 entries', 'proxyId of Login (staging)'],
    ...[
      'maxredirects of Login (staging)',
      'accepted_statuscodes of Login (staging)',
      'invertKeyword of API health',
    ],
    ...['url of Login (staging)', 'expiryNotification of Shop', 'retryInterval of 5 entries'],
  ])
    t.ok(
      lines.some((line) => line.startsWith(`not carried over: ${field}`)),
      field,
    );
  t.notMatch(lines.join('\n'), /hunter2|s3cret/, 'no secret is repeated');
  t.notMatch(lines.join('\n'), /weight|dns_resolve|kafka|packetSize|pathName/, 'nor what says nothing');
});

t.test("it reads Uptime Kuma's monitors that are no web pages", async (t) => {
  const monitorList = [
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
  t.match(describeSkipped(skipped), [/^left out: Nowhere: domain "" /, /^left out: Carts: of gRPC, only /]);
  t.match(describeLost(notCarried), [
    /^not carried over: wsIgnoreSecWebsocketAcceptHeader of Lax: /,
    /^not carried over: grpcMetadata of Orders: /,
  ]);
});

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
      ...PLAIN_SERVICE,
      ...{ domain: 'db.example.com', name: 'Database', kind: 'tcp', settings: { port: 5432 } },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'mail.example.com', name: 'Mail', kind: 'tls', settings: { port: 465, minDays: 13 } },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'live.example.com', name: 'Live', kind: 'websocket' },
      settings: { path: '/feed?v=2', port: 8443, contains: 'welcome', send: 'hello' },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'orders.example.com', name: 'Orders', kind: 'grpc', settings: { port: 50_051 } },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'carts.example.com', name: 'Carts', kind: 'grpc' },
      settings: { port: 50_051, plain: true },
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'plain.example.com', name: 'Plain', kind: 'websocket', settings: { plain: true } },
    },
  ]);
  t.match(describeLost(notCarried), [
    /^not carried over: condition \[RESPONSE_TIME\] of Database: /,
    /^not carried over: condition \[BODY\] of Live: /,
  ]);
  t.same(describeSkipped(skipped), ['left out: Nowhere: the setting port must be at most 65535']);
});

t.test("it reads Gatus' configuration, and says what it cannot carry over", async (t) => {
  const { services, skipped, notCarried, format } = fixture('gatus-config.yaml');
  t.equal(format, 'gatus');
  t.same(services, [
    { ...PLAIN_SERVICE, domain: 'front.example.com', name: 'front', category: 'ecommerce', accept: [200] },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'api.example.com', name: 'api', url: 'https://api.example.com/v1', method: 'GET' },
      accept: [200, 429],
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'old.example.com', name: 'old', url: 'http://old.example.com/', paused: true },
      accept: ['2xx', '3xx', 401],
    },
    {
      ...PLAIN_SERVICE,
      ...{ domain: 'cron.example.com', name: 'cron.example.com', kind: 'heartbeat', periodMs: 1_800_000 },
    },
  ]);
  t.strictSame(describeSkipped(skipped), [
    'left out: dns: address "8.8.8.8" cannot be read',
    'left out: ssh: addresses that begin with ssh: have no equal here',
    'left out: 2 entries, such as ping: addresses that begin with icmp: have no equal here',
  ]);
  const lines = describeLost(notCarried);
  for (const field of [
    ...['alerting of the file', 'storage of the file', 'security of the file'],
    ...[
      'condition [RESPONSE_TIME] of front',
      'condition [BODY] of api',
      'condition [CERTIFICATE_EXPIRATION] of front',
    ],
    ...[
      'interval of 2 entries',
      'headers of api',
      'client of api',
      'alerts of 2 entries',
      'group of 2 entries',
    ],
    ...['method of old'],
  ])
    t.ok(
      lines.some((line) => line.startsWith(`not carried over: ${field}`)),
      field,
    );
  t.notMatch(lines.join('\n'), /CONNECTED|hunter2/);
});

t.test('it makes one line of thousands of equal reasons', async (t) => {
  const monitors = Array.from({ length: 9_900 }, (_, index) => ({ type: 'ping', name: `Ping ${index}` }));
  t.strictSame(describeSkipped(readImport(JSON.stringify({ monitorList: monitors }), 'x.json').skipped), [
    'left out: 9,900 entries, such as Ping 0: monitors of type ping have no equal here',
  ]);
});

t.test('it says what is wrong with a file that holds no list', async (t) => {
  t.throws(() => readImport('a: [', 'x.yaml'), {
    code: 'bad_import',
    message: /^x\.yaml is neither JSON nor YAML/,
  });
  for (const text of ['{"a":1}', '[]extra', 'null', '3', '"services"'])
    t.throws(() => readImport(text, 'x.json'), { code: 'bad_import' });
  t.throws(() => readImport('a,b\n1,2\n', 'x.csv'), { code: 'bad_import', message: /column "domain"/ });
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
