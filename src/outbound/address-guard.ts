/**
 * The places where requests may lead: every address and port is checked before a connection is made, so that the prober cannot be used to reach its
 * own network. The check follows name resolution and covers each address of each hop, including literal addresses. URLs are
 * parsed once into the parts that a request needs; those that owners name have rules.
 */
import { type BlockList, isIP } from 'node:net';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import type { AllowedDestinations, DestinationsOf } from '../domain/allowed-destinations.ts';
import type { AddressProblem, AddressRefusal } from '../domain/failure.ts';
import { isPrivateName } from '../domain/host-name.ts';
import {
  blockListOf,
  blocksOfRanges,
  contains,
  metadataPurposeOf,
  readAddress,
  specialPurposeOf,
} from '../domain/special-address.ts';

/** Which addresses and ports may be dialled. */
export interface AddressPolicy {
  /** CIDR blocks of private addresses that are allowed, on any port (operating, `checks.allowPrivate`). */
  readonly allowPrivate: readonly string[];
  /** Ports that may be dialled at public addresses; null: any. */
  readonly ports: readonly number[] | null;
}

/** Counts the connections of an account. */
export interface AddressLoad {
  /**
   * Counts a connection to an address until `close`, and returns 0; or returns how long to wait, milliseconds, because the address
   * has as many as it may.
   */
  open(address: string): number;
  close(address: string): void;
}

/** Checks addresses against a policy. */
export interface AddressGuard {
  /**
   * Returns null if the address may be dialled, otherwise the reason. `address` is a literal; anything else is refused. `port` null:
   * the protocol has no ports. The address of a cloud's metadata service is never allowed.
   */
  judge(address: string, port: number | null): AddressRefusal | null;
  /** Bounds the connections to addresses that may be dialled; absent: they have none. */
  readonly load?: AddressLoad;
}

/** Maximum number of cached results of a guard; the addresses of a fleet repeat every interval. */
const MAX_CACHED_ADDRESSES = 4096;

/** Allows every valid address: for addresses from the operator's configuration. */
export const openGuard: AddressGuard = {
  judge: (address) => (readAddress(address) === null ? { code: 'address_invalid', address } : null),
};

/** Creates a guard. Throws if a block of `allowPrivate` is invalid. */
export function createAddressGuard(policy: AddressPolicy): AddressGuard {
  const allowed = blockListOf(policy.allowPrivate);
  const ports = policy.ports === null ? null : new Set(policy.ports);
  const cached = new BoundedMap<string, AddressKind>(MAX_CACHED_ADDRESSES);
  return {
    judge(address, port) {
      const kind = getOrInsert(cached, address, () => kindOf(address, allowed));
      if (kind.allowedPrivate) return null;
      if (kind.refusal !== null) return kind.refusal;
      return port === null || ports === null || ports.has(port) ? null : { code: 'port_forbidden', port };
    },
  };
}

interface AddressKind {
  readonly allowedPrivate: boolean;
  readonly refusal: AddressRefusal | null;
}

function kindOf(text: string, allowed: BlockList): AddressKind {
  const address = readAddress(text);
  if (address === null) return { allowedPrivate: false, refusal: { code: 'address_invalid', address: text } };
  if (metadataPurposeOf(address) === null && contains(allowed, address))
    return { allowedPrivate: true, refusal: null };
  const purpose = specialPurposeOf(address);
  return {
    allowedPrivate: false,
    refusal: purpose === null ? null : { code: 'address_not_public', address: text, purpose },
  };
}

/** The parsed URL of a request. */
export interface Destination {
  /** The URL without user, password and fragment. */
  readonly url: string;
  /** Scheme, host and port; redirects are compared by it. */
  readonly origin: string;
  readonly secure: boolean;
  /** Lower-case ASCII name, or an address without brackets. */
  readonly host: string;
  /** True if `host` is an address, which needs no name resolution. */
  readonly literal: boolean;
  readonly port: number;
  /** Path and query for the request line. */
  readonly path: string;
  /** Value of the `Host` header. */
  readonly hostHeader: string;
}

/** A destination, or what is wrong with the URL. */
export type DestinationReading = Destination | { readonly problem: AddressProblem };

/** Maximum length of a URL; longer ones are refused before they are parsed. */
const MAX_URL_LENGTH = 8192;

/**
 * Parses an http or https URL. Hosts in decimal, octal, hexadecimal and shortened forms become the IPv4 address that
 * they stand for (WHATWG URL, "IPv4 parser"), so that the guard checks the address that would be dialled.
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

/** Creates a parser of destinations that caches up to `limit` of them and drops the oldest. */
export function createDestinationCache(limit: number): (text: string) => DestinationReading {
  const known = new BoundedMap<string, DestinationReading>(limit);
  return (text) => getOrInsert(known, text, () => readDestination(text));
}

/** The settings `checks.*` that say where owners' addresses may lead. */
export interface OwnerReach {
  readonly ports: readonly number[];
  readonly allowPrivate: readonly string[];
  readonly ownersMayProbePrivate: boolean;
  /** Names of ranges or CIDR blocks; absent: trusted accounts reach no private address either. */
  readonly trustedPrivate?: readonly string[];
}

/**
 * The policy for addresses that are dialled for an owner: private addresses only for a trusted account
 * (`checks.trustedPrivate`), on any port, and in tests (operating, `checks.ownersMayProbePrivate`).
 */
export function ownerPolicy(reach: OwnerReach, isTrusted: boolean): AddressPolicy {
  const { ports, allowPrivate, ownersMayProbePrivate, trustedPrivate = [] } = reach;
  const ofTests = ownersMayProbePrivate ? allowPrivate : [];
  return isTrusted
    ? { allowPrivate: [...blocksOfRanges(trustedPrivate), ...ofTests], ports: null }
    : { allowPrivate: ofTests, ports };
}

/** Creates the rules of accounts, by whether they are trusted at that moment. Throws if a block of addresses is invalid. */
export function destinationsByTrust(
  reach: OwnerReach,
  { isTrusted }: { readonly isTrusted: (accountId: number) => Promise<boolean> },
): DestinationsOf {
  const trusted = createOwnerDestinations(reach, true);
  const others = createOwnerDestinations(reach);
  return async (accountId) => ((await isTrusted(accountId)) ? trusted : others);
}

/**
 * Creates the rules, by which an address that {@link ownerPolicy} never lets through is refused as soon as it is entered. Throws if
 * a block of addresses is invalid.
 */
export function createOwnerDestinations(reach: OwnerReach, isTrusted = false): AllowedDestinations {
  const policy = ownerPolicy(reach, isTrusted);
  const guard = createAddressGuard(policy);
  return {
    // Private addresses, which tests allow, may have any port.
    ports: isTrusted || reach.ownersMayProbePrivate ? null : reach.ports,
    anyHost: isTrusted,
    refuseHost(text) {
      // Decimal, octal, hexadecimal and shortened forms become the address that would be dialled.
      const reading = readDestination(`http://${isIP(text) === 6 ? `[${text}]` : text}/`);
      if ('problem' in reading) return null;
      const { host, literal } = reading;
      const isRefused = literal
        ? guard.judge(host, null) !== null
        : policy.allowPrivate.length === 0 && isPrivateName(host);
      return isRefused ? { code: 'not_public', host } : null;
    },
  };
}
