/**
 * Names that look alike (decisions, Ownership): by the skeletons of Unicode Technical Standard 39, ignoring case, accents,
 * spaces, punctuation and invisible characters.
 */
import toSkeleton from 'unhomoglyph';

/** Trade marks, which are not part of a name; decomposed to letters (`TM`) they would change it. */
const TRADE_MARKS = /[™℠®©]/g;
/** Invisible or blank characters, among them fillers that count as letters. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const ACCENTS = /\p{M}/gu;
const NEITHER_LETTER_NOR_DIGIT = /[^\p{L}\p{N}]/gu;

/** Small capitals, which have neither decompositions nor confusables. */
const SMALL_CAPITALS = new Map(
  [...'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ'].map((letter, index) => [letter, 'abcdefghijklmnoprstuvwyz'[index] ?? '']),
);

/** Letters in circles, squares and flags that Unicode does not decompose: the first of each 26. */
const DECORATED_ALPHABETS = [0x1f150, 0x1f170, 0x1f1e6];

/**
 * Keys of a name, at most two: names that have a key in common look alike. Empty for a name without letters and digits,
 * which looks like no other.
 */
export function nameKeys(name: string): readonly string[] {
  const plain = [...name.replace(TRADE_MARKS, '').normalize('NFKD').replace(INVISIBLE, '')]
    .map(undecorate)
    .join('')
    .replace(ACCENTS, '');
  // A capital and its small letter can look like different letters: Н is H, н is not h.
  const keys = [plain, plain.toLowerCase()].map(foldLookalikes).filter((key) => key !== '');
  return [...new Set(keys)];
}

/** Returns true if two names look alike. */
export function resembles(one: string, other: string): boolean {
  const keys = nameKeys(other);
  return nameKeys(one).some((key) => keys.includes(key));
}

function foldLookalikes(text: string): string {
  return (
    toSkeleton(text)
      .normalize('NFKD')
      .replace(NEITHER_LETTER_NOR_DIGIT, '')
      .toLowerCase()
      // In capitals I looks like l, which the skeleton of a small i does not show.
      .replaceAll('i', 'l')
      .replaceAll('vv', 'w')
  );
}

function undecorate(character: string): string {
  const small = SMALL_CAPITALS.get(character);
  if (small !== undefined) return small;
  const code = character.codePointAt(0) ?? 0;
  const first = DECORATED_ALPHABETS.find((start) => code >= start && code < start + 26);
  return first === undefined ? character : String.fromCharCode(97 + code - first);
}
