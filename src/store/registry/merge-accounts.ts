/** Merges an account into another one, and removes one that has nothing, each in one transaction. */
import {
  type AlertState,
  earliestOf,
  mergeAlertStates,
  readAlertState,
  writeAlertState,
} from '../../domain/alert/alert-state.ts';
import { includesRole, type Role } from '../../domain/role.ts';
import { firstFreeForm } from '../../domain/service.ts';
import { noteRuleChange } from '../../resources/rules/rule-rows.ts';
import { addNotice } from '../database/notice-rows.ts';
import { RegistryError } from '../database/registry-error.ts';
import { type RegistryStore, statement } from '../database/registry-store.ts';
import type { AccountContents, MergePlan } from '../ports/accounts.ts';
import { readAccount } from './accounts/account-rows.ts';
import { putMember, readMembers } from './accounts/member-rows.ts';
import { claimsOf, servicesOf } from './ownership.ts';
import { followTrustOfDomains } from './pages/page-domain-rows.ts';
import { toDefinition, updateService } from './services/service-rows.ts';

/** Tables whose rows move. */
export const MOVED_TABLES = [
  'services',
  'api_keys',
  'webhooks',
  'status_pages',
  'owner_incidents',
  'owner_maintenances',
  'account_notices',
  'domain_registrations',
  'heartbeat_inbox',
  'sessions',
  'identities',
  'people',
  'setup_links',
  'domain_claims',
  'idempotent_changes',
  'channels',
  'alert_rules',
  'alert_acknowledgements',
] as const;

/** Tables whose rows end with the account. Its members and its alerts are added to those of the other account before. */
export const ENDED_TABLES = ['members', 'invitations', 'alert_states'] as const;

/** Columns of which an account has each value once: rows of the other account stay. */
const UNIQUE_COLUMNS = {
  domain_claims: 'domain',
  idempotent_changes: 'key',
  alert_acknowledgements: 'thread',
} as const;

const REMOVE_EMPTY = statement(
  `DELETE FROM accounts WHERE id = ?${[...MOVED_TABLES, ...ENDED_TABLES]
    .map((table) => ` AND NOT EXISTS (SELECT 1 FROM ${table} WHERE account_id = accounts.id)`)
    .join('')}`,
);

const COUNT_SUBSCRIPTIONS = statement<{ readonly n: number }>(
  `SELECT count(*) AS n FROM subscriptions WHERE confirmed_at IS NOT NULL AND topic IN (
     SELECT 'service:' || id FROM services WHERE account_id = ? AND removed = 0
     UNION ALL SELECT 'page:' || id FROM status_pages WHERE account_id = ? AND removed = 0)`,
);

/** The plan of a merge: the things that it moves, and those that it cannot move. Throws `not_found` if there is no such account. */
export async function planMerge(store: RegistryStore, fromId: number, intoId: number): Promise<MergePlan> {
  const [from, into] = [await readAccount(store, fromId), await readAccount(store, intoId)];
  // Trust is given by its name, never as a side effect.
  if (into.trustedAt !== null && from.trustedAt === null)
    throw new RegistryError('not_trusted', { code: 'merge_untrusted', from: from.name, into: into.name });
  const known = (await readMembers(store, intoId)).get(intoId) ?? [];
  const members = ((await readMembers(store, fromId)).get(fromId) ?? []).map((member) => {
    const before = known.find(({ personId }) => personId === member.personId)?.role ?? null;
    return { name: member.name, personId: member.personId, before, role: greaterRole(before, member.role) };
  });
  const [fromClaims, intoClaims] = [await claimsOf(store, fromId), await claimsOf(store, intoId)];
  const claimed = new Set(intoClaims.map(({ domain }) => domain));
  return {
    from,
    into,
    moved: await readContents(store, fromId),
    before: await readContents(store, intoId),
    members,
    membersBefore: known.length,
    claims: fromClaims.map(({ domain }) => domain).filter((domain) => !claimed.has(domain)),
    droppedClaims: fromClaims.map(({ domain }) => domain).filter((domain) => claimed.has(domain)),
    droppedInvitations: await countRows(store, 'invitations', fromId),
  };
}

/** Merges the account `fromId` into `intoId` inside the caller's transaction. Throws as {@link planMerge}. */
export async function mergeAccounts(
  store: RegistryStore,
  fromId: number,
  intoId: number,
  now: number,
): Promise<MergePlan> {
  const { kysely, queries } = store;
  const plan = await planMerge(store, fromId, intoId);
  const live = await queries.all(
    kysely.selectFrom('services').selectAll().where('account_id', '=', fromId).where('removed', '=', 0),
  );
  // Each service changes its account in the feed of changes, so that running processes learn of it.
  for (const row of live) await updateService(store, row, { ...toDefinition(row), accountId: intoId });
  for (const member of plan.members) await putMember(store, intoId, member, now);
  await joinAlertStates(store, fromId, intoId);
  for (const [table, column] of Object.entries(UNIQUE_COLUMNS)) {
    const deleteKnown = statement(
      `DELETE FROM ${table} WHERE account_id = ? AND ${column} IN (SELECT ${column} FROM ${table} WHERE account_id = ?)`,
    );
    await queries.run(deleteKnown(fromId, intoId));
  }
  for (const table of ['channels', 'alert_rules'] as const) await renameTaken(store, table, fromId, intoId);
  for (const table of MOVED_TABLES)
    await queries.run(statement(`UPDATE ${table} SET account_id = ? WHERE account_id = ?`)(intoId, fromId));
  await followTrustOfDomains(store, intoId, now);
  for (const table of ENDED_TABLES)
    await queries.run(kysely.deleteFrom(table).where('account_id', '=', fromId));
  await queries.run(kysely.deleteFrom('accounts').where('id', '=', fromId));
  await noteRuleChange(store);
  await addNotice(store, intoId, now, { code: 'account_merged', name: plan.from.name });
  return plan;
}

/** Removes an account of which no table has a row, inside the caller's transaction; returns whether it did. */
export async function removeEmptyAccount({ queries }: RegistryStore, id: number): Promise<boolean> {
  return (await queries.run(REMOVE_EMPTY(id))) > 0;
}

/** Adds what the account `fromId` remembers of its alerts to what the other account does: both sets of open alerts go on. */
async function joinAlertStates(
  { kysely, queries }: RegistryStore,
  fromId: number,
  intoId: number,
): Promise<void> {
  const rows = await queries.all(
    kysely.selectFrom('alert_states').selectAll().where('account_id', 'in', [fromId, intoId]),
  );
  const from = rows.find((row) => row.account_id === fromId);
  const into = rows.find((row) => row.account_id === intoId);
  const moved = readState(from?.state);
  if (from === undefined || moved === null) return;
  const known = readState(into?.state);
  const values = {
    state: known === null ? from.state : writeAlertState(mergeAlertStates(known, moved)),
    due_at: earliestOf(from.due_at, into?.due_at ?? null),
  };
  await queries.run(
    kysely
      .insertInto('alert_states')
      .values({ account_id: intoId, ...values })
      .onConflict((conflict) => conflict.column('account_id').doUpdateSet(values)),
  );
}

/** Null: there is none, or this version cannot read it. */
function readState(text: string | undefined): AlertState | null {
  try {
    return text === undefined ? null : readAlertState(text);
  } catch {
    return null;
  }
}

/** Renames what the account `fromId` has under a name that the other account has too, by a number at its end. */
async function renameTaken(
  { kysely, queries }: RegistryStore,
  table: 'channels' | 'alert_rules',
  fromId: number,
  intoId: number,
): Promise<void> {
  const rows = await queries.all(
    kysely.selectFrom(table).select(['id', 'account_id', 'name']).where('account_id', 'in', [fromId, intoId]),
  );
  const names = new Set(rows.map(({ name }) => name));
  const kept = new Set(rows.filter((row) => row.account_id === intoId).map(({ name }) => name));
  for (const { id, name } of rows.filter((row) => row.account_id === fromId && kept.has(row.name))) {
    const free = firstFreeForm(name, (form) => names.has(form));
    names.add(free);
    await queries.run(kysely.updateTable(table).set({ name: free }).where('id', '=', id));
  }
}

function greaterRole(before: Role | null, role: Role): Role {
  return before !== null && includesRole(before, role) ? before : role;
}

async function readContents(store: RegistryStore, accountId: number): Promise<AccountContents> {
  return {
    services: (await servicesOf(store, accountId)).length,
    keys: await countRows(store, 'api_keys', accountId, 'revoked_at IS NULL'),
    webhooks: await countRows(store, 'webhooks', accountId),
    pages: await countRows(store, 'status_pages', accountId, 'removed = 0'),
    channels: await countRows(store, 'channels', accountId),
    rules: await countRows(store, 'alert_rules', accountId),
    incidents: await countRows(store, 'owner_incidents', accountId),
    maintenances: await countRows(store, 'owner_maintenances', accountId),
    subscriptions: (await store.queries.first(COUNT_SUBSCRIPTIONS(accountId, accountId)))?.n ?? 0,
  };
}

/** The number of rows of the account that meet the condition. */
async function countRows(
  { queries }: RegistryStore,
  table: (typeof MOVED_TABLES | typeof ENDED_TABLES)[number],
  accountId: number,
  condition = '1 = 1',
): Promise<number> {
  const count = statement<{ readonly n: number }>(
    `SELECT count(*) AS n FROM ${table} WHERE account_id = ? AND ${condition}`,
  );
  return (await queries.first(count(accountId)))?.n ?? 0;
}
