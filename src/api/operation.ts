/** Operations of the OpenAPI document that read JSON, and the parameters that most paths have. */

import {
  LIMIT_HEADERS,
  OPEN_TO_ALL,
  type OpenApiOperation,
  type OpenApiParameter,
  problems,
  queryParameters,
  SLUG,
} from '../http/openapi.ts';
import type { ParameterSchemas } from '../http/parameters.ts';
import type { TSchema } from '../json-schema.ts';

/** The service of most paths. */
export const SERVICE_SLUG = SLUG('The service, in any case.', 'github');
/** The incident of a path. */
export const INCIDENT_ID: OpenApiParameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the incident, as the lists give it.',
  schema: { type: 'string' },
};

/** What differs from one reading endpoint to the next. */
export interface ReadingEndpoint {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Parameters of the path. Default none. */
  readonly path?: readonly OpenApiParameter[];
  /** Parameters of the query. Default none. */
  readonly query?: ParameterSchemas;
  /** Schema of the answer. */
  readonly answer: TSchema;
  /** Errors beyond the usual ones, by status. */
  readonly problems?: Readonly<Record<string, string>>;
}

/** An operation that reads JSON. */
export function readOperation({
  id,
  tag,
  summary,
  description,
  path = [],
  query = {},
  answer,
  problems: more = {},
}: ReadingEndpoint): OpenApiOperation {
  const missing = path.includes(INCIDENT_ID) ? 'service or incident' : 'service';
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: OPEN_TO_ALL,
    parameters: [...path, ...queryParameters(query)],
    responses: {
      200: {
        description: 'The answer, with a strong ETag.',
        headers: LIMIT_HEADERS,
        content: { 'application/json': { schema: answer } },
      },
      304: { description: 'The client has it already (If-None-Match).' },
      ...problems({
        ...(Object.keys(query).length > 0 ? { 400: 'A parameter is not valid; the body names it.' } : {}),
        401: 'The API key is not valid.',
        ...(path.length > 0 ? { 404: `There is no such ${missing}.` } : {}),
        ...more,
        429: 'Too many requests; Retry-After says how long to wait.',
      }),
    },
  };
}
