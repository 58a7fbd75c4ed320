/** Incidents on pages: in the list of a service, and on their own pages; and posts of owners for templates. */
import { DAY_MS } from '../../domain/durations.ts';
import { type Incident, incidentPath, shortened } from '../../domain/incident/incident.ts';
import { type OwnerIncident, type OwnerText, shortText } from '../../domain/incident/owner-incident.ts';
import { age, lasting, type Phrase, time, timeToSecond } from '../../language/phrase.ts';
import { renderPostText } from '../../resources/kit/posts.ts';
import type { Language, LanguageTexts } from '../language/language.ts';

/**
 * The incident in the language of the page with its newest entries, the newest first; its own page has all. `page`: name of its
 * service in paths.
 */
export function viewPageIncident(written: Incident, page: string, now: number, { texts, formats }: Language) {
  const incident = shortened(inLanguage(written, { texts }));
  const { resolvedAt, startedAt, severity, updates, earlier = 0 } = incident;
  const length = formats.length((resolvedAt ?? now) - startedAt);
  return {
    title: incident.title,
    path: incidentPath(page, incident.id),
    look: lookOf(incident),
    status: stateWord(incident, { texts }),
    severity: texts.severity[severity],
    severityLook: severity,
    isOpen: resolvedAt === null,
    voice: incident.source,
    source: reportedBy(written, texts),
    began: texts.page.began(time(startedAt)),
    ended: resolvedAt === null ? null : texts.page.ended(time(resolvedAt)),
    /** Its duration so far, and its time, as people say it. */
    duration: durationOf(incident, { texts, formats }),
    when: resolvedAt === null ? texts.page.began(time(startedAt)) : [age(startedAt)],
    lasted: resolvedAt === null ? texts.page.lasting(length) : texts.page.lasted(length),
    description: incident.description,
    vendorUrl: incident.source === 'vendor' ? webAddress(incident.sourceUrl) : null,
    timeline: updates
      .map(({ at, status, text }) => ({
        status: stateWord({ severity, status }, { texts }),
        time: [timeToSecond(at)],
        text,
      }))
      .reverse(),
    timelineLabel: texts.page.timeline(updates.length + earlier),
    earlier,
  };
}

/** The state of an incident in a word. Maintenance is in progress, not identified. */
export function stateWord(
  { severity, status }: Pick<Incident, 'severity' | 'status'>,
  { texts }: LanguageTexts,
): string {
  return (severity === 'maintenance' ? texts.incidents.maintenanceState : texts.incidentStatus)[status];
}

export function durationOf(
  { startedAt, resolvedAt }: Pick<Incident, 'startedAt' | 'resolvedAt'>,
  { texts, formats }: Pick<Language, 'texts' | 'formats'>,
): Phrase {
  return resolvedAt === null
    ? texts.page.soFar(lasting(startedAt))
    : [formats.length(resolvedAt - startedAt)];
}

/**
 * An incident with our texts in the language of the page. Texts of vendors and of versions before 0.2 stay as they are.
 */
export function inLanguage(incident: Incident, { texts }: LanguageTexts): Incident {
  const { incidentTitle, incidentNote } = texts.service;
  const updates = incident.updates.map((update) =>
    update.note === undefined ? update : { ...update, text: incidentNote(update.note) },
  );
  const opening = incident.updates[0]?.note;
  if (opening?.code !== 'opened') return { ...incident, updates };
  return { ...incident, title: incidentTitle(opening), description: incidentNote(opening), updates };
}

/** The URL if it is http or https; null for any other, which must not become a link. */
export function webAddress(text: string): string | null {
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : null;
}

/** Who noticed an incident. A service that sends heartbeats is not checked: it reported the failure, or fell silent. */
export function reportedBy({ source, updates }: Incident, { page }: Language['texts']): string {
  if (source === 'owner') return page.reportedByOwner;
  if (source === 'vendor') return page.reportedByVendor;
  const opening = updates[0]?.note;
  const isReported = opening?.code === 'opened' && opening.isReported;
  return isReported ? page.detectedByHeartbeats : page.detectedByUs;
}

/** The colour of a state: what is open, watched and over. Severity is marked apart. */
export function lookOf({
  status,
  severity,
}: Pick<Incident, 'status' | 'severity'>): 'up' | 'slow' | 'down' | 'maintenance' {
  if (status === 'resolved') return 'up';
  if (severity === 'maintenance') return 'maintenance';
  return status === 'monitoring' ? 'slow' : 'down';
}

/** Incidents by the UTC day of their start, in their order. */
export function groupByDay<T extends { readonly startedAt: number }>(incidents: readonly T[]) {
  const days = Map.groupBy(incidents, ({ startedAt }) => Math.floor(startedAt / DAY_MS) * DAY_MS);
  return [...days].map(([at, ofDay]) => ({ at, incidents: ofDay }));
}

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
