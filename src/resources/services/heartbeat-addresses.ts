/** Heartbeat addresses of services: its owners, editors or the operator make and remove them. */
import { randomBytes } from 'node:crypto';
import { hashAddressSecret } from '../../domain/heartbeat/heartbeat-address.ts';
import type { ServiceStore } from '../../store/ports/services.ts';
import { attempt, type Outcome, type Principal } from '../kit/change.ts';
import { changeSeen, type OwnedContext } from './owned-service.ts';

/** The dependencies of these changes. */
export interface HeartbeatAddressContext extends OwnedContext {
  readonly registry: Pick<ServiceStore, 'findService' | 'changeService'>;
}

/** Bytes of a secret: as hard to guess as a random UUID. */
const SECRET_BYTES = 16;

/** Makes the secret of a heartbeat address. */
export function makeAddressSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** How an address is made or removed. */
interface AddressOptions {
  /** Revisions of the service that the client has seen; null or absent: any. */
  readonly revisions?: readonly number[] | null;
}

/**
 * Gives a service a new heartbeat address; the former one ends. Returns its secret, of which only a hash is stored: show
 * it once. Refused with `role_required`, `no_owned_service` or `service_stale`.
 */
export async function makeHeartbeatAddress(
  context: HeartbeatAddressContext,
  principal: Principal,
  slug: string,
  { secret = makeAddressSecret(), revisions = null }: AddressOptions & { readonly secret?: string } = {},
): Promise<Outcome<{ readonly slug: string; readonly secret: string }>> {
  const addressHash = hashAddressSecret(secret);
  return await changeSeen(context, principal, slug, revisions, ({ slug: known, check, revision }) =>
    attempt(async () => {
      await context.registry.changeService(known, { check: { ...check, addressHash } }, [revision]);
      return { slug: known, secret };
    }),
  );
}

/** Ends the heartbeat address of a service. Refused with `role_required`, `no_owned_service` or `service_stale`. */
export async function removeHeartbeatAddress(
  context: HeartbeatAddressContext,
  principal: Principal,
  slug: string,
  { revisions = null }: AddressOptions = {},
): Promise<Outcome<unknown>> {
  return await changeSeen(context, principal, slug, revisions, ({ slug: known, check, revision }) => {
    const { addressHash: _, ...without } = check;
    return attempt(() => context.registry.changeService(known, { check: without }, [revision]));
  });
}
