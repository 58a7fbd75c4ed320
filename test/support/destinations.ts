/** Where what owners name may lead, as an installation with the default settings has it. */
import { createOwnerDestinations } from '../../src/outbound/owner-destinations.ts';

/** Public hosts and the usual ports. */
export const PUBLIC_ONLY = createOwnerDestinations({
  ports: [80, 443],
  allowPrivate: [],
  ownersMayProbePrivate: false,
});
