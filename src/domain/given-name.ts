/** Names and texts that users choose for keys, services, accounts, status pages and dependencies. */
import type { GivenTextProblem } from './input-problem.ts';

/** Maximum length of a name, characters. */
const MAX_GIVEN_NAME_LENGTH = 100;

/**
 * Characters that no given text may contain (decisions, Ownership): control characters and line separators, which affect
 * terminals and logs; marks of direction, which affect the text around them; and unassigned code points.
 */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cn}\p{Cs}]/u;
/** The same for text of several lines. */
const FORBIDDEN_IN_LINES = /[[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cn}\p{Cs}]--[\n\t]]/v;
const VISIBLE = /[^\p{Z}\p{Default_Ignorable_Code_Point}]/u;

/** A valid name, or what is wrong with it. */
export type GivenNameReading =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly problem: GivenTextProblem };

/** Validates a name of 1 to 100 characters, without surrounding whitespace. */
export function readGivenName(text: string): GivenNameReading {
  const problem = findForbidden(text);
  if (problem !== null) return { ok: false, problem };
  const name = text.trim();
  const isTooLong = [...name].length > MAX_GIVEN_NAME_LENGTH;
  return isTooLong || !isVisible(name)
    ? { ok: false, problem: { code: 'length', maxLength: MAX_GIVEN_NAME_LENGTH } }
    : { ok: true, name };
}

/** Returns true if people see anything of a text. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}

/** The first forbidden character of a text; null: it has none. `lines`: the text may have several lines. */
export function findForbidden(
  text: string,
  { lines = false } = {},
): Extract<GivenTextProblem, { readonly code: 'character' }> | null {
  const [found] = (lines ? FORBIDDEN_IN_LINES : FORBIDDEN).exec(text) ?? [];
  if (found === undefined) return null;
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return { code: 'character', character: `U+${code}` };
}
