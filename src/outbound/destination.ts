/** Addresses of the web, read once into what a request needs of them. */

import { isIP } from 'node:net';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import type { AddressProblem } from '../domain/failure.ts';

/** Where a request goes. */
export interface Destination {
  /** The whole address without user, password and fragment. */
  readonly url: string;
  /** Scheme, host and port; what redirects are compared by. */
  readonly origin: string;
  readonly secure: boolean;
  /** Lower-case ASCII name, or an address without brackets. */
  readonly host: string;
  /** Whether `host` is an address, which needs no name resolution. */
  readonly literal: boolean;
  readonly port: number;
  /** Path and query as they stand in the request line. */
  readonly path: string;
  /** Value of the `Host` header. */
  readonly hostHeader: string;
}

/** A destination, or why the text names none. */
export type DestinationReading = Destination | { readonly problem: AddressProblem };

/** Longest address that is read; longer ones are refused before anything is done with them. */
const MAX_URL_LENGTH = 8192;

/**
 * Reads an http or https address. Hosts in decimal, octal, hexadecimal and shortened forms come out as the IPv4
 * address that they mean (WHATWG URL, "IPv4 parser"), so that the guard sees what would be dialled.
 */
export function readDestination(text: string, base?: string): DestinationReading {
  if (text.length > MAX_URL_LENGTH) return { problem: { code: 'too_long', maxLength: MAX_URL_LENGTH } };
  const url = URL.parse(text, base);
  if (url === null) return { problem: { code: 'unreadable' } };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { problem: { code: 'scheme', scheme: url.protocol.slice(0, 40) } };
  }
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  const secure = url.protocol === 'https:';
  const path = url.pathname + url.search;
  return {
    url: `${url.origin}${path}`,
    origin: url.origin,
    secure,
    host,
    literal: isIP(host) !== 0,
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    path,
    hostHeader: url.host,
  };
}

/** Reads destinations and remembers up to `limit` of them, dropping the oldest. */
export function createDestinationCache(limit: number): (text: string) => DestinationReading {
  const known = new BoundedMap<string, DestinationReading>(limit);
  return (text) => getOrInsert(known, text, () => readDestination(text));
}
