/** Headers that make browsers refuse foreign scripts, frames on other sites and guessed media types. */

/** Which sites may show a page in a frame. */
type Framing = 'none' | 'any';

/** Responses without a policy of their own: data, which no browser needs to run or to frame. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};

/** Every response: browsers do not guess its type from its content. */
export const NO_SNIFFING: Readonly<Record<string, string>> = { 'X-Content-Type-Options': 'nosniff' };

/**
 * The headers that a response needs beside its own: one with a policy keeps it, and frames are forbidden unless that
 * policy names them. `type` is its media type.
 */
export function guardsOf(policy: string | undefined, type: string): Readonly<Record<string, string>> | null {
  if (policy === undefined) return type.startsWith('image/') ? PICTURE_HEADERS : DATA_HEADERS;
  return policy.includes('frame-ancestors') ? null : FRAMELESS;
}

const FRAMELESS = { 'X-Frame-Options': 'DENY' };

/** A page of this site: only its own scripts, styles and pictures, and in no frame. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy('none', "'self'"),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  ...NO_SNIFFING,
};

/** The embed of a status page, which alone other sites may frame. It has no forms and sends no requests. */
export const EMBED_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy('any', "'none'"),
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  ...NO_SNIFFING,
};

/**
 * Every picture, including uploaded ones. A picture that is opened by itself is a document of our origin; `sandbox`
 * removes that origin, in case a browser takes the picture for a page. Browsers style the document that they show it in.
 */
const PICTURE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};

/** `active`: where forms and scripts may send requests. */
function policy(framing: Framing, active: "'self'" | "'none'"): string {
  return [
    "default-src 'none'",
    `img-src 'self'${active === "'self'" ? ' data:' : ''}`,
    "style-src 'self'",
    "script-src 'self'",
    `connect-src ${active}`,
    `form-action ${active}`,
    "base-uri 'none'",
    `frame-ancestors ${framing === 'any' ? '*' : "'none'"}`,
  ].join('; ');
}
