/** Channels of an account: where its alerts go (docs/alerts.md). Their receivers agree first where the kind says so. */
import type { Channel } from '../../domain/alert/channel.ts';
import type { AlertMessage } from '../../domain/alert/message.ts';
import type { DestinationsOf } from '../../domain/allowed-destinations.ts';
import type { ChannelStore, MessageStore } from '../../store/ports/channels.ts';
import { type AccountPrincipal, accept, attempt, type Outcome, refuse, refuseRole } from '../kit/change.ts';
import { createChanges } from '../kit/create-changes.ts';
import { isObject } from '../kit/read-document.ts';
import {
  type ChannelDocument,
  type ChannelKinds,
  channelDocumentOf,
  readChannelDocument,
  type WantedChannel,
} from './channel-document.ts';

export interface ChannelContext {
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
