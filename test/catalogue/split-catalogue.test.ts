/** The entries of a list, and where it ends. */
import fc from 'fast-check';
import t from 'tap';
import { propertyRuns } from '../support/property-runs.ts';
import { splitEntries } from './catalogue-texts.ts';

t.test('it splits a list into its entries, and knows what ends one', async (t) => {
  const entries = ['  - a: 1\n\n    # c\n', '  - b: é\r\n', '  -\tc: 1\n'];
  t.same(splitEntries(entries.join('')), { entries, after: undefined });
  t.same(splitEntries('- a: 1\n  b: 2\n- c: 3', '').entries, ['- a: 1\n  b: 2\n', '- c: 3']);
  for (const after of ['b: 2\n', '- b: 2\n', '---\n', 'x-more:\n  - b: 2\n'])
    t.same(splitEntries(`  - a: 1\n  - b: 1\n${after}`), { entries: ['  - a: 1\n', '  - b: 1\n'], after });
  t.same(splitEntries('- a: 1\n-b: 2\n', ''), { entries: ['- a: 1\n'], after: '-b: 2\n' });
});

t.test('it splits a list in brackets at its commas', async (t) => {
  const entries = [
    ...['{a: "x, ]"}', ` {b: 'it''s ]'}`, '\n{c: [1, {d: 2}]}', '\n # a, comment ]\n{"e":"\\"]\\\\"}'],
    ...[' f\n', '{g: 5" ok}', '{h: a#b}', '{"i":"x"} #, j\n'],
  ];
  t.same(splitEntries(`${entries.join(',')}]}\n`, null), { entries, after: ']}\n' });
  t.same(splitEntries('{a: 1}, # last\n ]', null), { entries: ['{a: 1}'], after: ']' });
  for (const open of ['{a: 1}', '{a: "]', '{a: [1]', '{a: 1} #]'])
    t.equal(splitEntries(open, null).after, undefined, open);
});

t.test('it knows the end of a list at every place of an entry', async (t) => {
  const byte = fc.constantFrom('a', '-', ' ', '#', '\n', '\r', '\t', '\u0001', '\r\n', 'é');
  let [whole, other] = [0, 0];
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 14 }), fc.constantFrom('', '  '), (bytes, indent) => {
      const text = `${indent}- ${bytes.join('')}`;
      // An entry at the margin ends where another one begins.
      const begins = indent === '' ? /^(?:[ \n\r#]|-[ \t]|$)/ : /^(?:[ \n\r#]|$)/;
      const isEntry = text
        .split(/[\n\r]/)
        .every(
          (line, at, all) => begins.test(line) || (indent === '' && line === '-' && at < all.length - 1),
        );
      if (isEntry) whole++;
      else other++;
      t.equal(splitEntries(text, indent).after === undefined, isEntry, JSON.stringify(text));
    }),
    { numRuns: propertyRuns(5_000) },
  );
  t.ok(whole > 100 && other > 100, `${whole} entries, ${other} others`);
});
