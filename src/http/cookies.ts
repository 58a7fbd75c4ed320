/** Cookies of this site for signed-in visitors, and a parser of cookies. */
import { basePathOf } from './base-path.ts';

export type SiteCookie = ReturnType<typeof createSiteCookie>;

/** Maximum length of the value that is read, characters; the rest is ignored. */
const MAX_VALUE_LENGTH = 2_000;

/**
 * Creates the cookie; the default one has the session, and a sign-in in progress. On https, the prefix of its name makes
 * browsers accept it only from this host over TLS; below a base path, to which such a cookie could not be bound, only over TLS.
 * Browsers send the cookies of a host to all of its ports, so the name has the port: installations side by side keep theirs apart.
 */
export function createSiteCookie(siteUrl: string, plainName = 'upbeat') {
  const secure = siteUrl.startsWith('https:');
  const prefix = basePathOf(siteUrl) === '' ? '__Host-' : '__Secure-';
  const { port } = new URL(siteUrl);
  const ownName = port === '' ? plainName : `${plainName}-${port}`;
  const name = secure ? prefix + ownName : ownName;
  return {
    name,
    /** The value in a `Cookie` header; empty: the cookie is absent. */
    read: (header?: string): string => readCookie(header, name).slice(0, MAX_VALUE_LENGTH),
    /** The header that sets the cookie for `maxAgeSeconds`; an empty value removes the cookie. */
    write(value: string, maxAgeSeconds: number): Readonly<Record<string, string>> {
      const age = value === '' ? 0 : maxAgeSeconds;
      // Lax, because the redirect from the provider must send the cookie.
      const parts = [`${name}=${value}`, 'Path=/', `Max-Age=${age}`, 'HttpOnly', 'SameSite=Lax'];
      if (secure) parts.push('Secure');
      return { 'Set-Cookie': parts.join('; ') };
    },
  };
}

/** The value of a cookie in a `Cookie` header, without surrounding spaces; empty: the header has no such cookie. */
export function readCookie(header: string | undefined, name: string): string {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return '';
}
