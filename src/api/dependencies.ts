/** Reports of services about their dependencies: for one service, and for all services that make them public. */

import { formatTime, formatTimeOrNull } from '../domain/durations.ts';
import { limitParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import { json, type Route } from '../http/route.ts';
import { listOf, namedObject, nullable, PAGE_MEMBERS, TimeSchema, whole } from '../http/schema.ts';
import { Type } from '../json-schema.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import type { ServiceFinder } from '../view/service-finder.ts';
import { readRoute } from './read-route.ts';
import { ServiceNameSchema, VerdictSchema, viewServiceName } from './service-view.ts';

export interface DependencySources {
  readonly finder: ServiceFinder;
  readonly registry: PublicReads;
}

export function dependencyRoutes(sources: DependencySources): Route[] {
  return [serviceRoute(sources), listRoute(sources)];
}

const SERVICE_QUERY = { limit: limitParameter(100, 1_000) };

/** The reports of a service about its dependencies. */
const ServiceDependenciesSchema = namedObject('ServiceDependencies', {
  service: ServiceNameSchema,
  reported_at: nullable(TimeSchema, 'When the newest report arrived; null: there never was one.'),
  dependencies: listOf('Those of the newest report.', {
    name: Type.String(),
    status: VerdictSchema,
    latency: nullable(whole('Milliseconds.'), 'Null where it is not reported.'),
    since: TimeSchema,
  }),
  changes: listOf('Newest first.', {
    name: Type.String(),
    status: nullable(VerdictSchema, 'Null: from then on it was not reported.'),
    at: TimeSchema,
  }),
});

function serviceRoute({ finder, registry }: DependencySources): Route {
  return readRoute({
    path: '/api/v1/services/:slug/dependencies',
    id: 'listServiceDependencies',
    tag: 'Heartbeats',
    summary: 'Get the dependencies of a service',
    description: 'Only where its owner has made them public; services of the public catalogue have none.',
    query: SERVICE_QUERY,
    answer: ServiceDependenciesSchema,
    problems: {
      403: 'The owner has not made them public (dependencies_private), or the API key lacks the scope read (insufficient_scope).',
    },
    async handle(request) {
      const service = await finder.ofPath(request);
      const { limit } = readParameters(request.query, SERVICE_QUERY);
      if (service.publicDependencies !== true)
        throw new HttpError(
          'dependencies_private',
          service.origin === 'owner'
            ? `The owner of ${service.slug} has not made its dependencies public.`
            : `${service.slug} is a service of the public catalogue, which sends no heartbeats with dependencies.`,
        );
      const known = await registry.dependenciesOf(service.id, limit);
      return json({
        service: viewServiceName(service),
        reported_at: formatTimeOrNull(known.reportedAt),
        dependencies: known.dependencies.map(({ name, status, latencyMs, since }) => ({
          name,
          status,
          latency: latencyMs,
          since: formatTime(since),
        })),
        changes: known.changes.map(({ name, status, at }) => ({ name, status, at: formatTime(at) })),
      });
    },
  });
}

const LIST_QUERY = { limit: limitParameter(50, 100), offset: OFFSET_PARAMETER };

/** Dependencies that services report as failing now. */
const DependenciesSchema = namedObject('DependencyList', {
  dependencies: listOf('The one that most services report first, then by name.', {
    name: Type.String({ description: 'In lower case.' }),
    services: whole('How many services report it.'),
    since: TimeSchema,
  }),
  total: whole('Dependencies that fail.'),
  ...PAGE_MEMBERS,
});

function listRoute({ registry }: DependencySources): Route {
  return readRoute({
    path: '/api/v1/dependencies',
    id: 'listDependencies',
    tag: 'Heartbeats',
    summary: 'List failing dependencies',
    description: 'Over verified services whose owners have made their dependencies public.',
    query: LIST_QUERY,
    answer: DependenciesSchema,
    async handle({ query }) {
      const { limit, offset } = readParameters(query, LIST_QUERY);
      const [failing, total] = await Promise.all([
        registry.failingDependencies({ limit, offset }),
        registry.countFailingDependencies(),
      ]);
      const dependencies = failing.map(({ name, services, since }) => ({
        name,
        services,
        since: formatTime(since),
      }));
      return json({ dependencies, total, limit, offset });
    },
  });
}
