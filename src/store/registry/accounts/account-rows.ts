/** Accounts. */
import { firstFreeForm } from '../../../domain/service.ts';
import { getFact, setFact } from '../../database/fact-rows.ts';
import { NOTICE_CALLS } from '../../database/notice-rows.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { fromRow, type RegistryStore } from '../../database/registry-store.ts';
import type { Account, AccountStore, NoticeStore, TrustChanges, TrustGiver } from '../../ports/accounts.ts';
import { followTrustOfDomains } from '../pages/page-domain-rows.ts';
import { toDefinition, updateServices } from '../services/service-rows.ts';
import { isTrustedAccount } from '../trust.ts';
import { readMembers } from './member-rows.ts';

/** Maximum length of an account's name, in characters. */
const MAX_NAME_LENGTH = 60;

/** Finds or creates the account with that name, which is trusted if the setting names it. */
export async function ensureAccount(store: RegistryStore, name: string, now: number): Promise<Account> {
  const { kysely, queries } = store;
  const isNamed = (await reservedNames(store)).includes(name);
  await queries.run(
    kysely
      .insertInto('accounts')
      .values({ name, created_at: now, ...(isNamed ? { trusted_at: now, trusted_by: 'setting' } : {}) })
      .onConflict((conflict) => conflict.column('name').doNothing()),
  );
  const row = await queries.first(kysely.selectFrom('accounts').selectAll().where('name', '=', name));
  if (row === undefined) throw new Error(`account ${name} was not written`);
  return fromRow(row);
}

export const ACCOUNT_CALLS = {
  ensureAccount: write(ensureAccount),
  listAccounts: read(async (store) => {
    const { kysely, queries } = store;
    const members = await readMembers(store, null);
    const keys = countBy(
      await queries.all(
        kysely
          .selectFrom('api_keys')
          .select(({ fn }) => ['account_id', fn.countAll<number>().as('count')])
          .groupBy('account_id'),
      ),
    );
    const services = countBy(
      await queries.all(
        kysely
          .selectFrom('services')
          .select(({ fn }) => ['account_id', fn.countAll<number>().as('count')])
          .where('origin', '=', 'owner')
          .where('removed', '=', 0)
          .groupBy('account_id'),
      ),
    );
    return (await queries.all(kysely.selectFrom('accounts').selectAll().orderBy('id'))).map((row) => ({
      ...fromRow(row),
      members: members.get(row.id) ?? [],
      keys: keys.get(row.id) ?? 0,
      services: services.get(row.id) ?? 0,
    }));
  }),
  trustAccount: write(trustAccount),
  trustNamed: write(trustNamed),
  isTrusted: read(isTrustedAccount),
  ...NOTICE_CALLS,
} satisfies Partial<Calls<AccountStore & NoticeStore>>;

function countBy(rows: readonly { account_id: number | null; count: number }[]): ReadonlyMap<number, number> {
  return new Map(rows.map(({ account_id, count }) => [account_id ?? 0, count]));
}

/** Names that become trusted as soon as an account has one of them, so that nobody may choose them. */
export async function reservedNames(store: RegistryStore): Promise<readonly string[]> {
  return JSON.parse((await getFact(store, TRUSTED_NAMES_FACT)) ?? '[]');
}

/** Adds an account under that name, with a number appended if another account has it, or it is reserved. */
export async function addAccount(
  store: RegistryStore,
  wanted: string,
  now: number,
  reserved: readonly string[],
): Promise<Account> {
  const { kysely, queries } = store;
  const name = await freeName(store, wanted, reserved);
  const row = await queries.first(
    kysely.insertInto('accounts').values({ name, created_at: now }).returningAll(),
  );
  if (row === undefined) throw new Error('the account was not written');
  return fromRow(row);
}

/** The account with that number. Throws `not_found` if there is none. */
export async function readAccount({ kysely, queries }: RegistryStore, id: number): Promise<Account> {
  const row = await queries.first(kysely.selectFrom('accounts').selectAll().where('id', '=', id));
  if (row === undefined) throw new RegistryError('not_found', { code: 'no_account', account: String(id) });
  return fromRow(row);
}

/** As {@link AccountStore.trustAccount}. */
export async function trustAccount(
  store: RegistryStore,
  id: number,
  by: TrustGiver | null,
  now: number,
): Promise<Account> {
  const { kysely, queries } = store;
  const account = await readAccount(store, id);
  // A command outlasts the setting, which ends its own trust when the name leaves it.
  const isKept = by === null || by === 'setting' || account.trustedBy !== 'setting';
  if ((account.trustedAt !== null) === (by !== null) && isKept) return account;
  const trust = { trusted_at: by === null ? null : now, trusted_by: by };
  await queries.run(kysely.updateTable('accounts').set(trust).where('id', '=', id));
  const owned = kysely.selectFrom('services').selectAll().where('account_id', '=', id);
  const rows = await queries.all(owned.where('removed', '=', 0));
  // Each has an entry in the feed of changes, so that running processes learn of it.
  await updateServices(
    store,
    rows.map((row) => ({ row, service: toDefinition(row) })),
  );
  await followTrustOfDomains(store, id, now);
  return await readAccount(store, id);
}

/** Name of the fact with the names of the setting `accounts.trusted`. */
const TRUSTED_NAMES_FACT = 'trusted-names';

async function trustNamed(
  store: RegistryStore,
  names: readonly string[],
  now: number,
): Promise<TrustChanges> {
  const { kysely, queries } = store;
  if (JSON.stringify(await reservedNames(store)) !== JSON.stringify(names))
    await setFact(store, TRUSTED_NAMES_FACT, JSON.stringify(names));
  const wanted = new Set(names);
  const accounts = await queries.all(kysely.selectFrom('accounts').selectAll().orderBy('id'));
  const begun: Account[] = [];
  const ended: Account[] = [];
  for (const { id, name, trusted_by: by } of accounts) {
    const isNamed = wanted.delete(name);
    if (isNamed && by === null) begun.push(await trustAccount(store, id, 'setting', now));
    else if (!isNamed && by === 'setting') ended.push(await trustAccount(store, id, null, now));
  }
  return { begun, ended, unknown: [...wanted] };
}

/** A name that a provider returns, without control characters and of at most 60 characters. */
export function cleanName(name: string): string {
  return name.replaceAll(/\p{C}/gu, '').trim().slice(0, MAX_NAME_LENGTH) || 'someone';
}

async function freeName(
  { kysely, queries }: RegistryStore,
  wanted: string,
  reserved: readonly string[],
): Promise<string> {
  const name = cleanName(wanted);
  // In ASCII the dot follows the dash, so this range contains the names with a dash and a suffix.
  const rows = await queries.all(
    kysely
      .selectFrom('accounts')
      .select('name')
      .where((eb) =>
        eb.or([eb('name', '=', name), eb.and([eb('name', '>=', `${name}-`), eb('name', '<', `${name}.`)])]),
      ),
  );
  const taken = new Set([...reserved, ...rows.map((row) => row.name)]);
  return firstFreeForm(name, (form) => taken.has(form));
}
