/**
 * The tools of assistants. Each has the schemas of its input and its result, and a function from the one to the other. Results
 * are those of the API's endpoints. Names, titles and descriptions come from owners and vendors; results carry them as values
 * of JSON members and never inside a sentence of ours, so that an instruction in them stays data.
 */

import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { IncidentSchema, IncidentsSchema } from '../api/incidents.ts';
import { type ServiceJson, ServicesSchema, StatusSchema } from '../api/services.ts';
import { VendorSchema } from '../api/vendor.ts';
import { INCIDENT_STATUSES } from '../domain/incident/incident.ts';
import { CATEGORIES, dashDomain, isOwn, isPublic, type Service } from '../domain/service.ts';
import { unknownStatus } from '../domain/status/current.ts';
import { judgeOutage, OUTAGE_VERDICTS } from '../domain/status/outage-verdict.ts';
import { scopeOf } from '../domain/status/transition.ts';
import { SERVICE_STATUSES } from '../domain/status.ts';
import { viewIncident } from '../domain/webhook-event.ts';
import { HttpError, problemBody } from '../http/problem.ts';
import type { HttpRequest, Route } from '../http/route.ts';
import { enumOf, nullable } from '../http/schema.ts';
import { type Static, strictObject, type TObject, Type } from '../json-schema.ts';
import type { PublicReads } from '../store/ports/registry.ts';
import { whyUnreached } from '../view/cause-of-down.ts';
import type { Readiness } from '../view/monitor.ts';
import type { ShownDirectory } from '../view/service-directory.ts';
import { SERVICE_SORTS } from '../view/service-order.ts';
import { foldText, type ServiceSearch } from '../view/service-search.ts';
import type { ShownServices } from '../view/shown-services.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { intervalOf, isStale } from '../view/staleness.ts';

export interface ToolSources extends SiteSources {
  readonly search: ServiceSearch;
  readonly services: ServiceJson;
  readonly registry: PublicReads;
  readonly readiness: () => Readiness;
  /** The endpoints of the API, whose results tools pass on. */
  readonly routes: readonly Route[];
}

/** The SDK's function that makes a validator of a JSON Schema. */
type FromJsonSchema = typeof import('@modelcontextprotocol/server').fromJsonSchema;

export interface ToolReader {
  readonly request: HttpRequest;
  readonly shown: ShownServices;
}

/** A tool: compiled once, and registered with the server of each request. */
export interface Tool {
  compile(fromJsonSchema: FromJsonSchema): (server: McpServer, reader: ToolReader) => void;
}

interface ToolDefinition<Input extends TObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly result: TObject;
  /** Throws an `HttpError` with the words of the API if there is no result. */
  readonly run: (input: Static<Input>, reader: ToolReader) => Promise<Readonly<Record<string, unknown>>>;
}

const MAX_TEXT_LENGTH = 253;
const MAX_OPEN_INCIDENTS = 10;

const SERVICE_INPUT = Type.String({
  minLength: 1,
  maxLength: MAX_TEXT_LENGTH,
  description: 'The service: its slug, domain, URL or name.',
  examples: ['github', 'github.com', 'GitHub'],
});
const LIMIT_INPUT = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100, description: 'Number of results. Default 20.' }),
);
const CURSOR_INPUT = Type.Optional(
  Type.String({ maxLength: 2_000, description: 'The `next_cursor` of a result, for what follows it.' }),
);
const NEXT_CURSOR = nullable(Type.String(), 'The cursor of the next page; null: this is the last one.');

interface ToolParts extends ToolSources {
  readonly ask: ApiCaller;
}

export function createTools(sources: ToolSources): Tool[] {
  const parts = { ...sources, ask: createApiCaller(sources.routes) };
  return [isItDown, serviceStatus, listServices, incidents, vendorStatus].map((tool) => tool(parts));
}

/** The service that a text means. Throws `service_not_found` with those that may be meant. */
function findService(sources: ToolParts, { shown }: ToolReader, text: string): Service {
  const meant = findMeantService(text, shown, sources);
  if (meant.service !== null) return meant.service;
  const candidates = meant.candidates.map(({ slug, name, domain }) => ({ slug, name, domain }));
  throw new HttpError(
    'service_not_found',
    candidates.length === 0
      ? 'No such service is monitored here. list_services finds services by a part of their name.'
      : 'The text does not name one service. `candidates` has those that may be meant; ask again with a slug.',
    { candidates },
  );
}

function serviceStatus(parts: ToolParts): Tool {
  const { services } = parts;
  return defineTool(parts, {
    name: 'service_status',
    title: 'Status of a service',
    description:
      'The current status of one service as our own checks see it: up, slow, down or unknown, since when, its response time, why it fails, and what its vendor says.',
    input: strictObject({ service: SERVICE_INPUT }),
    result: StatusSchema,
    run: async ({ service }, reader) => readObject(services.status(findService(parts, reader, service)).body),
  });
}

function isItDown(parts: ToolParts): Tool {
  const { directory, status, services, registry, vendorOf, readiness, now, siteUrl } = parts;
  return defineTool(parts, {
    name: 'is_it_down',
    title: 'Is it down, or is it me?',
    description:
      'Whether a service that a person cannot reach is down for others too. Combines our checks, all regions, and the status page of the vendor into a verdict, with the facts behind it.',
    input: strictObject({ service: SERVICE_INPUT }),
    result: strictObject({
      verdict: enumOf(
        OUTAGE_VERDICTS,
        'down: for everybody; partly_down: from some regions; maintenance and vendor_problem: the vendor says so; up: the cause is probably on the side of the person.',
      ),
      sentence: Type.String({ description: 'The verdict in a sentence.' }),
      page_url: Type.String({ description: 'The page about the service, for people.' }),
      status: StatusSchema,
      open_incidents: Type.Array(IncidentSchema),
    }),
    async run(input, reader) {
      const service = findService(parts, reader, input.service);
      const current = status.get(service.id) ?? unknownStatus(service.id);
      const interval = intervalOf(service, parts.intervalMs);
      const { online } = readiness().prober;
      const found = await registry.listIncidents({
        serviceId: service.id,
        limit: MAX_OPEN_INCIDENTS,
        offset: 0,
      });
      const unreached = whyUnreached(parts, service, current);
      const judged = judgeOutage({
        ...(unreached === null ? {} : { unreached }),
        status: current.status,
        isOutdated: !online || isStale(current, interval, now(), parts.listenedAt),
        scope: scopeOf(current),
        vendor: vendorOf(service)?.status ?? null,
      });
      return {
        ...judged,
        page_url: `${siteUrl}/status/${directory.pageName(service)}`,
        status: readObject(services.status(service).body),
        open_incidents: found.filter((one) => one.status !== 'resolved').map(viewIncident),
      };
    },
  });
}

function listServices(parts: ToolParts): Tool {
  const { ask } = parts;
  return defineTool(parts, {
    name: 'list_services',
    title: 'List services',
    description:
      'Monitored services with their current status, filtered by category, status and a part of the name, domain or slug.',
    input: strictObject({
      category: Type.Optional(enumOf(CATEGORIES)),
      status: Type.Optional(enumOf(SERVICE_STATUSES)),
      q: Type.Optional(
        Type.String({
          maxLength: MAX_TEXT_LENGTH,
          description: 'A part of name, domain or slug, in any case.',
        }),
      ),
      sort: Type.Optional(enumOf(SERVICE_SORTS, 'The order; a minus reverses it. Default slug.')),
      limit: LIMIT_INPUT,
      cursor: CURSOR_INPUT,
    }),
    result: strictObject({
      services: ServicesSchema.properties.services,
      total: ServicesSchema.properties.total,
      next_cursor: NEXT_CURSOR,
    }),
    async run(input, reader) {
      const { body, nextCursor } = await ask(reader, '/api/v1/services', {}, { limit: 20, ...input });
      return { services: body.services, total: body.total, next_cursor: nextCursor };
    },
  });
}

function incidents(parts: ToolParts): Tool {
  const { ask } = parts;
  return defineTool(parts, {
    name: 'incidents',
    title: 'Incidents',
    description:
      'Recent incidents, newest first: of all services or of one, from our own checks and from status pages of vendors, also running maintenances.',
    input: strictObject({
      service: Type.Optional(SERVICE_INPUT),
      status: Type.Optional(
        enumOf(INCIDENT_STATUSES, 'Only incidents in this state; only without `service`.'),
      ),
      limit: LIMIT_INPUT,
      cursor: CURSOR_INPUT,
    }),
    result: strictObject({
      incidents: IncidentsSchema.properties.incidents,
      total: IncidentsSchema.properties.total,
      next_cursor: NEXT_CURSOR,
    }),
    async run({ service, ...input }, reader) {
      const query = { limit: 20, ...input };
      if (service === undefined) {
        const { body, nextCursor } = await ask(reader, '/api/v1/incidents', {}, query);
        return { incidents: body.incidents, total: body.total, next_cursor: nextCursor };
      }
      const { slug } = findService(parts, reader, service);
      const { body, nextCursor } = await ask(reader, '/api/v1/incidents/:slug', { slug }, query);
      const list = Array.isArray(body.incidents) ? body.incidents : [];
      const named = list.map((incident: unknown) => ({ ...toObject(incident), service: body.service }));
      return { incidents: named, total: body.total, next_cursor: nextCursor };
    },
  });
}

function vendorStatus(parts: ToolParts): Tool {
  const { ask } = parts;
  return defineTool(parts, {
    name: 'vendor_status',
    title: 'What a vendor says',
    description:
      'What the status page of the vendor says of its own service, and how long the vendor took to acknowledge the outages of the last year.',
    input: strictObject({ service: SERVICE_INPUT }),
    result: VendorSchema,
    async run({ service }, reader) {
      const { slug } = findService(parts, reader, service);
      return (await ask(reader, '/api/v1/services/:slug/vendor', { slug }, {})).body;
    },
  });
}

function defineTool<Input extends TObject>(
  { siteUrl }: ToolSources,
  definition: ToolDefinition<Input>,
): Tool {
  const { name, title, description, input, result, run } = definition;
  return {
    compile(fromJsonSchema) {
      const inputSchema = fromJsonSchema<Static<Input>>(toSdkSchema(input));
      const outputSchema = fromJsonSchema<Record<string, unknown>>(toSdkSchema(result));
      const annotations = { readOnlyHint: true, openWorldHint: false };
      const config = { title, description, inputSchema, outputSchema, annotations };
      return (server, reader) =>
        void server.registerTool(name, config, async (given: Static<Input>) => {
          try {
            return resultOf(await run(given, reader));
          } catch (error) {
            if (!(error instanceof HttpError)) throw error;
            return { ...resultOf(JSON.parse(problemBody(error, siteUrl))), isError: true };
          }
        });
    },
  };
}

/** A schema of an object in the form of the SDK's types, without members that are undefined. */
function toSdkSchema({ properties, required = [] }: TObject) {
  return { type: 'object' as const, properties, required, additionalProperties: false };
}

/** A result as JSON, and as text for clients that read no JSON. */
function resultOf(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } };
}

type ApiCaller = ReturnType<typeof createApiCaller>;

/** Calls endpoints of the API for the reader of a tool, whose request has been counted. */
function createApiCaller(routes: readonly Route[]) {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return async (
    { request }: ToolReader,
    path: string,
    params: Readonly<Record<string, string>>,
    query: Readonly<Record<string, string | number | undefined>>,
  ) => {
    const handle = byPath.get(path)?.handle;
    if (handle === undefined) throw new Error(`there is no endpoint ${path}`);
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) given.set(name, String(value));
    const { body, headers } = await handle({ ...request, method: 'GET', params, query: given.toString() });
    return { body: readObject(body), nextCursor: nextCursorOf(headers.Link ?? '') };
  };
}

function nextCursorOf(link: string): string | null {
  return /[?&]cursor=([\w-]+)[^>]*>; rel="next"/.exec(link)?.[1] ?? null;
}

function readObject(body: string | Uint8Array): Record<string, unknown> {
  return toObject(JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()));
}

function toObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** The service, or those that may be meant. */
type Meant =
  | { readonly service: Service }
  | { readonly service: null; readonly candidates: readonly Service[] };

/** Maximum number of services that may be meant. */
const MAX_CANDIDATES = 10;
/** Maximum number of matches among which a service with exactly this name is looked for. */
const MAX_MATCHES = 500;

/**
 * Finds a service. A slug and a domain come before a name, and a domain stands for its subdomains if the catalogue has it.
 * By name, services that nobody has verified are never the answer, since their owners choose their names.
 */
function findMeantService(
  text: string,
  shown: ShownServices,
  { directory, search }: { readonly directory: ShownDirectory; readonly search: ServiceSearch },
): Meant {
  const wanted = hostOf(text.trim().toLowerCase());
  const exact =
    shown.bySlug(wanted) ??
    shown.byPageName(dashDomain(wanted)) ??
    (wanted.includes('.') ? directory.byCatalogueDomain(wanted) : null);
  // The answer has no service that the lists of the reader do not have.
  if (exact !== null && (isPublic(exact) || isOwn(exact, shown.accounts))) return { service: exact };
  const { services } = search.list(
    { category: null, status: null, text: wanted },
    { sort: 'slug', from: 0, limit: MAX_MATCHES },
    shown,
  );
  const ofDomain = services.find(({ domain, isFurther }) => domain === wanted && isFurther !== true);
  if (ofDomain !== undefined) return { service: ofDomain };
  const verified = services.filter((service) => service.verified || isOwn(service, shown.accounts));
  const named = verified.filter(({ name }) => foldText(name) === foldText(wanted));
  const [only, ...others] = named.length > 0 ? named : verified;
  if (only !== undefined && others.length === 0) return { service: only };
  return { service: null, candidates: (named.length > 0 ? named : services).slice(0, MAX_CANDIDATES) };
}

/** The host of a URL; another text as it is. */
function hostOf(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#:]+)/.exec(text)?.[1] ?? text;
}
