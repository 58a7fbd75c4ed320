/** Status pages of an account: `GET` and `POST /api/v1/pages`, `PATCH` and `DELETE /api/v1/pages/:slug` (docs/api.md). */
import { formatTime, formatTimeOrNull } from '../../domain/durations.ts';
import type { OwnedPage } from '../../domain/status-page.ts';
import { revisionTag } from '../../http/conditional.ts';
import { SLUG } from '../../http/openapi.ts';
import type { Route } from '../../http/route.ts';
import { named, namedObject, nullable, TimeSchema } from '../../http/schema.ts';
import { Type } from '../../json-schema.ts';
import { pageUrl } from '../../view/page-address.ts';
import { VerificationSchema, viewVerification } from '../kit/domain-verification.ts';
import { type RepeatableContext, repeatableRoute } from '../kit/once.ts';
import { createResourceRoutes } from '../kit/resource-routes.ts';
import { changed, ETAG_HEADER, principalOf, resultOf } from '../kit/write-route.ts';
import { PageDocumentSchema } from './page-document.ts';
import { type PageDomainContext, verifyPageDomain } from './page-domains.ts';
import { definePage, type PageContext, pageChanges } from './pages.ts';

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
const TAG = 'Status pages';

export interface OwnedPageSources {
  readonly context: PageContext &
    Omit<PageDomainContext, 'registry' | 'proofs'> &
    RepeatableContext & {
      readonly proofs: PageDomainContext['proofs'] & Parameters<typeof viewVerification>[3];
      readonly registry: PageDomainContext['registry'];
    };
}

export function ownedPageRoutes({ context }: OwnedPageSources): Route[] {
  const { siteUrl, proofs } = context;
  const viewDomain = ({ accountId, domain }: OwnedPage) => {
    if (domain === undefined) return {};
    const { name, provedAt, missingSince } = domain;
    return {
      custom_domain: {
        domain: name,
        proof_missing_since: formatTimeOrNull(missingSince),
        verification: viewVerification(accountId, name, provedAt !== null, proofs),
      },
    };
  };
  const view = (page: OwnedPage, definition = definePage(context, page)) => ({
    slug: page.slug,
    title: page.title,
    url: pageUrl(siteUrl, page),
    updated_at: formatTime(page.updatedAt),
    definition,
    ...viewDomain(page),
  });
  return [
    ...createResourceRoutes({
      ...{ changes: pageChanges, context, siteUrl, view },
      path: '/api/v1/pages',
      tag: TAG,
      name: 'Page',
      listName: 'OwnedPageList',
      word: 'page',
      key: { parameter: OWN_SLUG, read: (text) => text ?? '' },
      schema: OwnedPageSchema,
      document: PageDefinitionSchema,
      patch: PageDocumentSchema,
      maxBytes: MAX_DOCUMENT_BYTES,
      examples: { document: EXAMPLE, patch: { title: 'Acme and partners', logo: null } },
      order: { says: 'In the order of slugs.', place: ['string'] },
      placeOf: ({ slug }: OwnedPage) => [slug],
      isRenamed: false,
      says: {
        list: {
          summary: 'List status pages',
          description: 'Their definitions, without pictures.',
        },
        create: {
          summary: 'Create a status page',
          description:
            'Its groups name services of the account by their domains and public services by their slugs.',
        },
        change: {
          summary: 'Change a status page',
          description:
            'By a JSON Merge Patch (RFC 7396) of its definition: what is not named stays, pictures included, null sets the default, and groups are replaced as a whole. The slug cannot be changed.',
        },
        remove: {
          summary: 'Delete a status page',
          description: 'Its slug stays reserved for the account.',
        },
        taken: 'The slug is taken (conflict).',
      },
    }),
    repeatableRoute(context, {
      path: '/api/v1/pages/:slug/verify',
      id: 'verifyPageDomain',
      tag: TAG,
      summary: 'Verify the domain of a status page',
      description:
        'Looks for the TXT record and the file, and verifies the domain if one of them has the word. Within a second, the page is at its domain, and its address on this site is redirected. Repeating it changes nothing.',
      parameters: [OWN_SLUG],
      answers: { 200: { description: 'The page.', headers: ETAG_HEADER, schema: OwnedPageSchema } },
      problems: {
        404: 'The account has no such page (page_not_found).',
        409: 'Neither holds the word; `errors` says what is there (domain_unverified). Or the page has no domain (conflict).',
      },
      change: async (proving, { key, params }) =>
        resultOf(await verifyPageDomain(proving, principalOf(key), params.slug ?? '')),
      answer(page) {
        const body = JSON.stringify(view(page));
        return changed(200, body, {}, revisionTag(page.revision, body));
      },
    }),
  ];
}
