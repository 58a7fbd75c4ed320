/** `/docs`: documents the API from the OpenAPI document, with forms to try it. */
import { STATUS_CODES } from 'node:http';
import { fullName } from '../domain/service.ts';
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter } from '../http/openapi.ts';
import { PROBLEMS } from '../http/problem.ts';
import { pageRoute, type Route } from '../http/route.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import type { ApiLimits } from '../view/monitor.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { chooseLanguage } from './language/language.ts';
import type { RenderPage } from './parts/views.ts';

interface DocsSources extends SiteSources {
  readonly registry: PublicReads;
  /** Returns the OpenAPI document; a new object after each change. */
  readonly apiDocument: () => OpenApiDocument;
  readonly limits: () => ApiLimits;
}

/** The service of the examples, if the installation watches it. */
const FAMILIAR_SLUG = 'github';
/** The service of the examples of an installation that watches none. */
const UNKNOWN_SERVICE: KnownThings['service'] = {
  slug: FAMILIAR_SLUG,
  name: 'GitHub',
  domain: 'github.com',
  category: 'developer',
  page: 'github-com',
};

/**
 * The route. The description is in English, as the document is, and is made when the document or what its examples name
 * changes. The rest of the page is rendered for each request, in the reader's language.
 */
export function docsPage(
  render: RenderPage,
  { siteUrl, directory, registry, apiDocument, limits }: DocsSources,
): Route {
  let made: { readonly document: OpenApiDocument; readonly key: string; readonly view: object } | null = null;

  /** A service and an incident that exist here. */
  const findKnown = async (): Promise<KnownThings> => {
    const service =
      directory.bySlug(FAMILIAR_SLUG) ?? directory.all().find(({ verified }) => verified) ?? null;
    const [newest] = await registry.listIncidents({ verifiedOnly: true, limit: 1, offset: 0 });
    const concerned = newest === undefined ? null : directory.byId(newest.serviceId);
    return {
      service:
        service === null
          ? UNKNOWN_SERVICE
          : {
              slug: service.slug,
              name: fullName(service),
              domain: service.domain,
              category: service.category,
              page: directory.pageName(service),
            },
      incident: newest === undefined || concerned === null ? null : { id: newest.id, slug: concerned.slug },
    };
  };
  const describe = async () => {
    const document = apiDocument();
    const known = await findKnown();
    const key = JSON.stringify(known);
    if (made?.document !== document || made.key !== key)
      made = { document, key, view: describeApi(siteUrl, document, limits(), known) };
    return made.view;
  };
  return pageRoute({ path: '/docs' }, async (request) => {
    const language = chooseLanguage(request);
    return render('./docs', { language, title: language.texts.site.apiTitle, ...(await describe()) });
  });
}

function describeApi(siteUrl: string, document: OpenApiDocument, limits: ApiLimits, known: KnownThings) {
  return {
    first: `curl ${siteUrl}/api/v1/status/${known.service.slug}`,
    description: document.info.description.split('\n\n'),
    limits,
    ...describeOperations(document, siteUrl, known),
    problems: Object.entries(PROBLEMS).map(([code, problem]) => ({ code, ...problem })),
    markCode,
    reasonOf: (status: string) => STATUS_CODES[Number(status)] ?? '',
    escapeText,
  };
}

/** Converts a description to markup: escaped, with the text between backticks as code. */
function markCode(text: string): string {
  return escapeText(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** Escapes text between elements, where quotes need no escaping: examples have thousands of them. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** An example of what a JSON Schema of the OpenAPI document describes. Pure. */

/** The part of JSON Schema that the document uses. */
interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly minimum?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
}

/** Values by the names of members, such as the slug of a service that exists. They stand in for those of the schema. */
type ExampleValues = Readonly<Record<string, string | number>>;

/** Objects within objects beyond this depth are shown empty. */
const MAX_DEPTH = 7;

/** Figures that say more than a 0. */
const FIGURES: ExampleValues = {
  response_time: 184,
  latency: 12,
  status_code: 200,
  limit: 100,
  total: 1,
  count: 288,
  up: 287,
  slow: 1,
  uptime: 0.9995,
  revision: 3,
  id: 7,
};

/** Things that exist in this installation, for the examples. */
interface KnownThings {
  /** A service of the public list, or of an owner. */
  readonly service: {
    readonly slug: string;
    readonly name: string;
    readonly domain: string;
    readonly category: string;
    /** Its name in paths of pages and pictures. */
    readonly page: string;
  };
  /** An incident, with the slug of its service; null: there is none. */
  readonly incident: { readonly id: string; readonly slug: string } | null;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Answers of at least so many operations are explained once for all of them. */
const MIN_COMMON = 4;

/** The operations by their first tag, in the order of the document's tags, and the answers that many of them have. */
function describeOperations(document: OpenApiDocument, siteUrl: string, known: KnownThings) {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      return operation === undefined ? [] : [describe({ operation, method, path }, document, siteUrl, known)];
    }),
  );
  const same = Map.groupBy(
    all.flatMap(({ answers }) => answers),
    ({ status, description }) => `${status} ${description}`,
  );
  const isCommon = ({ status, description }: Answer) =>
    (same.get(`${status} ${description}`)?.length ?? 0) >= MIN_COMMON;
  const groups = document.tags
    .map(({ name, description }) => ({
      name,
      description,
      id: `tag-${name.toLowerCase().replaceAll(' ', '-')}`,
      operations: all
        .filter(({ tags }) => tags[0] === name)
        .map((one) => ({ ...one, answers: one.answers.filter((answer) => !isCommon(answer)) })),
    }))
    .filter(({ operations }) => operations.length > 0);
  const common = [...same.values()].flatMap(([first]) =>
    first !== undefined && isCommon(first) ? [first] : [],
  );
  const headers = Map.groupBy(
    all.flatMap((one) => one.headers),
    ({ name }) => name,
  );
  return {
    groups,
    /** Headers of requests, each explained once. */
    headers: [...headers.values()].flatMap(([first]) => (first === undefined ? [] : [first])),
    common: common.sort((a, b) => Number(a.status) - Number(b.status)),
  };
}

interface Answer {
  readonly status: string;
  readonly description: string;
}

interface ListedOperation {
  readonly operation: OpenApiOperation;
  readonly method: (typeof METHODS)[number];
  readonly path: string;
}

function describe(
  { operation, method, path }: ListedOperation,
  { components: { schemas } }: OpenApiDocument,
  siteUrl: string,
  known: KnownThings,
) {
  const parameters = operation.parameters.map((parameter) => ({
    ...parameter,
    example: exampleValue(parameter, path, known),
  }));
  const needsKey = operation.security?.every((one) => Object.keys(one).length > 0) === true;
  const body = bodyOf(operation, schemas);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters.find((parameter) => parameter.name === name)?.example ?? ''),
  );
  return {
    ...operation,
    path,
    method: method.toUpperCase(),
    look: method,
    parameters,
    needsKey,
    described: [...parameters.map(viewParameter), ...(body?.members ?? [])].filter(
      ({ isHeader }) => !isHeader,
    ),
    headers: parameters.map(viewParameter).filter(({ isHeader }) => isHeader),
    curl: curlOf(method, siteUrl + filled, needsKey, body),
    answer: answerOf(operation, schemas, valuesOf(known)),
    inputs: parameters.filter((parameter) => parameter.in !== 'header'),
    // Only reading can be tried on the page: what changes something needs more thought than a button.
    triable: method === 'get' && !path.endsWith('/events') && !path.includes('{secret}'),
    answers: Object.entries(operation.responses).map(([status, { description }]) => ({
      status,
      description,
    })),
  };
}

/** The example of a parameter: something that exists here where the document names a service or an incident. */
function exampleValue({ name, example, ...parameter }: OpenApiParameter, path: string, known: KnownThings) {
  if (parameter.in !== 'path') return example ?? '';
  if (path === '/api/v1/incidents/{slug}/{id}')
    return (name === 'id' ? known.incident?.id : known.incident?.slug) ?? example ?? '';
  if (example === 'github') return known.service.slug;
  return example === 'github-com' ? known.service.page : (example ?? '');
}

function viewParameter({ name, description, schema, in: place }: OpenApiParameter) {
  return { name, description, kind: [place, ...kindOf(schema)].join(', '), isHeader: place === 'header' };
}

/** The type or the values of a parameter or member, and its default. */
function kindOf(schema: { enum?: readonly string[]; type?: string; default?: unknown }): string[] {
  return [
    schema.enum === undefined ? (schema.type ?? '') : schema.enum.join(' | '),
    schema.default === undefined ? '' : `default ${schema.default}`,
  ].filter((part) => part !== '');
}

function valuesOf({ service, incident }: KnownThings): ExampleValues {
  const { slug, name, domain, category } = service;
  return { slug, name, domain, category, ...(incident === null ? {} : { id: incident.id }) };
}

interface BodySchema {
  readonly $ref?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
}

function bodyOf({ requestBody }: OpenApiOperation, schemas: Readonly<Record<string, unknown>>) {
  const content = (requestBody?.content ?? {}) as Readonly<
    Record<string, { readonly schema: BodySchema; readonly example?: unknown }>
  >;
  const type = 'application/json' in content ? 'application/json' : Object.keys(content)[0];
  const body = content[type ?? ''];
  if (body === undefined || type === undefined) return null;
  const { $ref } = body.schema;
  const { required = [], properties = {} } =
    $ref === undefined ? body.schema : ((schemas[$ref.split('/').at(-1) ?? ''] ?? {}) as BodySchema);
  return {
    type,
    example: body.example ?? {},
    members: Object.entries(properties).map(([name, { description = '', ...schema }]) => ({
      name,
      description,
      kind: ['body', ...kindOf(schema), ...(required.includes(name) ? ['required'] : [])].join(', '),
      isHeader: false,
    })),
  };
}

function curlOf(method: string, url: string, needsKey: boolean, body: ReturnType<typeof bodyOf>): string {
  const verb = method === 'get' ? '' : `-X ${method.toUpperCase()} `;
  return [
    `curl ${url.endsWith('/events') ? '-N ' : ''}${verb}"${url}"`,
    ...(needsKey ? [`-H "Authorization: Bearer $UPBEAT_KEY"`] : []),
    ...(body === null ? [] : [`-H "Content-Type: ${body.type}"`, `-d '${textOf(body.example)}'`]),
  ].join(' \\\n  ');
}

function textOf(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example);
}

/** An answer that is good, as text; its picture, or null where the answer has no body. */
function answerOf(
  { responses }: OpenApiOperation,
  schemas: Readonly<Record<string, unknown>>,
  values: ExampleValues,
) {
  const [status, response] = Object.entries(responses).find(([code]) => /^2/.test(code)) ?? [];
  if (status === undefined || response === undefined) return null;
  const content = (response.content ?? {}) as Readonly<
    Record<string, { readonly schema?: unknown; readonly example?: unknown }>
  >;
  const [type, shape] = Object.entries(content)[0] ?? [];
  if (type === undefined || shape === undefined) return { status, type: null, text: null };
  const isJson = type.endsWith('json');
  const example = shape.example ?? (isJson ? exampleOf(shape.schema, schemas, values) : null);
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
  return { status, type, text: example === null ? null : text };
}

/** An example: the one of the schema if it has one, otherwise one value of each member. `schemas`: the named ones. */
export function exampleOf(
  schema: unknown,
  schemas: Readonly<Record<string, unknown>>,
  values: ExampleValues,
): unknown {
  const make = (given: Schema, name: string, depth: number): unknown => {
    const shape = given.$ref === undefined ? given : (schemas[given.$ref.split('/').at(-1) ?? ''] as Schema);
    const { type, anyOf, properties, items } = shape;
    if (shape.const !== undefined) return shape.const;
    if (type === 'string' && Object.hasOwn(values, name)) return values[name];
    if (shape.examples !== undefined) return shape.examples[0];
    if (shape.enum !== undefined) return shape.enum[0];
    if (anyOf !== undefined) return make(anyOf.find((one) => one.type !== 'null') ?? {}, name, depth);
    if (shape.default !== undefined) return shape.default;
    if (type === 'array')
      return items === undefined || depth > MAX_DEPTH ? [] : [make(items, name, depth + 1)];
    if (type === 'integer' || type === 'number')
      return Object.hasOwn(FIGURES, name) ? FIGURES[name] : (shape.minimum ?? 0);
    if (type === 'boolean') return false;
    if (type === 'object' || properties !== undefined) {
      if (depth > MAX_DEPTH) return {};
      return Object.fromEntries(
        Object.entries(properties ?? {}).map(([member, one]) => [member, make(one, member, depth + 1)]),
      );
    }
    return '…';
  };
  return make(schema as Schema, '', 0);
}
