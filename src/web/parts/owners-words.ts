/** Incidents and maintenance in the words of owners, for templates. */
import { renderOwnerText } from '../../app/owner-text.ts';
import { BoundedMap, getOrInsert } from '../../async/bounded-map.ts';
import type { OwnerIncident } from '../../domain/incident/owner-incident.ts';
import { time } from '../../language/phrase.ts';
import type { Language } from '../language/language.ts';

/** Maximum number of texts whose HTML is cached, about 10 KB each. */
const MAX_CACHED = 500;
const cached = new BoundedMap<string, Promise<string>>(MAX_CACHED);

/** A text as safe HTML. */
export async function ownerTextMarkup(markdown: string): Promise<string> {
  return await getOrInsert(cached, markdown, () => renderOwnerText(markdown));
}

/** An owner's incident with its updates as HTML, newest first. */
export async function viewSaid(said: OwnerIncident, now: number, { texts, formats }: Language) {
  const { title, severity, status, startedAt, resolvedAt, postMortem } = said;
  const length = formats.length((resolvedAt ?? now) - startedAt);
  const look = severity === 'minor' ? 'slow' : 'down';
  return {
    title,
    look: resolvedAt === null ? look : 'up',
    isOpen: resolvedAt === null,
    status: texts.incidentStatus[status],
    severity: texts.severity[severity],
    began: texts.page.began(time(startedAt)),
    lasted: resolvedAt === null ? texts.page.lasting(length) : texts.page.lasted(length),
    postMortem:
      postMortem === null
        ? null
        : { time: [time(postMortem.at)], html: await ownerTextMarkup(postMortem.markdown) },
    updates: await Promise.all(
      [...said.updates].reverse().map(async (update) => ({
        status: texts.incidentStatus[update.status],
        time: [time(update.at)],
        html: await ownerTextMarkup(update.markdown),
      })),
    ),
  };
}
