/** Hostile inputs: known ones with some of their bytes and words changed, by random numbers that a seed repeats. */
import type { Random } from '../../src/clock.ts';

/** Words that break what reads them. */
const WORDS = [
  ...[
    '',
    '\0',
    '\n',
    '\r\n',
    '"',
    "'",
    '\\',
    '`',
    '${',
    '{{',
    '}}',
    '<!--',
    ']]>',
    '<![CDATA[',
    '&#0;',
    '%00',
    '%',
  ],
  ...[
    'null',
    'true',
    'NaN',
    '-0',
    '1e309',
    '-1',
    '0x7f',
    '9007199254740993',
    '99999999999999999999',
    '1e-400',
  ],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', '[object Object]', 'undefined'],
  ...['\u202e', '\ufeff', '\ud800', '💥', 'ﬀ', 'ß', 'İ', '\u0000\u0001', '\x1b]52;c;AA==\x07'],
  ...[
    '../../etc/passwd',
    'javascript:alert(1)',
    '//evil.example/',
    'http://[::ffff:7f00:1]/',
    'file:///',
    'a@b@c',
  ],
  ...[
    '{"a":'.repeat(50),
    '['.repeat(200),
    '&a '.repeat(20),
    '*a',
    '!!js/function',
    '<<: *a',
    '- '.repeat(60),
  ],
  ...[
    '9'.repeat(400),
    'A'.repeat(5_000),
    ' '.repeat(2_000),
    '(a+)+$',
    'FREQ=SECONDLY;COUNT=999999999',
    '* * * * *',
  ],
  ...['1970-01-01T00:00:00Z', '9999-12-31T23:59:60Z', '2026-02-30T25:00:00+99:99', 'P1Y', '1w', '0ms', '-5m'],
];

/** A source of random numbers in [0, 1) that the seed determines (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number in `[0, end)`. */
export const below = (random: Random, end: number): number => Math.floor(random() * end);
const pick = <T>(random: Random, list: readonly T[], otherwise: T): T =>
  list[below(random, list.length)] ?? otherwise;

/** An example with one to six changes: bytes flipped, cut, repeated, exchanged for a word, or spliced with another example. */
export function mutate(random: Random, examples: readonly string[]): Buffer {
  let bytes = Buffer.from(pick(random, examples, ''), 'utf8');
  for (let changes = 1 + below(random, 6); changes > 0; changes--) {
    const from = below(random, bytes.length + 1);
    const to = Math.min(bytes.length, from + below(random, pick(random, [2, 8, 64, 4_096], 2)));
    const [before, part, after] = [bytes.subarray(0, from), bytes.subarray(from, to), bytes.subarray(to)];
    const word = () => Buffer.from(pick(random, WORDS, ''), 'utf8');
    const changed = [
      () => [before, after],
      () => [before, part, part, after],
      () => [before, word(), after],
      () => [before, word(), part, after],
      () => [before, Buffer.from([below(random, 256)]), bytes.subarray(from + 1)],
      () => [before, Buffer.from(pick(random, examples, ''), 'utf8').subarray(below(random, 64))],
      () => [before],
    ];
    bytes = Buffer.concat(pick(random, changed, () => [bytes])());
    if (bytes.length > 200_000) bytes = bytes.subarray(0, 200_000);
  }
  return bytes;
}
