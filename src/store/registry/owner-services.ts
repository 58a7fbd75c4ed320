/** Owners' services: who may add which domain under which slug (decisions, Ownership). */
import { dashDomain, type Service } from '../../domain/service.ts';
import type { NewService } from '../ports/registry.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';
import { insertService, retireService, type ServiceRow, updateService } from './service-rows.ts';

/** Numbers that are tried behind a slug that is taken. */
const MOST_NUMBERS = 10_000;

/**
 * Adds an owner's service inside the caller's transaction. An account that adds a domain again under its old slug
 * gets the old service back. Throws `domain_taken` (a live owner service has the domain), `catalogue_domain` (the
 * domain lies within one of the catalogue and is not verified), `account_limit`, `slug_taken` (any service there
 * ever was has the slug, or the slug is its dashed domain: append a number and try again).
 */
export function addService(store: RegistryStore, service: NewService, domainsPerAccount: number): Service {
  const { accountId } = service;
  if (service.origin !== 'owner' || accountId === null)
    throw new Error(`${service.slug} is not a service of an owner`);
  const { kysely, queries } = store;
  const owners = () => kysely.selectFrom('services').where('origin', '=', 'owner').where('removed', '=', 0);
  if (queries.first(owners().select('id').where('domain', '=', service.domain)) !== undefined)
    throw new RegistryError('domain_taken', `The domain ${service.domain} is registered already.`);
  if (!service.verified) refuseCatalogueDomain(store, service.domain);
  refuseBeyondLimit(store, accountId, domainsPerAccount);
  const holder = slugHolder(store, service);
  return holder === null ? insertService(store, service) : updateService(store, holder, service);
}

/** The live owner's service with that domain. */
export function findOwned({ kysely, queries }: RegistryStore, domain: string): ServiceRow | undefined {
  return queries.first(
    kysely
      .selectFrom('services')
      .selectAll()
      .where('domain', '=', domain)
      .where('origin', '=', 'owner')
      .where('removed', '=', 0),
  );
}

/** Registers a domain under the first slug that is free: its dashed form, or that with a number. As {@link addService}. */
export function registerDomain(
  store: RegistryStore,
  service: Pick<NewService, 'domain' | 'accountId' | 'check' | 'verified'>,
  domainsPerAccount: number,
): Service {
  const { domain } = service;
  const base = dashDomain(domain);
  const foreign = foreignNumbers(store, base, service);
  for (let number = 1; ; number++) {
    if (foreign.has(number)) continue;
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

/**
 * Numbers behind `base` under which somebody else's service stands. They are read at once: thousands of domains can
 * have the same dashed form, and trying each number would hold the registry up.
 */
function foreignNumbers(
  { kysely, queries }: RegistryStore,
  base: string,
  service: Pick<NewService, 'domain' | 'accountId'>,
): ReadonlySet<number> {
  const rows = queries.all(
    kysely
      .selectFrom('services')
      .select(['slug', 'domain', 'account_id', 'origin', 'removed'])
      .where('slug', '>=', `${base}-`)
      // The character behind the dash.
      .where('slug', '<', `${base}.`),
  );
  const numbers = new Set<number>();
  for (const row of rows) {
    const digits = row.slug.slice(base.length + 1);
    if (/^[1-9]\d{0,4}$/.test(digits) && !isReturning(row, { ...service, slug: row.slug }))
      numbers.add(Number(digits));
  }
  return numbers;
}

/** Throws `account_limit` where the account has as many live domains as it may. */
export function refuseBeyondLimit(
  { kysely, queries }: RegistryStore,
  accountId: number,
  domainsPerAccount: number,
): void {
  const owned = queries.first(
    kysely
      .selectFrom('services')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('origin', '=', 'owner')
      .where('removed', '=', 0)
      .where('account_id', '=', accountId),
  );
  if ((owned?.count ?? 0) >= domainsPerAccount)
    throw new RegistryError(
      'account_limit',
      `The account has ${domainsPerAccount} domains, which is its limit: remove one first.`,
    );
}

/** Removes an owner's service inside the caller's transaction. Throws `not_found`, for the catalogue's services too. */
export function removeService(store: RegistryStore, slug: string): void {
  const { kysely, queries } = store;
  const row = queries.first(
    kysely.selectFrom('services').selectAll().where('slug', '=', slug).where('removed', '=', 0),
  );
  if (row === undefined) throw new RegistryError('not_found', `There is no service ${slug}.`);
  if (row.origin !== 'owner')
    throw new RegistryError(
      'not_found',
      `${slug} belongs to the catalogue: take it out of the catalogue file instead.`,
    );
  retireService(store, row);
}

function refuseCatalogueDomain({ kysely, queries }: RegistryStore, domain: string): void {
  const labels = domain.split('.');
  const parents = labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
  const found = queries.first(
    kysely
      .selectFrom('services')
      .select(['slug', 'domain'])
      .where('origin', '=', 'catalogue')
      .where('removed', '=', 0)
      .where('domain', 'in', parents),
  );
  if (found === undefined) return;
  throw new RegistryError(
    'catalogue_domain',
    `${domain} lies within ${found.domain} of the public catalogue (${found.slug}): verify the domain first.`,
  );
}

/** The removed service that comes back under its slug; null: nobody ever had the slug. Throws `slug_taken`. */
function slugHolder({ kysely, queries }: RegistryStore, service: NewService): ServiceRow | null {
  const holders = queries.all(
    kysely
      .selectFrom('services')
      .selectAll()
      .where((eb) => eb.or([eb('slug', '=', service.slug), eb('dashed', '=', service.slug)])),
  );
  const own = holders.find((row) => isReturning(row, service)) ?? null;
  // Who comes back to an own slug is stopped only by the catalogue, whose badge it would be by now.
  const [blocking] = own === null ? holders : holders.filter((row) => row.origin === 'catalogue');
  if (blocking !== undefined)
    throw new RegistryError(
      'slug_taken',
      `The slug ${service.slug} is taken: it stands for ${blocking.domain}.`,
    );
  return own;
}

function isReturning(
  row: Pick<ServiceRow, 'slug' | 'domain' | 'account_id' | 'origin' | 'removed'>,
  service: Pick<NewService, 'slug' | 'domain' | 'accountId'>,
): boolean {
  return (
    row.slug === service.slug &&
    row.removed === 1 &&
    row.origin === 'owner' &&
    row.domain === service.domain &&
    row.account_id === service.accountId
  );
}
