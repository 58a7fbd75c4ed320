/** Heartbeat addresses of services: its owners, editors or the operator make and remove them. */
import { randomBytes } from 'node:crypto';
import { hashAddressSecret } from '../domain/heartbeat-address.ts';
import { attempt, type Outcome, type Principal } from './change.ts';
import { findOwned, type ServiceContext } from './services.ts';

/** Bytes of a secret: as hard to guess as a random UUID. */
const SECRET_BYTES = 16;

/**
 * Gives a service a new heartbeat address; the former one ends. Returns its secret, of which only a hash is stored: show
 * it once. Refused with `no_owned_service`.
 */
export async function makeHeartbeatAddress(
  context: Pick<ServiceContext, 'registry' | 'findService'>,
  principal: Principal,
  slug: string,
): Promise<Outcome<{ readonly slug: string; readonly secret: string }>> {
  const found = findOwned(context, principal, slug);
  if (!found.ok) return found;
  const { slug: known, check } = found.value;
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return await attempt(async () => {
    await context.registry.changeService(known, {
      check: { ...check, addressHash: hashAddressSecret(secret) },
    });
    return { slug: known, secret };
  });
}

/** Ends the heartbeat address of a service. Refused with `role_required` or `no_owned_service`. */
export async function removeHeartbeatAddress(
  context: Pick<ServiceContext, 'registry' | 'findService'>,
  principal: Principal,
  slug: string,
): Promise<Outcome<unknown>> {
  const found = findOwned(context, principal, slug);
  if (!found.ok) return found;
  const { addressHash: _, ...check } = found.value.check;
  return await attempt(() => context.registry.changeService(found.value.slug, { check }));
}
