/** Cleans and cuts foreign text for messages: no control characters, no half of a surrogate pair, within limits. */

/** Control characters, separators of lines, and marks of direction. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/**
 * A family of several persons, a flag and a letter with its accents are one character to a reader. Null: nothing was cut yet. To make it
 * takes 10 ms.
 */
let segmenter: Intl.Segmenter | null = null;

/** One line of at most `maxLength` UTF-16 units. */
export function cleanLine(text: string, maxLength: number): string {
  return cutText(text.toWellFormed().replace(CONTROLS, ' ').replace(/ {2,}/g, ' ').trim(), maxLength);
}

/** Text of several lines, at most one of them empty in a row, of at most `maxLength` UTF-16 units. */
export function cleanLines(text: string, maxLength: number): string {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => cleanLine(line, maxLength));
  return cutText(
    lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    maxLength,
  );
}

/** The text with at most `maxLength` UTF-16 units, cut between characters; an ellipsis stands for what is missing. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  let kept = '';
  // One character of the reader may have thousands of marks.
  for (const { segment } of segmenter.segment(text.slice(0, 2 * maxLength))) {
    if (kept.length + segment.length + 1 > maxLength) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

/** As many whole lines as have at most `maxLength` units together, joined; an ellipsis stands for those that are missing. */
export function joinLines(
  lines: readonly string[],
  maxLength: number,
  sizeOf: (text: string) => number = (text) => text.length,
): string {
  const whole = lines.join('\n');
  if (sizeOf(whole) <= maxLength) return whole;
  const kept: string[] = [];
  let size = sizeOf('…');
  for (const line of lines) {
    size += sizeOf(line) + 1;
    if (size > maxLength) break;
    kept.push(line);
  }
  return [...kept, '…'].join('\n');
}
