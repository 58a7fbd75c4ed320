/** The rules for what owners name: addresses of webhooks, channels and checks. */
import { isIP } from 'node:net';
import type { AllowedDestinations } from '../domain/allowed-destinations.ts';
import { isPrivateName } from '../domain/host-name.ts';
import { type AddressPolicy, createAddressGuard } from './address-guard.ts';
import { readDestination } from './destination.ts';

/** The settings `checks.*` that say where owners' addresses may lead. */
export interface OwnerReach {
  readonly ports: readonly number[];
  readonly allowPrivate: readonly string[];
  readonly ownersMayProbePrivate: boolean;
}

/** What is dialled for owners: never private addresses, except in tests (operating, `checks.ownersMayProbePrivate`). */
export function ownerPolicy({ ports, allowPrivate, ownersMayProbePrivate }: OwnerReach): AddressPolicy {
  return { allowPrivate: ownersMayProbePrivate ? allowPrivate : [], ports };
}

/**
 * Creates the rules, by which an address that {@link ownerPolicy} never lets through is refused as soon as it is entered. Throws if
 * a block of `allowPrivate` is invalid.
 */
export function createOwnerDestinations(reach: OwnerReach): AllowedDestinations {
  const policy = ownerPolicy(reach);
  const guard = createAddressGuard(policy);
  return {
    // Private addresses, which tests allow, may have any port.
    ports: reach.ownersMayProbePrivate ? null : reach.ports,
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
