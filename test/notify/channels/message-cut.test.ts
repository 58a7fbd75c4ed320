/** Foreign text in messages: clean, and cut between characters. */
import fc from 'fast-check';
import t from 'tap';
import { cleanLine, cleanLines, cutText, joinLines } from '../../../src/notify/channels/message-cut.ts';
import { anyText } from '../../support/any-text.ts';

t.test('a line has no control character, no other line, and no more than its length', async (t) => {
  t.equal(cleanLine(' a\u0007\u202e\nb\t c ', 99), 'a b c');
  t.equal(cleanLine('\ud83d', 9), '\uFFFD');
  t.equal(cleanLines('a\r\n\n\n\nb\u2028c', 99), 'a\n\nb\nc');
  fc.assert(
    fc.property(anyText(), fc.integer({ min: 1, max: 40 }), (text, max) => {
      const line = cleanLine(text, max);
      const lines = cleanLines(text, max);
      return (
        line.length <= max &&
        lines.length <= max &&
        line.isWellFormed() &&
        !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(line) &&
        !lines.includes('\n\n\n')
      );
    }),
  );
});

t.test('it cuts between characters as readers see them, and says that it did', async (t) => {
  t.equal(cutText('abc', 3), 'abc');
  t.equal(cutText('abcd', 3), 'ab…');
  t.equal(cutText('a 👨‍👩‍👧 b', 6), 'a…', 'a family is one character');
  t.equal(cutText(`e${'\u0301'.repeat(5_000)}`, 10), '…');
});

t.test('it joins as many whole lines as fit', async (t) => {
  t.equal(joinLines(['aa', 'bb'], 5), 'aa\nbb');
  t.match(joinLines(['aa', 'bb', 'cc'], 6), /^aa\n.*…/s);
  t.ok(joinLines(['aa', 'bb', 'cc'], 6).length <= 6);
});
