/** What a badge can show of a name: the fonts know Latin, Greek and Cyrillic letters (decisions, Badge). */

/** Whether the font can draw a character. */
export type HasGlyph = (character: string) => boolean;

/** Letters that must be left after words in other scripts went, for the rest to stand for the name. */
const LETTERS_ENOUGH = 3;
const MISSING = '□';

/**
 * The name as the font can draw it: in one line, composed, folded where only a plainer form exists (`ｆｕｌｌ` is
 * `full`), without pictures. Words in a script that the font lacks are left out where the rest still says who it is
 * ("Naver 네이버" is "Naver"); else `fallback`, the domain, stands in; without one, boxes mark what is missing.
 */
export function readableName(name: string, fallback: string | null, has: HasGlyph): string {
  return readable(name, has) ?? (fallback === null ? null : readable(fallback, has)) ?? boxed(name, has);
}

/** One line of text for people, everything that cannot be drawn left out. */
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
    if ((line.match(/\p{L}/gu) ?? []).length < LETTERS_ENOUGH) return null;
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

/** In composed form, without characters that have no look of their own: controls, marks of direction, joiners. */
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

/** The compatible form without its accents. */
function fold(character: string): string {
  return character.normalize('NFKD').replace(/\p{M}/gu, '');
}
