/** Channels of an account, and the messages to them: `/api/v1/channels` (docs/alerts.md). */

import { CHANNEL_KINDS, type Channel, describeChannelProblem } from '../../domain/alert/channel.ts';
import { formatTime, formatTimeOrNull } from '../../domain/durations.ts';
import type { OpenApiParameter } from '../../http/openapi.ts';
import { type HttpResponse, json, type Route } from '../../http/route.ts';
import { enumOf, named, namedObject, nullable, TimeSchema, whole } from '../../http/schema.ts';
import { type Static, Type } from '../../json-schema.ts';
import { CHANNEL_KINDS_TABLE } from '../../notify/channels/kinds-table.ts';
import type { StoredMessage } from '../../store/ports/channels.ts';
import { type RepeatableContext, repeatableRoute } from '../kit/once.ts';
import { createResourceRoutes } from '../kit/resource-routes.ts';
import {
  bearerOf,
  changed,
  idParameter,
  ownRoute,
  principalOf,
  privately,
  REMOVED,
  readId,
  resultOf,
  withSettings,
} from '../kit/write-route.ts';
import {
  ChannelDocumentSchema,
  channelChanges,
  channelDocumentOf,
  createTestThread,
  replayMessage,
  type SendContext,
  secretSettings,
  testChannel,
} from './channels.ts';

const TAG = 'Alerts';
const PATH = '/api/v1/channels';

const TypedChannelSchema = withSettings(ChannelDocumentSchema, CHANNEL_KINDS_TABLE);

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

export interface ChannelSources {
  readonly context: SendContext & RepeatableContext;
  /** The requests to the server of a channel, for the OpenAPI document. */
  readonly callbacks: object;
}

export function channelRoutes({ context, callbacks }: ChannelSources): Route[] {
  const { kinds, siteUrl } = context;
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
  return [
    ...createResourceRoutes({
      ...{ changes: channelChanges, context, siteUrl, view },
      path: PATH,
      tag: TAG,
      name: 'Channel',
      word: 'channel',
      key: { parameter: OWN_ID, read: (text) => readId(text, 'channel') },
      schema: ChannelSchema,
      document: ChannelDefinitionSchema,
      patch: TypedChannelSchema,
      maxBytes: 65_536,
      examples: { document: EXAMPLE, patch: { language: 'de' } },
      order: { says: 'Oldest first.', place: ['number'] },
      placeOf: ({ id }: Channel) => [id],
      callbacks,
      says: {
        list: {
          summary: 'List channels',
          description: 'Where it is notified of changes, without secrets.',
        },
        create: {
          summary: 'Create a channel',
          description: 'The settings are those of its kind. Rules choose what is sent to it.',
        },
        get: { summary: 'Get a channel', description: 'Without its secrets.' },
        change: {
          summary: 'Change a channel',
          description:
            'By a JSON Merge Patch (RFC 7396) of its definition. Secrets that are not named stay, unless the channel would send them to another server. The kind cannot be changed. An e-mail address that is changed has to be confirmed again.',
        },
        remove: {
          summary: 'Delete a channel',
          description: 'Its messages are removed, too, and rules tell it nothing more.',
        },
        taken: 'The account has a channel of that name (conflict).',
      },
    }),
    ...messageRoutes(context),
  ];
}

function messageRoutes(context: ChannelSources['context']): Route[] {
  const { registry } = context;
  return [
    repeatableRoute(context, {
      path: `${PATH}/:id/test`,
      id: 'testChannel',
      tag: TAG,
      summary: 'Send a test to a channel',
      description:
        'It waits in the queue of the channel; the list of messages has its outcome, by the thread.',
      parameters: [OWN_ID],
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
      },
      makeSecret: createTestThread,
      change: async (sending, { key, params }, thread) =>
        resultOf(await testChannel(sending, principalOf(key), readId(params.id, 'channel'), thread)),
      answer: (_, thread) => accepted({ thread }),
    }),
    ownRoute({
      path: `${PATH}/:id/messages`,
      id: 'listChannelMessages',
      tag: TAG,
      summary: 'List messages to a channel',
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
          await channelChanges.find(context, { accountId }, readId(request.params.id, 'channel')),
        );
        const messages = await registry.messagesOf(accountId, id);
        return privately(json({ messages: messages.map(viewMessage) }));
      },
    }),
    repeatableRoute(context, {
      path: `${PATH}/:id/messages/:message/replay`,
      id: 'replayChannelMessage',
      tag: TAG,
      summary: 'Send a message to a channel again',
      description: 'After those that wait.',
      parameters: [OWN_ID, MESSAGE],
      answers: { 204: { description: 'It is on its way.' } },
      problems: {
        404: 'There is no such channel (channel_not_found) or message (message_not_found).',
      },
      async change(sending, { key, params }) {
        const [id, message] = [readId(params.id, 'channel'), readId(params.message, 'message')];
        resultOf(await replayMessage(sending, principalOf(key), id, message));
      },
      answer: () => REMOVED,
    }),
  ];
}

function messageState({ deliveredAt, dueAt }: StoredMessage): 'waiting' | 'delivered' | 'failed' {
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
