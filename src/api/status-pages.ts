/** Status pages of one's own for programs: JSON at `/api/v1/pages/:slug` and `/p/:slug.json`, Atom beside the page. */
import { Type } from '@sinclair/typebox';
import { formatTime } from '../domain/durations.ts';
import { PAGE_STATUSES } from '../domain/page-verdict.ts';
import { type OpenApiPath, operation, SLUG } from '../http/openapi.ts';
import { limitParameter, OFFSET_PARAMETER, readParameters, wordParameter } from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import { type HttpRequest, json, type Route } from '../http/route.ts';
import { viewService } from '../view/service-view.ts';
import { type PageView, type PageViewSources, readPageView } from '../view/status-page-view.ts';
import { createIncidentFeeds, FEED_ENTRIES } from './incident-feed.ts';
import { viewIncident, viewIncidentService } from './incident-view.ts';
import {
  IncidentsSchema,
  MaintenanceSchema,
  nullable,
  ServiceSchema,
  strict,
  TimeSchema,
  whole,
  words,
} from './schemas.ts';
import { viewMaintenance } from './vendor-view.ts';

/** Which incidents of a page are asked for. */
export const INCIDENT_FILTERS = ['all', 'running', 'past'] as const;

/** Query parameters of a page as JSON. */
export const PAGE_QUERY = {
  incidents: wordParameter(INCIDENT_FILTERS, 'Running incidents, past ones, or both.', 'all'),
  limit: limitParameter(20, 100),
  offset: OFFSET_PARAMETER,
};

/** A page as JSON. */
export const PageSchema = Type.Object(
  {
    page: Type.Object(
      {
        slug: Type.String(),
        title: Type.String(),
        text: Type.String({ description: 'Plain text.' }),
        url: Type.String(),
        logo_url: nullable(Type.String(), 'Null where it has none.'),
        updated_at: TimeSchema,
      },
      strict,
    ),
    status: words(PAGE_STATUSES, 'The worst of its services; those that are paused do not count.'),
    counts: Type.Object(
      {
        up: whole('Operational.'),
        slow: whole('Slow.'),
        down: whole('Down.'),
        unknown: whole('Never checked.'),
        maintenance: whole('Down or slow within an announced maintenance.'),
        paused: whole('Not watched now.'),
      },
      strict,
    ),
    groups: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Empty for services without a heading.' }),
          services: Type.Array(
            Type.Object(
              {
                ...ServiceSchema.properties,
                paused: Type.Boolean(),
                in_maintenance: Type.Boolean({
                  description: 'Down or slow within an announced maintenance.',
                }),
              },
              strict,
            ),
          ),
        },
        strict,
      ),
      { description: 'In the order of their owner.' },
    ),
    maintenance: MaintenanceSchema.properties.maintenance,
    incidents: IncidentsSchema.properties.incidents,
    limit: IncidentsSchema.properties.limit,
    offset: IncidentsSchema.properties.offset,
  },
  strict,
);

/** What these routes read from. */
export interface StatusPageSources extends PageViewSources {
  /** Without a slash at its end. */
  readonly siteUrl: string;
}

/** The routes; those below `/p/` must stand before the page itself. */
export function statusPageRoutes(sources: StatusPageSources): Route[] {
  const { directory, pages, siteUrl } = sources;
  const feedOf = createIncidentFeeds(directory, siteUrl);

  const find = async ({ params }: HttpRequest): Promise<PageView> => {
    const look = await readPageView(params.slug ?? '', sources);
    if (look === null) throw pageNotFound(params.slug ?? '');
    return look;
  };

  const asJson = async (request: HttpRequest) => {
    const { incidents: filter, limit, offset } = readParameters(request.query, PAGE_QUERY);
    const look = await find(request);
    const found = await pages.incidentsOfServices({
      serviceIds: look.services.map(({ service }) => service.id),
      ...readFilter(String(filter)),
      limit: Number(limit),
      offset: Number(offset),
    });
    const named = <T extends object>(serviceId: number, view: T) => {
      const service = directory.byId(serviceId);
      return service === null ? [] : [{ ...view, service: viewIncidentService(service) }];
    };
    const { page, verdict } = look;
    return json(
      JSON.stringify({
        page: {
          slug: page.slug,
          title: page.title,
          text: page.text,
          url: `${siteUrl}/p/${page.slug}`,
          logo_url: page.logo === null ? null : siteUrl + logoPath(page.slug, page.logo.mark),
          updated_at: formatTime(page.updatedAt),
        },
        status: verdict.status,
        counts: verdict.counts,
        groups: look.groups.map(({ name, services }) => ({
          name,
          services: services.map(({ service, current, standing, stale }) => ({
            ...viewService(service, current, stale),
            paused: service.paused,
            in_maintenance: standing === 'maintenance',
          })),
        })),
        maintenance: look.maintenances.flatMap((one) => named(one.serviceId, viewMaintenance(one))),
        incidents: found.flatMap((one) => named(one.serviceId, viewIncident(one))),
        limit,
        offset,
      }),
    );
  };

  return [
    { path: '/api/v1/pages/:slug', bucket: 'api', handle: asJson },
    { path: '/p/:slug.json', bucket: 'api', handle: asJson },
    {
      path: '/p/:slug/incidents.atom',
      bucket: 'api',
      async handle(request) {
        const { page, services } = await find(request);
        return feedOf({
          name: `pages/${page.slug}/incidents`,
          title: `Incidents of ${page.title}`,
          path: `/p/${page.slug}/incidents.atom`,
          pageUrl: `${siteUrl}/p/${page.slug}`,
          incidents: await pages.incidentsOfServices({
            serviceIds: services.map(({ service }) => service.id),
            limit: FEED_ENTRIES,
            offset: 0,
          }),
        });
      },
    },
  ];
}

/** The paths in the OpenAPI document. */
export function statusPagePaths(): Readonly<Record<string, OpenApiPath>> {
  return {
    '/api/v1/pages/{slug}': {
      get: operation(
        'getPage',
        'Status pages',
        "A status page of an owner's own",
        'Its services as they stand, what is planned for them, and their incidents, newest start first, then by id. The same is at /p/{slug}.json.',
        [SLUG('The page, in any case.', 'acme')],
        PAGE_QUERY,
        PageSchema,
        { 404: 'There is no such page.' },
      ),
    },
  };
}

/** The address of a logo: another picture has another one. */
export function logoPath(slug: string, mark: string): string {
  return `/p/${slug}/logo?v=${mark}`;
}

/** A filter as the registry reads it. */
export function readFilter(filter: string): { readonly running?: boolean } {
  return filter === 'all' ? {} : { running: filter === 'running' };
}

/** The error for a slug that no page has. */
export function pageNotFound(slug: string): HttpError {
  return new HttpError('page_not_found', `There is no status page "${slug.slice(0, 100)}".`);
}
