/** The way back after signing in: the page that a visitor wanted, in a cookie that every way to sign in leaves alone. */
import { createSiteCookie } from '../../http/cookies.ts';
import { seeOther } from '../../http/form.ts';
import type { HttpRequest, HttpResponse } from '../../http/route.ts';

/** Path of the page after signing in. */
export const HOME = '/dashboard';
/** Maximum time between asking for the page and signing in, seconds. */
const RETURN_SECONDS = 3_600;
const MAX_PATH_LENGTH = 600;
/** A path of this site with its query: neither another host nor what a header could not contain. */
const PATH_FORM = /^\/(?![/\\])[!-[\]-~]*$/;

/** The redirect to the sign-in page, from which a visitor comes back to what was requested. */
export function leadToSignIn(request: HttpRequest, siteUrl: string): HttpResponse {
  const { url, query, atDomain } = request;
  if (atDomain === true) return seeOther(`${siteUrl}/sign-in`);
  const path = (url?.slice(siteUrl.length) ?? '') + (query === '' ? '' : `?${query}`);
  const isKept = path !== HOME && path.length <= MAX_PATH_LENGTH && PATH_FORM.test(path);
  return seeOther(
    '/sign-in',
    isKept ? cookieOf(siteUrl).write(encodeURIComponent(path), RETURN_SECONDS) : {},
  );
}

/** The response that leads back, and removes the cookie; null: the request has none. */
export function leadBack({ headers }: HttpRequest, siteUrl: string): HttpResponse | null {
  const cookie = cookieOf(siteUrl);
  const path = decode(cookie.read(headers.cookie));
  return PATH_FORM.test(path) ? seeOther(path, cookie.write('', 0)) : null;
}

/** The header that removes the cookie. */
export function forgetReturn(siteUrl: string): Readonly<Record<string, string>> {
  return cookieOf(siteUrl).write('', 0);
}

function cookieOf(siteUrl: string) {
  return createSiteCookie(siteUrl, 'upbeat-return');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
