/** The parts that the operations of the OpenAPI document are made of. */
import type { TSchema } from '@sinclair/typebox';
import type { ParameterSchemas } from './parameters.ts';

/** A parameter of an operation. */
export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: object;
  readonly example?: string;
}

/** One endpoint. */
export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly object[];
  readonly parameters: readonly OpenApiParameter[];
  readonly requestBody?: { readonly required: true; readonly content: object };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly headers?: object; readonly content?: object }>
  >;
}

/** A path with what can be done there. */
export interface OpenApiPath {
  readonly get?: OpenApiOperation;
  readonly post?: OpenApiOperation;
}

/** Anybody may ask, with a key or without. */
export const OPEN_TO_ALL: readonly object[] = [{}, { key: [] }];

/** The parameter that names a service. */
export const SLUG = (what: string, example: string): OpenApiParameter => ({
  name: 'slug',
  in: 'path',
  required: true,
  description: what,
  schema: { type: 'string' },
  example,
});
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

/** The headers of every answer of a limited endpoint. */
export const LIMIT_HEADERS = Object.fromEntries(
  ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'].map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]),
);

/** What an error says in a header beside its body. */
const HEADER_OF_STATUS: Readonly<Record<string, string>> = {
  401: 'WWW-Authenticate',
  429: 'Retry-After',
  503: 'Retry-After',
};

/** The answers of errors, by status. */
export function problems(statuses: Readonly<Record<string, string>>): OpenApiOperation['responses'] {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  return Object.fromEntries(
    Object.entries(statuses).map(([status, description]) => {
      const name = HEADER_OF_STATUS[status];
      const own = name === undefined ? {} : { [name]: { $ref: `#/components/headers/${name}` } };
      return [status, { description, headers: { ...LIMIT_HEADERS, ...own }, content }];
    }),
  );
}

/** Query parameters as the document has them. */
export function queryParameters(schemas: ParameterSchemas): OpenApiParameter[] {
  return Object.entries(schemas).map(([name, schema]) => {
    const { description = '', lowered = false, ...shape } = schema;
    // What is over it is lowered to it, and so is not forbidden.
    if (lowered) delete shape.maximum;
    return { name, in: 'query', required: false, description, schema: shape };
  });
}

/** An operation that reads JSON; `more` are its errors beyond the usual ones. */
export function operation(
  operationId: string,
  tag: string,
  summary: string,
  description: string,
  path: readonly OpenApiParameter[],
  query: ParameterSchemas,
  answer: TSchema,
  more: Readonly<Record<string, string>> = {},
): OpenApiOperation {
  const named = path.length > 0;
  const parameters = [...path, ...queryParameters(query)];
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security: OPEN_TO_ALL,
    parameters,
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
        ...(named
          ? { 404: `There is no such ${path.includes(INCIDENT_ID) ? 'service or incident' : 'service'}.` }
          : {}),
        ...more,
        429: 'Too many requests; Retry-After says how long to wait.',
        500: 'A fault of ours, with a request id.',
      }),
    },
  };
}
