/** The OpenAPI 3.1 document, made from the schemas that the API itself uses. */

import { EVENTS_QUERY } from '../api/events.ts';
import { HISTORY_QUERY } from '../api/history.ts';
import { heartbeatPaths } from '../api/openapi-heartbeats.ts';
import { INCIDENTS_QUERY, SERVICE_INCIDENTS_QUERY, SERVICES_QUERY } from '../api/reading-routes.ts';
import {
  HistorySchema,
  IncidentSchema,
  IncidentsSchema,
  MaintenanceSchema,
  ServiceIncidentsSchema,
  ServicesSchema,
  StatusSchema,
  VendorSchema,
} from '../api/schemas.ts';
import { statusPagePaths } from '../api/status-pages.ts';
import { MAINTENANCE_QUERY } from '../api/vendor-routes.ts';
import {
  INCIDENT_ID,
  LIMIT_HEADERS,
  OPEN_TO_ALL,
  type OpenApiOperation,
  type OpenApiParameter,
  type OpenApiPath,
  operation,
  problems,
  queryParameters,
  SERVICE_SLUG,
  SLUG,
} from '../http/openapi.ts';
import { badgeOperation } from '../images/openapi-badge.ts';
import { chartOperation, heatmapOperation } from '../images/openapi-pictures.ts';
import type { ApiLimits } from '../view/limits.ts';
import { componentSchemas, withReferences } from './openapi-components.ts';

/** The document. */
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
  readonly components: {
    readonly securitySchemes: object;
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly headers: object;
  };
}

const describe = ({ anonymousPerMinute, authenticatedPerMinute }: ApiLimits) =>
  `Is a service up? Reading needs no authentication; an API key in the header
\`Authorization: Bearer <API_KEY>\` raises the limit from ${anonymousPerMinute} requests a minute for each address to ${authenticatedPerMinute} for each key.
No other scheme than Bearer is read; a key that is not valid is answered 401 on every endpoint, and counts against the
address. An IPv6 client is counted by its /64. Pictures have a bucket of their own with the same limits, and a 304 of a
picture costs nothing. Every error is \`application/problem+json\` (RFC 9457) with a stable \`code\`; a 405 says in
\`Allow\` what is possible. Paths may be written in any case. Unknown query parameters are ignored; one that is repeated
or not valid is a 400 that names it and lists the allowed values. Answers to GET and HEAD are open to every origin, and
carry a strong ETag for If-None-Match. All times are ISO 8601 UTC with milliseconds. Version 1 only gains members and
routes; nothing is removed or renamed.`.replaceAll('\n', ' ');

const TAGS = [
  { name: 'Services', description: 'Services, how they are, and how they were.' },
  { name: 'Incidents', description: 'What went wrong, by our checks and by the vendors themselves.' },
  { name: 'Heartbeats', description: 'What services report of themselves and of their dependencies.' },
  { name: 'Status pages', description: "Owners' own pages." },
  { name: 'Events', description: 'Changes as they happen.' },
  { name: 'Badges', description: 'Small pictures for other sites.' },
  { name: 'Pictures', description: 'Charts and heat maps.' },
];

/** Makes the document for a site. */
export function openApiDocument(siteUrl: string, version: string, limits: ApiLimits): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Upbeat service status API',
      version,
      description: describe(limits),
      contact: { name: 'The operator of this site', url: siteUrl },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: siteUrl }],
    tags: TAGS,
    paths: withReferences({
      '/api/v1/status/{slug}': {
        get: operation(
          'getStatus',
          'Services',
          'The current status of one service',
          'up: the newest check was answered in time, up to and including 3,000 ms unless the operator set another bound; slow: later than that; down: an error or no answer, confirmed by further attempts; unknown: not yet checked.',
          [SERVICE_SLUG],
          {},
          StatusSchema,
        ),
      },
      '/api/v1/services': {
        get: operation(
          'listServices',
          'Services',
          'Services with their current status',
          'In the order of slugs; filters are combined, and `total` counts what matches all of them.',
          [],
          SERVICES_QUERY,
          ServicesSchema,
        ),
      },
      '/api/v1/services/{slug}/history': {
        get: operation(
          'getHistory',
          'Services',
          'The past of a service in equal buckets',
          'Percentiles are by nearest rank; in windows of more than 92 days, and beyond the retention of single checks, they come from summaries, within 1 %.',
          [SERVICE_SLUG],
          HISTORY_QUERY,
          HistorySchema,
        ),
      },
      '/api/v1/incidents': {
        get: operation(
          'listIncidents',
          'Incidents',
          'Recent incidents of all services',
          'Newest start first, then by id.',
          [],
          INCIDENTS_QUERY,
          IncidentsSchema,
        ),
      },
      '/api/v1/incidents/{slug}': {
        get: operation(
          'listServiceIncidents',
          'Incidents',
          'Incidents of one service',
          'Newest start first, then by id.',
          [SERVICE_SLUG],
          SERVICE_INCIDENTS_QUERY,
          ServiceIncidentsSchema,
        ),
      },
      '/api/v1/incidents/{slug}/{id}': {
        get: operation(
          'getIncident',
          'Incidents',
          'One incident with its timeline',
          'Every update is kept, with its time, status and text.',
          [SERVICE_SLUG, INCIDENT_ID],
          {},
          IncidentSchema,
        ),
      },
      '/api/v1/services/{slug}/vendor': {
        get: operation(
          'getVendor',
          'Incidents',
          "A vendor's own word, and how long it takes to say it",
          'The lag runs from our first failed check to the first entry that the vendor published, over a year; negative where the vendor was first.',
          [SERVICE_SLUG],
          {},
          VendorSchema,
        ),
      },
      '/api/v1/maintenance': {
        get: operation(
          'listMaintenance',
          'Incidents',
          'Maintenances that vendors announced, upcoming and running',
          'By their start, earliest first, then by id.',
          [],
          MAINTENANCE_QUERY,
          MaintenanceSchema,
        ),
      },
      ...heartbeatPaths(limits),
      ...statusPagePaths(),
      '/api/v1/events': { get: eventsOperation() },
      '/incidents.atom': {
        get: atomOperation('followIncidents', 'Incidents of all services as an Atom feed', []),
      },
      '/status/{slug}/incidents.atom': {
        get: atomOperation('followServiceIncidents', 'Incidents of one service as an Atom feed', [PAGE_SLUG]),
      },
      '/p/{slug}/incidents.atom': {
        get: atomOperation('followPageIncidents', 'Incidents of a status page as an Atom feed', [
          SLUG('The status page.', 'acme'),
        ]),
      },
      '/api/badge/{slug}': { get: badgeOperation() },
      '/api/chart/{slug}': { get: chartOperation() },
      '/api/heatmap.png': { get: heatmapOperation() },
    }),
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'API key: upb_ and 38 letters and digits.' },
      },
      schemas: componentSchemas(),
      headers: {
        'X-RateLimit-Limit': header('Requests a minute.'),
        'X-RateLimit-Remaining': header('Requests left in this window.'),
        'X-RateLimit-Reset': header('Unix time in whole seconds, rounded up, at which the window ends.'),
        'Retry-After': header('Seconds to wait, at least 1; on 429 only.'),
        'WWW-Authenticate': { description: 'The scheme to use: Bearer.', schema: { type: 'string' } },
      },
    },
  };
}

function header(description: string): object {
  return { description, schema: { type: 'integer' } };
}

function eventsOperation(): OpenApiOperation {
  const parameters: OpenApiParameter[] = [
    ...queryParameters(EVENTS_QUERY),
    {
      name: 'Last-Event-ID',
      in: 'header',
      required: false,
      schema: { type: 'string' },
      description: 'Id of the last event that was received; the stream goes on after it.',
    },
  ];
  const example =
    'id: 42\nevent: status\ndata: {"slug":"github","from":"up","to":"down","at":"2026-11-20T10:00:00.000Z","recorded_at":"2026-11-20T10:00:06.500Z","reason":"connection refused"}\n\n';
  return {
    operationId: 'streamEvents',
    tags: ['Events'],
    security: OPEN_TO_ALL,
    summary: 'Changes of status as they happen',
    description:
      'Server-Sent Events named "status", resumable by their id. An address may hold 10 streams open.',
    parameters,
    responses: {
      200: {
        description: 'A stream without an end.',
        content: { 'text/event-stream': { schema: { type: 'string' }, example } },
      },
      ...problems({
        400: 'A parameter is not valid.',
        401: 'The API key is not valid.',
        404: 'There is no such service.',
        429: 'Too many open streams.',
      }),
    },
  };
}

const PAGE_SLUG = SLUG('The domain with each dot replaced by a dash.', 'github-com');

function atomOperation(
  operationId: string,
  summary: string,
  parameters: readonly OpenApiParameter[],
): OpenApiOperation {
  return {
    operationId,
    tags: ['Incidents'],
    security: OPEN_TO_ALL,
    summary,
    description:
      'RFC 4287, the newest 50. Ids never change; an entry is updated with each update of its incident.',
    parameters,
    responses: {
      200: {
        description: 'The feed, with a strong ETag.',
        headers: LIMIT_HEADERS,
        content: { 'application/atom+xml': { schema: { type: 'string' } } },
      },
      304: { description: 'The client has it already (If-None-Match).' },
      ...problems({
        401: 'The API key is not valid.',
        ...(parameters.length === 0 ? {} : { 404: 'There is no such service.' }),
        429: 'Too many requests; a feed counts like the rest of the API.',
      }),
    },
  };
}
