/** Owners' services: who may add which domain under which slug (decisions, Ownership). */

import { systemClock } from '../../../clock.ts';
import { DAY_MS } from '../../../domain/durations.ts';
import { dashDomain, type Service } from '../../../domain/service.ts';
import type { DomainLimits } from '../../database/registry-calls.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { type RegistryStore, statement } from '../../database/registry-store.ts';
import type { AddOutcome, DefinedService, NewService, RegistryErrorCode } from '../../ports/services.ts';
import { isTrustedAccount } from '../trust.ts';
import { findParents } from './parent-rows.ts';
import { insertServices, putService, retireService, type ServiceRow } from './service-rows.ts';
import {
  clearDashedSlug,
  findFreeSlug,
  formerSlugs,
  isReleased,
  isSlugTaken,
  loadNameRule,
  refuseTakenName,
  releasedSlug,
} from './slugs.ts';

// Statements, because Kysely takes longer to build these queries than SQLite to run them, and clients create many services.
const FIND_OWNED = statement<ServiceRow>(
  `SELECT * FROM services WHERE domain = ? AND origin = 'owner' AND removed = 0 AND (unproven = 0 OR account_id = ?)
   ORDER BY unproven DESC LIMIT 1`,
);
// By the domain alone, because SQLite would otherwise scan all services of the account.
const FIND_OF_DOMAIN = statement<ServiceRow>('SELECT * FROM services WHERE domain = ?');
const COUNT_OWNED = statement<{ readonly count: number }>(
  "SELECT count(*) AS count FROM services WHERE account_id = ? AND origin = 'owner' AND removed = 0",
);
const FORGET_REGISTRATIONS = statement(
  'DELETE FROM domain_registrations WHERE account_id = ? AND (at <= ? OR at > ?)',
);
const COUNT_REGISTRATIONS = statement<{ readonly count: number; readonly first: number | null }>(
  'SELECT count(*) AS count, min(at) AS first FROM domain_registrations WHERE account_id = ?',
);
const ADD_REGISTRATION = statement('INSERT INTO domain_registrations (account_id, at) VALUES (?, ?)');

/**
 * Adds an owner's service on behalf of the operator, inside the caller's transaction. An account that adds a domain
 * again gets the old service back. Throws `domain_taken` (a live owner service has the domain), `catalogue_domain` (the
 * domain lies within one of the catalogue and is not verified), `account_limit`, `slug_taken` (the slug is the slug, a
 * reserved slug or the dashed domain of another service: append a number and try again), `name_taken`.
 */
export async function addService(
  store: RegistryStore,
  service: NewService,
  limits: DomainLimits,
): Promise<Service> {
  const { domain, slug, verified } = service;
  return await add(store, service, limits, async (returning) => {
    const cleared =
      verified && slug === dashDomain(domain) && (await clearDashedSlug(store, domain, returning?.id));
    if (!cleared && (await isSlugTaken(store, slug, returning?.id)))
      throw new RegistryError('slug_taken', { code: 'slug_taken', slug });
    return slug;
  });
}

/**
 * Adds owners' services on behalf of the operator, inside the caller's transaction, each under a free slug. A refusal
 * does not affect the other services.
 */
export async function addServices(
  store: RegistryStore,
  services: readonly Omit<NewService, 'slug'>[],
  limits: DomainLimits,
): Promise<AddOutcome[]> {
  const hasParents = ({ dependsOn = [] }: (typeof services)[number]) => dependsOn.length > 0;
  const added = await addTogether(
    store,
    services.filter((one) => !hasParents(one)),
    limits,
  );
  const outcomes = new Map<(typeof services)[number], AddOutcome>();
  for (const service of services) {
    const slug = added.get(service);
    if (slug !== undefined) outcomes.set(service, { slug });
    else if (!hasParents(service)) outcomes.set(service, await addAlone(store, service, limits));
  }
  // What depends on another one of them is added after that one.
  let waiting = services.filter(hasParents);
  for (let before = Number.POSITIVE_INFINITY; waiting.length < before; ) {
    before = waiting.length;
    for (const service of waiting) outcomes.set(service, await addAlone(store, service, limits));
    waiting = waiting.filter((service) => {
      const outcome = outcomes.get(service);
      return outcome !== undefined && 'code' in outcome && outcome.code === 'no_parent';
    });
  }
  return services.map((service) => {
    const outcome = outcomes.get(service);
    if (outcome === undefined) throw new Error(`${service.domain} was not added`);
    return outcome;
  });
}

/**
 * Adds the services that concern no other service, by a few statements for all of them: verified ones of an account
 * without limits, with a domain that no service ever had and whose dashed form is free. Returns their slugs.
 */
async function addTogether(
  store: RegistryStore,
  services: readonly Omit<NewService, 'slug'>[],
  { perAccount }: DomainLimits,
): Promise<ReadonlyMap<Omit<NewService, 'slug'>, string>> {
  const added = new Map<Omit<NewService, 'slug'>, string>();
  if (perAccount !== Number.POSITIVE_INFINITY || services.length < 2) return added;
  const { kysely, queries } = store;
  const forms = [...new Set(services.map(({ domain }) => dashDomain(domain)))];
  const rows = await queries.all(
    kysely
      .selectFrom('services')
      .select(['slug', 'dashed'])
      .where((eb) => eb.or([eb('slug', 'in', forms), eb('dashed', 'in', forms)])),
  );
  const taken = new Set([
    ...rows.flatMap(({ slug, dashed }) => [slug, dashed]),
    ...(await formerSlugs(store)),
  ]);
  const isNameTaken = await loadNameRule(store);
  for (const service of services) {
    const { origin, accountId, domain, name, verified } = service;
    const slug = dashDomain(domain);
    if (origin !== 'owner' || accountId === null || !verified) continue;
    if (taken.has(slug) || isNameTaken(name, domain) !== null) continue;
    taken.add(slug);
    added.set(service, slug);
  }
  await insertServices(
    store,
    [...added].map(([service, slug]) => ({ ...service, slug })),
  );
  return added;
}

async function addAlone(
  store: RegistryStore,
  service: Omit<NewService, 'slug'>,
  limits: DomainLimits,
): Promise<AddOutcome> {
  try {
    const { domain, verified } = service;
    const { slug } = await store.nested(() =>
      add(store, service, limits, (returning) => slugFor(store, domain, verified, returning)),
    );
    return { slug };
  } catch (error) {
    if (!(error instanceof RegistryError) || error.refusal === undefined) throw error;
    return { code: error.code as RegistryErrorCode, refusal: error.refusal };
  }
}

async function add(
  store: RegistryStore,
  service: Omit<NewService, 'slug'>,
  limits: DomainLimits,
  chooseSlug: (returning: ServiceRow | null) => Promise<string>,
): Promise<Service> {
  const { origin, accountId, domain, name, verified } = service;
  if (origin !== 'owner' || accountId === null) throw new Error(`${domain} is not a service of an owner`);
  await refuseTakenName(store, name, domain);
  await refuseDomain(store, { domain, accountId, verified }, limits);
  const dependsOn = await findParents(store, accountId, service.dependsOn ?? []);
  const returning = await findReturning(store, domain, accountId);
  return await putService(store, returning, { ...service, dependsOn, slug: await chooseSlug(returning) });
}

/** Live services of owners. */
export function ownedServices(kysely: RegistryStore['kysely']) {
  return kysely.selectFrom('services').where('origin', '=', 'owner').where('removed', '=', 0);
}

/**
 * The live service of the account with that domain, else that of the account that owns the domain. Those that accounts have by trust
 * alone concern no other account.
 */
export async function findOwned(
  { queries }: RegistryStore,
  domain: string,
  accountId: number | null,
): Promise<ServiceRow | undefined> {
  return await queries.first(FIND_OWNED(domain, accountId));
}

/**
 * Registers a domain inside the caller's transaction, under its dashed form, with a number appended if another service
 * has that slug; for a verified domain, services there that were never verified get another slug. An account that
 * registers a domain again gets its old service back. Throws `domain_taken`, `catalogue_domain`, `account_limit`.
 */
export async function registerDomain(
  store: RegistryStore,
  service: Partial<DefinedService> &
    Pick<NewService, 'domain' | 'check' | 'verified'> & { readonly accountId: number },
  limits: DomainLimits,
): Promise<Service> {
  const { domain, accountId, verified } = service;
  await refuseDomain(store, service, limits);
  await noteRegistration(store, accountId, limits.perDay, systemClock.now());
  const returning = await findReturning(store, domain, accountId);
  const definition: NewService = {
    name: domain,
    category: 'developer',
    paused: false,
    ...service,
    slug: await slugFor(store, domain, verified, returning),
    origin: 'owner',
    statusPage: null,
  };
  return await putService(store, returning, definition);
}

/** Throws `account_limit` if the account has the maximum number of live domains. */
export async function refuseBeyondLimit(
  { queries }: RegistryStore,
  accountId: number,
  { perAccount }: DomainLimits,
): Promise<void> {
  // The operator has no limit, and an import need not count thousands of rows for each of thousands of services.
  if (perAccount === Number.POSITIVE_INFINITY) return;
  const owned = await queries.first(COUNT_OWNED(accountId));
  if ((owned?.count ?? 0) >= perAccount)
    throw new RegistryError('account_limit', { code: 'too_many_domains', max: perAccount });
}

/**
 * Removes an owner's service inside the caller's transaction. The slug of a service that was never verified becomes
 * free. Throws `not_found`, also for services of the catalogue, and `stale`.
 */
export async function removeService(
  store: RegistryStore,
  slug: string,
  revisions?: readonly number[],
): Promise<void> {
  const { kysely, queries } = store;
  const row = await queries.first(
    kysely.selectFrom('services').selectAll().where('slug', '=', slug).where('removed', '=', 0),
  );
  if (row === undefined) throw new RegistryError('not_found', { code: 'no_service', slug });
  if (row.origin !== 'owner') throw new RegistryError('not_found', { code: 'catalogue_service', slug });
  refuseStale(row, revisions);
  await retireService(store, row, row.ever_verified === 1 ? row.slug : releasedSlug(row));
}

/** Throws `stale` if revisions are given and do not contain that of the row. */
export function refuseStale({ revision }: ServiceRow, revisions?: readonly number[]): void {
  if (revisions !== undefined && !revisions.includes(revision))
    throw new RegistryError('stale', { code: 'service_stale' });
}

/** Throws `catalogue_domain` for a domain of the catalogue, or a subdomain of one; unverified owners cannot have it. */
export async function refuseCatalogueDomain({ queries }: RegistryStore, domain: string): Promise<void> {
  const labels = domain.split('.');
  const parents = labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
  if (parents.length === 0) return;
  const findParent = statement<Pick<ServiceRow, 'slug' | 'domain'>>(
    `SELECT slug, domain FROM services
     WHERE origin = 'catalogue' AND removed = 0 AND domain IN (${parents.map(() => '?').join(', ')})`,
  );
  const found = await queries.first(findParent(...parents));
  if (found === undefined) return;
  throw new RegistryError('catalogue_domain', {
    code: 'catalogue_domain',
    domain,
    parent: found.domain,
    slug: found.slug,
  });
}

/** The slug of a service that is registered: the dashed form for a verified one, if possible, else the old or a free one. */
export async function slugFor(
  store: RegistryStore,
  domain: string,
  verified: boolean,
  returning: ServiceRow | null,
): Promise<string> {
  const exceptId = returning?.id;
  if (verified && (await clearDashedSlug(store, domain, exceptId))) return dashDomain(domain);
  const kept = returning === null || isReleased(returning.slug) ? null : returning.slug;
  const search = exceptId === undefined ? {} : { exceptId };
  return kept !== null && !(await isSlugTaken(store, kept, exceptId))
    ? kept
    : await findFreeSlug(store, domain, search);
}

async function refuseDomain(
  store: RegistryStore,
  { domain, accountId, verified }: { domain: string; accountId: number; verified: boolean },
  limits: DomainLimits,
): Promise<void> {
  const owned = await findOwned(store, domain, accountId);
  const needsNoProof = await isTrustedAccount(store, accountId);
  if (owned !== undefined && (owned.account_id === accountId || !needsNoProof))
    throw new RegistryError('domain_taken', { code: 'domain_taken', domain });
  if (!verified && !needsNoProof) await refuseCatalogueDomain(store, domain);
  await refuseBeyondLimit(store, accountId, limits);
}

/** Counts a registration. Throws `account_limit` if the account has made the maximum number within a day. */
async function noteRegistration(
  { queries }: RegistryStore,
  accountId: number,
  perDay: number,
  now: number,
): Promise<void> {
  // After the clock was set back, registrations may lie in the future. They are deleted, since they would otherwise
  // count too long.
  await queries.run(FORGET_REGISTRATIONS(accountId, now - DAY_MS, now));
  const made = await queries.first(COUNT_REGISTRATIONS(accountId));
  if ((made?.count ?? 0) >= perDay)
    throw new RegistryError('account_limit', {
      code: 'too_many_registrations',
      max: perDay,
      retryAt: (made?.first ?? now) + DAY_MS,
    });
  await queries.run(ADD_REGISTRATION(accountId, now));
}

/** The service with that domain that the account removed last; null: there is none. */
async function findReturning(
  { queries }: RegistryStore,
  domain: string,
  accountId: number,
): Promise<ServiceRow | null> {
  const rows = await queries.all(FIND_OF_DOMAIN(domain));
  const returning = rows
    .filter((row) => row.account_id === accountId && row.origin === 'owner' && row.removed === 1)
    .sort((a, b) => b.id - a.id);
  return returning[0] ?? null;
}
