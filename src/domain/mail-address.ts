/** Addresses of e-mail: what forms, settings and headers take. */

/** Maximum length of an address (RFC 5321, 4.5.3.1.3, without the angle brackets). */
export const MAX_MAIL_ADDRESS = 254;
/** Maximum length of the part before the `@` (RFC 5321, 4.5.3.1.1). */
const MAX_LOCAL_PART = 64;
/** Maximum length of the name before an address. */
const MAX_NAME = 100;

/** Characters of a local part without quotes (RFC 5322, 3.2.3). */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const DOMAIN =
  /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The address in the form in which it is used: the domain in lower case and, if it is international, in its ASCII form. Null:
 * it is no address that this program can send to: neither quoted local parts nor letters beyond ASCII before the `@`.
 */
export function readMailAddress(text: string): string | null {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  const local = trimmed.slice(0, at);
  if (at < 1 || local.length > MAX_LOCAL_PART || !LOCAL_PART.test(local)) return null;
  const domain = readDomain(trimmed.slice(at + 1));
  if (domain === null) return null;
  const address = `${local}@${domain}`;
  return address.length > MAX_MAIL_ADDRESS ? null : address;
}

/** The key that all spellings of one mailbox share: servers distinguish no capitals in practice. */
export function mailboxKey(address: string): string {
  return address.toLowerCase();
}

/**
 * The mailbox that letters to an address end in, as far as it is known: without the tag of `name+tag@`, and without the dots that
 * Gmail ignores. Bounds of letters count by it.
 */
export function recipientKey(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = domainOf(address).replace(/^googlemail\.com$/, 'gmail.com');
  const [name = ''] = address.slice(0, at).toLowerCase().split('+');
  return `${domain === 'gmail.com' ? name.replaceAll('.', '') : name}@${domain}`;
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}

/** A sender: an address, with a name or without. */
export interface Mailbox {
  /** Empty: none. */
  readonly name: string;
  readonly address: string;
}

/** Reads `ops@example.com` or `Upbeat <ops@example.com>`; null: neither. */
export function readMailbox(text: string): Mailbox | null {
  const [, name, inBrackets] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? [];
  const address = readMailAddress(inBrackets ?? text);
  const shown = (name ?? '').trim().replace(/^"([^"\\]*)"$/, '$1');
  if (address === null || shown.length > MAX_NAME || /\p{Cc}/u.test(shown)) return null;
  return { name: shown, address };
}

/** The host name in lower case and ASCII; null: it is none. Brackets of literal addresses are refused. */
function readDomain(text: string): string | null {
  const lower = text.toLowerCase();
  if (DOMAIN.test(lower)) return lower;
  if (!/[^\p{ASCII}]/u.test(lower) || /[\s\p{Cc}/:?#@[\]\\]/u.test(lower)) return null;
  const parsed = URL.parse(`http://${lower}/`);
  return parsed !== null && DOMAIN.test(parsed.hostname) ? parsed.hostname : null;
}
