/** What `http` and `health` checks make of bodies in all their forms, from real servers on loopback. */

import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { CheckSettings } from '../../src/domain/service.ts';
import { isExpression, queryJson, readAssertion } from '../../src/kinds/assertions.ts';
import { openProbe } from '../probe/try-probe.ts';
import { listenRaw } from '../support/loopback.ts';

type Served = readonly [headers: string, body: Buffer | string];

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

const GZIP = 'content-encoding: gzip\r\n';

const damaged = gzipSync('the database is away');

for (const at of [12, 13, 14]) damaged.writeUInt8(damaged.readUInt8(at) ^ 0x55, at);

/** A server that answers every request with what `serve.now` is. */
async function serveBytes(t: Parameters<typeof openProbe>[0]) {
  const serve: { now: Served } = { now: ['', ''] };
  const { port, close } = await listenRaw((socket) => {
    socket.once('data', () => {
      const [headers, body] = serve.now;
      const bytes = Buffer.from(body);
      socket.end(
        Buffer.concat([
          Buffer.from(`HTTP/1.1 200 OK\r\n${headers}content-length: ${bytes.length}\r\n\r\n`),
          bytes,
        ]),
      );
    });
  });
  t.teardown(close);
  return { serve, port };
}

t.test('assertions see the text of a body, and none holds for one that cannot be read', async (t) => {
  const probe = openProbe(t);
  const { serve, port } = await serveBytes(t);
  const type = (charset: string) => `content-type: text/html; charset=${charset}\r\n`;
  const undecodable = /^the body cannot be decoded \(gzip\); expected: /;
  const long = `the database is away ${'x '.repeat(200_000)}`;
  const rows: readonly (readonly [served: Served, assertion: string, failure: string | RegExp | null])[] = [
    [[GZIP, damaged], 'body lacks database is away', undecodable],
    [[GZIP, damaged], 'body contains database', undecodable],
    [[GZIP, damaged], 'body is not x', undecodable],
    [[GZIP, damaged], 'json $.x is not 1', undecodable],
    [[GZIP, damaged], 'json $.x lacks 1', undecodable],
    [[GZIP, damaged], 'status is 200', null],
    [[GZIP, gzipSync(long)], 'body lacks database is away', 'expected: body lacks database is away'],
    [[GZIP, gzipSync(long)], 'body contains database is away', null],
    [[GZIP, gzipSync(long)], 'body lacks zebra', null],
    [
      [GZIP, gzipSync('y'.repeat(300_000))],
      'json $ exists',
      /longer than 256 KiB, so it is not read as JSON/,
    ],
    [[type('windows-1251'), hex('cef8e8e1eae0')], 'body lacks Ошибка', 'expected: body lacks Ошибка'],
    [[type('windows-1251'), hex('c4 ee e1 f0 ee')], 'body contains Добро', null],
    [[type('ISO-8859-1'), hex('43 61 66 e9')], 'body contains Café', null],
    [[type('gbk'), hex('bb b6 d3 ad')], 'body contains 欢迎', null],
    [['content-encoding: UTF-8\r\n', '{"a":1}'], 'json $.a is 1', null],
    [['', '\ufeff{"status":"ok"}'], 'json $.status is ok', null],
    [['', hex('fffe 7b00 2200 7300 2200 3a00 3100 7d00')], 'json $.s is 1', null],
    [['', '<html>'], 'json $.s is not 1', 'the body is not JSON; expected: json $.s is not 1'],
    [['', ''], 'json $.s lacks 1', /^the body is not JSON; /],
    [['', ''], 'body lacks x', null],
  ];
  for (const [served, assertion, failure] of rows) {
    serve.now = served;
    const settings: CheckSettings = { plain: true, port, assertions: [assertion] };
    const attempt = await probe(null, { check: { kind: 'http', settings } });
    if (failure === null) t.equal(attempt.failure, null, assertion);
    else t.match(attempt.failure, { class: 'content', phase: 'body', detail: failure }, assertion);
  }
});

t.test('JSON of any depth is the failure of the target, never ours', async (t) => {
  const probe = openProbe(t);
  const { serve, port } = await serveBytes(t);
  const deep = `${'['.repeat(120_000)}${']'.repeat(120_000)}`;
  const check = (assertion: string) =>
    probe(null, { check: { kind: 'http', settings: { plain: true, port, assertions: [assertion] } } });
  serve.now = ['', deep];
  for (const assertion of ['json $ contains x', 'json $[0] is not x', 'json $[0][0] matches x'])
    t.match(await check(assertion), {
      suspect: null,
      failure: { class: 'content', detail: /^the JSON of the body is nested too deeply; / },
    });
  t.match(await check('json $ exists'), { failure: null });
  const health = { check: { kind: 'health', url: `http://127.0.0.1:${port}/` } } as const;
  t.match(await probe(health.check.url, health), { failure: { class: 'body' } }, 'over 64 KiB');
  serve.now = ['', `{"status":"ok","deep":${'['.repeat(30_000)}${']'.repeat(30_000)}}`];
  t.match(await check('json $.status is ok'), { failure: null });
  t.match(await probe(health.check.url, health), { failure: null, via: 'health' });
});

t.test(
  'a health endpoint is read like any other body, and is not missing where it cannot be read',
  async (t) => {
    const probe = openProbe(t);
    const { serve, port } = await serveBytes(t);
    const down = '{"status":"down"}';
    const rows: readonly (readonly [Served, object])[] = [
      [['content-encoding: UTF-8\r\n', down], { reported: 'down', via: 'health' }],
      [[GZIP, gzipSync(down)], { reported: 'down', via: 'health' }],
      [['', `\ufeff${down}`], { reported: 'down', via: 'health' }],
      [
        ['content-type: application/json; charset=utf-16\r\n', Buffer.from(down, 'utf16le')],
        { reported: 'down' },
      ],
      [
        [GZIP, damaged],
        { failure: { class: 'body', detail: 'the body cannot be decoded (gzip)' }, via: 'health' },
      ],
      [[GZIP, gzipSync(`<html>${'x'.repeat(100_000)}`)], { failure: null, via: 'root' }],
    ];
    for (const [served, expected] of rows) {
      serve.now = served;
      t.match(await probe(`http://127.0.0.1:${port}/`, { check: { kind: 'health' } }), expected);
    }
  },
);

t.test('paths and expressions that would take long are refused without being tried', async (t) => {
  const before = process.cpuUsage();
  for (const path of [
    `$[?${'count('.repeat(30)}`,
    '$..a',
    '$[?@.a]',
    '$[0,1]',
    "$['a',?@.b]",
    `$${'['.repeat(190)}`,
  ])
    t.equal(readAssertion(`json ${path} exists`), null, path);
  for (const source of [
    `(${'a'.repeat(400)}){1000}`,
    `((${'a'.repeat(440)}){30}){30}`,
    `(${'a'.repeat(400)}[](]){250}`,
    '(\\pL{30}){30}',
    '\\Q(\\E(a{60}){16}',
  ])
    t.notOk(isExpression(source), source.slice(0, 20));
  t.ok(process.cpuUsage(before).user < 3_000_000, 'the parsers alone would take minutes');
  for (const source of [
    '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$',
    '\\x{0410}+',
    '[[:alpha:]]{3}',
    '[]()]{9}',
    '(a|b){3}(c|d){3}',
    '\\Q((\\E',
  ])
    t.ok(isExpression(source), source);
});

t.test('paths lead to values as RFC 9535 says', async (t) => {
  const document = { a: [0, 1, 2, 3, 4], 'b c': { d: null }, '?': { e: true } };
  const rows: readonly (readonly [path: string, values: readonly unknown[]])[] = [
    ['$', [document]],
    ['$.a[1]', [1]],
    ['$.a[-1]', [4]],
    ['$.a[9]', []],
    ['$.a[1:3]', [1, 2]],
    ['$.a[::2]', [0, 2, 4]],
    ['$.a[::-2]', [4, 2, 0]],
    ['$.a[-2:]', [3, 4]],
    ['$.a[3:0:-1]', [3, 2, 1]],
    ['$.a[::0]', []],
    ['$.a[0:9007199254740991]', [0, 1, 2, 3, 4]],
    ["$['b\\u0020c'].d", [null]],
    ['$.*.d', [null]],
    ['$.a.length', []],
    ['$.constructor', []],
    ['$.a[*]', [0, 1, 2, 3, 4]],
  ];
  for (const [path, values] of rows) {
    const found: unknown[] = [];
    queryJson(
      document,
      path,
      () => true,
      (value) => found.push(value) > 0,
    );
    t.same(found, values, path);
  }
});
