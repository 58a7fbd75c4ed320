/** Rules of alerts: which changes of which services go to which channels of an account (docs/alerts.md). */
import type { AlertRule } from '../../domain/alert/rule.ts';
import type { Service } from '../../domain/service.ts';
import { isListable } from '../../domain/status-page.ts';
import type { RuleStore } from '../../store/ports/alerts.ts';
import type { ChannelStore } from '../../store/ports/channels.ts';
import type { ServiceStore } from '../../store/ports/services.ts';
import type { PageReads } from '../../store/ports/status-pages.ts';
import { accept, attempt, type Outcome } from '../kit/change.ts';
import { createChanges } from '../kit/create-changes.ts';
import { byNameOnPage, listedFinder, nameOnPage } from '../kit/listed-services.ts';
import { type RuleDocument, readRuleDocument, ruleDocumentOf, type WantedRule } from './rule-document.ts';

export interface RuleContext {
  readonly registry: RuleStore & ChannelStore & ServiceStore & PageReads;
  /** The live service with that slug; null: there is none. */
  readonly findService: (slug: string) => Service | null;
  readonly findServiceById: (id: number) => Service | null;
  readonly now: () => number;
}

type StoredForm = Omit<AlertRule, 'id' | 'accountId' | 'createdAt' | 'revision'>;

/** The changes of rules, which are known by their numbers and ordered by name. */
export const ruleChanges = createChanges<AlertRule, number, RuleDocument, StoredForm, RuleContext>({
  mayChange: 'editor',
  codes: {
    missing: (id) => ({ code: 'no_rule', id }),
    stale: 'rule_stale',
    at: { rule_name_taken: 'name', too_many_rules: 'name' },
  },
  keyOf: ({ id }) => id,
  list: ({ registry }, accountId) => registry.rulesOf(accountId),
  writer: ruleWriter,
  read: (context, document, { accountId }) => readRule(context, accountId, document),
  add: ({ registry, now }, accountId, rule) =>
    attempt(() => registry.addRule({ accountId, ...rule, createdAt: now() })),
  change: ({ registry }, { accountId, id, revision }, rule) =>
    attempt(() => registry.changeRule(accountId, id, rule, [revision])),
  remove: ({ registry }, { accountId, id, revision }) =>
    attempt(() => registry.removeRule(accountId, id, [revision])),
});

/** Returns a function that writes the documents of an account's rules, without services and channels that are gone. */
async function ruleWriter(
  {
    registry,
    findServiceById,
  }: RuleContext & {
    readonly registry: ChannelStore;
  },
  accountId: number,
): Promise<(rule: AlertRule) => RuleDocument> {
  const channels = new Map((await registry.channelsOf(accountId)).map(({ id, name }) => [id, name]));
  return (rule) =>
    ruleDocumentOf(rule, {
      service(id) {
        const service = findServiceById(id);
        return service === null || !isListable(service, accountId) ? null : nameOnPage(service);
      },
      channel: (id) => channels.get(id) ?? null,
    });
}

async function readRule(
  { registry, findService }: RuleContext,
  accountId: number,
  document: unknown,
): Promise<Outcome<StoredForm>> {
  const [channels, services, pages] = await Promise.all([
    registry.channelsOf(accountId),
    registry.servicesOf(accountId),
    registry.pagesOf(accountId),
  ]);
  const own = byNameOnPage(services);
  const slugs = new Set(pages.map(({ slug }) => slug));
  const reading = readRuleDocument(document, {
    service: listedFinder(accountId, own, findService).idOf,
    channel: (name) => channels.find((channel) => channel.name === name.trim())?.id ?? null,
    hasPage: (slug) => slugs.has(slug),
  });
  return reading.ok ? accept(storedForm(reading.value)) : reading;
}

/** A rule that names only what is stored. */
function storedForm({ of, channels, ...rule }: WantedRule): StoredForm {
  const ids = (list: readonly (number | string)[]) => list.filter((one) => typeof one === 'number');
  return { ...rule, of: { ...of, services: ids(of.services) }, channels: ids(channels) };
}
