/** A domain goes to the account that has proved control of it (decisions, Ownership). */
import { type CheckKind, DEFAULT_CHECK, isFormOf, type Service, UNSAID } from '../../domain/service.ts';
import { addNotice } from '../database/notice-rows.ts';
import type { LimitedStore } from '../database/registry-calls.ts';
import { type RegistryStore, statement } from '../database/registry-store.ts';
import type { NewService } from '../ports/services.ts';
import { forgetPosts } from './pages/owner-maintenance-rows.ts';
import { forgetHeartbeats } from './services/heartbeat-rows.ts';
import { findOwned, namesBeside, registerDomain, slugFor } from './services/owner-services.ts';
import { retireService } from './services/retire-service.ts';
import { refuseBeyondLimit } from './services/service-limits.ts';
import { type ServiceRow, toDefinition, updateService } from './services/service-rows.ts';
import { keptFormerSlugs, releasedSlug } from './services/slugs.ts';

/** The live service of an owner with a slug. */
export const OWNED_ROW = statement<ServiceRow>(
  "SELECT * FROM services WHERE slug = ? AND origin = 'owner' AND removed = 0",
);

const DROP_CLAIM = statement('DELETE FROM domain_claims WHERE account_id = ? AND domain = ?');

/** Removes a claim; does nothing if it does not exist. */
export async function dropClaim(
  { queries }: RegistryStore,
  accountId: number,
  domain: string,
): Promise<void> {
  await queries.run(DROP_CLAIM(accountId, domain));
}

/** Assigns a domain, and its dashed form as slug, to the account that has proved control of it. Throws `account_limit`. */
// biome-ignore lint/complexity/useMaxParams: the store, then the arguments of the port's method
export async function proveDomain(
  store: LimitedStore,
  accountId: number,
  domain: string,
  kind: CheckKind,
  now: number,
): Promise<Service> {
  await dropClaim(store, accountId, domain);
  const [row, ...others] = await findOwned(store, domain, accountId);
  if (row === undefined) {
    const check = { ...DEFAULT_CHECK, kind };
    return await registerDomain(store, { domain, accountId, check, verified: true }, store.limits);
  }
  const former = row.account_id;
  const moves = former !== accountId;
  const kept = others.filter((other) => !moves || other.ever_verified === 1);
  if (moves) {
    await refuseBeyondLimit(store, accountId, store.limits, 1 + kept.length);
    for (const other of others)
      if (!kept.includes(other)) await retireService(store, other, releasedSlug(other));
  }
  const losing = moves ? [] : await findOfOtherOwner(store, domain, accountId);
  for (const other of losing) await loseDomain(store, other);
  const names = await namesOfProven(store, row);
  const service = await give(store, row, accountId, names);
  for (const other of kept) {
    // It is read again, since what it depends on may have changed.
    const newest = (await store.queries.first(OWNED_ROW(other.slug))) ?? other;
    if (moves || !toDefinition(newest).verified) await give(store, newest, accountId, { slug: newest.slug });
  }
  const loser = moves ? former : (losing[0]?.account_id ?? null);
  if (loser !== null) await addNotice(store, loser, now, { code: 'domain_lost', domain });
  if (moves || losing.length > 0) await addNotice(store, accountId, now, { code: 'domain_won', domain });
  return service;
}

/** Makes a service a verified one of the account. What only its former owner knows or said goes. */
async function give(
  store: RegistryStore,
  row: ServiceRow,
  accountId: number,
  names: Pick<NewService, 'slug' | 'formerSlugs'>,
): Promise<Service> {
  const { check, ...definition } = toDefinition(row);
  const { addressHash: _address, sealed: _sealed, ...withoutSecrets } = check;
  const moves = row.account_id !== accountId;
  if (moves) {
    // The new owner must neither see nor publish the reports of the former owner.
    await forgetHeartbeats(store, row.id);
    await forgetPosts(store, row.id);
  }
  return await updateService(store, row, {
    ...definition,
    ...names,
    // What was recorded while it was private stays so until the new owner says otherwise.
    ...(moves ? { ...UNSAID, visibility: definition.visibility } : {}),
    // The former owner knows the heartbeat address, and entered the credentials.
    check: moves ? withoutSecrets : check,
    accountId,
    verified: true,
  });
}

/** The slugs of the first service of a domain that is verified: the dashed form of the domain, unless its owner chose one. */
async function namesOfProven(
  store: RegistryStore,
  row: ServiceRow,
): Promise<Pick<NewService, 'slug' | 'formerSlugs'>> {
  const { slug, domain } = row;
  if (!isFormOf(slug, domain))
    return { slug, ...(await namesBeside(store, { domain, slug, verified: true }, row)) };
  return slugChange(toDefinition(row), await slugFor(store, domain, true, row));
}

/** The services of another account that owns the domain, which an account with services by trust has proved now. */
async function findOfOtherOwner(
  store: RegistryStore,
  domain: string,
  accountId: number,
): Promise<ServiceRow[]> {
  return (await findOwned(store, domain, null)).filter((row) => row.account_id !== accountId);
}

/** A service stays, without the domain. */
async function loseDomain(store: RegistryStore, row: ServiceRow): Promise<void> {
  await updateService(store, { ...row, unproven: 1 }, { ...toDefinition(row), verified: false });
}

/** Badges and links under the old slug still lead to the service. */
function slugChange(before: Pick<NewService, 'slug' | 'formerSlugs'>, slug: string) {
  if (slug === before.slug) return { slug };
  const former = (before.formerSlugs ?? []).filter((one) => one !== slug);
  return { slug, ...keptFormerSlugs([...former, before.slug]) };
}
