import fc from 'fast-check';
import t from 'tap';
import {
  findForbidden,
  hideUserinfo,
  printable,
  printableJson,
  printableLines,
  readGivenName,
} from '../../src/domain/printable-text.ts';
import { anyText } from '../support/any-text.ts';

const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/u;

t.test('it writes control characters and marks of direction as codes', async (t) => {
  const table: readonly [string, string][] = [
    ['Shop', 'Shop'],
    ['Zürich 東京 👩‍🚀 עברית', 'Zürich 東京 👩‍🚀 עברית'],
    ['\u001b]52;c;aGk=\u0007', '\\u{1B}]52;c;aGk=\\u{7}'],
    ['\u009b31m', '\\u{9B}31m'],
    ['a\nb\r\tc', 'a\\u{A}b\\u{D}\\u{9}c'],
    ['\u202egpj.exe\u2066\u200f\u061c', '\\u{202E}gpj.exe\\u{2066}\\u{200F}\\u{61C}'],
    ['\u2028\u2029\u007f\ud800', '\\u{2028}\\u{2029}\\u{7F}\\u{D800}'],
  ];
  for (const [text, expected] of table) t.equal(printable(text), expected);
  t.equal(printableLines('a\u001b\nb\r'), 'a\\u{1B}\nb\\u{D}');
});

t.test('it returns equivalent JSON without control characters', async (t) => {
  fc.assert(
    fc.property(anyText(), (text) => {
      const json = printableJson(JSON.stringify({ [text]: text }));
      t.notOk(UNPRINTABLE.test(json));
      t.strictSame(JSON.parse(json), { [text]: text });
    }),
  );
});

t.test('it hides user and password of every URL in a text', async (t) => {
  const table = [
    ['http://upbeat:s3cret@influx:8086 has upbeat', 'http://***@influx:8086 has upbeat'],
    ['redis://:p@ss@h:1/0, rediss://u@h', 'redis://***@h:1/0, rediss://***@h'],
    ['{"url":"https://a:b@c/d?e=f@g"}', '{"url":"https://***@c/d?e=f@g"}'],
    ['http://a:b@c,d:e@f', 'http://***@f'],
    ['https://example.org/@user mail a@b.org', 'https://example.org/@user mail a@b.org'],
    ['redis+sentinel://:x@a:1,b:2/0', 'redis+sentinel://***@a:1,b:2/0'],
    ['nothing here', 'nothing here'],
  ] as const;
  for (const [text, shown] of table) t.equal(hideUserinfo(text), shown);
});

t.test('it accepts names in every script, without control characters', async (t) => {
  for (const name of ['a', 'é ü', '漢字 かな', 'שלום', 'مرحبا', '👩‍👩‍👧', 'x'.repeat(100), '😀'.repeat(100)])
    t.same(readGivenName(` ${name} `), { ok: true, name });
  for (const text of ['', '   ', '\u200b', '\u3164', '\u2060\u00ad'])
    t.same(
      readGivenName(text),
      { ok: false, problem: { code: 'length', maxLength: 100 } },
      JSON.stringify(text),
    );
  t.match(readGivenName('x'.repeat(101)), { ok: false, problem: { code: 'length', maxLength: 100 } });
  const bad = [
    0x00, 0x07, 0x0a, 0x1b, 0x7f, 0x9b, 0x61c, 0x200e, 0x202e, 0x2028, 0x2069, 0x378, 0xfffe, 0xe0080,
  ];
  for (const code of bad) {
    const shown = code.toString(16).toUpperCase().padStart(4, '0');
    t.match(readGivenName(`a${String.fromCodePoint(code)}b`), {
      ok: false,
      problem: { code: 'character', character: `U+${shown}` },
    });
  }
  t.match(readGivenName('\ud800'), { ok: false, problem: { character: 'U+D800' } });
});

t.test('a text of several lines may contain line breaks, but no other control characters', async (t) => {
  t.equal(findForbidden('one\n\ttwo', { lines: true }), null);
  t.match(findForbidden('one\ntwo'), { character: 'U+000A' });
  for (const text of ['a\rb', 'a\u001bb', 'a\u202eb', 'a\u2028b']) t.ok(findForbidden(text, { lines: true }));
});
