/** The rules for what owners name: addresses of webhooks, channels and checks. */
import { isIP } from 'node:net';
import { blocksOfRanges } from '../domain/address/special-address.ts';
import type { AllowedDestinations, DestinationsOf } from '../domain/allowed-destinations.ts';
import { isPrivateName } from '../domain/host-name.ts';
import { type AddressPolicy, createAddressGuard } from './address-guard.ts';
import { readDestination } from './destination.ts';

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
