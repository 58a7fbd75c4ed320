/**
 * Channels of an account: where its alerts go (docs/alerts.md). Their receivers agree first where the kind says so. The document of a
 * channel, which files of `apply` and the API share, has no secrets when it is shown.
 */
import {
  CHANNEL_KINDS,
  type Channel,
  type ChannelKind,
  type ChannelSettings,
  MESSAGE_LANGUAGES,
  type MessageLanguage,
} from '../../domain/alert/channel.ts';
import type { AlertMessage } from '../../domain/alert/message.ts';
import {
  type AllowedDestinations,
  type DestinationsOf,
  refuseUrl,
} from '../../domain/allowed-destinations.ts';
import { strictObject, type TSchema, Type } from '../../json-schema.ts';
import type { ChannelKindParts } from '../../notify/channels/define-channel.ts';
import type { ChannelStore, MessageStore } from '../../store/ports/channels.ts';
import {
  type AccountPrincipal,
  accept,
  attempt,
  type FieldRefusal,
  type Outcome,
  readAll,
  readNameField,
  refuse,
  refuseRole,
} from '../kit/change.ts';
import { createChanges } from '../kit/create-changes.ts';
import { createDocumentReader, isObject } from '../kit/read-document.ts';

export type ChannelKinds = Readonly<Partial<Record<ChannelKind, ChannelKindParts>>>;

export interface ChannelRules {
  readonly kinds: ChannelKinds;
  readonly destinations: AllowedDestinations;
}

/** The schema of a channel. Absent members have their defaults. */
export const ChannelDocumentSchema = strictObject({
  name: Type.String({
    maxLength: 1_000,
    description: 'Its name, which identifies it within the account; rules name channels by it.',
  }),
  kind: Type.Unsafe<ChannelKind>({
    type: 'string',
    enum: [...CHANNEL_KINDS],
    description: 'What it leads to. It cannot be changed.',
  }),
  language: Type.Optional(
    Type.Unsafe<MessageLanguage>({
      type: 'string',
      enum: [...MESSAGE_LANGUAGES],
      description: 'Language of its messages; default: en.',
    }),
  ),
  settings: Type.Optional(
    Type.Unsafe<ChannelSettings>({
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'boolean'] },
      description:
        'Settings of the kind (docs/alerts.md). Those that are secret are never shown; an absent one stays as it is.',
    }),
  ),
});

interface ChannelDocument {
  readonly name: string;
  readonly kind: ChannelKind;
  readonly language?: MessageLanguage;
  readonly settings?: ChannelSettings;
}

const readStructure = createDocumentReader<ChannelDocument>(ChannelDocumentSchema);

type WantedChannel = Pick<Channel, 'name' | 'kind' | 'language' | 'settings'>;

/**
 * Reads a channel. `before`: the channel that the document changes; its secrets stay where the document has none. Refused with
 * `member_invalid`, `channel_name_missing`, `name_invalid`, `setting_invalid` and `channel_kind_fixed`; the field is a path such as
 * `settings.url`.
 */
export function readChannelDocument(
  rules: ChannelRules,
  value: unknown,
  before: Channel | null = null,
): Outcome<WantedChannel> {
  const structure = readStructure(value);
  if (!structure.ok) return structure;
  const { name, kind, language = 'en', settings = {} } = structure.value;
  if (before !== null && before.kind !== kind) return refuse({ code: 'channel_kind_fixed' }, 'kind');
  return readAll<WantedChannel>({
    name: readNameField(name, 'channel_name_missing'),
    kind: readKind(rules.kinds, kind),
    language: accept(language),
    settings: readChannelSettings(rules, kind, settings, before),
  });
}

/** The names of the settings of a kind that are secret. */
export function secretSettings(kinds: ChannelKinds, kind: ChannelKind): readonly string[] {
  return Object.entries(propertiesOf(kinds, kind)).flatMap(([name, { writeOnly }]) =>
    writeOnly === true ? [name] : [],
  );
}

/** The schemas of the settings of a kind by their names, in the order in which they are shown. */
export function propertiesOf(kinds: ChannelKinds, kind: ChannelKind): Readonly<Record<string, TSchema>> {
  return kinds[kind]?.settings.properties ?? {};
}

/** The value of a setting that was entered as text, where the text has the form of its type; the reader refuses others. */
export function settingOfText(text: string, property: TSchema | undefined): string | number | boolean {
  const type = property?.type;
  if ((type === 'integer' || type === 'number') && /^-?\d{1,9}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** A channel as a document, without secrets. */
export function channelDocumentOf(
  kinds: ChannelKinds,
  { name, kind, language, settings }: WantedChannel,
): ChannelDocument {
  const secrets = new Set(secretSettings(kinds, kind));
  // A kind that this program does not know may have secrets anywhere.
  const shown =
    kinds[kind] === undefined ? [] : Object.entries(settings).filter(([key]) => !secrets.has(key));
  return {
    name,
    kind,
    ...(language === 'en' ? {} : { language }),
    ...(shown.length === 0 ? {} : { settings: Object.fromEntries(shown) }),
  };
}

/**
 * Reads the settings of a channel. Secrets of `before` stay where none are given, unless they would be sent to another server. So
 * does a URL that is refused now.
 * Refused with `setting_invalid`; the fields are paths such as `settings.url`.
 */
export function readChannelSettings(
  { kinds, destinations }: ChannelRules,
  kind: ChannelKind,
  given: ChannelSettings,
  before: Channel | null,
): Outcome<ChannelSettings> {
  const parts = kinds[kind];
  if (parts === undefined) return accept(given);
  const kept = Object.fromEntries(
    secretSettings(kinds, kind).flatMap((name) => {
      const known = before?.kind === kind ? before.settings[name] : undefined;
      return known === undefined || Object.hasOwn(given, name) ? [] : [[name, known] as const];
    }),
  );
  const settings = { ...kept, ...given };
  const reading = settingsReader(parts)(settings);
  if (!reading.ok) return { ok: false, refusals: reading.refusals.map(ofSettings) };
  const wrong = [
    ...(parts.refuse?.(settings) ?? []),
    ...refuseServers(settings, before?.settings, destinations),
    ...(before === null || sameServers(before.settings, settings)
      ? []
      : Object.keys(kept).map((setting) => ({ setting, problem: { code: 'secret_again' } as const }))),
  ];
  if (wrong.length === 0) return accept(settings);
  const refusals = wrong.map(({ setting, problem }) => ({
    field: `settings.${setting}`,
    refusal: { code: 'setting_invalid', setting, problem } as const,
  }));
  return { ok: false, refusals };
}

const readers = new WeakMap<ChannelKindParts, (value: unknown) => Outcome<ChannelSettings>>();

function settingsReader(parts: ChannelKindParts): (value: unknown) => Outcome<ChannelSettings> {
  const known = readers.get(parts);
  if (known !== undefined) return known;
  const reader = createDocumentReader<ChannelSettings>({ ...parts.settings, additionalProperties: false });
  readers.set(parts, reader);
  return reader;
}

function readKind(kinds: ChannelKinds, kind: ChannelKind): Outcome<ChannelKind> {
  if (kinds[kind] !== undefined) return accept(kind);
  const problem = { code: 'choice', choices: Object.keys(kinds) } as const;
  return refuse({ code: 'member_invalid', member: 'kind', problem });
}

/** The refusal of a setting, with its path in the document. */
function ofSettings({ field, refusal }: FieldRefusal): FieldRefusal {
  const path = field === null ? 'settings' : `settings.${field}`;
  if (refusal.code !== 'member_invalid') return { field: path, refusal };
  return {
    field: path,
    refusal: { code: 'setting_invalid', setting: field ?? '', problem: refusal.problem },
  };
}

/** The problems of hosts of URLs that differ from those before. */
function refuseServers(
  settings: ChannelSettings,
  before: ChannelSettings = {},
  destinations: ChannelRules['destinations'],
) {
  return Object.entries(settings).flatMap(([setting, value]) => {
    if (typeof value !== 'string' || originOf(value) === null || value === before[setting]) return [];
    const problem = refuseUrl(destinations, value);
    return problem === null ? [] : [{ setting, problem }];
  });
}

/** Returns true if settings name the same servers, which get the secrets. */
function sameServers(before: ChannelSettings, after: ChannelSettings): boolean {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].every((name) => originOf(before[name]) === originOf(after[name]));
}

/** The origin of a URL; null: the value is no URL. */
function originOf(value: ChannelSettings[string] | undefined): string | null {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? url.origin : null;
}

interface ChannelContext {
  readonly registry: ChannelStore;
  readonly kinds: ChannelKinds;
  readonly destinations: DestinationsOf;
  readonly now: () => number;
}

/** The dependencies of messages that a person sends. */
export interface SendContext extends ChannelContext {
  readonly registry: ChannelStore & MessageStore;
  /** Public URL of the site, without a slash at its end. */
  readonly siteUrl: string;
  /** Counts messages that an account sends manually. Rejects beyond the limit of webhooks (`SENT_BY_HAND_PER_MINUTE`). */
  readonly charge: (what: 'tests' | 'replays', accountId: number) => Promise<void>;
}

/** The changes of channels, which are known by their numbers and ordered by name. A removed channel leaves rules and takes its messages along. */
export const channelChanges = createChanges<Channel, number, ChannelDocument, WantedChannel, ChannelContext>({
  mayChange: 'editor',
  codes: {
    missing: (id) => ({ code: 'no_channel', id }),
    stale: 'channel_stale',
    at: { channel_name_taken: 'name', too_many_channels: 'name' },
  },
  keyOf: ({ id }) => id,
  list: ({ registry }, accountId) => registry.channelsOf(accountId),
  writer:
    async ({ kinds }) =>
    (channel) =>
      channelDocumentOf(kinds, channel),
  // Secrets that a patch does not name stay.
  read: async ({ kinds, destinations }, document, { accountId, before, patch }) =>
    readChannelDocument(
      { kinds, destinations: await destinations(accountId) },
      document,
      before === null ? null : withoutRemoved(before, patch),
    ),
  add: ({ registry, kinds, now }, accountId, wanted) =>
    attempt(() => registry.addChannel(newChannel(kinds, accountId, wanted, now()))),
  change: ({ registry, kinds }, before, wanted) =>
    attempt(() =>
      registry.changeChannel(before.accountId, before.id, editOf(kinds, before, wanted), [before.revision]),
    ),
  remove: ({ registry }, { accountId, id, revision }) =>
    attempt(() => registry.removeChannel(accountId, id, [revision])),
});

/** A channel as it is stored at first. */
export function newChannel(
  kinds: ChannelKinds,
  accountId: number,
  wanted: WantedChannel,
  now: number,
): Omit<Channel, 'id' | 'revision'> {
  const confirmedAt = kinds[wanted.kind]?.needsConfirmation === true ? null : now;
  return { accountId, ...wanted, confirmedAt, createdAt: now };
}

/** The channel without the settings that a patch removes. */
function withoutRemoved(channel: Channel, patch: unknown): Channel {
  const given = isObject(patch) && isObject(patch.settings) ? patch.settings : {};
  const settings = Object.entries(channel.settings).filter(([name]) => given[name] !== null);
  return { ...channel, settings: Object.fromEntries(settings) };
}

/** The members that a change replaces. The receiver has to agree again to other settings where the kind says so. */
export function editOf(kinds: ChannelKinds, before: Channel, { kind, ...wanted }: WantedChannel) {
  const isMoved = JSON.stringify(sorted(before.settings)) !== JSON.stringify(sorted(wanted.settings));
  const again = kinds[kind]?.needsConfirmation === true && isMoved ? { confirmedAt: null } : {};
  return { ...wanted, ...again };
}

function sorted(settings: object): unknown[] {
  return Object.entries(settings).sort(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * Sends a test to a channel, through its queue. Resolves with the thread of the message, by which its outcome is found. Refused
 * with `role_required`, `no_channel` and `channel_unconfirmed`; rejects beyond the limit per minute.
 */
export async function testChannel(
  context: SendContext,
  principal: AccountPrincipal,
  id: number,
  thread: string = createTestThread(),
): Promise<Outcome<string>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const found = await channelChanges.find(context, principal, id);
  if (!found.ok) return found;
  if (found.value.confirmedAt === null) return refuse({ code: 'channel_unconfirmed' });
  await context.charge('tests', principal.accountId);
  const message = testMessage(context.siteUrl, thread, context.now());
  const isAdded = await context.registry.addMessage(principal.accountId, id, message, message.at);
  return isAdded ? accept(thread) : refuse({ code: 'no_channel', id });
}

export function createTestThread(): string {
  return `test-${crypto.randomUUID()}`;
}

function testMessage(siteUrl: string, thread: string, now: number): AlertMessage {
  return {
    type: 'test',
    thread,
    urgency: 'low',
    at: now,
    items: [],
    total: 0,
    cause: null,
    rule: null,
    url: `${siteUrl}/dashboard/channels`,
    acknowledgeUrl: null,
    note: null,
  };
}

/**
 * Sends a message of a channel again, after those that wait. Refused with `role_required`, `no_channel` and `no_message`; rejects
 * beyond the limit per minute.
 */
export async function replayMessage(
  context: SendContext,
  principal: AccountPrincipal,
  channelId: number,
  id: number,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const found = await channelChanges.find(context, principal, channelId);
  if (!found.ok) return found;
  const { registry, now, charge } = context;
  const { accountId } = principal;
  const isOfChannel = (await registry.messagesOf(accountId, channelId)).some((message) => message.id === id);
  if (!isOfChannel) return refuse({ code: 'no_message', id });
  await charge('replays', accountId);
  return (await registry.replayMessage(accountId, id, now()))
    ? accept(undefined)
    : refuse({ code: 'no_message', id });
}
