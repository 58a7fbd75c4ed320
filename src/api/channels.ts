/** Channels of an account, and the messages to them: `/api/v1/channels` (docs/alerts.md). */

import { channelDocumentOf, secretSettings } from '../app/channel-document.ts';
import {
  addChannel,
  createTestThread,
  findChannel,
  patchChannel,
  removeChannel,
  replayMessage,
  type SendContext,
  testChannel,
} from '../app/channels.ts';
import { CHANNEL_KINDS, type Channel } from '../domain/alert/channel.ts';
import { describeChannelProblem } from '../domain/alert/channel-problem.ts';
import { formatTime, formatTimeOrNull } from '../domain/durations.ts';
import { parseJson } from '../http/body.ts';
import { readRevisions, revisionTag } from '../http/conditional.ts';
import type { OpenApiParameter } from '../http/openapi.ts';
import { type HttpResponse, json, jsonText, type Route } from '../http/route.ts';
import { enumOf, named, namedObject, nullable, TimeSchema, whole } from '../http/schema.ts';
import { type Static, Type } from '../json-schema.ts';
import { BODILESS_REPEAT_PROBLEMS, IDEMPOTENCY_KEY, once, REPEAT_PROBLEMS } from '../resources/kit/once.ts';
import { cutWindow, ownListRoute } from '../resources/kit/own-list.ts';
import { idParameter, readId } from '../resources/kit/path-key.ts';
import { resultOf } from '../resources/kit/refused.ts';
import {
  bearerOf,
  changed,
  ETAG_HEADER,
  IF_MATCH,
  ownRoute,
  patchBody,
  principalOf,
  privately,
  REMOVED,
  writeRoute,
} from '../resources/kit/write-route.ts';
import type { StoredMessage } from '../store/ports/channels.ts';
import type { IdempotencyStore, IdempotentCalls } from '../store/ports/idempotency.ts';
import { TypedChannelSchema } from './typed-settings.ts';
import { describeCallback } from './webhook-payloads.ts';

/** Maximum size of a document, bytes. */
const MAX_DOCUMENT_BYTES = 65_536;
const TAG = 'Alerts';
const PATH = '/api/v1/channels';

/** A channel as its owner defines it. */
export const ChannelDefinitionSchema = named('ChannelDefinition', TypedChannelSchema);

const ChannelSchema = namedObject('Channel', {
  id: whole('Its number.'),
  name: Type.String(),
  kind: enumOf(CHANNEL_KINDS),
  destination: Type.String({ description: 'Where it leads, without secrets.' }),
  secrets: Type.Array(Type.String(), {
    description: 'Names of its secret settings, whose values are not shown.',
  }),
  confirmed_at: nullable(
    TimeSchema,
    'Null: the receiver has not agreed yet, or no longer agrees, and is sent nothing else.',
  ),
  stopped_at: nullable(TimeSchema, 'When the receiver stopped its e-mail by a link in it; null: not so.'),
  created_at: TimeSchema,
  definition: ChannelDefinitionSchema,
});

const MessageSchema = namedObject('ChannelMessage', {
  id: whole('Its number.'),
  type: Type.String({ description: 'Such as alert, update, recovery, reminder or test.' }),
  thread: Type.String({ description: 'What belongs together: a recovery has the thread of its alert.' }),
  services: Type.Array(Type.String(), { description: 'Names of the first services that it is about.' }),
  state: enumOf(['waiting', 'delivered', 'failed'], 'Failed: it is given up.'),
  attempts: whole('Number of attempts so far.'),
  problem: nullable(Type.String(), 'Why the last attempt failed; null: it did not.'),
  created_at: TimeSchema,
  delivered_at: nullable(TimeSchema),
  next_attempt_at: nullable(TimeSchema, 'Null: there is none.'),
});

const EXAMPLE = {
  name: 'Ops',
  kind: 'webhook',
  settings: {
    url: 'https://example.com/alerts',
    secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD8B1x2tBWkDc=',
  },
};
const OWN_ID = idParameter('channel');
const MESSAGE: OpenApiParameter = { ...idParameter('message'), name: 'message' };
const GONE = { 404: 'The account has no such channel (channel_not_found).' };
const STALE = { 412: 'The channel has another revision than If-Match names.' };

/** Sources of the routes. */
export interface ChannelSources {
  readonly context: Omit<SendContext, 'registry'> & {
    readonly registry: SendContext['registry'] & IdempotencyStore & IdempotentCalls;
  };
}

/** The routes. */
export function channelRoutes({ context }: ChannelSources): Route[] {
  const { registry, kinds, siteUrl } = context;
  const view = (channel: Channel): Static<typeof ChannelSchema> => ({
    id: channel.id,
    name: channel.name,
    kind: channel.kind,
    destination: kinds[channel.kind]?.describe(channel.settings) ?? '',
    secrets: secretSettings(kinds, channel.kind).filter((name) => Object.hasOwn(channel.settings, name)),
    confirmed_at: formatTimeOrNull(channel.confirmedAt),
    stopped_at: formatTimeOrNull(channel.stoppedAt ?? null),
    created_at: formatTime(channel.createdAt),
    definition: channelDocumentOf(kinds, channel),
  });
  const placeOf = ({ id }: Channel) => [id];
  const answer = (status: 200 | 201, channel: Channel): HttpResponse => {
    const body = JSON.stringify(view(channel));
    const headers = status === 201 ? { Location: `${siteUrl}${PATH}/${channel.id}` } : {};
    return changed(status, body, headers, revisionTag(channel.revision, body));
  };
  return [
    ownListRoute({
      path: PATH,
      id: 'listChannels',
      tag: TAG,
      summary: 'The channels of the account',
      description: 'Where it is told of changes, without secrets.',
      name: 'ChannelList',
      member: 'channels',
      item: ChannelSchema,
      order: 'Oldest first.',
      place: ['number'],
      placeOf,
      read: async (accountId, window) => cutWindow(await registry.channelsOf(accountId), window, placeOf),
      view,
    }),
    writeRoute({
      path: PATH,
      method: 'POST',
      id: 'createChannel',
      tag: TAG,
      summary: 'Creates a channel',
      description: 'The settings are those of its kind. Rules choose what it is told.',
      parameters: [IDEMPOTENCY_KEY],
      body: { schema: ChannelDefinitionSchema, example: EXAMPLE, maxBytes: MAX_DOCUMENT_BYTES },
      answers: {
        201: {
          description: 'The channel.',
          headers: {
            ...ETAG_HEADER,
            Location: { description: 'Where it can be read.', schema: { type: 'string' } },
          },
          schema: ChannelSchema,
        },
      },
      callbacks: describeCallback('onMessage', 'settings/url', (type) => type === 'alert'),
      problems: {
        403: 'The account has as many channels as it may (account_limit), or the key lacks the scope write (insufficient_scope).',
        409: 'The account has a channel of that name (conflict).',
        ...REPEAT_PROBLEMS,
      },
      handle: (request) =>
        once<Channel>(context, {
          id: 'createChannel',
          request,
          secret: null,
          async change(calls) {
            const document = parseJson(request.body);
            const made = { ...context, registry: { ...registry, ...calls } };
            return resultOf(await addChannel(made, principalOf(request.key), document));
          },
          answer: (channel) => answer(201, channel),
        }),
    }),
    ownRoute({
      path: `${PATH}/:id`,
      id: 'getChannel',
      tag: TAG,
      summary: 'A channel',
      description: 'Without its secrets.',
      parameters: [OWN_ID],
      answers: { 200: { description: 'The channel.', headers: ETAG_HEADER, schema: ChannelSchema } },
      problems: GONE,
      async handle(request) {
        const { accountId } = bearerOf(request);
        const channel = resultOf(
          await findChannel(context, { accountId }, readId(request.params.id, 'channel')),
        );
        const body = JSON.stringify(view(channel));
        return privately(jsonText(body, revisionTag(channel.revision, body)));
      },
    }),
    writeRoute({
      path: `${PATH}/:id`,
      method: 'PATCH',
      id: 'changeChannel',
      tag: TAG,
      summary: 'Changes a channel',
      description:
        'By a JSON Merge Patch (RFC 7396) of its definition. Secrets that are not named stay, unless the channel would send them to another server. The kind cannot be changed. An e-mail address that is changed has to be confirmed again.',
      parameters: [OWN_ID, IF_MATCH],
      body: patchBody('ChannelPatch', TypedChannelSchema, { language: 'de' }, MAX_DOCUMENT_BYTES),
      answers: { 200: { description: 'The channel.', headers: ETAG_HEADER, schema: ChannelSchema } },
      problems: { ...GONE, 409: 'The account has a channel of that name (conflict).', ...STALE },
      async handle({ key, body, params, headers }) {
        const [revisions, id] = [readRevisions(headers['if-match']), readId(params.id, 'channel')];
        return answer(
          200,
          resultOf(await patchChannel(context, principalOf(key), id, parseJson(body), revisions)),
        );
      },
    }),
    writeRoute({
      path: `${PATH}/:id`,
      method: 'DELETE',
      id: 'removeChannel',
      tag: TAG,
      summary: 'Removes a channel',
      description: 'Its messages are removed, too, and rules tell it nothing more.',
      parameters: [OWN_ID, IF_MATCH],
      answers: { 204: { description: 'It is removed.' } },
      problems: { ...GONE, ...STALE },
      async handle({ key, params, headers }) {
        const revisions = readRevisions(headers['if-match']);
        resultOf(await removeChannel(context, principalOf(key), readId(params.id, 'channel'), revisions));
        return REMOVED;
      },
    }),
    writeRoute({
      path: `${PATH}/:id/test`,
      method: 'POST',
      id: 'testChannel',
      tag: TAG,
      summary: 'Sends a test to a channel',
      description:
        'It waits in the queue of the channel; the list of messages has its outcome, by the thread.',
      parameters: [OWN_ID, IDEMPOTENCY_KEY],
      answers: {
        202: {
          description: 'It is on its way.',
          schema: namedObject('ChannelTest', {
            thread: Type.String({ description: 'The thread of the message.' }),
          }),
        },
      },
      problems: {
        ...GONE,
        409: 'The receiver has not confirmed the channel (conflict).',
        ...BODILESS_REPEAT_PROBLEMS,
      },
      handle: (request) =>
        once<string>(context, {
          id: 'testChannel',
          request,
          secret: createTestThread(),
          async change(calls, thread) {
            const sending = { ...context, registry: { ...registry, ...calls } };
            const { key, params } = request;
            return resultOf(
              await testChannel(sending, principalOf(key), readId(params.id, 'channel'), thread),
            );
          },
          answer: (_, thread) => accepted({ thread }),
        }),
    }),
    ownRoute({
      path: `${PATH}/:id/messages`,
      id: 'listChannelMessages',
      tag: TAG,
      summary: 'The messages to a channel',
      description: 'The 50 newest ones with their outcomes.',
      parameters: [OWN_ID],
      answers: {
        200: {
          description: 'The messages.',
          schema: namedObject('ChannelMessageList', {
            messages: Type.Array(MessageSchema, { description: 'Newest first.' }),
          }),
        },
      },
      problems: GONE,
      async handle(request) {
        const { accountId } = bearerOf(request);
        const { id } = resultOf(
          await findChannel(context, { accountId }, readId(request.params.id, 'channel')),
        );
        const messages = await registry.messagesOf(accountId, id);
        return privately(json({ messages: messages.map(viewMessage) }));
      },
    }),
    writeRoute({
      path: `${PATH}/:id/messages/:message/replay`,
      method: 'POST',
      id: 'replayChannelMessage',
      tag: TAG,
      summary: 'Sends a message to a channel again',
      description: 'After those that wait.',
      parameters: [OWN_ID, MESSAGE, IDEMPOTENCY_KEY],
      answers: { 204: { description: 'It is on its way.' } },
      problems: {
        404: 'There is no such channel (channel_not_found) or message (message_not_found).',
        ...BODILESS_REPEAT_PROBLEMS,
      },
      handle: (request) =>
        once<void>(context, {
          id: 'replayChannelMessage',
          request,
          secret: null,
          async change(calls) {
            const sending = { ...context, registry: { ...registry, ...calls } };
            const { key, params } = request;
            const [id, message] = [readId(params.id, 'channel'), readId(params.message, 'message')];
            resultOf(await replayMessage(sending, principalOf(key), id, message));
          },
          answer: () => REMOVED,
        }),
    }),
  ];
}

/** Where a message stands. */
export function messageState({
  deliveredAt,
  dueAt,
}: Pick<StoredMessage, 'deliveredAt' | 'dueAt'>): 'waiting' | 'delivered' | 'failed' {
  return dueAt !== null ? 'waiting' : deliveredAt === null ? 'failed' : 'delivered';
}

function viewMessage(stored: StoredMessage): Static<typeof MessageSchema> {
  const { id, message, attempts, problem, createdAt, deliveredAt, dueAt } = stored;
  return {
    id,
    type: message.type,
    thread: message.thread,
    services: message.items.map(({ service }) => service.name),
    state: messageState(stored),
    attempts,
    problem: problem === null ? null : describeChannelProblem(problem),
    created_at: formatTime(createdAt),
    delivered_at: formatTimeOrNull(deliveredAt),
    next_attempt_at: formatTimeOrNull(dueAt),
  };
}

function accepted(body: object): HttpResponse {
  return { ...changed(200, body), status: 202 };
}
