/** Incidents as Atom feeds: `/incidents.atom` of all services, `/status/:slug/incidents.atom` of one. */

import { formatTime } from '../domain/durations.ts';
import type { Incident } from '../domain/incident.ts';
import type { Service } from '../domain/service.ts';
import { ATOM_MEDIA_TYPE, type AtomEntry, writeAtom } from '../notify/atom.ts';
import type { Registry } from '../store/ports/registry.ts';
import type { ApiAnswer, Route } from './exchange.ts';
import { serviceNotFound } from './reading-routes.ts';
import type { ServiceDirectory } from './service-directory.ts';

/** What these routes read from. */
export interface AtomSources {
  readonly directory: ServiceDirectory;
  readonly registry: Pick<Registry, 'listIncidents'>;
  /** Without a slash at its end. */
  readonly siteUrl: string;
}

/** Entries of a feed; readers ask often enough. */
const ENTRIES = 50;
/** The year of the tag scheme's authority (RFC 4151): ids must never change, so neither does this. */
const TAG_YEAR = 2026;
/** When a feed without entries was last changed. */
const NEVER_CHANGED = Date.UTC(TAG_YEAR, 0, 1);

/** The routes. */
export function atomRoutes({ directory, registry, siteUrl }: AtomSources): Route[] {
  const tag = `tag:${new URL(siteUrl).hostname},${TAG_YEAR}:`;
  const pageOf = (service: Service) => `${siteUrl}/status/${directory.pageName(service)}`;

  const entryOf = (incident: Incident): AtomEntry[] => {
    const service = directory.byId(incident.serviceId);
    if (service === null) return [];
    const { id, title, status, severity, startedAt, updates } = incident;
    return [
      {
        id: `${tag}incident/${id}`,
        title: `${service.name}: ${title} (${severity}, ${status})`,
        url: pageOf(service),
        publishedAt: updates[0]?.at ?? startedAt,
        updatedAt: updates.at(-1)?.at ?? startedAt,
        text: textOf(incident),
        category: status,
      },
    ];
  };

  const answer = (feed: {
    readonly name: string;
    readonly title: string;
    readonly path: string;
    readonly pageUrl: string;
    readonly incidents: readonly Incident[];
  }): ApiAnswer => {
    const entries = feed.incidents.flatMap(entryOf);
    const body = writeAtom({
      id: tag + feed.name,
      title: feed.title,
      selfUrl: siteUrl + feed.path,
      pageUrl: feed.pageUrl,
      updatedAt: Math.max(NEVER_CHANGED, ...entries.map(({ updatedAt }) => updatedAt)),
      entries,
    });
    return { status: 200, headers: { 'Content-Type': ATOM_MEDIA_TYPE, 'Cache-Control': 'no-cache' }, body };
  };

  return [
    {
      path: '/incidents.atom',
      bucket: 'api',
      async handle() {
        const incidents = await registry.listIncidents({ verifiedOnly: true, limit: ENTRIES, offset: 0 });
        return answer({
          name: 'incidents',
          title: 'Incidents of all services',
          path: '/incidents.atom',
          pageUrl: `${siteUrl}/`,
          incidents,
        });
      },
    },
    {
      path: '/status/:slug/incidents.atom',
      bucket: 'api',
      async handle({ params }) {
        const service = directory.byPageName(params.slug ?? '');
        if (service === null) throw serviceNotFound(params.slug ?? '');
        const incidents = await registry.listIncidents({ serviceId: service.id, limit: ENTRIES, offset: 0 });
        return answer({
          name: `incidents/${service.slug}`,
          title: `Incidents of ${service.name}`,
          path: `/status/${directory.pageName(service)}/incidents.atom`,
          pageUrl: pageOf(service),
          incidents,
        });
      },
    },
  ];
}

/** What happened, newest first, and where it is told. */
function textOf({ description, updates, sourceUrl }: Incident): string {
  const lines = [...updates]
    .reverse()
    .map(({ at, status, text }) => `${formatTime(at)} ${status}${text === '' ? '' : `: ${text}`}`);
  return [...(lines.length === 0 ? [description] : lines), sourceUrl].join('\n');
}
