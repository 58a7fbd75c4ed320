/** Texts of owners: Markdown becomes safe HTML and plain text, whatever it contains, in bounded time. */
import t from 'tap';
import { plainPostText, readPostText, renderPostText } from '../../../src/resources/kit/posts.ts';

t.test('it renders a safe part of Markdown, and the same without markup', async (t) => {
  for (const [text, html, plain] of [
    [
      'We **look**\nat `it`.',
      '<p>We <strong>look</strong><br />\nat <code>it</code>.</p>\n',
      'We look\nat it.',
    ],
    ['# Big\n\ntext', '<p>Big</p>\n<p>text</p>\n', 'Big\ntext'],
    [
      '[why](https://a.example/b "t")',
      '<p><a href="https://a.example/b" rel="nofollow noopener">why</a></p>\n',
      'why (https://a.example/b)',
    ],
    [
      'https://a.example',
      '<p><a href="https://a.example" rel="nofollow noopener">https://a.example</a></p>\n',
      'https://a.example',
    ],
    ['- a\n- b', '<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n', '- a\n- b'],
    [
      '<script>alert(1)</script>',
      '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n',
      '<script>alert(1)</script>',
    ],
    [
      '<img src=x onerror=alert(1)>',
      '<p>&lt;img src=x onerror=alert(1)&gt;</p>\n',
      '<img src=x onerror=alert(1)>',
    ],
    ['[x](javascript:alert(1))', '<p>[x](javascript:alert(1))</p>\n', '[x](javascript:alert(1))'],
    ['[x](data:text/html,1)', '<p>[x](data:text/html,1)</p>\n', '[x](data:text/html,1)'],
    ['', '', ''],
  ] as const) {
    t.equal(await renderPostText(text), html, text);
    t.equal(await plainPostText(text), plain, text);
  }
  t.notMatch(await renderPostText('![p](https://a.example/p.png)'), /<img/, 'no picture is loaded');
});

t.test('it refuses characters that change the text around them', async (t) => {
  t.match(await readPostText('fine\r\nlines', 'text'), { ok: true, value: { markdown: 'fine\nlines' } });
  for (const bad of ['a\u202eb', 'a\u0000b', 'a\u2066b'])
    t.match(await readPostText(bad, 'text'), { ok: false, refusals: [{ field: 'text' }] });
});

t.test('hostile texts take a moment, and leave no forbidden element', async (t) => {
  const fill = (part: string) => part.repeat(Math.floor(10_000 / part.length));
  for (const part of [
    '> ',
    '[',
    '*a ',
    '_',
    '[a](',
    '`',
    '*_',
    'a@b.',
    '**a*',
    'http://',
    '<a href="',
    '- \n ',
    '![',
    '&#x3c;',
  ]) {
    const used = process.cpuUsage();
    const html = await renderPostText(fill(part));
    t.ok(process.cpuUsage(used).user < 3_000_000, `${part} within seconds on the slowest machine`);
    t.notMatch(html, /<(?!\/?(?:p|a|strong|em|s|code|pre|ul|ol|li|blockquote|br|hr)\b)/, part);
  }
});
