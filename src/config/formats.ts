/** The formats of settings that are text: how each is parsed, and what the messages say is expected. */

import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseDuration } from '../domain/durations.ts';
import { readMailbox } from '../domain/mail-address.ts';
import { isNodeName, isRegionName } from '../domain/node.ts';
import { isPrivateRange, PRIVATE_RANGES } from '../domain/special-address.ts';
import { readPageSlug } from '../domain/status-page.ts';
import { readPostgresAddress, readRedisAddress } from '../domain/store-address.ts';

interface TextFormat {
  /** Parses text into the value that the program uses; null: the text does not have this format. */
  readonly read: (text: string) => string | number | null;
  readonly expected: string;
}

/** All formats, by their names in the schema. */
export const FORMATS: Readonly<Record<string, TextFormat>> = {
  duration: {
    read: parseDuration,
    expected: 'a duration such as 250ms, 10s, 5m, 2h, 90d or 2y',
  },
  block: {
    read: readBlock,
    expected: 'an address or a CIDR block such as 10.0.0.0/8 or fd00::/8',
  },
  'private-range': {
    read: (text) => (isPrivateRange(text) ? text : readBlock(text)),
    expected: `one of ${Object.keys(PRIVATE_RANGES).join(', ')}, or a CIDR block within them such as 10.0.0.0/8`,
  },
  'ip-port': {
    read: (text) => (isIpPort(text) ? text : null),
    expected: 'an address, with a port if it is not 53, such as 9.9.9.9 or 127.0.0.1:5353 or [::1]:5353',
  },
  'http-url': {
    read: (text) => (hasScheme(text, ['http:', 'https:']) ? text : null),
    expected: 'an address that begins with http:// or https://',
  },
  'server-url': {
    read: (text) => (hasScheme(text, ['http:', 'https:']) && !/[?#]/.test(text) ? text : null),
    expected: 'an address that begins with http:// or https://, without query or fragment',
  },
  'site-url': {
    read: readSiteUrl,
    expected:
      'an address such as https://status.example.org or https://example.org/status, without password, query or fragment',
  },
  'secret-key': {
    read: (text) => (isSecretKey(text.trim()) ? text.trim() : null),
    expected: '32 random bytes as 64 hexadecimal digits or in base64, such as "openssl rand -hex 32" prints',
  },
  host: {
    read: (text) => (isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text) ? text : null),
    expected: 'a host name or an address, without a port',
  },
  'first-page': {
    read: readFirstPage,
    expected: 'services, sign-in, or page: and the slug of a status page, such as page:acme',
  },
  mailbox: {
    read: (text) => (readMailbox(text) === null ? null : text),
    expected: 'an address such as upbeat@example.org or Upbeat <upbeat@example.org>',
  },
  'node-name': {
    read: (text) => (isNodeName(text) ? text : null),
    expected: 'a name of 1 to 64 letters, digits, dots, hyphens and underscores',
  },
  'region-name': {
    read: (text) => (isRegionName(text) ? text : null),
    expected: 'a name of 1 to 32 of a-z, 0-9 and -',
  },
  'postgres-url': {
    read: (text) => (readPostgresAddress(text) === null ? null : text),
    expected: 'an address such as postgres://user:password@host:5432/database',
  },
  'redis-url': {
    read: (text) => (readRedisAddress(text) === null ? null : text),
    expected:
      'an address such as redis://host:6379, redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379',
  },
};

/** Tests of the formats, by their names. */
export const FORMAT_TESTS = Object.fromEntries(
  Object.entries(FORMATS).map(([name, { read }]) => [name, (text: string) => read(text) !== null]),
);

/**
 * Parses an address or a CIDR block into the canonical form of a block: `10.1.2.3` becomes `10.1.2.3/32`, `10.1.2.3/8`
 * becomes `10.0.0.0/8`, and IPv4-mapped IPv6 becomes IPv4. Null: neither, by the strict notations of RFC 4632 and RFC 4291.
 */
export function readBlock(text: string): string | null {
  const [, base = '', bits] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const family = isIP(base);
  if (family === 0) return null;
  // Parsed as a URL first, since ipaddr.js takes the deprecated `::1.2.3.4` for `::ffff:1.2.3.4`.
  const address = ipaddr.parse(family === 6 ? new URL(`http://[${base}]`).hostname.slice(1, -1) : base);
  const width = address.kind() === 'ipv4' ? 32 : 128;
  const length = bits === undefined ? width : Number(bits);
  if (length > width) return null;
  if (address instanceof ipaddr.IPv6) {
    if (address.isIPv4MappedAddress() && length >= 96)
      return readBlock(`${address.toIPv4Address()}/${length - 96}`);
    return `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${length}`)}/${length}`;
  }
  return `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/${length}`)}/${length}`;
}

function isSecretKey(text: string): boolean {
  return /^[0-9a-f]{64}$/i.test(text) || /^[A-Za-z0-9+/]{43}=$/.test(text);
}

function isIpPort(text: string): boolean {
  if (isIPv6(text)) return true;
  const [, inBrackets, bare, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isAddress = inBrackets === undefined ? isIP(bare ?? '') === 4 : isIPv6(inBrackets);
  return isAddress && Number(port) >= 1 && Number(port) <= 65_535;
}

function readSiteUrl(text: string): string | null {
  if (!hasScheme(text, ['http:', 'https:']) || /[?#]/.test(text)) return null;
  const { href, pathname, port, username, password } = new URL(text);
  if (username !== '' || password !== '' || port === '0') return null;
  // What the path needs no escaping for in markup and headers.
  return /^(?:\/[A-Za-z0-9._~-]+)*\/*$/.test(pathname) ? href.replace(/\/+$/, '') : null;
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol);
}

/** The first page of the site, the slug of a status page in lower case. */
function readFirstPage(text: string): string | null {
  if (text === 'services' || text === 'sign-in') return text;
  const slug = text.startsWith('page:') ? readPageSlug(text.slice('page:'.length)) : null;
  return slug?.ok === true ? `page:${slug.value}` : null;
}
