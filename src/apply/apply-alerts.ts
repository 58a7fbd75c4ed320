/** Channels and rules in a document of `apply`, and those that an account has: both in the form that a plan compares. */

import { CHANNEL_KINDS, type Channel } from '../domain/alert/channel.ts';
import type { AlertRule } from '../domain/alert/rule.ts';
import {
  type ChannelKinds,
  type ChannelRules,
  channelDocumentOf,
  readChannelDocument,
  secretSettings,
} from '../resources/channels/channel-document.ts';
import { editOf, newChannel } from '../resources/channels/channels.ts';
import { accept, type Outcome } from '../resources/kit/change.ts';
import { takeKept } from '../resources/kit/take-kept.ts';
import { type RuleDocument, readRuleDocument, ruleDocumentOf } from '../resources/rules/rule-document.ts';
import type { WantedChannel, WantedRule } from '../store/ports/account-content.ts';
import type { RuleStore } from '../store/ports/alerts.ts';
import type { ChannelStore } from '../store/ports/channels.ts';
import type { ContentItem } from './apply-plan.ts';

/** Channels and rules of an account. */
export interface PresentAlerts {
  /** By name; empty: neither channels nor rules are listed. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** By name; empty: rules are not listed. */
  readonly rules: ReadonlyMap<string, AlertRule>;
}

/** Reads the channels and rules of an account, as far as a document lists them. */
export async function readPresentAlerts(
  registry: Pick<ChannelStore, 'channelsOf'> & Pick<RuleStore, 'rulesOf'>,
  accountId: number,
  listed: { readonly channels?: unknown; readonly rules?: unknown },
): Promise<PresentAlerts> {
  const hasRules = listed.rules !== undefined;
  const channels = hasRules || listed.channels !== undefined ? await registry.channelsOf(accountId) : [];
  const rules = hasRules ? await registry.rulesOf(accountId) : [];
  return {
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    rules: new Map(rules.map((rule) => [rule.name, rule])),
  };
}

/** Reads a channel of a document; secrets that it does not name, or for which it has null, stay. Refused as {@link readChannelDocument}. */
export function readWantedChannel(
  rules: ChannelRules,
  present: PresentAlerts['channels'],
  document: unknown,
  now: number,
): Outcome<WantedChannel> {
  const { name }: { readonly name?: unknown } = Object(document);
  const before = (typeof name === 'string' ? present.get(name.trim()) : undefined) ?? null;
  const { kind }: { readonly kind?: unknown } = Object(document);
  const known = CHANNEL_KINDS.find((one) => one === kind);
  const stored = before !== null && before.kind === known ? before.settings : {};
  const taken = takeKept(document, known === undefined ? [] : secretSettings(rules.kinds, known), stored);
  if (!taken.ok) return taken;
  const reading = readChannelDocument(rules, taken.value.document, before);
  if (!reading.ok) return reading;
  const { confirmedAt } =
    before === null
      ? newChannel(rules.kinds, 0, reading.value, now)
      : { confirmedAt: before.confirmedAt, ...editOf(rules.kinds, before, reading.value) };
  return accept({ ...reading.value, confirmedAt });
}

/** Finds what the rules of a document name. */
export interface ListedNames {
  readonly service: (name: string) => number | string | null;
  readonly serviceName: (service: number | string) => string;
  readonly channels: PresentAlerts['channels'];
  /** Names of the channels that the account will have. */
  readonly hasChannel: (name: string) => boolean;
  readonly hasPage: (slug: string) => boolean;
}

/** Reads a rule of a document. Refused as {@link readRuleDocument}. */
export function readWantedRule(document: unknown, names: ListedNames): Outcome<WantedRule> {
  return readRuleDocument(document, {
    service: names.service,
    channel(text) {
      const name = text.trim();
      return names.hasChannel(name) ? (names.channels.get(name)?.id ?? name) : null;
    },
    hasPage: names.hasPage,
  });
}

/** A channel as a plan compares it. `before`: the stored one, whose equal secrets are not new; null: there is none. */
export function channelItem(
  kinds: ChannelKinds,
  channel: Omit<WantedChannel, 'confirmedAt'>,
  before: Pick<Channel, 'settings'> | null,
): ContentItem {
  const { name: key, ...document } = channelDocumentOf(kinds, channel);
  const secrets = secretSettings(kinds, channel.kind).flatMap((setting) => {
    const value = channel.settings[setting];
    if (value === undefined) return [];
    return [[`settings.${setting}`, value === before?.settings[setting] ? 'stored' : 'new'] as const];
  });
  return { type: 'channel', key, document, secrets: Object.fromEntries(secrets) };
}

/** A rule as a plan compares it. */
export function ruleItem({ name: key, ...document }: RuleDocument): ContentItem {
  return { type: 'rule', key, document, secrets: {} };
}

/** A rule of a document as it reads when it is stored. */
export function wantedRuleItem(rule: WantedRule, names: ListedNames): ContentItem {
  const known = new Map([...names.channels.values()].map(({ id, name }) => [id, name]));
  return ruleItem(
    ruleDocumentOf(rule, {
      service: names.serviceName,
      channel: (channel) => (typeof channel === 'string' ? channel : (known.get(channel) ?? null)),
    }),
  );
}
