/** What services say of the things that they depend on: of one service, and over all that make it public. */
import { formatTime } from '../domain/durations.ts';
import { limitParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import { json, type Route } from '../http/route.ts';
import type { HeartbeatStore } from '../store/ports/heartbeats.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { viewIncidentService } from './incident-view.ts';
import { findService } from './reading-routes.ts';

/** Query parameters of `GET /services/:slug/dependencies`. */
export const SERVICE_DEPENDENCIES_QUERY = { limit: limitParameter(100, 1_000) };

/** Query parameters of `GET /dependencies`. */
export const DEPENDENCIES_QUERY = { limit: limitParameter(50, 100), offset: OFFSET_PARAMETER };

/** What these routes read from. */
export interface DependencySources {
  readonly directory: ServiceDirectory;
  readonly registry: Pick<
    HeartbeatStore,
    'dependenciesOf' | 'failingDependencies' | 'countFailingDependencies'
  >;
}

/** The routes. */
export function dependencyRoutes({ directory, registry }: DependencySources): Route[] {
  return [
    {
      path: '/api/v1/services/:slug/dependencies',
      bucket: 'api',
      async handle(request) {
        const service = findService(directory, request);
        const { limit } = readParameters(request.query, SERVICE_DEPENDENCIES_QUERY);
        if (service.publicDependencies !== true)
          throw new HttpError(
            'dependencies_private',
            `The owner of ${service.slug} has not made its dependencies public.`,
          );
        const known = await registry.dependenciesOf(service.id, Number(limit));
        return json(
          JSON.stringify({
            service: viewIncidentService(service),
            reported_at: known.reportedAt === null ? null : formatTime(known.reportedAt),
            dependencies: known.dependencies.map(({ name, status, latencyMs, since }) => ({
              name,
              status,
              latency: latencyMs,
              since: formatTime(since),
            })),
            changes: known.changes.map(({ name, status, at }) => ({ name, status, at: formatTime(at) })),
          }),
        );
      },
    },
    {
      path: '/api/v1/dependencies',
      bucket: 'api',
      async handle({ query }) {
        const { limit, offset } = readParameters(query, DEPENDENCIES_QUERY);
        const [failing, total] = await Promise.all([
          registry.failingDependencies({ limit: Number(limit), offset: Number(offset) }),
          registry.countFailingDependencies(),
        ]);
        const dependencies = failing.map(({ name, services, since }) => ({
          name,
          services,
          since: formatTime(since),
        }));
        return json(JSON.stringify({ dependencies, total, limit, offset }));
      },
    },
  ];
}
