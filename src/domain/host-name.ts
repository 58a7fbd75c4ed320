/** The host names under which services can be registered (decisions, Heartbeats: `domain`). */
import { domainToASCII } from 'node:url';
import type { HostNameProblem } from './input-problem.ts';

/** Suffixes that never name a public service: RFC 6761, RFC 6762, RFC 8375, RFC 9476, ICANN's `internal` and AVM's routers. */
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
  'fritz.box',
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
 * Refused: scheme, port, path, and, of public hosts, one label, IP addresses in any notation, and private suffixes.
 */
export function readHostName(text: string): HostNameReading {
  const reading = readAnyHost(text);
  if (!reading.ok) return reading;
  const problem = findPrivacy(reading.domain);
  return problem === null ? reading : { ok: false, problem };
}

/**
 * Validates the host of a trusted account as {@link readHostName} does, but takes single labels, private suffixes, and addresses, which
 * get their usual form, without brackets.
 */
export function readAnyHost(text: string): HostNameReading {
  const refuse = (problem: HostNameProblem): HostNameReading => ({ ok: false, problem });
  const trimmed = text.trim().replace(/\.$/, '');
  if (trimmed === '') return refuse({ code: 'empty' });
  if (trimmed.length > MAX_LENGTH * 4) return refuse({ code: 'too_long' });
  const bare = trimmed.replace(/^\[(.*)\]$/, '$1');
  if (bare.includes(':') && !/[^0-9a-f:.]/i.test(bare)) {
    const address = URL.parse(`http://[${bare}]/`)?.hostname.slice(1, -1);
    if (address !== undefined) return { ok: true, domain: address };
  }
  if (/[/:@?#\\\s%[\]]/.test(trimmed)) return refuse({ code: 'not_bare' });
  const domain = domainToASCII(trimmed).toLowerCase();
  if (domain === '') return refuse({ code: isNumeric(trimmed) ? 'ip_address' : 'invalid' });
  if (domain.length > MAX_LENGTH) return refuse({ code: 'longer_than', maxLength: MAX_LENGTH });
  if (!domain.split('.').every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)))
    return refuse({ code: 'bad_label' });
  if (!isNumeric(domain)) return { ok: true, domain };
  const address = URL.parse(`http://${domain}/`)?.hostname;
  return address === undefined ? refuse({ code: 'ip_address' }) : { ok: true, domain: address };
}

/** By the URL standard a host whose last label is a number is an IPv4 address, in any notation. */
function isNumeric(host: string): boolean {
  return /^(?:\d+|0x[0-9a-f]*)$/i.test(host.split('.').at(-1) ?? '');
}

/** Why a valid host is not one of the public domain name system; null: it may be. */
function findPrivacy(host: string): HostNameProblem | null {
  if (host.includes(':') || isNumeric(host)) return { code: 'ip_address' };
  if (!host.includes('.')) return { code: 'one_label' };
  const suffix = PRIVATE_SUFFIXES.find((name) => host === name || host.endsWith(`.${name}`));
  return suffix === undefined ? null : { code: 'private_suffix', suffix: `.${suffix}` };
}

/** A host as it stands in a URL: IPv6 addresses have brackets, which they may have already. */
export function hostInUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** Returns true if a host name can never lead to a public address: it has a private suffix, or a single label such as `localhost`. */
export function isPrivateName(host: string): boolean {
  const reading = readHostName(host);
  return !reading.ok && (reading.problem.code === 'private_suffix' || reading.problem.code === 'one_label');
}
