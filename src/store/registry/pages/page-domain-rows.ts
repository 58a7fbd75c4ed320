/** Domains of owners for their status pages: by a proof, or by the trust of the operator. */
import { addNotice } from '../../database/notice-rows.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import type { RegistryStore } from '../../database/registry-store.ts';
import type { PageDomainStore } from '../../ports/status-pages.ts';
import { isTrustedAccount } from '../trust.ts';

export const PAGE_DOMAIN_CALLS = {
  provedPageDomains: read(async ({ kysely, queries }) => {
    const rows = await queries.all(
      kysely
        .selectFrom('status_pages')
        .select(['domain', 'slug', 'account_id', 'domain_checked_at', 'domain_missing_since'])
        .where('domain_proved_at', 'is not', null)
        .where(({ or, eb }) => or([eb('members_only', '=', 0), eb('password_hash', 'is not', null)]))
        .where('removed', '=', 0)
        .orderBy('domain'),
    );
    return rows.map((row) => ({
      domain: row.domain ?? '',
      slug: row.slug,
      accountId: row.account_id,
      checkedAt: row.domain_checked_at === BY_TRUST ? null : (row.domain_checked_at ?? 0),
      missingSince: row.domain_missing_since,
    }));
  }),
  notePageProof: write(notePageProof),
} satisfies Partial<Calls<PageDomainStore>>;

/** The columns of a domain of which its account has no proof. */
export const UNPROVED = { domain_proved_at: null, domain_checked_at: null, domain_missing_since: null };

/** `domain_checked_at` of a domain that the account has by trust. */
export const BY_TRUST = 0;

/** The columns of a domain that its account has by trust since a time. */
const byTrust = (since: number) => ({
  domain_proved_at: since,
  domain_checked_at: BY_TRUST,
  domain_missing_since: null,
});

/** The columns of a page's new domain: at once in use if the account is trusted and no other page has it. */
export async function domainColumns(
  store: RegistryStore,
  accountId: number,
  domain: string | null,
  now: number,
) {
  const isFree = domain !== null && (await findHolder(store, domain)) === undefined;
  const isTrusted = isFree && (await isTrustedAccount(store, accountId));
  return { domain, ...(isTrusted ? byTrust(now) : UNPROVED) };
}

function findHolder({ kysely, queries }: RegistryStore, domain: string) {
  return queries.first(
    kysely
      .selectFrom('status_pages')
      .select('id')
      .where('domain', '=', domain)
      .where('domain_proved_at', 'is not', null),
  );
}

/** Lets the pages of an account follow its trust: without a proof they have their domains by that alone. */
export async function followTrustOfDomains(
  store: RegistryStore,
  accountId: number,
  now: number,
): Promise<void> {
  const { kysely, queries } = store;
  const isTrusted = await isTrustedAccount(store, accountId);
  const pages = kysely
    .selectFrom('status_pages')
    .select(['id', 'domain'])
    .where('account_id', '=', accountId)
    .where('removed', '=', 0)
    .where('domain', 'is not', null)
    .orderBy('id');
  const concerned = isTrusted
    ? pages.where('domain_proved_at', 'is', null)
    : pages.where('domain_checked_at', '=', BY_TRUST);
  for (const { id, domain } of await queries.all(concerned)) {
    const next = await domainColumns(store, accountId, domain, now);
    if (isTrusted && next.domain_proved_at === null) continue;
    await queries.run(
      kysely
        .updateTable('status_pages')
        .set({ ...next, revision: (eb) => eb('revision', '+', 1) })
        .where('id', '=', id),
    );
  }
}

// biome-ignore lint/complexity/useMaxParams: the store, then the arguments of the port's method
async function notePageProof(
  store: RegistryStore,
  accountId: number,
  domain: string,
  outcome: 'found' | 'missing' | 'lapses',
  now: number,
): Promise<void> {
  const { kysely, queries } = store;
  const proved = kysely
    .updateTable('status_pages')
    .where('account_id', '=', accountId)
    .where('domain', '=', domain)
    .where('domain_proved_at', 'is not', null);
  if (outcome === 'lapses') {
    // A trusted account needs no proof, and keeps the domain.
    if (await isTrustedAccount(store, accountId)) return void (await queries.run(proved.set(byTrust(now))));
    const lapsed = await queries.first(
      proved.set({ ...UNPROVED, revision: (eb) => eb('revision', '+', 1) }).returning('id'),
    );
    if (lapsed !== undefined) await addNotice(store, accountId, now, { code: 'page_domain_lapsed', domain });
    return;
  }
  await queries.run(
    proved.set({
      domain_checked_at: now,
      domain_missing_since:
        outcome === 'found' ? null : (eb) => eb.fn.coalesce('domain_missing_since', eb.val(now)),
    }),
  );
}
