/** Makes names drawable: the fonts have Latin, Greek and Cyrillic letters (decisions, Badge). */

type HasGlyph = (character: string) => boolean;

/** Minimum number of letters of a name without its words in other scripts. */
const MIN_LETTERS = 3;
const MISSING = '□';

/**
 * The name in one line of characters that the font has: composed, folded if only a plainer form exists (`ｆｕｌｌ` is
 * `full`), without pictographs. Words in a script that the font lacks are left out if the rest still identifies the service
 * ("Naver 네이버" is "Naver"). Otherwise the result is `fallback`, the domain; without one, boxes replace missing letters.
 */
export function readableName(name: string, fallback: string | null, has: HasGlyph): string {
  return readable(name, has) ?? (fallback === null ? null : readable(fallback, has)) ?? boxed(name, has);
}

/** The text in one line, without characters that the font lacks. */
export function readableLine(text: string, has: HasGlyph): string {
  return words(text)
    .map((word) => draw(word, has, ''))
    .filter((word) => word !== '')
    .join(' ');
}

function readable(text: string, has: HasGlyph): string | null {
  const all = words(text);
  const kept = all.filter((word) => ![...word].some((c) => /[\p{L}\p{N}]/u.test(c) && !drawable(c, has)));
  let line = readableLine(kept.join(' '), has);
  if (kept.length < all.length) {
    line = line.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
    if ((line.match(/\p{L}/gu) ?? []).length < MIN_LETTERS) return null;
  }
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(line) ? line : null;
}

function boxed(text: string, has: HasGlyph): string {
  const line = words(text)
    .map((word) => draw(word, has, MISSING))
    .join(' ')
    .trim();
  return line === '' ? '–' : line;
}

/** The words in composed form, without invisible characters: controls, direction marks, joiners. */
function words(text: string): string[] {
  return text
    .normalize('NFC')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/[\p{C}\p{Variation_Selector}]/gu, '')
    .split(' ')
    .filter((word) => word !== '');
}

function draw(word: string, has: HasGlyph, instead: string): string {
  return [...word]
    .map((character) => {
      if (has(character)) return character;
      const plain = fold(character);
      if (plain !== '' && [...plain].every(has)) return plain;
      return /\p{M}/u.test(character) ? '' : instead;
    })
    .join('');
}

function drawable(character: string, has: HasGlyph): boolean {
  const plain = fold(character);
  return has(character) || (plain !== '' && [...plain].every(has));
}

/** The compatibility form without accents. */
function fold(character: string): string {
  return character.normalize('NFKD').replace(/\p{M}/gu, '');
}
