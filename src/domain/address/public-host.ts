/** Which hosts everybody can reach, and who sees services at the others. */
import { isPrivateName } from '../host-name.ts';
import type { Visibility } from '../service.ts';
import { readAddress, specialPurposeOf } from './special-address.ts';

/** Returns true if a host, a name or an address, can be one that everybody reaches, as far as its text tells. */
export function isPublicHost(host: string): boolean {
  const address = readAddress(host.replace(/^\[(.*)\]$/, '$1'));
  return address === null ? !isPrivateName(host) : specialPurposeOf(address) === null;
}

/** The visibility of a service whose owner has not chosen one: private at a host that is not public. */
export function usualVisibility(host: string): Visibility {
  return isPublicHost(host) ? 'public' : 'private';
}
