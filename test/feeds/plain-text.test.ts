import fc from 'fast-check';
import t from 'tap';
import { boundText, oneLine, plainMarkdown, plainText } from '../../src/feeds/plain-text.ts';
import { anyText } from '../support/any-text.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** What HTML's tokenizer takes for the beginning of a tag or a comment. */
const TAG = /<[A-Za-z/!?]/;

/** Controls but the line end, direction marks, and what XML forbids. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const FORBIDDEN = /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/;

/** Pieces of which most tricks are made. */
const nasty = fc
  .array(
    fc.constantFrom(
      ...[
        '<',
        '>',
        '</',
        '<!--',
        '-->',
        '<![CDATA[',
        ']]>',
        '<?',
        '&',
        '&lt;',
        '&#60;',
        '&#x3c',
        '&amp;',
        ';',
      ],
      ...[
        'script',
        'style',
        '<p>',
        '</p>',
        '<br',
        '/',
        ' ',
        '\n',
        '\v',
        '\0',
        '\u202e',
        '\u200b',
        '\ud800',
        '😀',
      ],
      ...[
        '"',
        "'",
        '=',
        '`',
        '*',
        '_',
        '[',
        '](',
        ')',
        '#',
        '\\',
        '<svg>',
        '<textarea>',
        '<plaintext>',
        'a',
        '&#0;',
      ],
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));

t.test('it makes plain text of markup', async (t) => {
  for (const [markup, text] of [
    ['', ''],
    ['A fix is out.', 'A fix is out.'],
    ['<p>One\n  line.</p><p>Two</p>\n<p></p><p>Three</p>', 'One line.\nTwo\nThree'],
    ['One<br>Two<br /><br/>Three', 'One\nTwo\nThree'],
    ['One\r\nTwo\n\n\n\nThree', 'One\nTwo\n\nThree'],
    ['A <b>bold</b>\nword', 'A bold\nword'],
    ['<ul><li>a</li><li>b</li></ul>', 'a\nb'],
    ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
    ['Errors &amp; delays &lt; 5&nbsp;%', 'Errors & delays < 5 %'],
    ['5 < 6 and 7 > 6', '5 < 6 and 7 > 6'],
    ['&amp;lt;b&amp;gt;', '&lt;b&gt;'],
    ['a<script>alert("<p>")</script><style>b {}</style>c', 'ac'],
    ['a<!-- <p>b</p> -->c<![CDATA[d]]>e', 'ace'],
    ['<svg><title>x</title><a href="javascript:1">y</a></svg>z', 'z'],
    ['&lt;script&gt;alert(1)&lt;/script&gt;', '‹script›alert(1)‹/script›'],
    ['List&lt;String&gt; is &lt; that', 'List‹String› is < that'],
    ['&lt;\u200bb>', '‹b›'],
    ['&#60;img src=x onerror=1', '‹img src=x onerror=1'],
    ['<a href="https://example.com">here</a>', 'here'],
    ['ev\u202eil\u0000\u2066 \ufeff&#8238;text\x07', 'evil text'],
    ['\ud83d alone', '\ufffd alone'],
    ['👩‍💻 works', '👩‍💻 works'],
    [`${'<b>'.repeat(300)}deep`, ''],
  ] as const)
    t.equal(plainText(markup), text, JSON.stringify(markup.slice(0, 60)));
});

t.test('it bounds texts, and cuts no character in two', async (t) => {
  t.equal(plainText('x'.repeat(10_000)).length, 10_000);
  t.equal(plainText(`<p>${'x'.repeat(30_000)}</p>`), `${'x'.repeat(9_999)}…`);
  t.equal(plainText('abc def', 5), 'abc…');
  t.equal(plainText('😀'.repeat(6_000)), `${'😀'.repeat(4_999)}…`);
  t.equal(boundText('y'.repeat(10_001)), `${'y'.repeat(9_999)}…`);
  t.equal(boundText('short'), 'short');
});

t.test('it makes plain text of Markdown', async (t) => {
  for (const [markdown, text] of [
    ['**Title:**\nElevated errors', 'Title:\nElevated errors'],
    ['# Incident Report\n\n## Summary\n\nIt *was* __bad__.', 'Incident Report\n\nSummary\n\nIt was bad.'],
    ['* one\n* two\n  - three', '- one\n- two\n- three'],
    ['[the page](https://example.com "a title") ![shot](/x.png)', 'the page shot'],
    ['See <https://example.com/a>.', 'See https://example.com/a.'],
    ['2*3*4 and snake_case_word', '2*3*4 and snake_case_word'],
    ['`List<String>` and `a & b`', 'List‹String› and a & b'],
    ['\\*kept\\* and \\<b\\>', '*kept* and ‹b›'],
    ['<p>HTML</p>within', 'HTML\nwithin'],
    ['> quoted\n\n---\n\n```\ncode\n```', 'quoted\n\ncode'],
    ['10:00 <script>alert(1)</script>', '10:00'],
  ] as const)
    t.equal(plainMarkdown(markdown), text, JSON.stringify(markdown));
});

t.test('it puts text on one line', async (t) => {
  for (const [text, most, line] of [
    [' a\t b \n c ', 10, 'a b c'],
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcde…'],
    ['abc defg', 5, 'abc…'],
    ['😀😀😀', 4, '😀…'],
    ['<b>x', 10, '‹b›x'],
    ['a <b', 10, 'a ‹b'],
    ['a\u0000b\u202ec', 10, 'abc'],
    ['', 5, ''],
  ] as const)
    t.equal(oneLine(text, most), line, JSON.stringify(text));
});

t.test('it never returns what a browser would read as a tag', async () => {
  fc.assert(
    fc.property(fc.oneof(nasty, anyText()), fc.integer({ min: 1, max: 40 }), (text, most) => {
      const results = [plainText(text), plainMarkdown(text), oneLine(text, most)];
      const line = oneLine(text, most);
      return (
        results.every((result) => !TAG.test(result) && !FORBIDDEN.test(result) && result.isWellFormed()) &&
        line.length <= most &&
        !/\s/.test(line.replaceAll(' ', ''))
      );
    }),
    { numRuns: propertyRuns(300) },
  );
});

t.test('it ends soon, whatever it is given', async (t) => {
  const units = [
    '<b>',
    '<p>x',
    '</p>',
    '<!--',
    '<script>',
    '&',
    '&lt',
    '\n',
    '\n\v',
    '[',
    '[a](',
    '*',
    '_',
    '`',
    '\\',
    '#',
  ];
  for (const unit of [
    ...units,
    '<a ',
    '<a b="',
    ' \n',
    '- ',
    '> ',
    '<svg>',
    '<form>',
    '&#x',
    '<',
    '-*_',
    '![',
    '](',
  ]) {
    const text = unit.repeat(Math.floor(1_000_000 / unit.length));
    const started = performance.now();
    plainText(text);
    plainMarkdown(text);
    oneLine(text, 300);
    t.ok(performance.now() - started < 5_000, `1 MB of ${JSON.stringify(unit)}`);
  }
});
