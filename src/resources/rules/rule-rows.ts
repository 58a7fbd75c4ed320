/** Rules of alerts. */
import type { AlertRule } from '../../domain/alert/rule.ts';
import { getFact, setFact } from '../../store/database/fact-rows.ts';
import { type Calls, read, write } from '../../store/database/registry-calls.ts';
import { RegistryError, requireRevision } from '../../store/database/registry-error.ts';
import { type RegistryStore, sql } from '../../store/database/registry-store.ts';
import type { Row } from '../../store/database/schema.ts';
import { MAX_RULES, type RuleEdit, type RuleStore } from '../../store/ports/alerts.ts';

/** The members of a rule besides its name. */
type Definition = Pick<AlertRule, 'of' | 'events' | 'channels' | 'afterMs' | 'repeatMs' | 'quiet'>;

const VERSION_FACT = 'alert-rules';

export const RULE_CALLS: Calls<RuleStore> = {
  addRule: write(async (store, rule) => {
    const { accountId, name, enabled, createdAt } = rule;
    const rules = await rulesOf(store, accountId);
    if (rules.length >= MAX_RULES)
      throw new RegistryError('account_limit', { code: 'too_many_rules', max: MAX_RULES });
    refuseName(rules, name);
    const row = await store.queries.first(
      store.kysely
        .insertInto('alert_rules')
        .values({
          account_id: accountId,
          name,
          definition: toDefinition(rule),
          enabled: enabled ? 1 : 0,
          created_at: createdAt,
          revision: 1,
        })
        .returningAll(),
    );
    if (row === undefined) throw new Error('the rule was not written');
    await noteRuleChange(store);
    return toRule(row);
  }),
  rulesOf: read(rulesOf),
  // biome-ignore lint/complexity/useMaxParams: the store, then the arguments of the port's method
  changeRule: write(async (store, accountId, id, edit: RuleEdit, revisions) => {
    const rules = await rulesOf(store, accountId);
    const before = findRule(rules, id, revisions);
    const rule = { ...before, ...edit, revision: before.revision + 1 };
    if (rule.name !== before.name) refuseName(rules, rule.name);
    await writeRule(store, rule);
    await noteRuleChange(store);
    return rule;
  }),
  removeRule: write(async (store, accountId, id, revisions) => {
    findRule(await rulesOf(store, accountId), id, revisions);
    await store.queries.run(store.kysely.deleteFrom('alert_rules').where('id', '=', id));
    await noteRuleChange(store);
  }),
  loadRules: read(async (store) => {
    const { kysely, queries } = store;
    const version = await rulesVersion(store);
    const rows = await queries.all(
      kysely.selectFrom('alert_rules').selectAll().where('enabled', '=', sql.lit(1)).orderBy('id'),
    );
    const channels = await queries.all(kysely.selectFrom('channels').select(['id', 'account_id', 'kind']));
    const owners = new Map(channels.map(({ id, account_id }) => [id, account_id]));
    const rules = rows.map(toRule).map((rule) => ({
      ...rule,
      channels: rule.channels.filter((id) => owners.get(id) === rule.accountId),
    }));
    return {
      version,
      rules,
      channels: channels.map(({ id, account_id, kind }) => ({ id, accountId: account_id, kind })),
    };
  }),
  rulesVersion: read(rulesVersion),
};

/** The number that changes with the rules, the pages and the accounts that they belong to. */
export async function rulesVersion(store: RegistryStore): Promise<number> {
  return Number((await getFact(store, VERSION_FACT)) ?? 0);
}

/** Notes inside the caller's transaction that rules, or what they name, have changed. */
export async function noteRuleChange(store: RegistryStore): Promise<void> {
  await setFact(store, VERSION_FACT, String((await rulesVersion(store)) + 1));
}

/** Takes channels out of the rules of an account inside the caller's transaction. */
export async function dropFromRules(
  store: RegistryStore,
  accountId: number,
  channelIds: readonly number[],
): Promise<void> {
  for (const rule of await rulesOf(store, accountId)) {
    const channels = rule.channels.filter((id) => !channelIds.includes(id));
    if (channels.length < rule.channels.length)
      await writeRule(store, { ...rule, channels, revision: rule.revision + 1 });
  }
  await noteRuleChange(store);
}

async function writeRule({ kysely, queries }: RegistryStore, rule: AlertRule): Promise<void> {
  const { id, name, enabled, revision } = rule;
  await queries.run(
    kysely
      .updateTable('alert_rules')
      .set({ name, definition: toDefinition(rule), enabled: enabled ? 1 : 0, revision })
      .where('id', '=', id),
  );
}

async function rulesOf({ kysely, queries }: RegistryStore, accountId: number): Promise<AlertRule[]> {
  const rows = await queries.all(
    kysely.selectFrom('alert_rules').selectAll().where('account_id', '=', accountId).orderBy('name'),
  );
  return rows.map(toRule);
}

function findRule(rules: readonly AlertRule[], id: number, revisions?: readonly number[]): AlertRule {
  return requireRevision(
    rules.find((known) => known.id === id),
    revisions,
    { missing: { code: 'no_rule', id }, stale: { code: 'rule_stale' } },
  );
}

function refuseName(rules: readonly AlertRule[], name: string): void {
  if (rules.some((rule) => rule.name === name))
    throw new RegistryError('name_taken', { code: 'rule_name_taken', name });
}

function toDefinition({ of, events, channels, afterMs, repeatMs, quiet }: Definition): string {
  return JSON.stringify({ of, events, channels, afterMs, repeatMs, quiet } satisfies Definition);
}

function toRule(row: Row<'alert_rules'>): AlertRule {
  const definition: Definition = JSON.parse(row.definition);
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    ...definition,
    enabled: row.enabled === 1,
    createdAt: row.created_at,
    revision: row.revision,
  };
}
