/** Addresses with a secret: for heartbeats of services, and of badges. Its owners, editors or the operator make and end them. */
import { randomBytes } from 'node:crypto';
import { hashAddressSecret } from '../../domain/heartbeat/heartbeat-rules.ts';
import { attempt, type Outcome, type Principal } from '../kit/change.ts';
import type { ChangeTarget } from '../kit/create-changes.ts';
import { type OwnedService, ownedOutcome, type ServiceContext, serviceChanges } from './services.ts';

/** Bytes of a secret: as hard to guess as a random UUID. */
const SECRET_BYTES = 16;

/** Makes the secret of a heartbeat address. */
export function makeAddressSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/**
 * Gives a service a new heartbeat address; the former one ends. Returns its
 * secret, of which only a hash is stored: show it once. Refused with `role_required`, `no_owned_service` or `service_stale`.
 */
export async function makeHeartbeatAddress(
  context: ServiceContext,
  principal: Principal,
  target: ChangeTarget<string>,
  secret: string = makeAddressSecret(),
): Promise<Outcome<{ readonly slug: string; readonly secret: string }>> {
  const addressHash = hashAddressSecret(secret);
  return await serviceChanges.change(context, principal, target, ({ slug: known, check, revision }) =>
    attempt(async () => {
      await context.registry.changeService(known, { check: { ...check, addressHash } }, [revision]);
      return { slug: known, secret };
    }),
  );
}

/** Ends the heartbeat address of a service. Refused as {@link makeHeartbeatAddress}. */
export async function removeHeartbeatAddress(
  context: ServiceContext,
  principal: Principal,
  target: ChangeTarget<string>,
): Promise<Outcome<unknown>> {
  return await serviceChanges.change(context, principal, target, (service) => {
    const { addressHash: _, ...check } = service.check;
    return attempt(() => context.registry.changeService(service.slug, { check }, [service.revision]));
  });
}

/** Renews the signed address of a service's badge, which it has while it is private; the former one ends. Refused as {@link makeHeartbeatAddress}. */
export async function renewBadgeAddress(
  context: ServiceContext,
  principal: Principal,
  target: ChangeTarget<string>,
): Promise<Outcome<OwnedService>> {
  return await serviceChanges.change(context, principal, target, async (service) => {
    const badgeRenewals = (service.badgeRenewals ?? 0) + 1;
    return ownedOutcome(
      await attempt(() =>
        context.registry.changeService(service.slug, { badgeRenewals }, [service.revision]),
      ),
    );
  });
}
