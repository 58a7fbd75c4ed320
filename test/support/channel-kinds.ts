/** Two kinds of channels for tests: one that sends at once, and one whose receiver has to agree first. */

import { Type } from '../../src/json-schema.ts';
import type { ChannelKindParts } from '../../src/notify/channels/define-channel.ts';
import type { ChannelKinds } from '../../src/resources/channels/channels.ts';

const send: ChannelKindParts['send'] = async () => ({ outcome: 'delivered' });

/** The kinds. */
export const TEST_KINDS: ChannelKinds = {
  gotify: {
    settings: Type.Object(
      {
        server: Type.String({
          format: 'http-url',
          maxLength: 2_000,
          title: 'Server',
          description: 'Address of your Gotify.',
        }),
        token: Type.String({
          maxLength: 200,
          writeOnly: true,
          title: 'Token',
          description: 'Of the application, from Apps.',
        }),
        priority: Type.Optional(
          Type.Integer({ minimum: 0, maximum: 10, title: 'Priority', description: 'From 0 to 10.' }),
        ),
      },
      { additionalProperties: false },
    ),
    describe: ({ server }) => URL.parse(String(server))?.host ?? '',
    send,
  },
  email: {
    settings: Type.Object(
      { to: Type.String({ maxLength: 254, title: 'Address', description: 'Where letters go.' }) },
      { additionalProperties: false },
    ),
    refuse: ({ to }) =>
      /^\S+@\S+$/.test(String(to))
        ? []
        : [{ setting: 'to', problem: { code: 'format', example: 'an address such as ops@example.com' } }],
    needsConfirmation: true,
    describe: ({ to }) => String(to),
    send,
  },
};
