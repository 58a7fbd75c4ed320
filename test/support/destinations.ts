/** Where what owners name may lead, as an installation with the default settings has it. */
import { createOwnerDestinations, type OwnerReach } from '../../src/outbound/address-guard.ts';

/** Public hosts and the usual ports, for every account. */
export const publicOnly = async () => PUBLIC_ONLY;

/** The default settings. */
export const USUAL_REACH: OwnerReach = {
  ports: [80, 443],
  allowPrivate: [],
  ownersMayProbePrivate: false,
  trustedPrivate: ['private', 'shared', 'unique-local'],
};

/** Public hosts and the usual ports. */
export const PUBLIC_ONLY = createOwnerDestinations(USUAL_REACH);
