/** Services of an account: `POST /api/v1/services`, and `GET`, `PATCH` and `DELETE /api/v1/services/:slug` (docs/api.md). */
import type { Service } from '../domain/service.ts';
import { unknownStatus } from '../domain/status/current.ts';
import { parseJson } from '../http/body.ts';
import { revisionTag } from '../http/conditional.ts';
import { SLUG } from '../http/openapi.ts';
import { type HttpResponse, jsonText, type Route } from '../http/route.ts';
import { named, namedObject } from '../http/schema.ts';
import { type TObject, Type } from '../json-schema.ts';
import { CHECK_KINDS } from '../kinds/kinds-table.ts';
import {
  type DomainInstructions,
  VerificationSchema,
  viewVerification,
} from '../resources/kit/domain-verification.ts';
import { repeatableRoute } from '../resources/kit/once.ts';
import {
  CREATED_HEADERS,
  changed,
  ETAG_HEADER,
  IF_MATCH,
  mayWrite,
  patchBody,
  principalOf,
  REMOVED,
  refusedError,
  resultOf,
  targetOf,
  withMember,
  withSettings,
  writeRoute,
} from '../resources/kit/write-route.ts';
import { verifyDomain } from '../resources/services/domains.ts';
import {
  type ServiceDocument,
  ServiceDocumentSchema,
  serviceDocumentOf,
} from '../resources/services/service-document.ts';
import {
  makeAddressSecret,
  makeHeartbeatAddress,
  removeHeartbeatAddress,
  renewBadgeAddress,
  type ServiceContext,
  serviceChanges,
} from '../resources/services/services.ts';
import type { IdempotencyStore } from '../store/ports/idempotency.ts';
import type { IdempotentCalls } from '../store/ports/registry.ts';
import type { BadgeAddresses } from '../view/badge-url.ts';
import type { ShownDirectory } from '../view/service-directory.ts';
import type { ServiceFinder } from '../view/service-finder.ts';
import { readRoute } from './read-route.ts';
import { SERVICE_MEMBERS, viewService } from './service-view.ts';
import type { ServiceJson, ServiceMoment } from './services.ts';

/** Maximum size of a document, bytes: the body of an `http` check alone may have 16 KiB. */
const MAX_DOCUMENT_BYTES = 65_536;

const TypedServiceSchema: typeof ServiceDocumentSchema = withMember(
  ServiceDocumentSchema,
  'check',
  withSettings<TObject>(ServiceDocumentSchema.properties.check, CHECK_KINDS),
);

export const DefinitionSchema = named('ServiceDefinition', TypedServiceSchema);

/** A service; the members of the account are there for its keys alone. */
const OWNED_MEMBERS = {
  ...SERVICE_MEMBERS,
  definition: Type.Optional(DefinitionSchema),
  verification: Type.Optional(VerificationSchema),
  badge_url: Type.Optional(
    Type.String({
      format: 'uri',
      description:
        'The signed address of the badge of a private service, for everyone who is given it; .png, .svg or .json and the parameters of badges may follow.',
    }),
  ),
};
const SingleServiceSchema = namedObject('SingleService', OWNED_MEMBERS);

export interface OwnedServiceSources {
  readonly siteUrl: string;
  readonly directory: ShownDirectory;
  readonly finder: ServiceFinder;
  readonly context: Omit<ServiceContext, 'registry'> & {
    readonly registry: ServiceContext['registry'] & IdempotencyStore & IdempotentCalls;
    readonly proofs: { instructions(accountId: number, domain: string): DomainInstructions };
  };
  readonly services: ServiceJson;
  readonly badgeAddresses: BadgeAddresses;
}

const OWN_SLUG = SLUG('The service, in any case.', 'shop-example-com');
const EXAMPLE = {
  domain: 'shop.example.com',
  name: 'Our shop',
  check: { kind: 'http', settings: { path: '/login', assertions: ['body contains Sign in'] } },
};
const GONE = { 404: 'The account has no such service.' };
const STALE = { 412: 'The service has another revision than If-Match names.' };

/** The route that everyone may read; keys of the account see more. */
export function serviceRoute({ finder, services, ...sources }: OwnedServiceSources): Route {
  return readRoute({
    path: '/api/v1/services/:slug',
    id: 'getService',
    tag: 'Services',
    summary: 'Get the definition of a service',
    description:
      'As in the list. A key of the account that owns it also gets the definition, without secrets, and how its domain is verified; one without the scope write gets it without the settings and the address of the check. The ETag begins with the revision of the definition.',
    answer: SingleServiceSchema,
    async handle(request) {
      const { key } = request;
      const known = await finder.ofPath(request);
      const item = services.listItem(known);
      if (key === undefined || key.accountId !== known.accountId) return withRevision(jsonText(item), known);
      const found = await serviceChanges.find(sources.context, key, known.slug);
      const service = found.ok ? found.value : known;
      const answer = jsonText(viewOwned(item, service, sources, mayWrite(key)));
      const headers = { ...answer.headers, 'Cache-Control': 'private, no-cache' };
      return withRevision({ ...answer, headers }, service);
    },
  });
}

export function ownedServiceRoutes(sources: OwnedServiceSources): Route[] {
  return [
    ...definitionRoutes(sources),
    verifyRoute(sources),
    badgeAddressRoute(sources),
    ...addressRoutes(sources),
  ];
}

function answerWith(sources: Pick<OwnedServiceSources, 'context' | 'badgeAddresses'>) {
  return (status: 200 | 201, service: Service, item: string, headers = {}): HttpResponse => {
    const body = viewOwned(item, service, sources);
    return changed(status, body, headers, revisionTag(service.revision, body));
  };
}

/** Answers with a service and the status that it had when it was changed, which `moment` contains. */
function answerAsThen(sources: Pick<OwnedServiceSources, 'context' | 'badgeAddresses'>) {
  const answer = answerWith(sources);
  return (service: Service, moment: string | null, headers = {}): HttpResponse => {
    const { current, stale }: ServiceMoment = JSON.parse(moment ?? '');
    return answer(200, service, JSON.stringify(viewService(service, current, stale)), headers);
  };
}

function locationOf({ siteUrl }: OwnedServiceSources, { slug }: Service): string {
  return `${siteUrl}/api/v1/services/${slug}`;
}

function definitionRoutes(sources: OwnedServiceSources): Route[] {
  const { context, services } = sources;
  const { proofs } = context;
  const answer = answerWith(sources);
  return [
    repeatableRoute(context, {
      path: '/api/v1/services',
      id: 'createService',
      tag: 'Services',
      summary: 'Create a service',
      description:
        'Its domain is not verified: `verification` says what to put into DNS or into a file. Until it is verified, the service is not checked, and it is marked as self-reported. A domain that belongs to another account or to the public catalogue must be proved first (403, with `verification`); the service is then verified at once. A domain of which the account has a service gets another one where the document has a `slug`, or a `check` that none of them has; it is verified as they are.',
      body: { schema: DefinitionSchema, example: EXAMPLE, maxBytes: MAX_DOCUMENT_BYTES },
      answers: {
        201: {
          description: 'The service. Its status is unknown until its first check.',
          headers: CREATED_HEADERS,
          schema: SingleServiceSchema,
        },
      },
      problems: {
        403: 'The domain belongs to another account or to the public catalogue (forbidden_domain), the account has as many domains as it may (domain_limit), or the key lacks the scope write (insufficient_scope).',
        409: 'The account has the domain already and the document has neither a slug nor another check, the slug is taken (`errors` says which one is free), or too many services of owners lead to its address (conflict).',
      },
      async change(made, { key, body }) {
        const document = parseJson(body);
        const outcome = await serviceChanges.add(made, principalOf(key), document);
        if (outcome.ok) return outcome.value;
        const error = refusedError(outcome);
        const domain = provableDomain(error.code, document);
        if (domain === null) throw error;
        const verification = viewVerification(key.accountId, domain, false, proofs);
        throw refusedError(outcome, { verification });
      },
      answer(service) {
        const item = JSON.stringify(viewService(service, unknownStatus(service.id), false));
        return answer(201, service, item, { Location: locationOf(sources, service) });
      },
    }),
    writeRoute({
      path: '/api/v1/services/:slug',
      method: 'PATCH',
      id: 'changeService',
      tag: 'Services',
      summary: 'Change a service',
      description:
        'By a JSON Merge Patch (RFC 7396) of its definition: what is not named stays, null sets the default, lists are replaced. Settings of another kind of check are dropped when `check.kind` changes. Domain and slug cannot be changed.',
      parameters: [OWN_SLUG, IF_MATCH],
      body: patchBody(
        'ServicePatch',
        TypedServiceSchema,
        { paused: true, check: { settings: { path: '/health' } } },
        MAX_DOCUMENT_BYTES,
      ),
      answers: { 200: { description: 'The service.', headers: ETAG_HEADER, schema: SingleServiceSchema } },
      problems: {
        ...GONE,
        409: 'Too many services of owners lead to the address of the domain (conflict).',
        ...STALE,
      },
      async handle(request) {
        const [target, patch] = [targetOf(request.params.slug ?? '', request), parseJson(request.body)];
        const service = resultOf(
          await serviceChanges.patch(context, principalOf(request.key), target, patch),
        );
        return answer(200, service, services.listItem(service));
      },
    }),
    writeRoute({
      path: '/api/v1/services/:slug',
      method: 'DELETE',
      id: 'removeService',
      tag: 'Services',
      summary: 'Delete a service',
      description:
        'Its history stays, in case the account adds its domain again. If it was the first service of its domain, the oldest of the others becomes that.',
      parameters: [OWN_SLUG, IF_MATCH],
      answers: { 204: { description: 'It is removed.' } },
      problems: { ...GONE, ...STALE },
      async handle(request) {
        const target = targetOf(request.params.slug ?? '', request);
        resultOf(await serviceChanges.remove(context, principalOf(request.key), target));
        return REMOVED;
      },
    }),
  ];
}

function verifyRoute(sources: OwnedServiceSources): Route {
  const { context, services } = sources;
  const { proofs } = context;
  const answer = answerAsThen(sources);
  return repeatableRoute(context, {
    path: '/api/v1/services/:slug/verify',
    id: 'verifyService',
    tag: 'Services',
    summary: 'Verify the domain of a service',
    description:
      'Looks for the TXT record and the file, and verifies the domain if one of them has the word: every service of the account there, and those that it adds. The slug of the first one is then the domain with dashes, unless it was given another one, or another service has that. Repeating it changes nothing.',
    parameters: [OWN_SLUG],
    answers: {
      200: {
        description: 'The service, which is verified.',
        headers: {
          ...ETAG_HEADER,
          'Content-Location': { description: 'Where it can be read.', schema: { type: 'string' } },
        },
        schema: SingleServiceSchema,
      },
    },
    problems: {
      403: 'The account has as many domains as it may (domain_limit), or the key lacks the scope write (insufficient_scope).',
      ...GONE,
      409: 'Neither holds the word; `errors` says what is there (domain_unverified). Or too many services of owners lead to the address of the domain (conflict).',
    },
    async change(made, { key, params }, _secret, keep): Promise<Service> {
      const principal = principalOf(key);
      const known = resultOf(await serviceChanges.find(made, principal, params.slug ?? ''));
      keep(JSON.stringify(services.momentOf(known)));
      const outcome = await verifyDomain(made, principal, known.domain, known.check);
      const verification = viewVerification(key.accountId, known.domain, false, proofs);
      return resultOf(outcome, outcome.ok ? {} : { verification });
    },
    answer: (service, moment) =>
      answer(service, moment, { 'Content-Location': locationOf(sources, service) }),
  });
}

function badgeAddressRoute(sources: OwnedServiceSources): Route {
  const { context, services } = sources;
  const answer = answerAsThen(sources);
  return repeatableRoute(context, {
    path: '/api/v1/services/:slug/badge-address',
    id: 'renewBadgeAddress',
    tag: 'Badges',
    summary: 'Renew the signed address of the badge of a service',
    description:
      'The former address, which a private service has as `badge_url`, gets 404 from then on; browsers may keep its badge for a minute. A service that is public or unlisted has another address when it becomes private.',
    parameters: [OWN_SLUG, IF_MATCH],
    answers: {
      200: {
        description: 'The service, with its new `badge_url` if it is private.',
        headers: ETAG_HEADER,
        schema: SingleServiceSchema,
      },
    },
    problems: { ...GONE, ...STALE },
    async change(made, request, _secret, keep): Promise<Service> {
      const [principal, slug] = [principalOf(request.key), request.params.slug ?? ''];
      keep(JSON.stringify(services.momentOf(resultOf(await serviceChanges.find(made, principal, slug)))));
      return resultOf(await renewBadgeAddress(made, principal, targetOf(slug, request)));
    },
    answer,
  });
}

function addressRoutes({ context, siteUrl }: OwnedServiceSources): Route[] {
  return [
    repeatableRoute(context, {
      path: '/api/v1/services/:slug/address',
      id: 'createHeartbeatAddress',
      tag: 'Heartbeats',
      summary: 'Create a heartbeat address',
      description: 'A former address ends. The address is shown only here.',
      parameters: [OWN_SLUG, IF_MATCH],
      answers: {
        201: {
          description: 'The address.',
          schema: namedObject('HeartbeatAddress', {
            slug: Type.String(),
            url: Type.String({ description: 'The address, with its secret.' }),
          }),
        },
      },
      problems: { ...GONE, ...STALE },
      makeSecret: makeAddressSecret,
      async change(made, request, secret): Promise<{ readonly slug: string }> {
        const target = targetOf(request.params.slug ?? '', request);
        return resultOf(await makeHeartbeatAddress(made, principalOf(request.key), target, secret));
      },
      answer: ({ slug }, secret) => changed(201, { slug, url: `${siteUrl}/beat/${secret}` }),
    }),
    writeRoute({
      path: '/api/v1/services/:slug/address',
      method: 'DELETE',
      id: 'removeHeartbeatAddress',
      tag: 'Heartbeats',
      summary: 'Delete a heartbeat address',
      description: 'Requests to the address get 404 from then on.',
      parameters: [OWN_SLUG, IF_MATCH],
      answers: { 204: { description: 'It has no address.' } },
      problems: { ...GONE, ...STALE },
      async handle(request) {
        const target = targetOf(request.params.slug ?? '', request);
        resultOf(await removeHeartbeatAddress(context, principalOf(request.key), target));
        return REMOVED;
      },
    }),
  ];
}

function withRevision(answer: HttpResponse, { revision }: Service): HttpResponse {
  return {
    ...answer,
    headers: { ...answer.headers, Vary: 'Authorization' },
    etag: revisionTag(revision, answer.body),
  };
}

/** The JSON of a service for its account; `item`: its JSON in the list. */
function viewOwned(
  item: string,
  service: Service,
  { context: { proofs }, badgeAddresses }: Pick<OwnedServiceSources, 'context' | 'badgeAddresses'>,
  isWhole = true,
): string {
  const { accountId, domain, verified } = service;
  const badgeUrl = badgeAddresses.urlOf(service);
  const more = JSON.stringify({
    definition: isWhole ? serviceDocumentOf(service) : withoutSettings(serviceDocumentOf(service)),
    verification: viewVerification(accountId ?? 0, domain, verified, proofs),
    ...(badgeUrl === null ? {} : { badge_url: badgeUrl }),
  });
  return `${item.slice(0, -1)},${more.slice(1)}`;
}

/** A definition without the settings and the address of its check. */
function withoutSettings(definition: ServiceDocument): ServiceDocument {
  const { settings: _settings, url: _url, ...check } = definition.check ?? {};
  return { ...definition, ...(definition.check === undefined ? {} : { check }) };
}

/** The domain of a document that was refused for lack of a proof; null: it was refused for another reason. */
function provableDomain(code: string, document: unknown): string | null {
  if (code !== 'forbidden_domain' || typeof document !== 'object' || document === null) return null;
  return 'domain' in document && typeof document.domain === 'string' ? document.domain : null;
}
