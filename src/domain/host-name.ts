/** The names under which services may be registered (decisions, Heartbeats: `domain`). */
import { domainToASCII } from 'node:url';

/** Suffixes that never name a public service: RFC 6761, RFC 6762, RFC 8375, RFC 9476 and ICANN's `internal`. */
const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'localdomain',
  'home.arpa',
  'in-addr.arpa',
  'ip6.arpa',
  'onion',
  'alt',
  'invalid',
];

/** A host name in its stored form, or why it is none. */
export type HostNameReading =
  | { readonly ok: true; readonly domain: string }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads an owner's domain: IDNA is accepted and stored as ASCII, lower-case, without a final dot.
 * Refused: scheme, port, path, one label, IP addresses in any notation, and private suffixes.
 */
export function readHostName(text: string): HostNameReading {
  const refuse = (problem: string): HostNameReading => ({ ok: false, problem });
  const trimmed = text.trim().replace(/\.$/, '');
  if (trimmed === '') return refuse('must not be empty');
  if (trimmed.length > 253 * 4) return refuse('is longer than a host name can be');
  if (/[/:@?#\\\s%[\]]/.test(trimmed))
    return refuse('must be a host name alone, without scheme, port or path');
  const domain = domainToASCII(trimmed).toLowerCase();
  if (domain === '') return refuse('is not a host name');
  if (domain.length > 253) return refuse('is longer than 253 characters');
  const labels = domain.split('.');
  if (labels.length < 2) return refuse('needs at least two labels, such as example.com');
  if (!labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))) {
    return refuse('has a label that is not 1 to 63 letters, digits and inner hyphens');
  }
  // The URL standard reads a host whose last label is a number as an IPv4 address, in any notation.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return refuse('must not be an IP address');
  const suffix = PRIVATE_SUFFIXES.find((name) => domain === name || domain.endsWith(`.${name}`));
  if (suffix !== undefined) return refuse(`must not end in the private suffix .${suffix}`);
  return { ok: true, domain };
}

/** Whether `domain` is `parent` or a subdomain of it. */
export function isWithinDomain(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
