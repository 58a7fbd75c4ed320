/** Whose a domain is when a heartbeat names it, and what its owner may change (decisions, Ownership). */
import { DEFAULT_CHECK, type Service } from '../../domain/service.ts';
import type { ServiceEdit } from '../ports/services.ts';
import { type DomainLimits, findOwned, refuseCatalogueDomain, registerDomain } from './owner-services.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';
import { type ServiceRow, toDefinition, toService, updateService } from './service-rows.ts';
import { refuseTakenName } from './taken-names.ts';

/**
 * Finds or registers the account's service with that domain, inside the caller's transaction. Throws `foreign_domain`,
 * `catalogue_domain` or `account_limit`.
 */
export async function claimDomain(
  store: RegistryStore,
  domain: string,
  accountId: number,
  limits: DomainLimits,
): Promise<Service> {
  const row = await findOwned(store, domain);
  if (row === undefined) {
    const check = { ...DEFAULT_CHECK, kind: 'heartbeat' } as const;
    return await registerDomain(store, { domain, accountId, check, verified: false }, limits);
  }
  if (row.account_id !== accountId)
    throw new RegistryError('foreign_domain', { code: 'foreign_domain', domain });
  if (row.verified === 0) await refuseCatalogueDomain(store, domain);
  return await listen(store, row);
}

/**
 * Changes an owner's service inside the caller's transaction. Throws `not_found`, for the catalogue's services too, and
 * `name_taken`.
 */
export async function changeService(store: RegistryStore, slug: string, edit: ServiceEdit): Promise<Service> {
  const { kysely, queries } = store;
  const row = await queries.first(
    kysely
      .selectFrom('services')
      .selectAll()
      .where('slug', '=', slug)
      .where('origin', '=', 'owner')
      .where('removed', '=', 0),
  );
  if (row === undefined) throw new RegistryError('not_found', { code: 'no_owned_service', slug });
  if (edit.name !== undefined && edit.name !== row.name) await refuseTakenName(store, edit.name, row.domain);
  const { publicDependencies, ...known } = toDefinition(row);
  const { publicDependencies: isPublic = publicDependencies === true, check, ...rest } = edit;
  return await updateService(store, row, {
    ...known,
    ...rest,
    check: check === undefined ? known.check : chosen(known.check, check),
    ...(isPublic ? { publicDependencies: true } : {}),
  });
}

/** A service that sends heartbeats and is given another kind keeps it, whatever it sends. */
function chosen(before: Service['check'], after: Service['check']): Service['check'] {
  const { keepsKind, ...check } = after;
  if (check.kind === 'heartbeat') return check;
  const keeps = before.kind === 'heartbeat' || before.keepsKind === true || keepsKind === true;
  return keeps ? { ...check, keepsKind: true } : check;
}

async function listen(store: RegistryStore, row: ServiceRow): Promise<Service> {
  const { check, ...definition } = toDefinition(row);
  if (check.kind === 'heartbeat' || check.keepsKind === true) return toService(row);
  return await updateService(store, row, { ...definition, check: { ...check, kind: 'heartbeat' } });
}
