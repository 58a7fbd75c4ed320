/** Ownership of domains: heartbeats, claims, proofs, and changes by owners (decisions, Ownership). */
import { DEFAULT_CHECK, type Service } from '../../domain/service.ts';
import type { JointOutcome } from '../database/group-commit.ts';
import { type Calls, type LimitedStore, read, write } from '../database/registry-calls.ts';
import { RegistryError, requireRevision } from '../database/registry-error.ts';
import { type Batch, fromRow, type RegistryStore } from '../database/registry-store.ts';
import {
  type DefinedService,
  type DomainClaim,
  MAX_CLAIMS,
  MAX_SERVICES_PER_ADDRESS,
  type OwnershipStore,
  type ServiceEdit,
} from '../ports/services.ts';
import { dropClaim, OWNED_ROW, proveDomain } from './prove-domain.ts';
import {
  findOwned,
  ownedServices,
  refuseBeside,
  refuseCatalogueDomain,
  registerDomain,
} from './services/owner-services.ts';
import { findParents, refuseCircles } from './services/parent-rows.ts';
import {
  type ServiceRow,
  type ServiceUpdate,
  toDefinition,
  toService,
  updateService,
  updateServices,
} from './services/service-rows.ts';
import { loadNameRule, type NameRule, refuseTakenName } from './services/slugs.ts';
import { isTrustedAccount } from './trust.ts';

/**
 * Finds or registers the account's first service with that domain, or finds the one with the id, inside the caller's transaction.
 * Throws `not_found`, `foreign_domain`, `catalogue_domain` or `account_limit`.
 */
export async function claimDomain(
  store: LimitedStore,
  domain: string,
  accountId: number,
  serviceId?: number,
): Promise<Service> {
  const rows = await findOwned(store, domain, accountId);
  const row = serviceId === undefined ? rows[0] : rows.find(({ id }) => id === serviceId);
  if (row === undefined && serviceId !== undefined)
    throw new RegistryError('not_found', { code: 'no_owned_service', slug: domain });
  const isOther = row !== undefined && row.account_id !== accountId;
  if (row === undefined || (isOther && (await isTrustedAccount(store, accountId)))) {
    const check = { ...DEFAULT_CHECK, kind: 'heartbeat' } as const;
    return await registerDomain(store, { domain, accountId, check, verified: false }, store.limits);
  }
  if (isOther) throw new RegistryError('foreign_domain', { code: 'foreign_domain', domain });
  if (row.verified === 0) await refuseCatalogueDomain(store, domain);
  return await listen(store, row);
}

/** A change of an owner's service: its slug, and the revisions that the client has seen; absent: any. */
export type ServiceChange = readonly [slug: string, edit: ServiceEdit, revisions?: readonly number[]];

/**
 * Changes an owner's service inside the caller's transaction. Throws `not_found`, also for services of the catalogue,
 * `stale` and `name_taken`.
 */
export async function changeService(store: RegistryStore, ...change: ServiceChange): Promise<Service> {
  const [slug, { dependsOn, ...edit }, revisions] = change;
  const row = await store.queries.first(OWNED_ROW(slug));
  const parents =
    dependsOn === undefined || row === undefined
      ? {}
      : { dependsOn: await findParents(store, row.account_id ?? 0, dependsOn) };
  const wanted = { ...edit, ...parents };
  const [outcome] = await editServices(store, [
    revisions === undefined ? [slug, wanted] : [slug, wanted, revisions],
  ]);
  if (outcome === undefined || outcome === null) throw new Error(`service ${slug} was not changed`);
  if ('error' in outcome) throw outcome.error;
  if ('dependsOn' in parents) await refuseCircles(store, outcome.value.accountId ?? 0, [slug]);
  return outcome.value;
}

/**
 * Changes services as {@link changeService} does; null for further changes of a service that is among them already, and for those of
 * what one depends on.
 */
export async function changeServices(
  store: RegistryStore,
  changes: readonly ServiceChange[],
): Promise<JointOutcome<Service>[]> {
  const joint = changes.filter(([, { dependsOn = [] }]) => dependsOn.length === 0);
  const outcomes = new Map(
    (await editServices(store, joint)).map((outcome, index) => [joint[index], outcome]),
  );
  return changes.map((change) => outcomes.get(change) ?? null);
}

async function editServices(
  store: RegistryStore,
  changes: readonly ServiceChange[],
): Promise<JointOutcome<Service>[]> {
  const rows = await store.queries.firstEach(
    OWNED_BY_SLUG,
    changes.map(([slug]) => [slug]),
  );
  const isNamed = changes.some(([, { name }], index) => name !== undefined && name !== rows[index]?.name);
  const nameRule = isNamed ? await loadNameRule(store) : null;
  const changed = new Set<number>();
  const updates: ServiceUpdate[] = [];
  const outcomes = changes.map((change, index): JointOutcome<ServiceUpdate> => {
    const row = rows[index];
    if (row !== undefined && changed.has(row.id)) return null;
    try {
      const update = editRow(row, change, nameRule);
      changed.add(update.row.id);
      updates.push(update);
      return { value: update };
    } catch (error) {
      return { error };
    }
  });
  const services = new Map((await updateServices(store, updates)).map((service) => [service.id, service]));
  return outcomes.map((outcome) => {
    if (outcome === null || 'error' in outcome) return outcome;
    const service = services.get(outcome.value.row.id);
    return service === undefined ? null : { value: service };
  });
}

const OWNED_BY_SLUG: Batch<ServiceRow> = {
  types: ['text'],
  sql: "SELECT * FROM services WHERE slug = ? AND origin = 'owner' AND removed = 0",
};

/** The new definition of a service. Throws as {@link changeService}. */
function editRow(
  found: ServiceRow | undefined,
  [slug, edit, revisions]: ServiceChange,
  nameRule: NameRule | null,
): ServiceUpdate {
  const missing = { code: 'no_owned_service', slug } as const;
  const row = requireRevision(found, revisions, { missing, stale: { code: 'service_stale' } });
  const { name = row.name } = edit;
  const taken = name === row.name ? null : (nameRule?.(name, row.domain) ?? null);
  if (taken !== null) throw new RegistryError('name_taken', taken);
  const known = toDefinition(row);
  const check = edit.check === undefined ? known.check : chosen(known.check, edit.check);
  return { row, service: { ...known, ...edit, check } };
}

/** A heartbeat service that gets another kind keeps that kind, even if heartbeats arrive. */
function chosen(before: Service['check'], after: Service['check']): Service['check'] {
  const { keepsKind, ...check } = after;
  if (check.kind === 'heartbeat') return check;
  const keeps = before.kind === 'heartbeat' || before.keepsKind === true || keepsKind === true;
  return keeps ? { ...check, keepsKind: true } : check;
}

/** The check that an owner chooses in place of one; the service keeps its heartbeat address. */
export function chosenCheck(before: Service['check'], after: Service['check']): Service['check'] {
  const { addressHash } = before;
  const keepsKind = before.keepsKind === true ? { keepsKind: true as const } : {};
  return chosen(before, { ...after, ...(addressHash === undefined ? {} : { addressHash }), ...keepsKind });
}

async function listen(store: RegistryStore, row: ServiceRow): Promise<Service> {
  const { check, ...definition } = toDefinition(row);
  if (check.kind === 'heartbeat' || check.keepsKind === true) return toService(row);
  const { settings: _settings, sealed: _sealed, ...rest } = check;
  return await updateService(store, row, { ...definition, check: { ...rest, kind: 'heartbeat' } });
}

/** The live service with that slug; null: there is none. */
export async function findService({ kysely, queries }: RegistryStore, slug: string): Promise<Service | null> {
  const row = await queries.first(
    kysely.selectFrom('services').selectAll().where('slug', '=', slug).where('removed', '=', 0),
  );
  return row === undefined ? null : toService(row);
}

/**
 * Registers a domain with the definition of its service, inside the caller's transaction. Throws `domain_taken`,
 * `name_taken`, `account_limit`, and without a proof `foreign_domain` and `catalogue_domain`.
 */
export async function registerService(
  store: LimitedStore,
  accountId: number,
  definition: DefinedService,
  { isProven, now, beside }: Parameters<OwnershipStore['registerService']>[2],
): Promise<Service> {
  const { domain, name } = definition;
  const others = await findOwned(store, domain, accountId);
  const [first] = others;
  const isOwn = first?.account_id === accountId;
  if (isOwn) await refuseBeside(store, { ...definition, accountId, beside }, others);
  await refuseTakenName(store, name, domain);
  if (first !== undefined && isProven) {
    const proved = await proveDomain(store, accountId, domain, definition.check.kind, now);
    const { domain: _, slug = proved.slug, ...edit } = definition;
    const hidden = first.visibility;
    if (!isOwn && slug === proved.slug)
      return await changeService(store, slug, hidden === null ? edit : { ...edit, visibility: hidden });
    // A trusted account has a service of its own beside that of the account that owns the domain.
  } else if (first !== undefined && !isOwn && !(await isTrustedAccount(store, accountId)))
    throw new RegistryError('foreign_domain', { code: 'foreign_domain', domain });
  // The page of the service says how to verify its domain.
  await dropClaim(store, accountId, domain);
  const dependsOn = await findParents(store, accountId, definition.dependsOn ?? []);
  const verified = isProven || (isOwn && toDefinition(first).verified);
  return await registerDomain(store, { ...definition, dependsOn, accountId, verified, beside }, store.limits);
}

export async function servicesOf({ kysely, queries }: RegistryStore, accountId: number): Promise<Service[]> {
  const rows = await queries.all(
    kysely
      .selectFrom('services')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('removed', '=', 0)
      .orderBy('slug'),
  );
  return rows.map(toService);
}

export const OWNERSHIP_CALLS: Calls<OwnershipStore> = {
  claimDomain: write(claimDomain),
  registerService: write(registerService),
  addClaim: write(async (store, accountId, { domain, kind, createdAt }) => {
    const { kysely, queries } = store;
    const claims = await claimsOf(store, accountId);
    if (claims.some((claim) => claim.domain === domain)) return;
    if (claims.length >= MAX_CLAIMS)
      throw new RegistryError('account_limit', { code: 'too_many_claims', max: MAX_CLAIMS });
    await queries.run(
      kysely
        .insertInto('domain_claims')
        .values({ account_id: accountId, domain, kind, created_at: createdAt }),
    );
  }),
  claimsOf: read(claimsOf),
  dropClaim: write(dropClaim),
  proveDomain: write(proveDomain),
  claimAddresses: write(async ({ kysely, queries }, domain, slug, addresses) => {
    const probed = ownedServices(kysely).where('verified', '=', 1);
    const own = slug === null ? undefined : await queries.first(probed.select('id').where('slug', '=', slug));
    for (const address of addresses) {
      const others = await queries.first(
        probed
          .innerJoin('owner_addresses', 'owner_addresses.service_id', 'services.id')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where('address', '=', address)
          .where((eb) =>
            slug === null ? eb('services.domain', '<>', domain) : eb('services.id', '<>', own?.id ?? 0),
          ),
      );
      if ((others?.count ?? 0) >= MAX_SERVICES_PER_ADDRESS)
        throw new RegistryError('shared_address', {
          code: 'shared_address',
          domain,
          max: MAX_SERVICES_PER_ADDRESS,
        });
    }
    if (own === undefined) return;
    await queries.run(kysely.deleteFrom('owner_addresses').where('service_id', '=', own.id));
    for (const address of addresses)
      await queries.run(kysely.insertInto('owner_addresses').values({ address, service_id: own.id }));
  }),
};

/** Claims of an account, oldest first. */
export async function claimsOf(
  { kysely, queries }: RegistryStore,
  accountId: number,
): Promise<DomainClaim[]> {
  const rows = await queries.all(
    kysely
      .selectFrom('domain_claims')
      .selectAll()
      .where('account_id', '=', accountId)
      .orderBy('created_at')
      .orderBy('domain'),
  );
  return rows.map(({ account_id: _, ...row }) => fromRow(row));
}
