/** Owners' services: who may add which domain under which slug (decisions, Ownership). */
import { systemClock } from '../../../clock.ts';
import { isSameCheck } from '../../../domain/check-target.ts';
import { dashDomain, furtherSlug, type Service } from '../../../domain/service.ts';
import type { DomainLimits } from '../../database/registry-calls.ts';
import { RegistryError, requireRevision } from '../../database/registry-error.ts';
import { type RegistryStore, statement } from '../../database/registry-store.ts';
import type {
  AddedService,
  AddOutcome,
  Beside,
  DefinedService,
  NewService,
  RegistryErrorCode,
} from '../../ports/services.ts';
import { isTrustedAccount } from '../trust.ts';
import { findParents } from './parent-rows.ts';
import { retireService } from './retire-service.ts';
import { noteRegistration, refuseBeyondLimit } from './service-limits.ts';
import { insertServices, putService, type ServiceRow, toDefinition, updateService } from './service-rows.ts';
import {
  bareSlug,
  clearDashedSlug,
  findFreeForm,
  formerSlugs,
  isReleased,
  isSlugTaken,
  keptFormerSlugs,
  loadNameRule,
  refuseTakenName,
  releasedSlug,
} from './slugs.ts';

// Statements, because Kysely takes longer to build these queries than SQLite to run them, and clients create many services.
const FIND_OWNED = statement<ServiceRow>(
  `SELECT * FROM services WHERE domain = ? AND origin = 'owner' AND removed = 0 AND (unproven = 0 OR account_id = ?)
   ORDER BY further, id`,
);
// By the domain alone, because SQLite would otherwise scan all services of the account.
const FIND_OF_DOMAIN = statement<ServiceRow>('SELECT * FROM services WHERE domain = ?');
/**
 * Adds an owner's service on behalf of the operator, inside the caller's transaction. An account that adds a domain
 * again gets the old service back. Throws `domain_taken` (a live owner service has the domain), `catalogue_domain` (the
 * domain lies within one of the catalogue and is not verified), `account_limit`, `slug_taken` (the slug is the slug, a
 * reserved slug or the dashed domain of another service), `name_taken`.
 */
export async function addService(
  store: RegistryStore,
  service: AddedService,
  limits: DomainLimits,
): Promise<Service> {
  const { origin, accountId, domain, name, verified } = service;
  if (origin !== 'owner' || accountId === null) throw new Error(`${domain} is not a service of an owner`);
  await refuseTakenName(store, name, domain);
  const others = await findOwned(store, domain, accountId);
  await refusePlace(store, { ...service, accountId }, others, limits);
  const own = others.filter((row) => row.account_id === accountId);
  // The word of the operator counts as a proof for the whole host.
  if (verified)
    for (const row of own)
      if (row.verified === 0) await updateService(store, row, { ...toDefinition(row), verified });
  const dependsOn = await findParents(store, accountId, service.dependsOn ?? []);
  return await addAt(store, { ...service, dependsOn, accountId }, own);
}

/**
 * Adds owners' services on behalf of the operator, inside the caller's transaction, each under a free slug. A refusal
 * does not affect the other services.
 */
export async function addServices(
  store: RegistryStore,
  services: readonly AddedService[],
  limits: DomainLimits,
): Promise<AddOutcome[]> {
  // The order on a host matters: its first one is not added after others.
  const hosts = new Set(
    services.flatMap(({ domain, dependsOn = [] }) => (dependsOn.length > 0 ? [domain] : [])),
  );
  const hasParents = ({ domain }: AddedService) => hosts.has(domain);
  const added = await addTogether(
    store,
    services.filter((one) => !hasParents(one)),
    limits,
  );
  const outcomes = new Map<AddedService, AddOutcome>();
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
  services: readonly AddedService[],
  { perAccount }: DomainLimits,
): Promise<ReadonlyMap<AddedService, string>> {
  const added = new Map<AddedService, string>();
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
    const isPlain = origin === 'owner' && accountId !== null && verified && service.slug === undefined;
    if (isPlain && !taken.has(slug) && isNameTaken(name, domain) === null) added.set(service, slug);
    // Services of the same host that follow are not the first one.
    taken.add(slug);
  }
  await insertServices(
    store,
    [...added].map(([{ beside: _, ...service }, slug]) => ({ ...service, slug })),
  );
  return added;
}

async function addAlone(
  store: RegistryStore,
  service: AddedService,
  limits: DomainLimits,
): Promise<AddOutcome> {
  try {
    const { slug } = await store.nested(() => addService(store, service, limits));
    return { slug };
  } catch (error) {
    if (!(error instanceof RegistryError) || error.refusal === undefined) throw error;
    return { code: error.code as RegistryErrorCode, refusal: error.refusal };
  }
}

/** A service that is added, and whether it may be one beside others. */
type Added = Omit<AddedService, 'accountId'> & { readonly accountId: number };

/** Adds a service as the first one of its host, or beside `others`. Throws `slug_taken`. */
async function addAt(
  store: RegistryStore,
  { beside: _, ...service }: Added,
  others: readonly ServiceRow[],
): Promise<Service> {
  const { domain, slug: given, verified } = service;
  const isFurther = others.length > 0;
  const form = dashDomain(domain);
  const wanted = given ?? (isFurther ? furtherSlug(service) : form);
  const returning = await findReturning(store, service, wanted, isFurther);
  const exceptId = returning?.id;
  const search = exceptId === undefined ? {} : { exceptId };
  const place = isFurther ? ({ isFurther } as const) : {};
  if (given === undefined) {
    const slug = isFurther
      ? await findFreeForm(store, wanted, search)
      : await slugFor(store, domain, verified, returning);
    return await putService(store, returning, { ...service, ...place, slug });
  }
  const isCleared = given === form && verified && (await clearDashedSlug(store, domain, exceptId));
  if (!isCleared && (await isSlugTaken(store, given, exceptId)))
    throw new RegistryError('slug_taken', {
      code: 'slug_taken',
      slug: given,
      free: await findFreeForm(store, given, search),
    });
  const names = isFurther ? {} : await namesBeside(store, { domain, slug: given, verified }, returning);
  return await putService(store, returning, { ...service, ...names, ...place, slug: given });
}

/**
 * The further slugs of the first service of a host: the dashed form of the domain too, where its own slug is another one and no
 * other service has that form.
 */
export async function namesBeside(
  store: RegistryStore,
  { domain, slug, verified }: Pick<NewService, 'domain' | 'slug' | 'verified'>,
  row: ServiceRow | null,
): Promise<Pick<NewService, 'formerSlugs'>> {
  const form = dashDomain(domain);
  const { formerSlugs: known = [] } = row === null ? {} : toDefinition(row);
  const kept = known.filter((one) => one !== slug);
  if (slug === form || kept.includes(form)) return keptFormerSlugs(kept);
  const isFree = verified
    ? await clearDashedSlug(store, domain, row?.id)
    : !(await isSlugTaken(store, form, row?.id));
  return keptFormerSlugs(isFree ? [...kept, form] : kept);
}

export function ownedServices(kysely: RegistryStore['kysely']) {
  return kysely.selectFrom('services').where('origin', '=', 'owner').where('removed', '=', 0);
}

/**
 * The live services of the account with that domain, the first one at the head; else those of the account that owns the domain. What
 * accounts have by trust alone concerns no other account.
 */
export async function findOwned(
  { queries }: RegistryStore,
  domain: string,
  accountId: number | null,
): Promise<ServiceRow[]> {
  const rows = await queries.all(FIND_OWNED(domain, accountId));
  const own = rows.filter((row) => row.account_id === accountId);
  return own.length === 0 ? rows : own;
}

/**
 * Registers a domain inside the caller's transaction, under its dashed form, with a number appended if another service
 * has that slug; for a verified domain, services there that were never verified get another slug. Or adds a service beside those
 * that the account has there. An account that registers a domain again gets its old service back. Throws `domain_taken`,
 * `slug_taken`, `catalogue_domain`, `account_limit`.
 */
export async function registerDomain(
  store: RegistryStore,
  service: Partial<DefinedService> &
    Pick<NewService, 'domain' | 'check' | 'verified'> & {
      readonly accountId: number;
      readonly beside?: Beside | undefined;
    },
  limits: DomainLimits,
): Promise<Service> {
  const { domain, accountId } = service;
  const definition = {
    name: domain,
    category: 'developer',
    paused: false,
    ...service,
    origin: 'owner',
    statusPage: null,
  } as const;
  const others = await findOwned(store, domain, accountId);
  await refusePlace(store, definition, others, limits);
  await noteRegistration(store, accountId, limits.perDay, systemClock.now());
  const own = others.filter((row) => row.account_id === accountId);
  return await addAt(store, definition, own);
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
  if (row !== undefined && row.origin !== 'owner')
    throw new RegistryError('not_found', { code: 'catalogue_service', slug });
  const missing = { code: 'no_service', slug } as const;
  const owned = requireRevision(row, revisions, { missing, stale: { code: 'service_stale' } });
  await retireService(store, owned, owned.ever_verified === 1 ? owned.slug : releasedSlug(owned));
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
    : await findFreeForm(store, dashDomain(domain), search);
}

/** Throws `domain_taken` unless a service may be the first one of its host, or one beside `others`. */
export async function refuseBeside(
  store: RegistryStore,
  service: Pick<Added, 'domain' | 'name' | 'accountId' | 'slug' | 'beside'> & Pick<NewService, 'check'>,
  others: readonly ServiceRow[],
): Promise<void> {
  const [first] = others;
  if (first === undefined) return;
  const { domain, accountId } = service;
  const beside = service.slug === undefined ? service.beside : 'always';
  const isOwn = first.account_id === accountId;
  const isOther = (row: ServiceRow) =>
    !isSameCheck(withoutSecrets(toDefinition(row)), withoutSecrets(service));
  if (isOwn && (beside === 'always' || (beside === 'otherCheck' && others.every(isOther)))) return;
  const free = isOwn ? await findFreeForm(store, furtherSlug(service)) : null;
  throw new RegistryError('domain_taken', { code: 'domain_taken', domain, free });
}

/** A check to compare: the same credentials are never encrypted alike. */
function withoutSecrets({ domain, check: { sealed: _, ...check } }: Pick<NewService, 'domain' | 'check'>) {
  return { domain, check, origin: 'owner' } as const;
}

async function refusePlace(
  store: RegistryStore,
  service: Added,
  others: readonly ServiceRow[],
  limits: DomainLimits,
): Promise<void> {
  const needsNoProof = await isTrustedAccount(store, service.accountId);
  const isForeign = others.some((row) => row.account_id !== service.accountId);
  if (!isForeign || !needsNoProof) await refuseBeside(store, service, others);
  if (!service.verified && !needsNoProof) await refuseCatalogueDomain(store, service.domain);
  await refuseBeyondLimit(store, service.accountId, limits);
}

/**
 * The service that the account gets back: of those that it removed on the host, the one that had the slug, else, for the first one
 * of the host, the last of those that were the first. Null: there is none.
 */
async function findReturning(
  { queries }: RegistryStore,
  { domain, accountId, slug: given }: Added,
  wanted: string,
  isFurther: boolean,
): Promise<ServiceRow | null> {
  const removed = (await queries.all(FIND_OF_DOMAIN(domain)))
    .filter((row) => row.account_id === accountId && row.origin === 'owner' && row.removed === 1)
    .sort((a, b) => b.id - a.id);
  const had = removed.find(({ slug }) => bareSlug(slug) === wanted);
  if (had !== undefined || isFurther || given !== undefined) return had ?? null;
  return removed.find(({ further }) => further === 0) ?? null;
}
