/**
 * Checks every address and port before a connection is made, so that the prober cannot be used to reach its own
 * network. The check follows name resolution and covers each address of each hop, including literal addresses.
 */
import type { BlockList } from 'node:net';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import type { AddressRefusal } from '../domain/failure.ts';
import {
  blockListOf,
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
