/** Incidents as Atom feeds: `/incidents.atom` of all services, `/status/:slug/incidents.atom` of one. */
import { fullName } from '../domain/service.ts';
import type { Route } from '../http/route.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { createIncidentFeeds, FEED_ENTRIES } from './incident-feed.ts';
import { serviceNotFound } from './reading-routes.ts';

/** What these routes read from. */
export interface AtomSources {
  readonly directory: ServiceDirectory;
  readonly registry: Pick<IncidentStore, 'listIncidents'>;
  /** Without a slash at its end. */
  readonly siteUrl: string;
}

/** The routes. */
export function atomRoutes({ directory, registry, siteUrl }: AtomSources): Route[] {
  const answer = createIncidentFeeds(directory, siteUrl);
  return [
    {
      path: '/incidents.atom',
      bucket: 'api',
      async handle() {
        return answer({
          name: 'incidents',
          title: 'Incidents of all services',
          path: '/incidents.atom',
          pageUrl: `${siteUrl}/`,
          incidents: await registry.listIncidents({ verifiedOnly: true, limit: FEED_ENTRIES, offset: 0 }),
        });
      },
    },
    {
      path: '/status/:slug/incidents.atom',
      bucket: 'api',
      async handle({ params }) {
        const service = directory.byPageName(params.slug ?? '');
        if (service === null) throw serviceNotFound(params.slug ?? '');
        const page = directory.pageName(service);
        return answer({
          name: `incidents/${service.slug}`,
          title: `Incidents of ${fullName(service)}`,
          path: `/status/${page}/incidents.atom`,
          pageUrl: `${siteUrl}/status/${page}`,
          incidents: await registry.listIncidents({ serviceId: service.id, limit: FEED_ENTRIES, offset: 0 }),
        });
      },
    },
  ];
}
