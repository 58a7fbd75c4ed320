/** `upbeat channels` and `upbeat rules`: where accounts are told, and of what. */

import { readFileSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import { CHANNEL_KINDS, type ChannelKind, describeChannelProblem } from '../domain/alert/channel.ts';
import { messageOf } from '../error.ts';
import { CHANNEL_KINDS_TABLE } from '../notify/channels/kinds-table.ts';
import { destinationsByTrust } from '../outbound/address-guard.ts';
import {
  channelChanges,
  propertiesOf,
  testChannel as sendTest,
  settingOfText,
} from '../resources/channels/channels.ts';
import { anyRevision } from '../resources/kit/create-changes.ts';
import { ruleChanges } from '../resources/rules/rules.ts';
import type { Registry } from '../store/ports/registry.ts';
import {
  type AccountChoice,
  changeAccount,
  findAccount,
  type NamedAccount,
  readAccountChoice,
} from './accounts.ts';
import {
  CommandError,
  type CommonOptions,
  filterRows,
  hasText,
  type ListOptions,
  NOTHING_MATCHES,
  splitSetting,
  UsageError,
} from './command.ts';
import { serviceFinders, withRegistry } from './open-stores.ts';
import { resultOf } from './outcome.ts';
import { printJson, printNote, printRows, whileWaiting } from './output.ts';

export interface AddChannelOptions extends CommonOptions, AccountChoice {
  readonly name: string;
  readonly kind: string;
  readonly language: string;
  /** Each `NAME=VALUE`. */
  readonly setting?: readonly string[];
  /** Each `NAME=FILE`. */
  readonly settingFile?: readonly string[];
}

/** The time for which `channels test` waits for the outcome, and the time between two looks, milliseconds. */
const TEST_TIMEOUT_MS = 60_000;
const POLL_MS = 250;

/** Prints the channels of an account, without secrets. */
export async function listChannels(
  options: ListOptions & AccountChoice & { readonly kind?: readonly string[] },
): Promise<void> {
  const { config, json = false, q, kind } = options;
  const choice = readAccountChoice(options);
  const rows = await withRegistry(config, async (registry) => {
    const { id } = await findAccount(registry, choice);
    const [channels, messages] = [await registry.channelsOf(id), await registry.messagesOf(id)];
    return channels.map((channel) => {
      const last = messages.find(({ channelId }) => channelId === channel.id);
      const problem = last?.problem ?? null;
      return {
        id: channel.id,
        name: channel.name,
        kind: channel.kind,
        to: CHANNEL_KINDS_TABLE[channel.kind].describe(channel.settings),
        confirmed: channel.confirmedAt !== null,
        last:
          last === undefined ? null : problem === null ? last.message.type : describeChannelProblem(problem),
      };
    });
  });
  const empty = 'There are no channels. Make one: upbeat channels add --account NAME --name NAME --kind KIND';
  const shown = filterRows(rows, { q, kind }, ['name', 'to']);
  printRows(shown, json, rows.length === 0 ? empty : NOTHING_MATCHES);
}

/** Adds a channel; prints its number, or its properties as JSON. */
export async function addChannel(options: AddChannelOptions): Promise<void> {
  const { config, name, language, json = false } = options;
  const kind = readKind(options.kind);
  const document = { name, kind, language, settings: readSettings(kind, options) };
  const choice = readAccountChoice(options);
  const channel = await withRegistry(config, async (registry, settings) => {
    const add = async ({ id: accountId }: NamedAccount) => {
      const principal = { role: 'operator', accountId } as const;
      return resultOf(await channelChanges.add(contextOf(registry, settings), principal, document));
    };
    return await changeAccount(registry, choice, add, 'first');
  });
  if (json)
    printJson({
      id: channel.id,
      name: channel.name,
      kind: channel.kind,
      confirmed: channel.confirmedAt !== null,
    });
  else console.log(channel.id);
}

/** Sends a test through the running program, waits for its outcome and prints it. Throws {@link CommandError} if it fails. */
export async function testChannel(id: number, options: CommonOptions & AccountChoice): Promise<void> {
  const { config, json = false } = options;
  const choice = readAccountChoice(options);
  const send = () =>
    withRegistry(config, async (registry, settings) => {
      const { id: accountId } = await findAccount(registry, choice);
      const { siteUrl } = settings.http;
      const context = { ...contextOf(registry, settings), siteUrl, charge: async () => {} };
      const thread = resultOf(await sendTest(context, { role: 'operator', accountId }, id));
      const deadline = systemClock.monotonic() + TEST_TIMEOUT_MS;
      while (systemClock.monotonic() < deadline) {
        const sent = (await registry.messagesOf(accountId, id)).find(
          ({ message }) => message.thread === thread,
        );
        if (sent?.problem) return { state: 'failed', problem: describeChannelProblem(sent.problem) };
        if (sent?.deliveredAt) return { state: 'delivered', problem: null };
        // The timer of the clock would not keep the process.
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      return {
        state: 'waiting',
        problem: `it was not sent within ${TEST_TIMEOUT_MS / 1_000} s; is the program running?`,
      };
    });
  const outcome = await whileWaiting('waiting for the outcome', send);
  if (json) printJson(outcome);
  if (outcome.problem !== null) throw new CommandError(`the test is ${outcome.state}: ${outcome.problem}`);
  if (!json) printNote('delivered');
}

/** Removes a channel with its messages, also from rules. */
export async function endChannel(id: number, options: CommonOptions & AccountChoice): Promise<void> {
  const choice = readAccountChoice(options);
  await withRegistry(options.config, async (registry, settings) => {
    const { id: accountId } = await findAccount(registry, choice);
    const context = contextOf(registry, settings);
    resultOf(await channelChanges.remove(context, { role: 'operator', accountId }, anyRevision(id)));
  });
}

export async function listRules(options: ListOptions & AccountChoice): Promise<void> {
  const { config, json = false, q = '' } = options;
  const choice = readAccountChoice(options);
  const all = await withRegistry(config, async (registry) => {
    const { id } = await findAccount(registry, choice);
    const context = { registry, now: systemClock.now, ...(await serviceFinders(registry)) };
    return await ruleChanges.list(context, id);
  });
  const rules = all.filter(({ entity }) => hasText([entity.name], q));
  if (json) return printJson(rules.map(({ entity, document }) => ({ id: entity.id, ...document })));
  const rows = rules.map(({ entity: rule, document }) => {
    const { own, services = [], categories = [], publicCategories = [], pages = [], channels } = document;
    const watched = [...(own ? ['own'] : []), ...services, ...categories, ...publicCategories, ...pages];
    return {
      id: rule.id,
      name: rule.name,
      services: watched.join(', '),
      events: rule.events.join(', '),
      channels: channels.join(', '),
      enabled: rule.enabled,
    };
  });
  printRows(rows, false, all.length === 0 ? 'There are no rules.' : NOTHING_MATCHES);
}

function contextOf(registry: Registry, { checks }: Config) {
  const destinations = destinationsByTrust(checks, registry);
  return { registry, kinds: CHANNEL_KINDS_TABLE, destinations, now: systemClock.now };
}

function readKind(word: string): ChannelKind {
  const kind = CHANNEL_KINDS.find((one) => one === word);
  if (kind === undefined)
    throw new UsageError(`there is no kind ${word}: choose one of ${CHANNEL_KINDS.join(', ')}`);
  return kind;
}

function readSettings(kind: ChannelKind, { setting = [], settingFile = [] }: AddChannelOptions) {
  const properties = propertiesOf(CHANNEL_KINDS_TABLE, kind);
  const pairs = [...setting.map(splitSetting), ...settingFile.map((text) => readFileOf(splitSetting(text)))];
  return Object.fromEntries(pairs.map(([name, text]) => [name, settingOfText(text, properties[name])]));
}

function readFileOf([name, path]: readonly [string, string]): readonly [string, string] {
  try {
    return [name, readFileSync(path, 'utf8').trim()];
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${messageOf(error)}`);
  }
}
