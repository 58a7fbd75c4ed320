/** An Atom feed of incidents as an answer: of all services, of one, or of a page of them. */

import { formatTime } from '../domain/durations.ts';
import type { Incident } from '../domain/incident.ts';
import { fullName } from '../domain/service.ts';
import type { HttpResponse } from '../http/route.ts';
import { ATOM_MEDIA_TYPE, type AtomEntry, writeAtom } from '../notify/atom.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';

/** A feed of incidents. */
export interface IncidentFeed {
  /** Part of the feed's id, which must never change. */
  readonly name: string;
  readonly title: string;
  /** Of the feed itself, from the slash after the host. */
  readonly path: string;
  readonly pageUrl: string;
  /** In the order in which they are written. */
  readonly incidents: readonly Incident[];
}

/** Entries of a feed; readers ask often enough. */
export const FEED_ENTRIES = 50;
/** The year of the tag scheme's authority (RFC 4151): ids must never change, so neither does this. */
const TAG_YEAR = 2026;
/** When a feed without entries was last changed. */
const NEVER_CHANGED = Date.UTC(TAG_YEAR, 0, 1);

/** Makes what answers feeds of a site. `siteUrl`: without a slash at its end. */
export function createIncidentFeeds(
  directory: ServiceDirectory,
  siteUrl: string,
): (feed: IncidentFeed) => HttpResponse {
  const tag = `tag:${new URL(siteUrl).hostname},${TAG_YEAR}:`;

  const entryOf = (incident: Incident): AtomEntry[] => {
    const service = directory.byId(incident.serviceId);
    if (service === null) return [];
    const { id, title, status, severity, startedAt, updates } = incident;
    return [
      {
        id: `${tag}incident/${id}`,
        title: `${fullName(service)}: ${title} (${severity}, ${status})`,
        url: `${siteUrl}/status/${directory.pageName(service)}`,
        publishedAt: updates[0]?.at ?? startedAt,
        updatedAt: updates.at(-1)?.at ?? startedAt,
        text: textOf(incident),
        category: status,
      },
    ];
  };

  return ({ name, title, path, pageUrl, incidents }) => {
    const entries = incidents.flatMap(entryOf);
    const body = writeAtom({
      id: tag + name,
      title,
      selfUrl: siteUrl + path,
      pageUrl,
      updatedAt: Math.max(NEVER_CHANGED, ...entries.map(({ updatedAt }) => updatedAt)),
      entries,
    });
    return { status: 200, headers: { 'Content-Type': ATOM_MEDIA_TYPE, 'Cache-Control': 'no-cache' }, body };
  };
}

/** What happened, newest first, and where it is told. */
function textOf({ description, updates, sourceUrl }: Incident): string {
  const lines = [...updates]
    .reverse()
    .map(({ at, status, text }) => `${formatTime(at)} ${status}${text === '' ? '' : `: ${text}`}`);
  return [...(lines.length === 0 ? [description] : lines), sourceUrl].join('\n');
}
