/**
 * Texts of owners in Markdown: as safe HTML for pages, and without markup for all else. HTML in a text is shown as text, links
 * lead out of the site without its recommendation, and pictures are not shown. The libraries are loaded with the first text.
 */

import type { OwnerText } from '../../domain/incident/owner-incident.ts';
import { findForbidden } from '../../domain/printable-text.ts';
import { accept, type Outcome, refuse } from './change.ts';

const OPTIONS = {
  allowedTags: ['p', 'a', 'strong', 'em', 's', 'code', 'pre', 'ul', 'ol', 'li', 'blockquote', 'br', 'hr'],
  allowedAttributes: { a: ['href', 'rel'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
};

/** Elements between which the plain text has a line break. */
const BLOCKS = new Set(['paragraph_close', 'heading_close', 'list_item_close', 'hr']);

let loading: ReturnType<typeof load> | null = null;

async function load() {
  const [{ default: MarkdownIt }, { default: sanitize }] = await Promise.all([
    import('markdown-it'),
    import('sanitize-html'),
  ]);
  const markdown = new MarkdownIt('default', { html: false, linkify: true, breaks: true });
  markdown.disable(['image', 'table']);
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  // Pages have headings of their own.
  const transformTags = {
    ...Object.fromEntries(['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((tag) => [tag, 'p'])),
    a: sanitize.simpleTransform('a', { rel: 'nofollow noopener' }),
  };
  return { markdown, toSafe: (html: string) => sanitize(html, { ...OPTIONS, transformTags }) };
}

/** The text as HTML that is safe on every page. */
export async function renderPostText(text: string): Promise<string> {
  if (text === '') return '';
  loading ??= load();
  const { markdown, toSafe } = await loading;
  return toSafe(markdown.render(text));
}

/** The text without markup. A link is followed by its address, if it does not show it itself. */
export async function plainPostText(text: string): Promise<string> {
  loading ??= load();
  const { markdown } = await loading;
  let plain = '';
  for (const { type, children, content } of markdown.parse(text, {})) {
    if (type === 'list_item_open') plain += '- ';
    else if (type === 'fence' || type === 'code_block') plain += `${content}\n`;
    else if (BLOCKS.has(type)) plain = `${plain.trimEnd()}\n`;
    if (type !== 'inline') continue;
    let href = '';
    let from = 0;
    for (const part of children ?? []) {
      if (part.type === 'softbreak' || part.type === 'hardbreak') plain += '\n';
      else if (part.type === 'link_open') {
        href = String(part.attrGet('href') ?? '');
        from = plain.length;
      } else if (part.type === 'link_close') {
        if (plain.slice(from) !== href) plain += ` (${href})`;
      } else plain += part.content;
    }
  }
  return plain.trim();
}

/** Reads a text. Refused with `member_invalid` for characters that affect the text around them. */
export async function readPostText(text: string, member: string): Promise<Outcome<OwnerText>> {
  const markdown = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').trim();
  const found = findForbidden(markdown, { lines: true });
  if (found !== null) return refuse(forbiddenIn(member), member);
  return accept({ markdown, plain: await plainPostText(markdown) });
}

/** Reads a title: one line that is not empty. Refused as {@link readPostText}. */
export function readPostTitle(text: string): Outcome<string> {
  const title = text.replace(/\s+/g, ' ').trim();
  return title === '' || findForbidden(title) !== null
    ? refuse(forbiddenIn('title'), 'title')
    : accept(title);
}

function forbiddenIn(member: string) {
  const example = 'text without control characters, marks of direction and unassigned characters';
  return { code: 'member_invalid', member, problem: { code: 'format', example } } as const;
}
