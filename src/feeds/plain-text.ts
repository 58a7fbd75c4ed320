/**
 * Text of vendors as plain text (decisions, Incidents: "markup of a source is stripped, never passed on"). What these
 * functions return never holds anything that a browser would read as a tag, and no control characters or characters
 * that turn the direction of writing.
 */
import { Parser } from 'htmlparser2';

/** Most characters of a text: the bound of an update in the domain. */
const MAX_TEXT_LENGTH = 10_000;

/** Characters collected for each that is kept, before white space is folded; what comes after them is not read. */
const COLLECTED = 4;

/** Most characters of a Markdown text that are read. */
const MAX_MARKDOWN_LENGTH = COLLECTED * MAX_TEXT_LENGTH;

/** Elements open at once; the rest of a document that nests deeper is not read. The parser's cost grows with depth. */
const MAX_DEPTH = 200;

/** Elements whose content is no text for people. */
const DROPPED = new Set(
  'script style head title template iframe noembed noframes noscript textarea select object svg math canvas'.split(
    ' ',
  ),
);

/** Elements that begin and end a line. */
const BLOCKS = new Set(
  (
    'address article aside blockquote br center dd details dialog div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody tfoot thead tr ul'
  ).split(' '),
);

const CELLS = new Set(['td', 'th']);

/** Stands for the border of a block until white space is folded; {@link visible} has taken it out of all texts. */
const BORDER = '\v';

/**
 * HTML or plain text as plain text of at most `most` (10,000) characters; a longer one ends in an ellipsis. Entities are decoded
 * once; a `<` that would begin a tag after that becomes `‹`. Each block of HTML is a line of its own; in a text without
 * blocks the lines stay as they are, of several empty ones in a row one. Ends in time linear to its input.
 */
export function plainText(markup: string, most = MAX_TEXT_LENGTH): string {
  return tidy(strip(markup, most * COLLECTED, false), most);
}

/** What escaped markup stands for. */
const ESCAPED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  '#39': "'",
  '#039': "'",
};

/** What a part that is escaped once more holds, and a text that speaks of markup seldom does: an end with its begin. */
const TWICE = [
  /&lt;(?:p|div|ul|ol|li|small)&gt;/i,
  /&lt;\/(?:p|div|ul|ol|li|small)&gt;/i,
  /&lt;a href=/i,
  /&lt;\/a&gt;/i,
] as const;

/**
 * HTML whose maker has escaped a part of it once more (Instatus and AWS do, in RSS), unescaped; other HTML as it is.
 * Blocks or links that are opened and closed tell such a part from a text that speaks of markup.
 */
export function unescapeTwice(html: string): string {
  const [block, blockEnd, link, linkEnd] = TWICE;
  if (!(block.test(html) && blockEnd.test(html)) && !(link.test(html) && linkEnd.test(html))) return html;
  return html.replace(
    /&(lt|gt|amp|quot|#0?39);/gi,
    (whole, name: string) => ESCAPED[name.toLowerCase()] ?? whole,
  );
}

/** Plain text within the bound of an update: cut to 10,000 characters, the last of them an ellipsis then. */
export function boundText(text: string): string {
  return cut(text, MAX_TEXT_LENGTH);
}

/**
 * Markdown, with or without HTML in it, as plain text by the rules of {@link plainText}. Lines stay, links become their
 * text, marks of emphasis, headings, quotations and code go. Only the first 40,000 characters are read.
 */
export function plainMarkdown(markdown: string): string {
  const text = visible(markdown.slice(0, MAX_MARKDOWN_LENGTH))
    .replace(/^ {0,3}(?:```|~~~)[^\n]*$/gm, '')
    .replace(/`{1,3}([^`\n]{1,1000})`{1,3}/g, (_, code: string) => escapeMarkup(code))
    .replace(/<(https?:\/\/[^<>\s]{1,2000})>/g, '$1')
    .replace(/!?\[([^[\]]{0,500})\]\([^()\s]{0,2000}(?: "[^"\n]{0,300}")?\)/g, '$1')
    .replace(/^ {0,3}(?:[-*_][ \t]{0,3}){3,80}$/gm, '')
    .replace(/^ {0,3}(?:#{1,6}[ \t]|> ?)/gm, '')
    .replace(/^( {0,12})[*+-][ \t]{1,4}/gm, '$1- ')
    .replace(/(?<![\w*\\])\*{1,3}(?=[^\s*])|(?<=[^\s*\\])\*{1,3}(?![\w*])/g, '')
    .replace(/(?<![\w\\])_{1,3}(?=[^\s_])|(?<=[^\s_\\])_{1,3}(?!\w)/g, '')
    // Before the end of a line it breaks the line.
    .replace(/(?<!\\)\\$/gm, '')
    .replace(/\\([\\`*_{}[\]()#+\-.!<>~|])/g, (_, sign: string) => escapeMarkup(sign));
  return tidy(strip(text, MAX_MARKDOWN_LENGTH, true), MAX_TEXT_LENGTH);
}

/**
 * Plain text on one line: stripped, white space folded, and cut to `most` characters (at least 1), the last of them an
 * ellipsis then. It does not strip markup: text that may hold some goes through {@link plainText} first. A `<` that
 * would begin a tag becomes `‹` all the same.
 */
export function oneLine(text: string, most: number): string {
  const folded = withoutTags(visible(text).replace(/\s+/g, ' ').trim());
  return cut(folded, most);
}

/** The text of markup, with {@link BORDER} where blocks begin and end. */
function strip(markup: string, most: number, keepLines: boolean): string {
  if (!/[<&]/.test(markup)) return visible(markup.slice(0, most));
  let text = '';
  let dropped = 0;
  let depth = 0;
  let blocks = 0;
  const parser = new Parser({
    onopentagname(name) {
      depth += 1;
      if (DROPPED.has(name)) dropped += 1;
      if (BLOCKS.has(name) || name === 'br') {
        blocks += 1;
        text += BORDER;
      }
      if (CELLS.has(name)) text += ' ';
      if (depth > MAX_DEPTH) parser.pause();
    },
    onclosetag(name) {
      depth -= 1;
      if (DROPPED.has(name)) dropped -= 1;
      if (BLOCKS.has(name)) text += BORDER;
    },
    ontext(data) {
      if (dropped > 0) return;
      text += visible(data);
      if (text.length > most) parser.pause();
    },
  });
  parser.end(markup);
  return blocks > 0 && !keepLines ? text.replaceAll('\n', ' ') : text;
}

function tidy(text: string, most: number): string {
  const folded = text
    .replace(/[^\S\n\v]+/g, ' ')
    .replace(/ ?([\n\v]) ?/g, '$1')
    .replace(/[\n\v]+/g, (run) => (run === '\n' || run.includes(BORDER) ? '\n' : '\n\n'))
    .trim();
  return cut(withoutTags(folded), most);
}

/**
 * Without characters that show nothing or disorder what is shown around them (Unicode's controls, direction marks,
 * joiners of no width but those within emoji and scripts, non-characters, halves of pairs), and line ends as `\n`.
 */
function visible(text: string): string {
  return (
    text
      .toWellFormed()
      .replace(/\r\n?|[\x85\u2028\u2029]/g, '\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
      .replace(/[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e]/g, '')
      .replace(/[\u2060-\u206f\ufeff\ufff0-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]/gu, '')
  );
}

/** What would be tags, with single angle quotation marks instead. */
function withoutTags(text: string): string {
  return text.replace(/<(?=[A-Za-z/!?])([^<>]*)>/g, '‹$1›').replace(/<(?=[A-Za-z/!?])/g, '‹');
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, Math.max(0, most - 1));
  // Half of a surrogate pair is no character.
  return `${kept.replace(/[\ud800-\udbff]$/, '').trimEnd()}…`;
}
