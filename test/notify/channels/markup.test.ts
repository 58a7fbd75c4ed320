/** Foreign text in the markups of media: whatever it is, it makes no mention, link or format, and loses no line. */
import fc from 'fast-check';
import t from 'tap';
import { escapeMarkup } from '../../../src/language/phrase.ts';
import { escapeMarkdown, escapeSlack, linkUrl } from '../../../src/notify/channels/markup.ts';
import { cleanLine, cleanLines, cutText, joinLines } from '../../../src/notify/channels/message-cut.ts';
import { anyText } from '../../support/any-text.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { findSlackCommand, readHtml } from './receiver-checks.ts';

/** Text with a liking for what markups read. */
const tricky = fc
  .array(
    fc.oneof(
      anyText(),
      fc.constantFrom(
        '<!channel>',
        '@everyone',
        '](http://e.example)',
        '**',
        '`',
        '\\',
        '&lt;',
        '\u202e',
        '👩‍👩‍👧‍👦',
        '\ud800',
      ),
    ),
  )
  .map((parts) => parts.join(''));

t.test('it makes nothing of any text but text', async (t) => {
  fc.assert(
    fc.property(tricky, (text) => {
      t.equal(findSlackCommand(escapeSlack(text)), null);
      t.equal(readHtml(escapeMarkup(text), []), text);
      // Every character that Markdown reads has a backslash before it, which itself has none.
      t.notMatch(escapeMarkdown(text).replace(/\\./g, ''), /[\\`*_~|<>[\](){}#+!:@-]/);
    }),
    { numRuns: propertyRuns(50) },
  );
});

t.test('it cuts any text within its limit, and leaves no half of a character', async (t) => {
  fc.assert(
    fc.property(tricky, fc.integer({ min: 1, max: 60 }), (text, max) => {
      const line = cleanLine(text, max);
      t.ok(line.length <= max && line.isWellFormed(), JSON.stringify(line));
      t.notMatch(line, /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
      t.ok(cleanLines(text, max).length <= max);
      t.ok(cutText(text, max).length <= max);
      const lines = text.split('\n');
      const joined = joinLines(lines, max).split('\n');
      t.ok(joined.join('\n').length <= max);
      t.same(
        joined.filter((one) => !lines.includes(one)),
        joined.join('\n') === text ? [] : ['…'].filter((one) => !lines.includes(one)),
      );
    }),
    { numRuns: propertyRuns(50) },
  );
});

t.test('it keeps a URL within the brackets of its link', async (t) => {
  t.equal(linkUrl('https://vendor.example/a(b)|<c> d'), 'https://vendor.example/a%28b%29%7C%3Cc%3E%20d');
});
