/** What answers tell browsers to refuse: script that is not ours, frames of other sites, types that they guess. */

/** Who may show a page in a frame. */
type Framing = 'nobody' | 'anybody';

/** Every answer that does not say otherwise: data, which no browser has to run or to frame. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};

/** No type is guessed from content, whatever the answer is. */
export const NO_SNIFFING: Readonly<Record<string, string>> = { 'X-Content-Type-Options': 'nosniff' };

/**
 * The guards of an answer by what it says already: a policy of its own stands, and whatever it forgets to say of
 * frames is forbidden. `type` is its media type.
 */
export function guardsOf(policy: string | undefined, type: string): Readonly<Record<string, string>> | null {
  if (policy === undefined) return type.startsWith('image/') ? PICTURE_HEADERS : DATA_HEADERS;
  return policy.includes('frame-ancestors') ? null : FRAMELESS;
}

const FRAMELESS = { 'X-Frame-Options': 'DENY' };

/** A page of this site: scripts, styles and pictures of its own alone, in nobody's frame. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy('nobody', "'self'"),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  ...NO_SNIFFING,
};

/** The embed of a status page: the one thing that other sites may frame; it has no forms and asks for nothing. */
export const EMBED_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy('anybody', "'none'"),
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  ...NO_SNIFFING,
};

/**
 * Every picture, those that strangers have uploaded among them. Opened by itself it is a document of our origin:
 * `sandbox` takes that origin from it, in case a browser should find a page in it. Browsers style what they show it in.
 */
export const PICTURE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
};

/** `active`: where forms may lead to and scripts may ask. */
function policy(framing: Framing, active: "'self'" | "'none'"): string {
  return [
    "default-src 'none'",
    `img-src 'self'${active === "'self'" ? ' data:' : ''}`,
    "style-src 'self'",
    "script-src 'self'",
    `connect-src ${active}`,
    `form-action ${active}`,
    "base-uri 'none'",
    `frame-ancestors ${framing === 'anybody' ? '*' : "'none'"}`,
  ].join('; ');
}
