/** Kind `gotify`: an application of a Gotify server. */
import { strictObject } from '../../json-schema.ts';
import {
  addressOn,
  defineChannel,
  hostOf,
  SECRET,
  ServerSetting,
  serverForm,
  wordForm,
  wordSetting,
} from './define-channel.ts';
import { plainLines, renderMessage, TONE_MARKS, type Tone } from './message-text.ts';
import { type ResponseRules, resultOf, sendRequest, textMember } from './send-request.ts';

const SERVER_EXAMPLE = 'https://gotify.example.com';
/** From 0 to 10: from 8 on the app makes a sound and shows it over others, up to 3 it is silent. */
const PRIORITIES: Readonly<Record<Tone, number>> = { bad: 8, warning: 5, good: 5, info: 2 };
const RULES: ResponseRules = {
  explain: (json) => textMember(json, 'errorDescription') || textMember(json, 'error'),
};

export const gotifyChannel = defineChannel({
  settings: strictObject({
    server: ServerSetting('Gotify', SERVER_EXAMPLE),
    token: wordSetting('Application token', 'From "Apps" of the server.', SECRET),
  }),
  forms: { server: serverForm(SERVER_EXAMPLE), token: wordForm(/^[\x21-\x7e]+$/, 'a token without spaces') },
  describe: ({ server }) => hostOf(server),
  async send(tools, sending, { server, token }) {
    const { message, channel } = sending;
    const text = renderMessage(message, channel.language);
    const links = text.links.map(({ label, url }) => `${label}: ${url}`);
    const json = {
      title: `${TONE_MARKS[text.tone]} ${text.title}`,
      message: [...plainLines(text, channel.language), ...links].join('\n'),
      priority: PRIORITIES[text.tone],
      // Plain text: names make no format. Android links the URLs.
      extras: {
        'client::display': { contentType: 'text/plain' },
        'client::notification': { click: { url: message.url } },
      },
    };
    const headers = { 'x-gotify-key': token };
    return resultOf(
      await sendRequest(
        tools,
        sending,
        { url: addressOn(server, '/message'), headers, json, secrets: [token] },
        RULES,
      ),
    );
  },
});
