/** Headers that make browsers refuse scripts and frames of other sites and not guess media types. */

/** The sites that may show a page in a frame. */
type Framing = 'none' | 'any';

/** For responses without a policy of their own: data, which browsers need neither run nor frame. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};

/** For every response: browsers must not guess its type from its content. */
export const NO_SNIFFING: Readonly<Record<string, string>> = { 'X-Content-Type-Options': 'nosniff' };

/**
 * The headers to add to a response with the given policy and media type. A response keeps its own policy; frames are
 * forbidden unless that policy allows them.
 */
export function guardsOf(policy: string | undefined, type: string): Readonly<Record<string, string>> | null {
  if (policy === undefined) return type.startsWith('image/') ? PICTURE_HEADERS : DATA_HEADERS;
  return policy.includes('frame-ancestors') ? null : FRAMELESS;
}

const FRAMELESS = { 'X-Frame-Options': 'DENY' };

/** For pages of this site: only scripts, styles and pictures of this site, and no frames. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy('none', "'self'"),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  ...NO_SNIFFING,
};

/** For the embed of a status page, the only page that other sites may frame. It has no forms and sends no requests. */
export const EMBED_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy('any', "'none'"),
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  ...NO_SNIFFING,
};

/**
 * For every picture, including uploaded ones. A picture that is opened by itself is a document of our origin; `sandbox`
 * removes that origin in case a browser treats the picture as a page. Styles are allowed, because browsers style the
 * document in which they show a picture.
 */
const PICTURE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};

/** The content security policy of pages. `active`: where forms and scripts may send requests. */
function policy(framing: Framing, active: "'self'" | "'none'"): string {
  return [
    "default-src 'none'",
    `img-src 'self'${active === "'self'" ? ' data:' : ''}`,
    "style-src 'self'",
    "font-src 'self'",
    "script-src 'self'",
    `connect-src ${active}`,
    `manifest-src 'self'`,
    `form-action ${active}`,
    "base-uri 'none'",
    `frame-ancestors ${framing === 'any' ? '*' : "'none'"}`,
  ].join('; ');
}
