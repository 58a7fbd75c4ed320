/** Names that people give (decisions, Ownership). */
import t from 'tap';
import { findForbidden, readGivenName } from '../../src/domain/given-name.ts';

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
