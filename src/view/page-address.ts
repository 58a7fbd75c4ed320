/** The addresses of a status page: on this site, or at a domain of its owner. Pure. */
import { domainInUse, domainOrigin, type OwnedPage } from '../domain/status-page.ts';

type Addressed = Pick<OwnedPage, 'slug' | 'domain' | 'access'>;

/** The place of a page: the start of its addresses, and its path behind that; `part`: of one of its parts. */
export function placeOfPage(siteUrl: string, page: Addressed, part = '') {
  const domain = domainInUse(page);
  return domain === null
    ? { origin: siteUrl, path: pagePath(page.slug, part) }
    : { origin: domainOrigin(siteUrl, domain), path: pathAtDomain(part) };
}

/** The absolute address of a page; `part`: of one of its parts, such as `incidents.atom`. */
export function pageUrl(siteUrl: string, page: Addressed, part = ''): string {
  const { origin, path } = placeOfPage(siteUrl, page, part);
  return origin + path;
}

/** The path of a page, or of one of its parts, for a request: at its domain, or on this site. */
export function pathFor(request: { readonly atDomain?: true }, slug: string, part = ''): string {
  return request.atDomain === true ? pathAtDomain(part) : pagePath(slug, part);
}

/**
 * The redirect of a request for a page, or for one of its parts, to the domain of the page. Null: the page has none, or the
 * request came by it.
 */
export function redirectToDomain(
  { atDomain, query }: { readonly atDomain?: true; readonly query: string },
  siteUrl: string,
  page: Addressed,
  part = '',
) {
  if (atDomain === true || domainInUse(page) === null) return null;
  const location = pageUrl(siteUrl, page, part) + (query === '' ? '' : `?${query}`);
  return { status: 302, headers: { Location: location, 'Cache-Control': 'no-cache' }, body: '' };
}

/** The name of a page as JSON, at its domain. */
const JSON_PART = 'page.json';

function pagePath(slug: string, part: string): string {
  if (part === JSON_PART) return `/p/${slug}.json`;
  return part === '' ? `/p/${slug}` : `/p/${slug}/${part}`;
}

function pathAtDomain(part: string): string {
  return `/${part}`;
}
