/** Bodies of responses as text: content codings, the limit, charsets. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import t from 'tap';
import { type BodyReading, parseJson, readBody } from '../../src/outbound/read-body.ts';
import type { Headers } from '../../src/outbound/response-head.ts';

const MAX = 65_536;
const read = (body: Buffer | null, headers: Headers = {}, overlong = false) =>
  readBody({ body, headers, overlong }, MAX);
const whole = (text: string): BodyReading => ({ kind: 'text', text, whole: true });
const coded = (coding: string) => ({ 'content-encoding': coding });
const TEXT = '{"status":"ok"}';
const PLAIN = Buffer.from(TEXT);
const flip = (bytes: Buffer, ...places: number[]) => {
  for (const at of places) bytes.writeUInt8(bytes.readUInt8(at) ^ 0x55, at);
  return bytes;
};

t.test('it undoes the codings of HTTP, and takes unknown ones for identity', async (t) => {
  const rows: readonly (readonly [coding: string | readonly string[], body: Buffer, text?: string])[] = [
    ['gzip', gzipSync(PLAIN)],
    [' X-GZIP ', gzipSync(PLAIN)],
    ['gzip', Buffer.concat([gzipSync(PLAIN), gzipSync(PLAIN)]), TEXT + TEXT],
    ['gzip', Buffer.concat([gzipSync(PLAIN), Buffer.from('\n<!-- served -->')])],
    ['gzip', Buffer.concat([gzipSync(PLAIN), Buffer.alloc(9)])],
    ['gzip', gzipSync(PLAIN).subarray(0, -8)],
    ['deflate', deflateSync(PLAIN)],
    ['deflate', deflateRawSync(PLAIN)],
    ['br', brotliCompressSync(PLAIN)],
    ['zstd', zstdCompressSync(PLAIN)],
    ['zstd', Buffer.concat([zstdCompressSync(PLAIN), zstdCompressSync(PLAIN)]), TEXT + TEXT],
    ['gzip, br', brotliCompressSync(gzipSync(PLAIN))],
    [['gzip', 'deflate'], deflateSync(gzipSync(PLAIN))],
    ['gzip, UTF-8', gzipSync(PLAIN)],
    ['gzip', Buffer.alloc(0), ''],
    ...['', 'identity', 'UTF-8', 'none', 'aws-chunked', 'constructor', '__proto__'].map(
      (coding) => [coding, PLAIN] as const,
    ),
  ];
  for (const [coding, body, text = TEXT] of rows)
    t.same(await read(body, { 'content-encoding': coding }), whole(text), String(coding));
  t.same(await read(PLAIN), whole(TEXT));
  t.same(await read(null), whole(''));
  const both = { 'content-encoding': 'br', 'transfer-encoding': 'gzip, chunked' };
  t.same(
    await read(gzipSync(brotliCompressSync(PLAIN)), both),
    whole(TEXT),
    'codings of the transfer come last',
  );
  const twice = { 'content-encoding': 'gzip', 'transfer-encoding': 'gzip, chunked' };
  t.same(await read(gzipSync(PLAIN), twice), whole(TEXT), 'a coding that both fields name may be there once');
  t.same(await read(PLAIN, { 'transfer-encoding': 'gzip, chunked' }), whole(TEXT), 'it may be missing');
});

t.test('JSON may have the numbers that it lacks', async (t) => {
  const text = '{"a":[NaN,-Infinity,{"b":Infinity}],"NaN":"-Infinity \\" NaN"}';
  t.same(parseJson(text), { a: [null, null, { b: null }], NaN: '-Infinity " NaN' });
  for (const other of ['NaN,', '{"a":nan}', 'NaNa', '"NaN', `${'"\\"'.repeat(60_000)}NaN`])
    t.throws(() => parseJson(other), SyntaxError, other.slice(0, 20));
});

t.test('a body that is damaged or incomplete is unreadable', async (t) => {
  const long = Buffer.from(Array.from({ length: 2_000 }, (_, index) => `${index * index}`).join());
  const rows: readonly (readonly [coding: string, body: Buffer, damaged?: string])[] = [
    ['gzip', flip(gzipSync(PLAIN), 12, 13, 14)],
    ['gzip', flip(gzipSync(long), 2_000)],
    ['gzip', gzipSync(long).subarray(0, -20)],
    ['gzip', Buffer.concat([gzipSync(PLAIN), flip(gzipSync(long), 2_000)])],
    ['gzip', PLAIN],
    ['gzip', gzipSync(PLAIN).subarray(0, 5)],
    ['deflate', PLAIN],
    ['deflate', deflateSync(long).subarray(0, -20)],
    ['br', Buffer.from('no brotli')],
    ['br', brotliCompressSync(long).subarray(0, -20)],
    ['zstd', PLAIN],
    ['zstd', zstdCompressSync(long).subarray(0, -20)],
    ['gzip, br', gzipSync(PLAIN), 'br'],
    ['br, gzip', gzipSync(PLAIN), 'br'],
  ];
  for (const [coding, body, damaged = coding] of rows)
    t.same(await read(body, coded(coding)), { kind: 'unreadable', coding: damaged }, coding);
  const many = Array.from({ length: 6 }, () => 'gzip').join();
  t.match(await read(PLAIN, coded(many)), { kind: 'unreadable' });
});

t.test('what stands within the limit counts, however long the rest is', async (t) => {
  const zeros = Buffer.alloc(20_000_000, 'a');
  const beginning = { kind: 'text', text: 'a'.repeat(MAX), whole: false };
  for (const [coding, bomb] of [
    ['gzip', gzipSync(zeros, { level: 1 })],
    ['deflate', deflateSync(zeros, { level: 1 })],
    ['br', brotliCompressSync(zeros.subarray(0, 1_000_000))],
    ['zstd', zstdCompressSync(zeros)],
    ['gzip, gzip', gzipSync(gzipSync(zeros, { level: 1 }))],
  ] as const) {
    t.same(await read(bomb, coded(coding)), beginning, coding);
    // Of the compressed bytes, too, there may be the first ones only, and what is behind the limit may be damaged.
    const half = bomb.subarray(0, Math.ceil(bomb.length / 2));
    if (coding !== 'gzip, gzip') t.match(await read(half, coded(coding), true), { whole: false }, coding);
  }
  t.same(await read(Buffer.alloc(MAX, 'a'), {}, true), beginning);
  const cut = gzipSync(Buffer.from('the database is away '.repeat(3_000))).subarray(0, 100);
  const reading = await read(cut, coded('gzip'), true);
  t.match(reading, { kind: 'text', whole: false });
  t.ok(reading.kind === 'text' && reading.text.includes('the database is away'));
  const text = await read(Buffer.from(`${'x'.repeat(9)}\u20ac`).subarray(0, -1), {}, true);
  t.same(text, { kind: 'text', text: 'x'.repeat(9), whole: false }, 'half a character is left out');
});

t.test('it decodes by byte order mark, header, page, and otherwise by what the bytes are', async (t) => {
  const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
  const typed = (type: string) => ({ 'content-type': type });
  const russian = hex('ce f8 e8 e1 ea e0');
  const page = (head: string) => Buffer.concat([Buffer.from(`<html>${head}`), russian]);
  const rows: readonly (readonly [type: string | null, body: Buffer, text: string])[] = [
    ['text/html; charset=windows-1251', russian, 'Ошибка'],
    ['text/html; charset="Windows-1251"', russian, 'Ошибка'],
    ["text/html;charset='cp1251'; x=y", russian, 'Ошибка'],
    ['text/html; charset=ISO-8859-1', hex('43 61 66 e9'), 'Café'],
    ['text/html; CHARSET=GBK', hex('bb b6 d3 ad'), '欢迎'],
    ['text/html; charset=gb18030', hex('bb b6 d3 ad'), '欢迎'],
    ['text/html; charset=shift_jis', hex('83 65 83 58 83 67'), 'テスト'],
    ['text/html; charset=euc-kr', hex('c7 d1 b1 b9'), '한국'],
    ['text/html; charset=no-such', Buffer.from('Ärger'), 'Ärger'],
    [
      'text/html; charset=no-such',
      page('<meta charset=windows-1251>'),
      '<html><meta charset=windows-1251>Ошибка',
    ],
    ['text/html', page('<META CHARSET="windows-1251" />'), '<html><META CHARSET="windows-1251" />Ошибка'],
    [
      null,
      page(
        '<!-- <meta charset=gbk> --><meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
      ),
      '<html><!-- <meta charset=gbk> --><meta http-equiv="Content-Type" content="text/html; charset=windows-1251">Ошибка',
    ],
    [
      'application/xml',
      Buffer.concat([Buffer.from('<?xml version="1.0" encoding="windows-1251"?>'), russian]),
      '<?xml version="1.0" encoding="windows-1251"?>Ошибка',
    ],
    [
      'text/html',
      Buffer.from('<meta name=a content="charset=gbk">ж'),
      '<meta name=a content="charset=gbk">ж',
    ],
    ['text/html', Buffer.from('<meta charset=utf-16>ж'), '<meta charset=utf-16>ж'],
    ['text/plain', Buffer.from('<meta charset=gbk>ж'), '<meta charset=gbk>ж'],
    ['text/html; charset=windows-1251', Buffer.from('\ufeffж'), 'ж'],
    ['application/json; charset=utf-16', hex('fffe 7b00 7d00'), '{}'],
    [null, hex('feff 007b 007d'), '{}'],
    ['application/json', hex('7b00 7d00'), '{}'],
    [null, Buffer.concat([Buffer.from('ÄÖÜ'), hex('ff')]), 'ÄÖÜ\ufffd'],
  ];
  for (const [type, body, text] of rows)
    t.same(await read(body, type === null ? {} : typed(type)), whole(text), `${type} ${text}`);
  for (const [type, body, text] of [
    [null, hex('43 61 66 e9'), 'Café'],
    ['text/html; charset=no-such', russian, 'Îøèáêà'],
    ['text/html; charset=utf-8', hex('43 61 66 e9'), 'Caf\ufffd'],
  ] as const)
    t.same(await read(body, type === null ? {} : typed(type)), { ...whole(text), isGuess: true }, text);
});
