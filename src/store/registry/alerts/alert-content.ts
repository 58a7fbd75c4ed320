/** Channels and rules among the changes of what an account has. Functions run inside the transaction of the changes. */
import { isDeepStrictEqual } from 'node:util';
import { CHANNEL_CALLS } from '../../../resources/channels/channel-rows.ts';
import { RULE_CALLS } from '../../../resources/rules/rule-rows.ts';
import type { OpenRegistry } from '../../database/registry-calls.ts';
import type {
  AlertContent,
  ContentOptions,
  RefusedContent,
  WantedChannel,
  WantedRule,
} from '../../ports/account-content.ts';

/** Removes rules and channels by their numbers. */
export async function removeAlerts(
  registry: OpenRegistry,
  accountId: number,
  { removedRules, removedChannels }: AlertContent,
): Promise<void> {
  for (const id of removedRules) await RULE_CALLS.removeRule.run(registry, accountId, id);
  for (const id of removedChannels) await CHANNEL_CALLS.removeChannel.run(registry, accountId, id);
}

/** Writes channels, then rules. `ids`: of services of the account by their domains. */
export async function putAlerts(
  registry: OpenRegistry,
  accountId: number,
  { channels, rules, ids }: AlertContent & { readonly ids: ReadonlyMap<string, number> },
  options: ContentOptions,
): Promise<RefusedContent[]> {
  const refused: RefusedContent[] = [];
  for (const channel of channels)
    await noteRefusal(refused, { type: 'channel', key: channel.name }, () =>
      putChannel(registry, accountId, channel, options.now),
    );
  if (refused.length > 0) return refused;
  for (const rule of rules)
    await noteRefusal(refused, { type: 'rule', key: rule.name }, () =>
      putRule(registry, accountId, { ...rule, ids }, options),
    );
  return refused;
}

async function putChannel(
  registry: OpenRegistry,
  accountId: number,
  wanted: WantedChannel,
  now: number,
): Promise<void> {
  const known = await CHANNEL_CALLS.channelsOf.run(registry, accountId);
  const before = known.find(({ name }) => name === wanted.name);
  if (before === undefined) {
    await CHANNEL_CALLS.addChannel.run(registry, { ...wanted, accountId, createdAt: now });
    return;
  }
  const { settings, language, confirmedAt } = wanted;
  const edit = { settings, language, confirmedAt };
  const { settings: s, language: l, confirmedAt: c } = before;
  if (!isDeepStrictEqual({ settings: s, language: l, confirmedAt: c }, edit))
    await CHANNEL_CALLS.changeChannel.run(registry, accountId, before.id, edit);
}

async function putRule(
  registry: OpenRegistry,
  accountId: number,
  { ids, ...wanted }: WantedRule & { readonly ids: ReadonlyMap<string, number> },
  { now, dryRun }: ContentOptions,
): Promise<void> {
  const channels = await CHANNEL_CALLS.channelsOf.run(registry, accountId);
  const byName = new Map(channels.map(({ id, name }) => [name, id]));
  const idsOf = (refs: readonly (number | string)[], find: (name: string) => number | undefined) =>
    refs.flatMap((ref) => {
      const id = typeof ref === 'number' ? ref : find(ref);
      // A dry run does not add services of other steps.
      if (id === undefined && !dryRun)
        throw new Error(`the rule ${wanted.name} names ${ref}, which is not there`);
      return id ?? [];
    });
  const rule = {
    ...wanted,
    of: { ...wanted.of, services: idsOf(wanted.of.services, (key) => ids.get(key)) },
    channels: idsOf(wanted.channels, (name) => byName.get(name)),
  };
  const rules = await RULE_CALLS.rulesOf.run(registry, accountId);
  const before = rules.find(({ name }) => name === rule.name);
  if (before === undefined) await RULE_CALLS.addRule.run(registry, { ...rule, accountId, createdAt: now });
  else if (!isDeepStrictEqual({ ...before, ...rule }, before))
    await RULE_CALLS.changeRule.run(registry, accountId, before.id, rule);
}

/** Notes the refusal of a change; other errors are thrown. */
export async function noteRefusal(
  refused: RefusedContent[],
  about: Pick<RefusedContent, 'type' | 'key'>,
  change: () => Promise<void>,
): Promise<void> {
  try {
    await change();
  } catch (error) {
    const { refusal }: { readonly refusal?: RefusedContent['refusal'] } = Object(error);
    if (refusal === undefined) throw error;
    refused.push({ ...about, refusal });
  }
}
