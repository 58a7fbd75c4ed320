/** Rules of an account: its owners and editors add, change and remove them. */
import type { AlertRule } from '../domain/alert/rule.ts';
import type { Service } from '../domain/service.ts';
import type { RuleStore } from '../store/ports/alerts.ts';
import type { ChannelStore } from '../store/ports/channels.ts';
import type { ServiceStore } from '../store/ports/services.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import {
  type AccountPrincipal,
  accept,
  atField,
  attempt,
  MAX_TRIES,
  type Outcome,
  refuse,
  refuseRole,
} from './change.ts';
import { mergePatch } from './merge-patch.ts';
import { listedFinder, nameOnPage } from './page-document.ts';
import { type RuleDocument, readRuleDocument, ruleDocumentOf, type WantedRule } from './rule-document.ts';

/** The dependencies of changes of rules. */
export interface RuleContext {
  readonly registry: RuleStore &
    Pick<ChannelStore, 'channelsOf'> &
    Pick<ServiceStore, 'servicesOf'> &
    Pick<PageStore, 'pagesOf'>;
  /** The live service with that slug; null: there is none. */
  readonly findService: (slug: string) => Service | null;
  readonly findServiceById: (id: number) => Service | null;
  readonly now: () => number;
}

/** A rule with its document. */
export interface DefinedRule {
  readonly rule: AlertRule;
  readonly document: RuleDocument;
}

/** The rules of an account, ordered by name. */
export async function listRules(
  context: Pick<RuleContext, 'findServiceById'> & {
    readonly registry: Pick<RuleStore, 'rulesOf'> & Pick<ChannelStore, 'channelsOf'>;
  },
  accountId: number,
): Promise<DefinedRule[]> {
  const { registry } = context;
  const [rules, channels] = await Promise.all([registry.rulesOf(accountId), registry.channelsOf(accountId)]);
  const names = new Map(channels.map(({ id, name }) => [id, name]));
  return rules.map((rule) => ({ rule, document: defineRule(context, rule, names) }));
}

/** The rule with that number. Refused with `no_rule`. */
export async function findRule(
  context: Parameters<typeof listRules>[0],
  { accountId }: Pick<AccountPrincipal, 'accountId'>,
  id: number,
): Promise<Outcome<DefinedRule>> {
  const found = (await listRules(context, accountId)).find(({ rule }) => rule.id === id);
  return found === undefined ? refuse({ code: 'no_rule', id }) : accept(found);
}

/** Adds a rule. Refused with `role_required`, `too_many_rules`, `rule_name_taken`, and as `readRuleDocument`. */
export async function addRule(
  context: Omit<RuleContext, 'registry'> & { readonly registry: Omit<RuleContext['registry'], 'changeRule'> },
  principal: AccountPrincipal,
  document: unknown,
): Promise<Outcome<AlertRule>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const reading = await readRule(context, accountId, document);
  if (!reading.ok) return reading;
  const rule = { accountId, ...reading.value, createdAt: context.now() };
  return await attempt(() => context.registry.addRule(rule), 'name');
}

/**
 * Changes a rule by a merge patch (RFC 7396) of its document; null sets a member to its default. `revisions`: those that the client
 * has seen; null: any. Refused with `role_required`, `no_rule`, `rule_stale`, and as {@link addRule}.
 */
export async function patchRule(
  context: RuleContext,
  principal: AccountPrincipal,
  id: number,
  patch: unknown,
  revisions: readonly number[] | null,
): Promise<Outcome<AlertRule>> {
  return await changeRule(context, principal, id, revisions, (document) => mergePatch(document, patch));
}

/** Changes a rule to what another document says, and as {@link patchRule} otherwise. */
export async function replaceRule(
  context: RuleContext,
  principal: AccountPrincipal,
  id: number,
  document: unknown,
  revisions: readonly number[] | null,
): Promise<Outcome<AlertRule>> {
  return await changeRule(context, principal, id, revisions, () => document);
}

/** Removes a rule. Refused with `role_required`, `no_rule` and `rule_stale`. */
export async function removeRule(
  { registry }: { readonly registry: Pick<RuleStore, 'removeRule'> },
  principal: AccountPrincipal,
  id: number,
  revisions: readonly number[] | null,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  return await attempt(() => registry.removeRule(principal.accountId, id, revisions ?? undefined));
}

async function changeRule(
  context: RuleContext,
  principal: AccountPrincipal,
  id: number,
  revisions: readonly number[] | null,
  change: (document: RuleDocument) => unknown,
): Promise<Outcome<AlertRule>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  for (let tried = 1; ; tried++) {
    const found = await findRule(context, principal, id);
    if (!found.ok) return found;
    const { rule, document } = found.value;
    if (revisions !== null && !revisions.includes(rule.revision)) return refuse({ code: 'rule_stale' });
    const reading = await readRule(context, accountId, change(document));
    if (!reading.ok) return reading;
    const outcome = await attempt(() =>
      context.registry.changeRule(accountId, id, reading.value, [rule.revision]),
    );
    const isStale = !outcome.ok && outcome.refusals.some(({ refusal }) => refusal.code === 'rule_stale');
    if (!isStale || tried === MAX_TRIES) return atField(outcome, 'rule_name_taken', 'name');
  }
}

async function readRule(
  {
    registry,
    findService,
  }: Pick<RuleContext, 'findService'> & {
    readonly registry: Pick<RuleContext['registry'], 'channelsOf' | 'servicesOf' | 'pagesOf'>;
  },
  accountId: number,
  document: unknown,
): Promise<Outcome<StoredForm>> {
  const [channels, services, pages] = await Promise.all([
    registry.channelsOf(accountId),
    registry.servicesOf(accountId),
    registry.pagesOf(accountId),
  ]);
  const own = new Map(services.map((service) => [service.domain, service]));
  const slugs = new Set(pages.map(({ slug }) => slug));
  const reading = readRuleDocument(document, {
    service: listedFinder(accountId, own, findService).idOf,
    channel: (name) => channels.find((channel) => channel.name === name.trim())?.id ?? null,
    hasPage: (slug) => slugs.has(slug),
  });
  return reading.ok ? accept(storedForm(reading.value)) : reading;
}

type StoredForm = Omit<AlertRule, 'id' | 'accountId' | 'createdAt' | 'revision'>;

/** A rule that names only what is stored. */
function storedForm({ of, channels, ...rule }: WantedRule): StoredForm {
  const ids = (list: readonly (number | string)[]) => list.filter((one) => typeof one === 'number');
  return { ...rule, of: { ...of, services: ids(of.services) }, channels: ids(channels) };
}

/** The document of a rule, without services and channels that are gone. */
export function defineRule(
  { findServiceById }: Pick<RuleContext, 'findServiceById'>,
  rule: AlertRule,
  channels: ReadonlyMap<number, string>,
): RuleDocument {
  return ruleDocumentOf(rule, {
    service(id) {
      const service = findServiceById(id);
      return service === null ? null : nameOnPage(service);
    },
    channel: (id) => channels.get(id) ?? null,
  });
}
