/** Names and texts that people give: to keys, services, accounts, status pages and dependencies. */
import type { GivenTextProblem } from './refusal.ts';

/** Longest name, characters. */
export const MAX_GIVEN_NAME_LENGTH = 100;

/**
 * What no given text may hold (decisions, Ownership): control characters and separators of lines, which terminals and
 * logs obey; marks of direction, which turn the text around them; and code points that are no characters.
 */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cn}\p{Cs}]/u;
/** The same for text of several lines. */
const FORBIDDEN_IN_LINES = /[[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cn}\p{Cs}]--[\n\t]]/v;
const VISIBLE = /[^\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/** A name as it is kept, or what is wrong with it. */
export type GivenNameReading =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly problem: GivenTextProblem };

/** Reads a name of 1 to 100 characters, without the blanks around it. */
export function readGivenName(text: string): GivenNameReading {
  const problem = findForbidden(text);
  if (problem !== null) return { ok: false, problem };
  const name = text.trim();
  const isTooLong = [...name].length > MAX_GIVEN_NAME_LENGTH;
  return isTooLong || !VISIBLE.test(name)
    ? { ok: false, problem: { code: 'length', maxLength: MAX_GIVEN_NAME_LENGTH } }
    : { ok: true, name };
}

/** The forbidden character of a text; null: it has none. `lines`: the text may have several lines. */
export function findForbidden(
  text: string,
  { lines = false } = {},
): Extract<GivenTextProblem, { readonly code: 'character' }> | null {
  const [found] = (lines ? FORBIDDEN_IN_LINES : FORBIDDEN).exec(text) ?? [];
  if (found === undefined) return null;
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return { code: 'character', character: `U+${code}` };
}
