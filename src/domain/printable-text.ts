/**
 * Makes foreign text safe for terminals, logs and files that people read. Characters that control a terminal, change the
 * direction of the text around them or forge lines are written as their codes, and passwords in URLs are hidden.
 */
import type { GivenTextProblem } from './input-problem.ts';

/** Control characters, separators of lines and paragraphs, marks of direction, halves of surrogate pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;
/** Those that `JSON.stringify` does not escape. */
const UNPRINTABLE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** One line: `\u{1B}` in place of an escape character, `\u{A}` in place of a line break. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escapeCharacter);
}

/** Text of several lines: as {@link printable}, with its line breaks. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Equivalent JSON with `\u202e` in place of such characters. */
export function printableJson(json: string): string {
  return json.replace(
    UNPRINTABLE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
}

/** From the slashes to the `@` after user and password (RFC 3986, 3.2.1); a password may contain an `@`. */
const USERINFO = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>]*@/gi;

/** The text with `***` in place of user and password in every address. */
export function hideUserinfo(text: string): string {
  return text.includes('@') ? text.replace(USERINFO, '$1***@') : text;
}

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
type GivenNameReading =
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

/** A percent-encoded text decoded; `otherwise`: it is encoded wrongly. */
export function percentDecoded<Other>(text: string, otherwise: Other): string | Other {
  try {
    return decodeURIComponent(text);
  } catch {
    return otherwise;
  }
}
