/**
 * Judges every address and port before it is dialled, so that the prober cannot be used to look into the network
 * it stands in. The judgement is made after resolution, for each address and each hop, literals included.
 */

import type { BlockList } from 'node:net';
import { BoundedMap } from '../async/bounded-map.ts';
import type { AddressRefusal } from '../domain/failure.ts';
import {
  blockListOf,
  contains,
  isMetadataAddress,
  readAddress,
  specialPurposeOf,
} from './special-addresses.ts';

/** What may be dialled beside public addresses. */
export interface AddressPolicy {
  /** CIDR blocks of private addresses that are allowed, on any port (operating, `checks.allowPrivate`). */
  readonly allowPrivate: readonly string[];
  /** Ports that may be dialled at public addresses. */
  readonly ports: readonly number[];
}

/** A policy made ready for use. */
export interface AddressGuard {
  /**
   * Null: may be dialled; else why not. `address` is a literal; anything else is refused.
   * A cloud's metadata address passes only where a block of `allowPrivate` names it alone (`/32` or `/128`).
   */
  judge(address: string, port: number): AddressRefusal | null;
}

/** Address judgements remembered for each guard; the addresses of a fleet repeat every interval. */
const REMEMBERED = 4096;

/** Lets everything pass: for addresses that the operator wrote into the configuration. */
export const openGuard: AddressGuard = {
  judge: (address) => (readAddress(address) === null ? { code: 'address_invalid', address } : null),
};

/** Makes a guard. Throws where a block of `allowPrivate` cannot be read. */
export function createAddressGuard(policy: AddressPolicy): AddressGuard {
  const allowed = blockListOf(policy.allowPrivate);
  const alone = blockListOf(policy.allowPrivate.filter((block) => /\/(?:32|128)$/.test(block)));
  const ports = new Set(policy.ports);
  const remembered = new BoundedMap<string, AddressKind>(REMEMBERED);
  return {
    judge(address, port) {
      let kind = remembered.get(address);
      if (kind === undefined) {
        kind = kindOf(address, allowed, alone);
        remembered.set(address, kind);
      }
      if (kind.allowedPrivate) return null;
      if (kind.refusal !== null) return kind.refusal;
      return ports.has(port) ? null : { code: 'port_forbidden', port };
    },
  };
}

interface AddressKind {
  readonly allowedPrivate: boolean;
  readonly refusal: AddressRefusal | null;
}

function kindOf(text: string, allowed: BlockList, alone: BlockList): AddressKind {
  const address = readAddress(text);
  if (address === null) return { allowedPrivate: false, refusal: { code: 'address_invalid', address: text } };
  const blocks = isMetadataAddress(address) ? alone : allowed;
  if (contains(blocks, address)) return { allowedPrivate: true, refusal: null };
  const purpose = specialPurposeOf(address);
  return {
    allowedPrivate: false,
    refusal: purpose === null ? null : { code: 'address_not_public', address: text, purpose },
  };
}
