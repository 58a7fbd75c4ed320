/**
 * The path of the site's URL, such as `/status` of `https://example.org/status`. Routes, pages and handlers know paths without it: it is
 * taken from requests and added to what browsers follow in responses, here alone.
 */
import type { CompleteResponse } from './complete-response.ts';
import { type HttpResponse, type Route, wrapReads } from './route.ts';

/** The base path of a site, without a slash at its end; empty: the site has none. */
export function basePathOf(siteUrl: string): string {
  return URL.parse(siteUrl)?.pathname.replace(/\/+$/, '') ?? '';
}

/**
 * The URL of a request without the base path. A proxy may pass the base path on or strip it, so a URL without it stays as it is; one
 * that could be both, such as `/status/github` below `/status`, is what `isRoute` knows.
 */
export function stripBasePath(url: string, base: string, isRoute: (url: string) => boolean): string {
  if (!url.startsWith(base)) return url;
  const rest = url.slice(base.length);
  if (rest !== '' && rest[0] !== '/' && rest[0] !== '?') return url;
  const below = rest[0] === '/' ? rest : `/${rest}`;
  return isRoute(below) || !isRoute(url) ? below : url;
}

/** Attributes whose values browsers and scripts of the pages follow. Text has no quotation marks that are not escaped. */
const LINK = /(\s(?:href|src|srcset|action|formaction|data-[a-z-]+)=")\/(?!\/)/g;

/** Markup whose links are below the base path, which scripts find at the root element. */
export function linkBelow(markup: string, base: string): string {
  if (base === '') return markup;
  return markup.replace(LINK, `$1${base}/`).replace('<html ', `<html data-base="${base}" `);
}

/** The page with links below the base path; another response as it is. */
export function pageBelow(answer: HttpResponse, base: string): HttpResponse {
  const { headers, body } = answer;
  const isPage = typeof body === 'string' && headers['Content-Type']?.startsWith('text/html') === true;
  return isPage && base !== '' ? { ...answer, body: linkBelow(body, base) } : answer;
}

/** The routes with pages whose links are below the base path. A page at a domain of its owner has none. */
export function pagesBelow(routes: readonly Route[], base: string): readonly Route[] {
  if (base === '') return routes;
  return wrapReads(routes, (read) => async (request) => {
    const answer = await read(request);
    return request.atDomain === true ? answer : pageBelow(answer, base);
  });
}

/** Puts redirects, links and cookies of a response below the base path. */
export function headersBelow({ headers }: CompleteResponse, base: string): void {
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1];
    if (value === undefined || typeof value === 'number') continue;
    if (headers[at] === 'Set-Cookie')
      headers[at + 1] = Array.isArray(value)
        ? value.map((cookie) => cookieBelow(cookie, base))
        : cookieBelow(value, base);
    else if (typeof value === 'string' && headers[at] === 'Location')
      headers[at + 1] = value.replace(/^\/(?!\/)/, `${base}/`);
    else if (typeof value === 'string' && headers[at] === 'Link')
      headers[at + 1] = value.replaceAll(/<\/(?!\/)/g, `<${base}/`);
  }
}

function cookieBelow(cookie: string, base: string): string {
  return cookie.replace('; Path=/;', `; Path=${base};`);
}
