/** Posts of owners, incidents and maintenance: their texts in Markdown, and the services and status pages that they concern. */
import type { OwnerText } from '../../domain/incident/owner-incident.ts';
import { findForbidden } from '../../domain/printable-text.ts';
import type { Service } from '../../domain/service.ts';
import type { OwnedPage } from '../../domain/status-page.ts';
import type { ServiceStore } from '../../store/ports/services.ts';
import type { PageReads } from '../../store/ports/status-pages.ts';
import { accept, type FieldRefusal, type Outcome, refuse } from './change.ts';

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

/** The services and pages of an account. */
export interface Subjects {
  readonly services: readonly Pick<Service, 'id' | 'slug' | 'domain' | 'isFurther'>[];
  readonly pages: readonly Pick<OwnedPage, 'id' | 'slug'>[];
}

/** Subjects by their names: services by slug or domain, pages by slug. */
export interface NamedSubjects {
  readonly services: readonly string[];
  readonly pages: readonly string[];
}

export type SubjectStore = ServiceStore & PageReads;

export async function readSubjects(registry: SubjectStore, accountId: number): Promise<Subjects> {
  const [services, pages] = await Promise.all([registry.servicesOf(accountId), registry.pagesOf(accountId)]);
  return { services, pages };
}

/** The IDs of named subjects. Refused with `subject_missing`, and with `no_subject` for each name that is not known. */
export function findSubjects(
  { services, pages }: Subjects,
  wanted: NamedSubjects,
): Outcome<{ readonly services: readonly number[]; readonly pages: readonly number[] }> {
  const refusals: FieldRefusal[] = [];
  const find = (field: keyof NamedSubjects, byName: (name: string) => number | undefined) => {
    const ids = wanted[field].map((given, at) => {
      const id = byName(given.trim().toLowerCase());
      if (id === undefined)
        refusals.push({
          field: `${field}.${at}`,
          refusal: { code: 'no_subject', name: given.slice(0, 200) },
        });
      return id ?? 0;
    });
    return [...new Set(ids)];
  };
  const found = {
    services: find(
      'services',
      (name) =>
        services.find(({ slug, domain, isFurther }) => slug === name || (domain === name && !isFurther))?.id,
    ),
    pages: find('pages', (name) => pages.find(({ slug }) => slug === name)?.id),
  };
  if (refusals.length > 0) return { ok: false, refusals };
  if (found.services.length + found.pages.length === 0)
    return refuse({ code: 'subject_missing' }, 'services');
  return accept(found);
}

/** The names of subjects in the API, without those that are gone. */
export function nameSubjects(
  { services, pages }: Subjects,
  of: { readonly services: readonly number[]; readonly pages: readonly number[] },
): { services: string[]; pages: string[] } {
  return {
    services: of.services.flatMap((id) => services.find((one) => one.id === id)?.slug ?? []),
    pages: of.pages.flatMap((id) => pages.find((one) => one.id === id)?.slug ?? []),
  };
}
