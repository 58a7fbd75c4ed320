/**
 * Kind `matrix`: a user of a home server and a room (client-server API v3). What follows an alert is in its thread. The identifier
 * of the transaction is the same in all attempts, so that the server writes the message once. An event has at most 65,536 bytes.
 */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import { Type } from '../../json-schema.ts';
import { escapeMarkup } from '../../language/phrase.ts';
import {
  addressOn,
  defineChannel,
  hostOf,
  SECRET,
  ServerSetting,
  STRICT,
  serverForm,
  wordForm,
  wordSetting,
} from './define-channel.ts';
import { htmlLines, htmlLinks, htmlServices } from './html-text.ts';
import { type MessageText, plainLines, renderMessage, TONE_MARKS } from './message-text.ts';
import { memberOf, type ResponseRules, sendRequest, textMember } from './send-request.ts';

const SERVER_EXAMPLE = 'https://matrix.example.com';
const RULES: ResponseRules = {
  explain: (json) =>
    [textMember(json, 'errcode'), textMember(json, 'error')].filter((text) => text !== '').join(': '),
  // In milliseconds; the header took its place in version 1.10.
  retryAfterMs: (json) => {
    const wait = memberOf(json, 'retry_after_ms');
    return typeof wait === 'number' && wait >= 0 ? wait : null;
  },
};

/** The kind. */
export const matrixChannel = defineChannel({
  settings: Type.Object(
    {
      server: ServerSetting('home', SERVER_EXAMPLE),
      room: wordSetting(
        'Room ID',
        'Begins with !, in the settings of the room under "Advanced". The user has to be in it; it must not be encrypted.',
        { maxLength: 255 },
      ),
      token: wordSetting(
        'Access token',
        'Of the user who writes, in the settings of Element under "Help & About".',
        { ...SECRET, maxLength: 2_000 },
      ),
    },
    STRICT,
  ),
  forms: {
    server: serverForm(SERVER_EXAMPLE),
    room: wordForm(/^![^\s]+$/u, '!abcdef:example.com'),
    token: wordForm(/^[\x21-\x7e]+$/, 'a token without spaces'),
  },
  describe: ({ server, room }) => `${room} of ${hostOf(server)}`,
  async send(tools, sending, { server, room, token }) {
    const { reference, message, channel, id } = sending;
    const content = contentOf(renderMessage(message, channel.language), channel.language);
    const thread = {
      'm.relates_to': {
        rel_type: 'm.thread',
        event_id: reference,
        is_falling_back: true,
        'm.in_reply_to': { event_id: reference },
      },
    };
    const path = `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message/${encodeURIComponent(id)}`;
    const answer = await sendRequest(
      tools,
      sending,
      {
        method: 'PUT',
        url: addressOn(server, path),
        headers: { authorization: `Bearer ${token}` },
        json: { ...content, ...(reference === null ? {} : thread) },
        secrets: [token],
      },
      RULES,
    );
    if (!answer.ok) return answer.result;
    const event = textMember(answer.json, 'event_id');
    return reference === null && event !== ''
      ? { outcome: 'delivered', reference: event }
      : { outcome: 'delivered' };
  },
});

function contentOf(message: MessageText, language: MessageLanguage): object {
  const { tone, title, more, links } = message;
  const first = `${TONE_MARKS[tone]} ${title}`;
  const list = htmlServices(message).map((item) => `<li>${item}</li>`);
  const html = [
    `<b>${escapeMarkup(first)}</b>`,
    ...htmlLines(message, language),
    ...(list.length === 0 ? [] : [`<ul>${list.join('')}</ul>`]),
    ...(more === null ? [] : [escapeMarkup(more)]),
    htmlLinks(message),
  ];
  return {
    msgtype: 'm.text',
    body: [
      first,
      ...plainLines(message, language),
      ...links.map(({ label, url }) => `${label}: ${url}`),
    ].join('\n'),
    format: 'org.matrix.custom.html',
    formatted_body: html.join('<br>').replaceAll('<br><ul>', '<ul>').replaceAll('</ul><br>', '</ul>'),
    // Present and empty: the message mentions nobody, whatever its text contains.
    'm.mentions': {},
  };
}
