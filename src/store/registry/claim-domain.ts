/** Whose a domain is when a heartbeat names it, and what its owner may change (decisions, Ownership). */
import { DEFAULT_CHECK, dashDomain, type Service } from '../../domain/service.ts';
import type { ServiceEdit, VerifiedDomain } from '../ports/heartbeats.ts';
import type { NewService } from '../ports/registry.ts';
import { setFact } from './fact-rows.ts';
import { forgetHeartbeats } from './heartbeat-rows.ts';
import { addService, refuseBeyondLimit } from './owner-services.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';
import { type ServiceRow, toDefinition, toService, updateService } from './service-rows.ts';

/** Numbers that are tried behind a slug that is taken. */
const MOST_NUMBERS = 10_000;

/**
 * Finds or registers the account's service with that domain, inside the caller's transaction. Throws `foreign_domain`,
 * `catalogue_domain` or `account_limit`.
 */
export function claimDomain(
  store: RegistryStore,
  domain: string,
  accountId: number,
  domainsPerAccount: number,
): Service {
  const row = findOwned(store, domain);
  if (row === undefined) {
    const check = { ...DEFAULT_CHECK, kind: 'heartbeat' } as const;
    return register(store, { domain, accountId, check, verified: false }, domainsPerAccount);
  }
  if (row.account_id !== accountId)
    throw new RegistryError(
      'foreign_domain',
      `${domain} is registered by another account. If it is yours, verify the domain.`,
    );
  return listen(store, row);
}

/**
 * Verifies a domain for an account inside the caller's transaction. The fact `moved:<id of the service>` says from which
 * account it moved. Throws `account_limit`.
 */
export function verifyDomain(
  store: RegistryStore,
  domain: string,
  accountId: number,
  domainsPerAccount: number,
): VerifiedDomain {
  const row = findOwned(store, domain);
  if (row === undefined) {
    const check = { ...DEFAULT_CHECK, kind: 'health' } as const;
    const service = register(store, { domain, accountId, check, verified: true }, domainsPerAccount);
    return { service, movedFrom: null };
  }
  const definition = toDefinition(row);
  if (row.account_id === accountId) {
    const service =
      row.verified === 1 ? toService(row) : updateService(store, row, { ...definition, verified: true });
    return { service, movedFrom: null };
  }
  refuseBeyondLimit(store, accountId, domainsPerAccount);
  forgetHeartbeats(store.database, row.id);
  const { publicDependencies: _, ...kept } = definition;
  setFact(
    store,
    `moved:${row.id}`,
    JSON.stringify({ slug: row.slug, domain, from: row.account_id, to: accountId }),
  );
  const service = updateService(store, row, { ...kept, accountId, verified: true });
  return { service, movedFrom: row.account_id };
}

/** Changes an owner's service inside the caller's transaction. Throws `not_found`, for the catalogue's services too. */
export function changeService(store: RegistryStore, slug: string, edit: ServiceEdit): Service {
  const { kysely, queries } = store;
  const row = queries.first(
    kysely
      .selectFrom('services')
      .selectAll()
      .where('slug', '=', slug)
      .where('origin', '=', 'owner')
      .where('removed', '=', 0),
  );
  if (row === undefined) throw new RegistryError('not_found', `No account has a service ${slug}.`);
  const { publicDependencies, ...known } = toDefinition(row);
  const { publicDependencies: isPublic = publicDependencies === true, check, ...rest } = edit;
  return updateService(store, row, {
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

function listen(store: RegistryStore, row: ServiceRow): Service {
  const { check, ...definition } = toDefinition(row);
  if (check.kind === 'heartbeat' || check.keepsKind === true) return toService(row);
  return updateService(store, row, { ...definition, check: { ...check, kind: 'heartbeat' } });
}

function findOwned({ kysely, queries }: RegistryStore, domain: string): ServiceRow | undefined {
  return queries.first(
    kysely
      .selectFrom('services')
      .selectAll()
      .where('domain', '=', domain)
      .where('origin', '=', 'owner')
      .where('removed', '=', 0),
  );
}

function register(
  store: RegistryStore,
  service: Pick<NewService, 'domain' | 'accountId' | 'check' | 'verified'>,
  domainsPerAccount: number,
): Service {
  const { domain } = service;
  const base = dashDomain(domain);
  for (let number = 1; ; number++) {
    try {
      return addService(
        store,
        {
          ...service,
          slug: number === 1 ? base : `${base}-${number}`,
          name: domain,
          category: 'developer',
          origin: 'owner',
          paused: false,
          statusPage: null,
        },
        domainsPerAccount,
      );
    } catch (error) {
      const isTaken = error instanceof RegistryError && error.code === 'slug_taken';
      if (!isTaken || number >= MOST_NUMBERS) throw error;
    }
  }
}
