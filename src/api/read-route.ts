/** Routes that return JSON, each with its part of the OpenAPI document. */

import {
  IF_NONE_MATCH,
  LIMIT_HEADERS,
  LINK_HEADER,
  OPEN_TO_ALL,
  type OpenApiOperation,
  type OpenApiParameter,
  problems,
  queryParameters,
  SLUG,
} from '../http/openapi.ts';
import type { ParameterSchemas } from '../http/parameters.ts';
import type { Route } from '../http/route.ts';
import type { TSchema } from '../json-schema.ts';

const SERVICE_SLUG = SLUG('The service, in any case.', 'github');
const INCIDENT_ID: OpenApiParameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the incident, as the lists give it.',
  schema: { type: 'string' },
};

/** A route that returns JSON. In its path, `:slug` identifies a service and `:id` an incident. */
export interface ReadingEndpoint extends Required<Pick<Route, 'path' | 'handle'>> {
  /** Operation id. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** The parameter `:slug` if it does not identify a service. */
  readonly slug?: OpenApiParameter;
  /** Parameters of the query. Default none. */
  readonly query?: ParameterSchemas;
  /** Schema of the response. */
  readonly answer: TSchema;
  /** As of {@link Route}. */
  readonly open?: 'page';
  /** Additional errors, by status. */
  readonly problems?: Readonly<Record<string, string>>;
}

export function readRoute({ path, handle, open, ...endpoint }: ReadingEndpoint): Route {
  const route: Route = {
    path,
    bucket: 'api',
    access: 'everyone',
    handle,
    describe: () => describe(path, endpoint),
  };
  return open === undefined ? route : { ...route, open };
}

function describe(
  path: string,
  endpoint: Omit<ReadingEndpoint, 'path' | 'handle' | 'open'>,
): OpenApiOperation {
  const { id, tag, summary, description, slug = SERVICE_SLUG, query = {}, answer, problems: more } = endpoint;
  const hasId = path.includes(':id');
  const inPath = [...(path.includes(':slug') ? [slug] : []), ...(hasId ? [INCIDENT_ID] : [])];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: OPEN_TO_ALL,
    parameters: [...inPath, ...queryParameters(query), IF_NONE_MATCH],
    responses: {
      200: {
        description: 'The answer, with a strong ETag.',
        headers: 'cursor' in query ? { ...LIMIT_HEADERS, ...LINK_HEADER } : LIMIT_HEADERS,
        content: { 'application/json': { schema: answer } },
      },
      304: { description: 'The client has it already (If-None-Match).' },
      ...problems({
        ...(Object.keys(query).length > 0 ? { 400: 'A parameter is not valid; the body names it.' } : {}),
        401: 'The API key is not valid.',
        403: 'The API key lacks the scope read (insufficient_scope).',
        ...(inPath.length > 0
          ? { 404: `There is no such ${hasId ? 'service or incident' : 'service'}.` }
          : {}),
        ...more,
        429: 'Too many requests; Retry-After says how long to wait.',
      }),
    },
  };
}
