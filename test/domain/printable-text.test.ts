import fc from 'fast-check';
import t from 'tap';
import { hideUserinfo, printable, printableJson, printableLines } from '../../src/domain/printable-text.ts';
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
