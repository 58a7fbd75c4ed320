/** The entries of a list, and where it ends. */
import fc from 'fast-check';
import t from 'tap';
import { propertyRuns } from '../support/property-runs.ts';
import { splitEntries } from './catalogue-texts.ts';

t.test('it splits a list into its entries, and knows what ends one', async (t) => {
  t.same(splitEntries('  - a: 1\n\n    # c\n  - b: é\r\n'), ['  - a: 1\n\n    # c\n', '  - b: é\r\n']);
  t.same(splitEntries('- a: 1\n  b: 2\n- c: 3', ''), ['- a: 1\n  b: 2\n', '- c: 3']);
  for (const other of ['  - a: 1\nb: 2\n', '  - a: 1\rb: 2\n', '  - a: 1\n- b: 2\n', '  - a: 1\n---\n'])
    t.equal(splitEntries(other), undefined, other);
  t.equal(splitEntries('- a: 1\n-b: 2\n', ''), undefined);
});

t.test('it knows the end of a list at every place of an entry', async (t) => {
  const byte = fc.constantFrom('a', '-', ' ', '#', '\n', '\r', '\t', '\u0001', '\r\n', 'é');
  let [whole, other] = [0, 0];
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 14 }), fc.constantFrom('', '  '), (bytes, indent) => {
      const text = `${indent}- ${bytes.join('')}`;
      // An entry at the margin ends where another one begins.
      const begins = indent === '' ? /^(?:[ \n\r#]|- |$)/ : /^(?:[ \n\r#]|$)/;
      const isEntry = text
        .split(/[\n\r]/)
        .every(
          (line, at, all) => begins.test(line) || (indent === '' && line === '-' && at < all.length - 1),
        );
      if (isEntry) whole++;
      else other++;
      t.equal(splitEntries(text, indent) !== undefined, isEntry, JSON.stringify(text));
    }),
    { numRuns: propertyRuns(5_000) },
  );
  t.ok(whole > 100 && other > 100, `${whole} entries, ${other} others`);
});
