/** Status pages of an account: `GET` and `POST /api/v1/pages`, `PATCH` and `DELETE /api/v1/pages/:slug` (docs/api.md). */
import {
  createPage,
  definePage,
  type PageDefinitionContext,
  patchPage,
  removePage,
} from '../app/defined-pages.ts';
import { PageDocumentSchema } from '../app/page-document.ts';
import { type PageDomainContext, verifyPageDomain } from '../app/page-domains.ts';
import { formatTime } from '../domain/durations.ts';
import type { OwnedPage, PageDomain } from '../domain/status-page.ts';
import { parseJson } from '../http/body.ts';
import { readRevisions, revisionTag } from '../http/conditional.ts';
import { SLUG } from '../http/openapi.ts';
import type { HttpResponse, Route } from '../http/route.ts';
import { named, namedObject, nullable, TimeSchema } from '../http/schema.ts';
import { Type } from '../json-schema.ts';
import { BODILESS_REPEAT_PROBLEMS, IDEMPOTENCY_KEY, once, REPEAT_PROBLEMS } from '../resources/kit/once.ts';
import { cutWindow, ownListRoute } from '../resources/kit/own-list.ts';
import { resultOf } from '../resources/kit/refused.ts';
import {
  changed,
  ETAG_HEADER,
  IF_MATCH,
  patchBody,
  principalOf,
  REMOVED,
  writeRoute,
} from '../resources/kit/write-route.ts';
import type { IdempotencyStore, IdempotentCalls } from '../store/ports/idempotency.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import { pageUrl } from '../view/page-address.ts';
import { VerificationSchema, viewVerification } from './owned-services.ts';

/** Maximum size of a document, bytes: a logo of 256 KiB has 350,000 characters. */
const MAX_DOCUMENT_BYTES = 524_288;

/** A status page as its owner defines it. */
export const PageDefinitionSchema = named('PageDefinition', PageDocumentSchema);

const OwnedPageSchema = namedObject('OwnedPage', {
  slug: Type.String(),
  title: Type.String(),
  url: Type.String(),
  updated_at: TimeSchema,
  definition: PageDefinitionSchema,
  custom_domain: Type.Optional(
    namedObject('PageDomain', {
      domain: Type.String(),
      proof_missing_since: nullable(
        TimeSchema,
        'After three days without the proof, the domain is not verified any longer.',
      ),
      verification: VerificationSchema,
    }),
  ),
});
const OWN_SLUG = SLUG('The page, in any case.', 'acme');
const EXAMPLE = {
  slug: 'acme',
  title: 'Acme',
  groups: [{ name: 'Web', services: ['shop.example.com', 'github'] }],
};
const GONE = { 404: 'The account has no such page.' };
const STALE = { 412: 'The page has another revision than If-Match names.' };

/** Sources of the routes. */
export interface OwnedPageSources {
  readonly context: Omit<PageDefinitionContext & PageDomainContext, 'registry' | 'proofs'> & {
    readonly proofs: PageDomainContext['proofs'] & Parameters<typeof viewVerification>[3];
    readonly registry: PageDefinitionContext['registry'] &
      PageDomainContext['registry'] &
      Pick<PageStore, 'pagesOf'> &
      IdempotencyStore &
      IdempotentCalls;
  };
  readonly siteUrl: string;
}

/** The routes. */
export function ownedPageRoutes({ context, siteUrl }: OwnedPageSources): Route[] {
  const verificationOf = ({ accountId }: OwnedPage, { name, provedAt }: PageDomain) =>
    viewVerification(accountId, name, provedAt !== null, context.proofs);
  const viewDomain = (page: OwnedPage) => {
    const { domain } = page;
    if (domain === undefined) return {};
    const { name, missingSince } = domain;
    const since = missingSince === null ? null : formatTime(missingSince);
    return {
      custom_domain: { domain: name, proof_missing_since: since, verification: verificationOf(page, domain) },
    };
  };
  const view = (page: OwnedPage) => ({
    slug: page.slug,
    title: page.title,
    url: pageUrl(siteUrl, page),
    updated_at: formatTime(page.updatedAt),
    definition: definePage(context, page),
    ...viewDomain(page),
  });
  const placeOf = ({ slug }: OwnedPage) => [slug];
  const answer = (status: 200 | 201, page: OwnedPage): HttpResponse => {
    const body = JSON.stringify(view(page));
    const headers = status === 201 ? { Location: `${siteUrl}/api/v1/pages/${page.slug}` } : {};
    return changed(status, body, headers, revisionTag(page.revision, body));
  };
  return [
    ownListRoute({
      path: '/api/v1/pages',
      id: 'listPages',
      tag: 'Status pages',
      summary: 'The status pages of the account',
      description: 'Their definitions, without pictures.',
      name: 'OwnedPageList',
      member: 'pages',
      item: OwnedPageSchema,
      order: 'In the order of slugs.',
      place: ['string'],
      placeOf,
      read: async (accountId, window) =>
        cutWindow(await context.registry.pagesOf(accountId), window, placeOf),
      view,
    }),
    writeRoute({
      path: '/api/v1/pages',
      method: 'POST',
      id: 'createPage',
      tag: 'Status pages',
      summary: 'Creates a status page',
      description:
        'Its groups name services of the account by their domains and public services by their slugs.',
      parameters: [IDEMPOTENCY_KEY],
      body: { schema: PageDefinitionSchema, example: EXAMPLE, maxBytes: MAX_DOCUMENT_BYTES },
      answers: {
        201: {
          description: 'The page.',
          headers: {
            ...ETAG_HEADER,
            Location: { description: 'Where it can be read.', schema: { type: 'string' } },
          },
          schema: OwnedPageSchema,
        },
      },
      problems: {
        403: 'The account has as many pages as it may (account_limit), or the key lacks the scope write (insufficient_scope).',
        409: 'The slug is taken (conflict).',
        ...REPEAT_PROBLEMS,
      },
      handle: (request) =>
        once<OwnedPage>(context, {
          id: 'createPage',
          request,
          secret: null,
          async change(calls) {
            const registry = { ...context.registry, ...calls };
            const document = parseJson(request.body);
            return resultOf(await createPage({ ...context, registry }, principalOf(request.key), document));
          },
          answer: (page) => answer(201, page),
        }),
    }),
    writeRoute({
      path: '/api/v1/pages/:slug',
      method: 'PATCH',
      id: 'changePage',
      tag: 'Status pages',
      summary: 'Changes a status page',
      description:
        'By a JSON Merge Patch (RFC 7396) of its definition: what is not named stays, pictures included, null sets the default, and groups are replaced as a whole. The slug cannot be changed.',
      parameters: [OWN_SLUG, IF_MATCH],
      body: patchBody(
        'PagePatch',
        PageDocumentSchema,
        { title: 'Acme and partners', logo: null },
        MAX_DOCUMENT_BYTES,
      ),
      answers: { 200: { description: 'The page.', headers: ETAG_HEADER, schema: OwnedPageSchema } },
      problems: { ...GONE, ...STALE },
      async handle({ key, body, params, headers }) {
        const revisions = readRevisions(headers['if-match']);
        const [principal, slug] = [principalOf(key), params.slug ?? ''];
        return answer(200, resultOf(await patchPage(context, principal, slug, parseJson(body), revisions)));
      },
    }),
    writeRoute({
      path: '/api/v1/pages/:slug/verify',
      method: 'POST',
      id: 'verifyPageDomain',
      tag: 'Status pages',
      summary: 'Verifies the domain of a status page',
      description:
        'Looks for the TXT record and the file, and verifies the domain if one of them has the word. Within a second, the page is at its domain, and its address on this site is redirected. Repeating it changes nothing.',
      parameters: [OWN_SLUG, IDEMPOTENCY_KEY],
      answers: { 200: { description: 'The page.', headers: ETAG_HEADER, schema: OwnedPageSchema } },
      problems: {
        ...GONE,
        409: 'Neither holds the word; `errors` says what is there (domain_unverified). Or the page has no domain (conflict).',
        ...BODILESS_REPEAT_PROBLEMS,
      },
      handle: (request) =>
        once<OwnedPage>(context, {
          id: 'verifyPageDomain',
          request,
          secret: null,
          async change(calls) {
            const registry = { ...context.registry, ...calls };
            const { key, params } = request;
            const slug = params.slug ?? '';
            return resultOf(await verifyPageDomain({ ...context, registry }, principalOf(key), slug));
          },
          answer: (page) => answer(200, page),
        }),
    }),
    writeRoute({
      path: '/api/v1/pages/:slug',
      method: 'DELETE',
      id: 'removePage',
      tag: 'Status pages',
      summary: 'Removes a status page',
      description: 'Its slug stays reserved for the account.',
      parameters: [OWN_SLUG, IF_MATCH],
      answers: { 204: { description: 'It is removed.' } },
      problems: { ...GONE, ...STALE },
      async handle({ key, params, headers }) {
        const revisions = readRevisions(headers['if-match']);
        resultOf(await removePage(context, principalOf(key), params.slug ?? '', revisions));
        return REMOVED;
      },
    }),
  ];
}
