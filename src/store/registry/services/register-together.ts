/**
 * Registers many services by a few statements. Only registrations that concern no other service are made here; the others are
 * made one by one, by the rules of `ownership.ts`.
 */
import { systemClock } from '../../../clock.ts';
import { DAY_MS } from '../../../domain/durations.ts';
import { dashDomain, type Service } from '../../../domain/service.ts';
import type { JointOutcome } from '../../database/group-commit.ts';
import type { DomainLimits, OpenRegistry } from '../../database/registry-calls.ts';
import type { Batch, RegistryStore } from '../../database/registry-store.ts';
import type { OwnershipStore } from '../../ports/services.ts';
import { insertServices } from './service-rows.ts';
import { formerSlugs, loadNameRule } from './slugs.ts';

export type Registration = Parameters<OwnershipStore['registerService']>;

/**
 * A number of rows. With LIMIT 1, or with conditions of a partial index, PostgreSQL would read far more rows of a table that it
 * has not analyzed yet.
 */
type Count = { readonly count: number };
const COUNT_HOLDERS: Batch<Count> = {
  types: ['text', 'text', 'text'],
  sql: `SELECT (SELECT count(*) FROM services WHERE domain = ?) + (SELECT count(*) FROM services WHERE slug = ?)
    + (SELECT count(*) FROM services WHERE dashed = ?) AS count`,
};
const COUNT_LISTED: Batch<Count> = {
  types: ['text'],
  sql: "SELECT count(*) FILTER (WHERE origin = 'catalogue' AND removed = 0) AS count FROM services WHERE domain = ?",
};
const COUNT_OWNED: Batch<Count> = {
  types: ['bigint'],
  sql: "SELECT count(*) AS count FROM services WHERE account_id = ? AND origin = 'owner' AND removed = 0",
};
const FORGET_REGISTRATIONS: Batch<unknown> = {
  types: ['bigint', 'bigint', 'bigint'],
  sql: 'DELETE FROM domain_registrations WHERE account_id = ? AND (at <= ? OR at > ?)',
};
const COUNT_REGISTRATIONS: Batch<Count> = {
  types: ['bigint'],
  sql: 'SELECT count(*) AS count FROM domain_registrations WHERE account_id = ?',
};
const ADD_REGISTRATION: Batch<unknown> = {
  types: ['bigint', 'bigint'],
  sql: 'INSERT INTO domain_registrations (account_id, at) VALUES (?, ?)',
};
const DROP_CLAIM: Batch<unknown> = {
  types: ['bigint', 'text'],
  sql: 'DELETE FROM domain_claims WHERE account_id = ? AND domain = ?',
};

/**
 * Registers services inside the caller's transaction. The outcome is null, and nothing is changed, for a domain that is proven,
 * whose service depends on others, that a service has or had, that lies within one of the catalogue, or whose dashed form is taken; for a name that is refused;
 * for an account at one of its limits; and for all but the first with the same dashed form.
 */
export async function registerTogether(
  registry: OpenRegistry,
  registrations: readonly Registration[],
): Promise<JointOutcome<Service>[]> {
  const isFree = await findFree(registry, registrations);
  const hasRoom = await countAccounts(registry, registrations, registry.limits);
  const forms = new Set<string>();
  const chosen = registrations.flatMap((registration, index) => {
    const [accountId, { domain }] = registration;
    const form = dashDomain(domain);
    if (forms.has(form) || isFree[index] !== true || !hasRoom(accountId)) return [];
    forms.add(form);
    return [{ index, registration }];
  });
  const added = await insert(
    registry,
    chosen.map(({ registration }) => registration),
  );
  const outcomes = registrations.map((): JointOutcome<Service> => null);
  for (const [at, { index }] of chosen.entries()) {
    const service = added[at];
    if (service !== undefined) outcomes[index] = { value: service };
  }
  return outcomes;
}

/** Returns true if each registration concerns no other service and no proof. */
async function findFree(store: RegistryStore, registrations: readonly Registration[]): Promise<boolean[]> {
  const { queries } = store;
  const parents = [...new Set(registrations.flatMap(([, { domain }]) => withParents(domain)))];
  const [holders, listed, former, nameRule] = await Promise.all([
    queries.firstEach(
      COUNT_HOLDERS,
      registrations.map(([, { domain }]) => [domain, dashDomain(domain), dashDomain(domain)]),
    ),
    queries.firstEach(
      COUNT_LISTED,
      parents.map((parent) => [parent]),
    ),
    formerSlugs(store),
    loadNameRule(store),
  ]);
  const reserved = new Set(former);
  const catalogue = new Set(parents.filter((_, index) => listed[index]?.count !== 0));
  return registrations.map(
    ([, { domain, slug, name, dependsOn = [] }, { isProven }], index) =>
      !isProven &&
      slug === undefined &&
      dependsOn.length === 0 &&
      holders[index]?.count === 0 &&
      !reserved.has(dashDomain(domain)) &&
      !withParents(domain).some((one) => catalogue.has(one)) &&
      nameRule(name, domain) === null,
  );
}

/** Counts what accounts have and have registered. The result says whether one may register another domain, and counts that one. */
async function countAccounts(
  { queries }: RegistryStore,
  registrations: readonly Registration[],
  { perAccount, perDay }: DomainLimits,
): Promise<(accountId: number) => boolean> {
  const now = systemClock.now();
  const accounts = [...new Set(registrations.map(([accountId]) => accountId))];
  const lists = accounts.map((accountId) => [accountId]);
  const [owned, , registered] = await Promise.all([
    queries.firstEach(COUNT_OWNED, lists),
    queries.runEach(
      FORGET_REGISTRATIONS,
      accounts.map((accountId) => [accountId, now - DAY_MS, now]),
    ),
    queries.firstEach(COUNT_REGISTRATIONS, lists),
  ]);
  const room = new Map(
    accounts.map((accountId, index) => [
      accountId,
      Math.min(perAccount - (owned[index]?.count ?? 0), perDay - (registered[index]?.count ?? 0)),
    ]),
  );
  return (accountId) => {
    const left = room.get(accountId) ?? 0;
    room.set(accountId, left - 1);
    return left > 0;
  };
}

async function insert(store: RegistryStore, registrations: readonly Registration[]): Promise<Service[]> {
  const { queries } = store;
  const now = systemClock.now();
  const services = registrations.map(([accountId, definition]) => ({
    ...definition,
    slug: dashDomain(definition.domain),
    accountId,
    verified: false,
    origin: 'owner' as const,
    statusPage: null,
  }));
  const [added] = await Promise.all([
    insertServices(store, services),
    queries.runEach(
      ADD_REGISTRATION,
      registrations.map(([accountId]) => [accountId, now]),
    ),
    // The page of the service says how to verify its domain.
    queries.runEach(
      DROP_CLAIM,
      registrations.map(([accountId, { domain }]) => [accountId, domain]),
    ),
  ]);
  return added;
}

/** A domain and the domains above it, but for the last label. */
function withParents(domain: string): string[] {
  const labels = domain.split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
}
