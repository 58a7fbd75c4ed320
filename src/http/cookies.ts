/** Cookies: that of the session, which also holds a sign-in in progress, and how the value of any is read. */

/** How the cookie is named and guarded on this site. */
export type SiteCookie = ReturnType<typeof createSiteCookie>;

const LONGEST = 2_000;

/** On https, the prefix of the name makes browsers accept the cookie only from this host over TLS. */
export function createSiteCookie(siteUrl: string) {
  const secure = siteUrl.startsWith('https:');
  const name = secure ? '__Host-upbeat' : 'upbeat';
  return {
    /** The value that a request carries; empty: none. */
    read: (header?: string): string => readCookie(header, name).slice(0, LONGEST),
    /** The header that sets it for `maxAgeSeconds`; an empty value removes it. */
    write(value: string, maxAgeSeconds: number): Readonly<Record<string, string>> {
      const age = value === '' ? 0 : maxAgeSeconds;
      // Lax: the provider's redirect back must carry it.
      const parts = [`${name}=${value}`, 'Path=/', `Max-Age=${age}`, 'HttpOnly', 'SameSite=Lax'];
      if (secure) parts.push('Secure');
      return { 'Set-Cookie': parts.join('; ') };
    },
  };
}

/** The value of a cookie in a `Cookie` header, without blanks around it; empty: it has none of this name. */
export function readCookie(header: string | undefined, name: string): string {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return '';
}
