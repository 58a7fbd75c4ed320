/**
 * Cells of a CSV that people open in a spreadsheet. What a spreadsheet would compute gets an apostrophe in front, and
 * characters that a terminal obeys are written as their codes; `import` takes both back, so that a list is read as it
 * was written.
 */

/** What spreadsheets take for the beginning of a formula, in full width too, behind any number of apostrophes. */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/u;
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]|\\(?=u\{)/gu;
const ESCAPED = /\\u\{([0-9A-F]{1,6})\}/g;

/** A text as a cell. */
export function writeCell(text: string): string {
  const guarded = FORMULA.test(text) ? `'${text}` : text;
  return guarded.replace(
    UNPRINTABLE,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`,
  );
}

/** The text of a cell that {@link writeCell} wrote; a cell of another program stays as it is, but for these marks. */
export function readCell(cell: string): string {
  const text = cell.replace(ESCAPED, (written, code: string) => {
    const point = Number.parseInt(code, 16);
    return point > 0x10ffff ? written : String.fromCodePoint(point);
  });
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}
