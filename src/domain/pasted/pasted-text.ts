/** The text of pasted lines: without the marks around it, and without passwords where it is shown again. Pure. */

/** The text in place of a password. */
export const HIDDEN_PASSWORD = '***';

/** The line without the marks of lists, quotes, tables and code. */
export function withoutDecoration(line: string): string {
  return line
    .replace(/^\uFEFF/, '')
    .replace(/[\u200B\u00A0\u3000]/g, ' ')
    .trim()
    .replace(/^(?:>\s*)+/, '')
    .replace(/^(?:[-*+•‣·–]|\d{1,3}[.)])\s+/, '')
    .replace(/^\[[ xX]\]\s+/, '')
    .replace(/^\|\s*|\s*\|$/g, '')
    .replace(/^[`"']+(.*?)[`"',;]+$/, '$1')
    .trim();
}

/** The pieces of a line that has several URLs, each with the words before it; the words after the last one are its own. */
export function splitUrls(line: string): string[] {
  const pieces: string[] = [];
  let words: string[] = [];
  for (const token of line.split(/\s+/)) {
    if (token.includes('://') && words.some((word) => word.includes('://'))) {
      const end = words.findIndex((word) => word.includes('://')) + 1;
      pieces.push(words.slice(0, end).join(' '));
      words = words.slice(end);
    }
    words.push(token);
  }
  return pieces.length === 0 ? [line] : [...pieces, words.join(' ')];
}

/** The line with `***` in place of passwords of addresses. A number before a slash is a port. */
export function hidePassword(line: string): string {
  return line.replace(/\S+/g, (token) => {
    const end = token.lastIndexOf('@');
    const [before] = /^(?:.*?:\/\/)?[^/:@]*:(?!\/\/|\d+\/)/.exec(token.slice(0, Math.max(end, 0))) ?? [];
    return before === undefined ? token : before + HIDDEN_PASSWORD + token.slice(end);
  });
}
