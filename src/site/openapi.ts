/** The OpenAPI 3.1 document, collected from the descriptions of the routes, and its own route. */
import { describeWebhooks } from '../api/webhook-payloads.ts';
import { entityTag } from '../http/conditional.ts';
import { describeRoutes, type OpenApiDocument } from '../http/openapi.ts';
import { jsonText, type Route } from '../http/route.ts';
import type { ApiLimits } from '../view/monitor.ts';

/** Paragraphs of Markdown, since viewers of OpenAPI render it. The page with the documentation shows the same. */
const describe = ({ anonymousPerMinute, authenticatedPerMinute, changesPerAccount }: ApiLimits) =>
  [
    `Is a service up? Reading needs no authentication. An API key in the header \`Authorization: Bearer <API_KEY>\` raises
the limit from ${perMinute(anonymousPerMinute)} for each address to ${perMinute(authenticatedPerMinute)} for each key.
An IPv6 client is counted by its /64. Pictures have limits of their own, which are as high, and a 304 of a picture costs
nothing. All keys and members of an account together make at most ${changesPerAccount.toLocaleString('en')} changes a
minute; heartbeats are no changes.`,
    `A key has one or more of the scopes read, heartbeat and write. A key without the scope that an operation needs gets
a 403 that names the scope, even for an operation that needs no key. Only the scheme Bearer is read. An invalid key gets a
401 on every endpoint, and the request counts against the address.`,
    `Every error is \`application/problem+json\` (RFC 9457) with a stable \`code\`; a 405 says in \`Allow\` what is
possible. Paths may be written in any case. Unknown query parameters are ignored; one that is repeated or not valid is
a 400 that names it and lists the allowed values.`,
    `Responses to GET and HEAD are open to every origin and carry a strong ETag for If-None-Match. The Link header
(RFC 8288) of a list leads to its other pages, by cursors that stay right while entries come and go. All times are
ISO 8601 UTC with milliseconds. Version 1 only gains members and routes; nothing is removed or renamed.`,
  ]
    .map((paragraph) => paragraph.replaceAll('\n', ' '))
    .join('\n\n');

function perMinute(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'request' : 'requests'} a minute`;
}

const TAGS = [
  { name: 'Services', description: 'Services, how they are, and how they were.' },
  { name: 'Incidents', description: 'What went wrong, by our checks and by the vendors themselves.' },
  { name: 'Heartbeats', description: 'What services report of themselves and of their dependencies.' },
  { name: 'Status pages', description: "Owners' own pages." },
  { name: 'Alerts', description: 'Where the account is notified of changes, and of which.' },
  { name: 'Account', description: 'What an account has beside services and pages.' },
  { name: 'Statuspage', description: 'The same for programs that read the public API of Statuspage.' },
  { name: 'Regions', description: 'From where services are checked.' },
  { name: 'Events', description: 'Changes as they happen.' },
  { name: 'Badges', description: 'Small pictures for other sites.' },
  { name: 'Pictures', description: 'Charts and heat maps.' },
  { name: 'Webhooks', description: 'What the server of an owner receives, signed.' },
];

export interface OpenApiSources {
  /** Without a slash at its end. */
  readonly siteUrl: string;
  readonly version: string;
  /** Returns the current limits; a new object after each change. */
  readonly limits: () => ApiLimits;
  readonly routes: readonly Route[];
}

/** Creates the document and its route. The document is created once for each set of limits. */
export function createOpenApi({ siteUrl, version, limits, routes }: OpenApiSources): {
  readonly document: () => OpenApiDocument;
  readonly route: Route;
} {
  let made: { readonly limits: ApiLimits; readonly document: OpenApiDocument; readonly body: string } | null =
    null;
  const make = () => {
    const inForce = limits();
    if (made?.limits !== inForce) {
      const document = documentOf(siteUrl, version, inForce, routes);
      made = { limits: inForce, document, body: JSON.stringify(document) };
    }
    return made;
  };
  return {
    document: () => make().document,
    route: {
      path: '/api/v1/openapi.json',
      bucket: 'pages',
      access: 'everyone',
      handle() {
        const { body } = make();
        return jsonText(body, entityTag(body));
      },
    },
  };
}

function documentOf(
  siteUrl: string,
  version: string,
  limits: ApiLimits,
  routes: readonly Route[],
): OpenApiDocument {
  const { paths, webhooks, schemas } = describeRoutes(routes, describeWebhooks());
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
    paths,
    webhooks,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'API key: upb_ and 38 letters and digits.' },
      },
      schemas,
      headers: {
        'X-RateLimit-Limit': header('Requests a minute.'),
        'X-RateLimit-Remaining': header('Requests left in this window.'),
        'X-RateLimit-Reset': header('Unix time in whole seconds, rounded up, at which the window ends.'),
        'Retry-After': header('Seconds to wait, at least 1; on 429 and 503.'),
        Link: {
          description:
            'Other pages of the list (RFC 8288): `first`, `next` where there is one, and for services `prev`. Absent if the query is longer than 2,000 characters.',
          schema: {
            type: 'string',
            examples: ['</api/v1/incidents?limit=20>; rel="first"'],
          },
        },
        'WWW-Authenticate': { description: 'The scheme to use: Bearer.', schema: { type: 'string' } },
      },
    },
  };
}

function header(description: string): object {
  return { description, schema: { type: 'integer' } };
}
