/** Channels of an account: its owners and editors add, change, remove and test them. */
import type { Channel } from '../domain/alert/channel.ts';
import type { AlertMessage } from '../domain/alert/message.ts';
import {
  type AccountPrincipal,
  accept,
  atField,
  attempt,
  MAX_TRIES,
  type Outcome,
  refuse,
  refuseRole,
} from '../resources/kit/change.ts';
import { isObject, mergePatch } from '../resources/kit/merge-patch.ts';
import type { ChannelStore, MessageStore } from '../store/ports/channels.ts';
import {
  type ChannelKinds,
  type ChannelRules,
  channelDocumentOf,
  readChannelDocument,
  type WantedChannel,
} from './channel-document.ts';

/** The dependencies of changes of channels. */
export interface ChannelContext {
  readonly registry: ChannelStore & Pick<MessageStore, 'addMessage' | 'messagesOf' | 'replayMessage'>;
  readonly kinds: ChannelKinds;
  readonly destinations: ChannelRules['destinations'];
  readonly now: () => number;
}

/** The dependencies of messages that a person sends. */
export interface SendContext extends ChannelContext {
  /** Public URL of the site, without a slash at its end. */
  readonly siteUrl: string;
  /** Counts messages that an account sends manually. Rejects beyond the limit of webhooks (`SENT_BY_HAND_PER_MINUTE`). */
  readonly charge: (what: 'tests' | 'replays', accountId: number) => Promise<void>;
}

/** Finds a channel of the account. Refused with `no_channel`. */
export async function findChannel(
  { registry }: { readonly registry: Pick<ChannelStore, 'channelsOf'> },
  { accountId }: Pick<AccountPrincipal, 'accountId'>,
  id: number,
): Promise<Outcome<Channel>> {
  const channel = (await registry.channelsOf(accountId)).find((one) => one.id === id);
  return channel === undefined ? refuse({ code: 'no_channel', id }) : accept(channel);
}

/**
 * Adds a channel. Its receiver has to agree first where the kind says so. Refused with `role_required`, `too_many_channels`,
 * `channel_name_taken`, and as `readChannelDocument`.
 */
export async function addChannel(
  context: Omit<ChannelContext, 'registry'> & { readonly registry: Pick<ChannelStore, 'addChannel'> },
  principal: AccountPrincipal,
  document: unknown,
): Promise<Outcome<Channel>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { registry, kinds, now } = context;
  const reading = readChannelDocument(context, document);
  if (!reading.ok) return reading;
  const channel = newChannel(kinds, principal.accountId, reading.value, now());
  return await attempt(() => registry.addChannel(channel), 'name');
}

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

/**
 * Changes a channel by a merge patch (RFC 7396) of its document; secrets that the patch does not name stay. `revisions`: those that
 * the client has seen; null: any. Refused with `role_required`, `no_channel`, `channel_stale`, `channel_kind_fixed`, and as
 * {@link addChannel}.
 */
export async function patchChannel(
  context: ChannelContext,
  principal: AccountPrincipal,
  id: number,
  patch: unknown,
  revisions: readonly number[] | null,
): Promise<Outcome<Channel>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { registry, kinds } = context;
  for (let tried = 1; ; tried++) {
    const found = await findChannel(context, principal, id);
    if (!found.ok) return found;
    const { accountId, revision } = found.value;
    if (revisions !== null && !revisions.includes(revision)) return refuse({ code: 'channel_stale' });
    const document = mergePatch(channelDocumentOf(kinds, found.value), patch);
    const reading = readChannelDocument(context, document, withoutRemoved(found.value, patch));
    if (!reading.ok) return reading;
    const edit = editOf(kinds, found.value, reading.value);
    const outcome = await attempt(() => registry.changeChannel(accountId, id, edit, [revision]));
    const isStale = !outcome.ok && outcome.refusals.some(({ refusal }) => refusal.code === 'channel_stale');
    if (!isStale || tried === MAX_TRIES) return atField(outcome, 'channel_name_taken', 'name');
  }
}

/** The channel without the settings that a patch removes. */
function withoutRemoved(channel: Channel, patch: unknown): Channel {
  const given = isObject(patch) && isObject(patch.settings) ? patch.settings : {};
  const settings = Object.entries(channel.settings).filter(([name]) => given[name] !== null);
  return { ...channel, settings: Object.fromEntries(settings) };
}

/** What a change replaces. The receiver has to agree again to other settings where the kind says so. */
export function editOf(kinds: ChannelKinds, before: Channel, { kind, ...wanted }: WantedChannel) {
  const isMoved = JSON.stringify(sorted(before.settings)) !== JSON.stringify(sorted(wanted.settings));
  const again = kinds[kind]?.needsConfirmation === true && isMoved ? { confirmedAt: null } : {};
  return { ...wanted, ...again };
}

function sorted(settings: object): unknown[] {
  return Object.entries(settings).sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Removes a channel with its messages, also from rules. Refused with `role_required`, `no_channel` and `channel_stale`. */
export async function removeChannel(
  { registry }: { readonly registry: Pick<ChannelStore, 'removeChannel'> },
  principal: AccountPrincipal,
  id: number,
  revisions: readonly number[] | null,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  return await attempt(() => registry.removeChannel(principal.accountId, id, revisions ?? undefined));
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
  const found = await findChannel(context, principal, id);
  if (!found.ok) return found;
  if (found.value.confirmedAt === null) return refuse({ code: 'channel_unconfirmed' });
  await context.charge('tests', principal.accountId);
  const message = testMessage(context.siteUrl, thread, context.now());
  const isAdded = await context.registry.addMessage(principal.accountId, id, message, message.at);
  return isAdded ? accept(thread) : refuse({ code: 'no_channel', id });
}

/** A new thread of a test. */
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
  const found = await findChannel(context, principal, channelId);
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
