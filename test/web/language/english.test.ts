/** The words of all languages: none is missing, and none lets markup through. */
import fc from 'fast-check';
import t from 'tap';
import { escapeMarkup } from '../../../src/language/phrase.ts';
import { LANGUAGE_CODES } from '../../../src/language/shared-texts.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';

t.test('it has the same keys in every language, and no empty word', async (t) => {
  const english = keysOf(LANGUAGES.en.texts);
  for (const code of LANGUAGE_CODES) t.same(keysOf(LANGUAGES[code].texts), english, code);
});

t.test('it lets no markup through, whatever the text', async () => {
  fc.assert(
    fc.property(fc.string(), (text) => !/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/.test(escapeMarkup(text))),
  );
});

/** Every path to a word, sorted; a word that is empty stands out by its path. */
function keysOf(words: object, path = ''): string[] {
  return Object.entries(words)
    .flatMap(([key, value]) =>
      typeof value === 'object' && value !== null
        ? keysOf(value, `${path}${key}.`)
        : [`${path}${key}: ${value === '' ? 'empty' : typeof value}`],
    )
    .sort();
}
