/**
 * OpenAPI 3.1: the types of the document, and the paths and schemas of the routes. Each route describes itself; the
 * document collects these descriptions.
 */
import { type TSchema, Type } from '../json-schema.ts';
import type { ParameterSchemas } from './parameters.ts';
import { ProblemSchema } from './problem.ts';
import { isOpenWord, nameOf } from './schema.ts';

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
  /** Default: a text. */
  readonly schema?: TSchema;
  /** Its name, with an article and with a capital letter: `The feed`. */
  readonly what: string;
  /** The thing that is missing if it does not exist; null: it always exists. */
  readonly missing: string | null;
}

export function describeFile({
  mediaType,
  schema = Type.String(),
  what,
  missing,
  ...operation
}: ReadableFile): OpenApiOperation {
  return {
    ...operation,
    parameters: [...operation.parameters, IF_NONE_MATCH],
    security: OPEN_TO_ALL,
    responses: {
      200: {
        description: `${what}, with a strong ETag.`,
        headers: LIMIT_HEADERS,
        content: { [mediaType]: { schema } },
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

/** The direction of a schema: read by the server, or sent by it. */
type Direction = 'request' | 'response';

type Members = Readonly<Record<string, unknown>>;

/** The schemas that are listed, and a function that lists those of a value and refers to them. */
interface SchemaList {
  readonly schemas: Readonly<Record<string, unknown>>;
  /**
   * Replaces each named schema, and each object, by a reference. An object without a name has that of `place`, which is the name of
   * the schema that contains it and the member: `ServiceStatusRegion`. Responses come first: a schema whose form in requests is
   * another one is listed once more, as `…Input`.
   */
  readonly refer: (value: unknown, place: string, direction: Direction) => unknown;
}

/** Creates an empty list. */
function createSchemaList(): SchemaList {
  const schemas: Record<string, unknown> = {};
  const namesGiven = new Map<object, string>();

  /** The name of a schema that is listed; undefined: it stays where it is. */
  const listedName = (value: object, place: string): string | undefined => {
    const name = nameOf(value) ?? namesGiven.get(value);
    if (name !== undefined || !isObjectSchema(value)) return name;
    namesGiven.set(value, place);
    return place;
  };
  const refer = (value: unknown, place: string, direction: Direction): unknown => {
    if (Array.isArray(value)) return value.map((inner) => refer(inner, place, direction));
    if (!isMembers(value)) return value;
    const name = listedName(value, place);
    if (name === undefined) return members(value, place, direction);
    const made = members(value, name, direction);
    const isOther =
      direction === 'request' && name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(made);
    const listed = isOther ? `${name}Input` : name;
    schemas[listed] ??= made;
    return { $ref: `#/components/schemas/${listed}` };
  };
  const members = (value: Members, place: string, direction: Direction): object => {
    const form = nullForm(direction === 'response' ? openForm(value) : value);
    return Object.fromEntries(
      Object.entries(form).map(([member, inner]) => {
        if (member === 'example' || member === 'examples') return [member, inner];
        if (member !== 'properties' || !isMembers(inner)) return [member, refer(inner, place, direction)];
        return [member, properties(inner, place, direction)];
      }),
    );
  };
  const properties = (value: Members, place: string, direction: Direction): object =>
    Object.fromEntries(
      Object.entries(value).map(([member, inner]) => [
        member,
        refer(inner, place + typeName(member, inner), direction),
      ]),
    );
  return { schemas, refer };
}

/** A schema of a response: it allows further members and, unless it is a vocabulary with a name, further words. */
function openForm(schema: Members): Members {
  if (isOpenWord(schema)) {
    const { enum: words, ...rest } = schema;
    return { ...rest, 'x-extensible-enum': words };
  }
  if (!isObjectSchema(schema) || !isMembers(schema.properties)) return schema;
  const { additionalProperties, required, ...rest } = schema;
  const shown = Object.entries(schema.properties).filter(
    ([, member]) => !isMembers(member) || member.writeOnly !== true,
  );
  const names = new Set<unknown>(shown.map(([name]) => name));
  return {
    ...rest,
    ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
    ...(Array.isArray(required) ? { required: required.filter((name) => names.has(name)) } : {}),
    properties: Object.fromEntries(shown),
  };
}

/** A schema that allows null, without `anyOf`, of which some generators make nothing. */
function nullForm(schema: Members): Members {
  const { anyOf, description: why, ...rest } = schema;
  const [inner, none, ...others]: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [];
  if (!isMembers(inner) || !isMembers(none) || none.type !== 'null' || others.length > 0) return schema;
  const described = why === undefined ? {} : { description: why };
  const isReference = nameOf(inner) !== undefined || isObjectSchema(inner);
  if (isReference || typeof inner.type !== 'string' || 'enum' in inner)
    return { oneOf: [inner, none], ...described, ...rest };
  const texts = [inner.description, why].filter((text) => text !== undefined);
  return {
    ...inner,
    ...rest,
    type: [inner.type, 'null'],
    ...(texts.length === 0 ? {} : { description: texts.join(' ') }),
  };
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isObjectSchema(value: object): boolean {
  return 'type' in value && value.type === 'object' && 'properties' in value;
}

/** The name of a member as a part of a type's name; for a list, the name of one item: `open_incidents` is `OpenIncident`. */
export function typeName(member: string, schema: unknown = {}): string {
  const one = isMembers(schema) && 'items' in schema ? member.replace(/ies$/, 'y').replace(/s$/, '') : member;
  return one.replace(/(?:^|[_-])(\w)/g, (_, letter: string) => letter.toUpperCase());
}
