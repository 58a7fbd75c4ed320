/** `/docs`: documents the API from the OpenAPI document, with forms to try it. */

import { STATUS_CODES } from 'node:http';
import { fullName } from '../domain/service.ts';
import type { OpenApiDocument } from '../http/openapi.ts';
import { PROBLEMS } from '../http/problem.ts';
import { pageRoute, type Route } from '../http/route.ts';
import type { PublicReads } from '../store/ports/public-reads.ts';
import type { ApiLimits } from '../view/monitor.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { describeOperations, type KnownThings } from './docs-view.ts';
import { chooseLanguage } from './language/language.ts';
import type { RenderPage } from './parts/views.ts';

export interface DocsSources extends Pick<SiteSources, 'siteUrl'> {
  readonly directory: Pick<SiteSources['directory'], 'all' | 'byId' | 'bySlug' | 'pageName'>;
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
