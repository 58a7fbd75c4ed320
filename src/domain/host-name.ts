/** The host names under which services can be registered (decisions, Heartbeats: `domain`). */
import { domainToASCII } from 'node:url';
import type { HostNameProblem } from './input-problem.ts';

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

/** Maximum length of a host name, characters (RFC 1035, 2.3.4, without the final dot). */
const MAX_LENGTH = 253;

/** A host name as it is stored, or why it is refused. */
export type HostNameReading =
  | { readonly ok: true; readonly domain: string }
  | { readonly ok: false; readonly problem: HostNameProblem };

/**
 * Validates an owner's domain: IDNA is accepted, and stored as ASCII in lower case without a final dot.
 * Refused: scheme, port, path, one label, IP addresses in any notation, and private suffixes.
 */
export function readHostName(text: string): HostNameReading {
  const refuse = (problem: HostNameProblem): HostNameReading => ({ ok: false, problem });
  const trimmed = text.trim().replace(/\.$/, '');
  if (trimmed === '') return refuse({ code: 'empty' });
  if (trimmed.length > MAX_LENGTH * 4) return refuse({ code: 'too_long' });
  if (/[/:@?#\\\s%[\]]/.test(trimmed)) return refuse({ code: 'not_bare' });
  const domain = domainToASCII(trimmed).toLowerCase();
  if (domain === '') return refuse({ code: 'invalid' });
  if (domain.length > MAX_LENGTH) return refuse({ code: 'longer_than', maxLength: MAX_LENGTH });
  const labels = domain.split('.');
  if (labels.length < 2) return refuse({ code: 'one_label' });
  if (!labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))) {
    return refuse({ code: 'bad_label' });
  }
  // By the URL standard a host whose last label is a number is an IPv4 address, in any notation.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) return refuse({ code: 'ip_address' });
  const suffix = PRIVATE_SUFFIXES.find((name) => domain === name || domain.endsWith(`.${name}`));
  if (suffix !== undefined) return refuse({ code: 'private_suffix', suffix: `.${suffix}` });
  return { ok: true, domain };
}

/** Whether a host name can never lead to a public address: it has a private suffix, or a single label such as `localhost`. */
export function isPrivateName(host: string): boolean {
  const reading = readHostName(host);
  return !reading.ok && (reading.problem.code === 'private_suffix' || reading.problem.code === 'one_label');
}
