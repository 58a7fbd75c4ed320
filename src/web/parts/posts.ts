/** Posts of owners for templates. */

import { type OwnerIncident, type OwnerText, shortText } from '../../domain/incident/owner-incident.ts';
import { time } from '../../language/phrase.ts';
import { renderPostText } from '../../resources/kit/post-text.ts';
import type { Language, LanguageTexts } from '../language/language.ts';
import { lookOf } from './incidents.ts';

/** Maximum number of characters of the cached texts and their HTML. */
const MAX_CACHED_CHARACTERS = 4_000_000;
/** Maximum number of entries of a timeline on a page. */
const MAX_ENTRIES = 20;
/** The entries of a page end with the one whose text brings the sum to this, characters. */
const MAX_CHARACTERS = 15_000;

/** A text as safe HTML. A change of a text is another text, so that nothing in the cache is out of date. */
export const postMarkup = createMarkup(renderPostText, MAX_CACHED_CHARACTERS);

/** Caches what `render` makes of texts, as long as all of it has at most `maxCharacters`: what was not used for longest goes first. */
export function createMarkup(render: (text: string) => Promise<string>, maxCharacters: number) {
  const cached = new Map<string, string>();
  let characters = 0;
  const forget = (text: string) => {
    characters -= text.length + (cached.get(text)?.length ?? 0);
    cached.delete(text);
  };
  return async (text: string): Promise<string> => {
    const known = cached.get(text);
    const html = known ?? (await render(text));
    if (cached.has(text)) forget(text);
    cached.set(text, html);
    characters += text.length + html.length;
    for (const oldest of cached.keys()) {
      if (characters <= maxCharacters) break;
      forget(oldest);
    }
    return html;
  };
}

/** The entries of a timeline from `offset` on that a page shows, and the offset of the next page; null: there is none. */
export function cutTimeline<Entry extends { readonly text: string }>(
  entries: readonly Entry[],
  offset: number,
): { readonly shown: readonly Entry[]; readonly next: number | null } {
  let end = offset;
  for (let characters = 0; end < entries.length && end < offset + MAX_ENTRIES; end++) {
    if (characters >= MAX_CHARACTERS) break;
    characters += entries[end]?.text.length ?? 0;
  }
  return { shown: entries.slice(offset, end), next: end < entries.length ? end : null };
}

/** A text for a template: as HTML, or as it is where it was cut, since markup cannot be cut. */
async function viewText({ markdown, plain, isCut }: OwnerText) {
  return isCut === true ? { html: null, text: plain } : { html: await postMarkup(markdown), text: '' };
}

/** The texts of an owner's incident, newest first. */
export function textsOf(
  { postMortem, updates }: OwnerIncident,
  { texts }: LanguageTexts,
): readonly (OwnerText & { readonly at: number; readonly status: string })[] {
  const told = updates.map((update) => ({ ...update, status: texts.incidentStatus[update.status] }));
  return (postMortem === null ? told : [...told, { ...postMortem, status: texts.page.postMortem }]).reverse();
}

interface PostPlace {
  /** The path of the page that has all texts; null: this one. */
  readonly path: string | null;
  /** The texts to show; absent: the newest. */
  readonly entries?: ReturnType<typeof textsOf>;
}

/** An owner's incident. */
export async function viewPost(
  post: OwnerIncident,
  now: number,
  language: Language,
  { path, entries = textsOf(post, language) }: PostPlace,
) {
  const { texts, formats } = language;
  const { title, severity, status, startedAt, resolvedAt, updates, earlier = 0 } = post;
  const length = formats.length((resolvedAt ?? now) - startedAt);
  return {
    title,
    path,
    look: lookOf({ status, severity }),
    isOpen: resolvedAt === null,
    status: texts.incidentStatus[status],
    severity: texts.severity[severity],
    severityLook: severity,
    began: texts.page.began(time(startedAt)),
    lasted: resolvedAt === null ? texts.page.lasting(length) : texts.page.lasted(length),
    hasMore: earlier > 0 || entries.some(({ isCut }) => isCut),
    total: earlier + updates.length,
    entries: await Promise.all(
      entries.map(async (entry) => ({
        status: entry.status,
        time: [time(entry.at)],
        ...(await viewText(entry)),
      })),
    ),
  };
}

export async function viewShortText(text: OwnerText) {
  return await viewText(shortText(text));
}
