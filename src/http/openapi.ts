/**
 * OpenAPI 3.1: the types of the document, and the paths and schemas of the routes. Each route describes itself; the
 * document collects these descriptions.
 */
import { createSchemaList, typeName } from './openapi-schemas.ts';
import type { ParameterSchemas } from './parameters.ts';
import { ProblemSchema } from './problem.ts';

/** A parameter of an operation. */
export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: object;
  readonly example?: string;
}

/** An operation: one method of one path. */
export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly object[];
  readonly parameters: readonly OpenApiParameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: object };
  /** The requests that the server sends because of it. */
  readonly callbacks?: object;
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly headers?: object; readonly content?: object }>
  >;
}

export type OpenApiPath = Readonly<
  Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', OpenApiOperation>>
>;

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly contact: object;
    readonly license: object;
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, OpenApiPath>>;
  readonly webhooks: Readonly<Record<string, OpenApiPath>>;
  readonly components: {
    readonly securitySchemes: object;
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly headers: object;
  };
}

/** Security requirement of operations that need no key. */
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
/** Headers of every response of an endpoint with a rate limit. */
export const LIMIT_HEADERS = Object.fromEntries(
  ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'].map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]),
);

/** The parameter of reads whose responses have an ETag. */
export const IF_NONE_MATCH: OpenApiParameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'ETags that the client has. The response is 304 without a body where one of them is current.',
  schema: { type: 'string' },
};

/** The header of responses with a page of a list. */
export const LINK_HEADER = { Link: { $ref: '#/components/headers/Link' } };

/** Headers of error responses, by status. */
const HEADER_OF_STATUS: Readonly<Record<string, string>> = {
  401: 'WWW-Authenticate',
  429: 'Retry-After',
  503: 'Retry-After',
};

/** Responses to errors, by status: the given ones, and the 500 that every operation can have. */
export function problems(statuses: Readonly<Record<string, string>>): OpenApiOperation['responses'] {
  const content = { 'application/problem+json': { schema: ProblemSchema } };
  return Object.fromEntries(
    Object.entries({ ...statuses, 500: 'A fault of ours, with a request id.' }).map(
      ([status, description]) => {
        const name = HEADER_OF_STATUS[status];
        const own = name === undefined ? {} : { [name]: { $ref: `#/components/headers/${name}` } };
        return [status, { description, headers: { ...LIMIT_HEADERS, ...own }, content }];
      },
    ),
  );
}

/** A document of one media type that everyone may read, such as a feed. */
interface ReadableFile
  extends Pick<OpenApiOperation, 'operationId' | 'tags' | 'summary' | 'description' | 'parameters'> {
  readonly mediaType: string;
  /** Its name, with an article and with a capital letter: `The feed`. */
  readonly what: string;
  /** The thing that is missing if it does not exist; null: it always exists. */
  readonly missing: string | null;
}

/** Describes the GET of a document. */
export function describeFile({ mediaType, what, missing, ...operation }: ReadableFile): OpenApiOperation {
  return {
    ...operation,
    parameters: [...operation.parameters, IF_NONE_MATCH],
    security: OPEN_TO_ALL,
    responses: {
      200: {
        description: `${what}, with a strong ETag.`,
        headers: LIMIT_HEADERS,
        content: { [mediaType]: { schema: { type: 'string' } } },
      },
      304: { description: 'The client has it already (If-None-Match).' },
      ...problems({
        401: 'The API key is not valid.',
        403: 'The API key lacks the scope read (insufficient_scope).',
        ...(missing === null ? {} : { 404: missing }),
        429: 'Too many requests; it counts like the rest of the API.',
      }),
    },
  };
}

/** Converts query parameters for the document. */
export function queryParameters(schemas: ParameterSchemas): OpenApiParameter[] {
  return Object.entries(schemas).map(([name, schema]) => {
    const { description = '', lowered = false, ...shape } = schema;
    // A greater value is lowered to the maximum, so it is allowed.
    if (lowered) delete shape.maximum;
    return { name, in: 'query', required: false, description, schema: shape };
  });
}

/** The part of a route that the document describes. */
interface DescribedRoute {
  readonly path: string;
  readonly describe?: () => OpenApiOperation;
  readonly writes?: Readonly<Record<string, { readonly describe?: () => OpenApiOperation }>>;
  readonly describeOthers?: () => OpenApiPath;
}

/** Collects the paths in the order of `routes`, and the schemas of their operations. */
export function describeRoutes(
  routes: readonly DescribedRoute[],
  webhooks: OpenApiDocument['webhooks'] = {},
): Pick<OpenApiDocument, 'paths' | 'webhooks'> & Pick<OpenApiDocument['components'], 'schemas'> {
  const { schemas, refer } = createSchemaList();
  const described = routes.flatMap(({ path, describe, writes = {}, describeOthers }) => {
    const others = Object.entries(describeOthers?.() ?? {}).map(
      ([method, operation]) => [method, { describe: () => operation }] as const,
    );
    const methods = [['get', { describe }] as const, ...Object.entries(writes), ...others];
    const operations = methods.flatMap(([method, { describe: own }]) => {
      if (own === undefined) return [];
      const { responses, callbacks, ...rest } = own();
      const place = typeName(rest.operationId);
      const sent = refer({ responses, ...(callbacks === undefined ? {} : { callbacks }) }, place, 'response');
      return [{ method: method.toLowerCase(), place, rest, sent }];
    });
    return operations.length === 0 ? [] : [{ path: path.replace(/:(\w+)/g, '{$1}'), operations }];
  });
  // What receivers of webhooks get is a response of ours, too.
  const received = Object.entries(webhooks).map(
    ([type, path]) => [type, refer(path, '', 'response')] as const,
  );
  const paths = described.map(({ path, operations }) => {
    const methods = operations.map(({ method, place, rest, sent }) => {
      const asked = refer(rest, place, 'request');
      return [method, { ...Object(asked), ...Object(sent) }] as const;
    });
    return [path, Object.fromEntries(methods)] as const;
  });
  return {
    paths: Object.fromEntries(paths),
    webhooks: Object.fromEntries(received) as OpenApiDocument['webhooks'],
    schemas,
  };
}
