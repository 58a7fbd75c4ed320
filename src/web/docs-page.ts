/** `/docs`: documents the API from the OpenAPI document, with forms to try it. */

import type { OpenApiDocument, OpenApiOperation } from '../http/openapi.ts';
import { PROBLEMS } from '../http/problem.ts';
import type { Route } from '../http/route.ts';
import { escapeMarkup } from '../language/phrase.ts';
import type { ApiLimits } from '../view/monitor.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { chooseLanguage } from './language/language.ts';
import type { RenderPage } from './parts/views.ts';

/** Sources of the page. */
export interface DocsSources extends Pick<SiteSources, 'siteUrl'> {
  /** Returns the OpenAPI document; a new object after each change. */
  readonly apiDocument: () => OpenApiDocument;
  /** Returns the current limits. */
  readonly limits: () => ApiLimits;
}

/**
 * The route. The description is in English, as the document is, and is rendered when the document changes. The rest
 * of the page is rendered for each request, in the reader's language.
 */
export function docsPage(render: RenderPage, { siteUrl, apiDocument, limits }: DocsSources): Route {
  let made: { readonly document: OpenApiDocument; readonly view: object } | null = null;
  const describe = () => {
    const document = apiDocument();
    if (made?.document !== document) made = { document, view: describeApi(siteUrl, document, limits()) };
    return made.view;
  };
  return {
    path: '/docs',
    bucket: 'pages',
    access: 'everyone',
    handle(request) {
      const language = chooseLanguage(request);
      return render('./docs', { language, title: language.texts.site.apiTitle, ...describe() });
    },
  };
}

function describeApi(siteUrl: string, document: OpenApiDocument, limits: ApiLimits) {
  const operations = Object.entries(document.paths).flatMap(([path, { get, post }]) => [
    ...(get === undefined ? [] : [describeReading(get, path, siteUrl)]),
    ...(post === undefined ? [] : [describePosting(post, path, siteUrl, document.components.schemas)]),
  ]);
  return {
    siteUrl,
    description: document.info.description,
    limits,
    operations,
    problems: Object.entries(PROBLEMS).map(([code, problem]) => ({ code, ...problem })),
    describeType,
    markCode,
  };
}

/** Converts a description to markup: escaped, with the text between backticks as code. */
function markCode(text: string): string {
  return escapeMarkup(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function describeReading(operation: OpenApiOperation, path: string, siteUrl: string) {
  const slug = operation.parameters.find(({ name }) => name === 'slug')?.example ?? '';
  return {
    ...operation,
    path,
    method: 'GET',
    members: [],
    curl: `curl ${path.includes('events') ? '-N ' : ''}"${siteUrl}${path.replace('{slug}', slug)}"`,
    inputs: operation.parameters.filter((parameter) => parameter.in !== 'header'),
    triable: !path.endsWith('/events'),
    answers: answersOf(operation),
  };
}

function describePosting(operation: OpenApiOperation, path: string, siteUrl: string, types: NamedTypes) {
  const { schema, example } = bodyOf(operation, types);
  const required = schema.required ?? [];
  return {
    ...operation,
    path,
    method: 'POST',
    members: Object.entries(schema.properties ?? {}).map(([name, { description = '', ...shape }]) => ({
      name,
      description,
      schema: shape,
      required: required.includes(name),
    })),
    curl: [
      `curl -X POST "${siteUrl}${path}"`,
      `-H "Authorization: Bearer $UPBEAT_KEY"`,
      `-H "Content-Type: application/json"`,
      `-d '${JSON.stringify(example)}'`,
    ].join(' \\\n  '),
    inputs: [],
    // The page does not ask for keys.
    triable: false,
    answers: answersOf(operation),
  };
}

interface BodySchema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
}

/** The named types of the document. */
type NamedTypes = Readonly<Record<string, unknown>>;

function bodyOf({ requestBody }: OpenApiOperation, types: NamedTypes) {
  const content = (requestBody?.content ?? {}) as Readonly<
    Record<string, { readonly schema: { readonly $ref: string }; readonly example: unknown }>
  >;
  const body = content['application/json'];
  const name = body?.schema.$ref.split('/').at(-1) ?? '';
  return { schema: (types[name] ?? {}) as BodySchema, example: body?.example ?? {} };
}

function answersOf({ responses }: OpenApiOperation) {
  return Object.entries(responses).map(([status, { description }]) => ({ status, description }));
}

function describeType(schema: { enum?: string[]; type?: string; default?: unknown }): string {
  return [
    schema.enum === undefined ? (schema.type ?? '') : schema.enum.join(' | '),
    schema.default === undefined ? '' : `default ${schema.default}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}
