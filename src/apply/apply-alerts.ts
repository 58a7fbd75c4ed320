/** Channels and rules in a document of `apply`. */

import { CHANNEL_KINDS } from '../domain/alert/channel.ts';
import {
  type ChannelRules,
  readChannelDocument,
  secretSettings,
} from '../resources/channels/channel-document.ts';
import { editOf, newChannel } from '../resources/channels/channels.ts';
import { accept, type Outcome } from '../resources/kit/change.ts';
import { takeKept } from '../resources/kit/take-kept.ts';
import { readRuleDocument, ruleDocumentOf } from '../resources/rules/rule-document.ts';
import type { WantedChannel, WantedRule } from '../store/ports/account-content.ts';
import type { ContentItem } from './apply-plan.ts';
import { type PresentContent, ruleItem } from './present-content.ts';

/** Reads a channel of a document; secrets that it does not name, or for which it has null, stay. Refused as {@link readChannelDocument}. */
export function readWantedChannel(
  rules: ChannelRules,
  present: PresentContent['channel'],
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
  readonly channels: PresentContent['channel'];
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
