/** `GET /api/v1/status/:slug`: the current status of one service (contract 4.1). */
import { Type } from '@sinclair/typebox';
import { json, type Route } from '../http/route.ts';
import { named, nullable, strict } from '../http/schema.ts';
import { findService, type ServiceDirectory } from '../view/service-directory.ts';
import { readOperation, SERVICE_SLUG } from './operation.ts';
import type { ServiceJson } from './service-json.ts';
import { LatestCheckSchema, SERVICE_MEMBERS } from './service-view.ts';
import { VendorWordSchema } from './vendor-view.ts';

/** The single status (contract 4.1). */
export const StatusSchema = named(
  'ServiceStatus',
  Type.Object(
    {
      ...SERVICE_MEMBERS,
      latest_check: nullable(LatestCheckSchema, 'Null before the first check.'),
      vendor: nullable(
        VendorWordSchema,
        'What the vendor says of itself; null where no status page is read.',
      ),
    },
    strict,
  ),
);

/** The route. */
export function statusRoute(directory: ServiceDirectory, services: ServiceJson): Route {
  return {
    path: '/api/v1/status/:slug',
    bucket: 'api',
    handle(request) {
      const { body, etag } = services.status(findService(directory, request));
      return json(body, etag);
    },
    describe: () =>
      readOperation({
        id: 'getStatus',
        tag: 'Services',
        summary: 'The current status of one service',
        description:
          'up: the newest check was answered in time, up to and including 3,000 ms unless the operator set another bound; slow: later than that; down: an error or no answer, confirmed by further attempts; unknown: not yet checked.',
        path: [SERVICE_SLUG],
        answer: StatusSchema,
      }),
  };
}
