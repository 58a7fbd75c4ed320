/**
 * Makes foreign text safe for terminals, logs and files that people read. Characters that control a terminal, change the
 * direction of the text around them or forge lines are written as their codes, and passwords in URLs are hidden.
 */

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
