/**
 * Converts vendors' texts to plain text (decisions, Incidents: "markup of a source is stripped, never passed on"). The
 * results contain nothing that a browser would parse as a tag, and no control or bidirectional characters.
 */
import { Parser } from 'htmlparser2';

/** Maximum length of an update. */
const MAX_TEXT_LENGTH = 10_000;

/** Characters that are collected for each character of the result, before white space is folded. */
const COLLECTED = 4;

const MAX_MARKDOWN_LENGTH = COLLECTED * MAX_TEXT_LENGTH;

/** Parsing stops at elements that nest deeper: the parser's cost grows with the depth. */
const MAX_DEPTH = 200;

/** Elements without visible text. */
const DROPPED = new Set(
  'script style head title template iframe noembed noframes noscript textarea select object svg math canvas'.split(
    ' ',
  ),
);

/** Elements that begin and end lines. */
const BLOCKS = new Set(
  (
    'address article aside blockquote br center dd details dialog div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody tfoot thead tr ul'
  ).split(' '),
);

const CELLS = new Set(['td', 'th']);

/** Marks the border of a block until white space is folded; {@link visible} removes it from all texts. */
const BORDER = '\v';

/**
 * Converts HTML or plain text to plain text of at most `maxLength` characters (default 10,000); a longer one is cut and
 * ends in an ellipsis. Entities are decoded once; a `<` that would begin a tag then becomes `‹`. Each block of HTML becomes
 * a line; a text without blocks keeps its lines, but several empty lines become one. Takes linear time.
 */
export function plainText(markup: string, maxLength = MAX_TEXT_LENGTH): string {
  return tidy(strip(markup, maxLength * COLLECTED, false), maxLength);
}

const ESCAPED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  '#39': "'",
  '#039': "'",
};

/** Tags of blocks and links that are escaped twice. */
const TWICE = [
  /&lt;(?:p|div|ul|ol|li|small)&gt;/i,
  /&lt;\/(?:p|div|ul|ol|li|small)&gt;/i,
  /&lt;a href=/i,
  /&lt;\/a&gt;/i,
] as const;

/**
 * Unescapes HTML of which a part is escaped twice, as in the RSS of Instatus and AWS; returns other HTML unchanged. Such a
 * part contains blocks or links with start and end tags, unlike a text about markup.
 */
export function unescapeTwice(html: string): string {
  const [block, blockEnd, link, linkEnd] = TWICE;
  if (!(block.test(html) && blockEnd.test(html)) && !(link.test(html) && linkEnd.test(html))) return html;
  return html.replace(
    /&(lt|gt|amp|quot|#0?39);/gi,
    (whole, name: string) => ESCAPED[name.toLowerCase()] ?? whole,
  );
}

/** Cuts plain text to the 10,000 characters of an update; a longer one ends in an ellipsis. */
export function boundText(text: string): string {
  return cut(text, MAX_TEXT_LENGTH);
}

/**
 * Converts Markdown, with or without HTML, to plain text by the rules of {@link plainText}. Keeps lines, replaces links by
 * their text, and removes the marks of emphasis, headings, quotations and code. Reads the first 40,000 characters.
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
 * Converts plain text to one line of at most `maxLength` characters (at least 1); a longer one ends in an ellipsis. A `<`
 * that would begin a tag becomes `‹`. Text with markup must pass {@link plainText} first.
 */
export function oneLine(text: string, maxLength: number): string {
  return cut(withoutTags(visible(text).replace(/\s+/g, ' ').trim()), maxLength);
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
 * Removes invisible characters and those that reorder the text around them (controls, direction marks, zero-width
 * characters except the joiners of emoji and scripts, non-characters, lone surrogates). Line ends become `\n`.
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

/** Replaces the angle brackets of tags by quotation marks. */
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
