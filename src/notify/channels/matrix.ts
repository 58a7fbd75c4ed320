/**
 * Kind `matrix`: a user of a home server and a room (client-server API v3). What follows an alert is in its thread, or edits it. The identifier
 * of the transaction is the same in all attempts, so that the server writes the message once. An event has at most 65,536 bytes.
 */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import { strictObject } from '../../json-schema.ts';
import { escapeMarkup } from '../../language/phrase.ts';
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
import { htmlLines, htmlLinks, htmlServices } from './markup.ts';
import { type MessageText, plainLines, renderMessage, TONE_MARKS } from './message-text.ts';
import { memberOf, type ResponseRules, sendInThread, sendRequest, textMember } from './send-request.ts';

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
  settings: strictObject({
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
  }),
  forms: {
    server: serverForm(SERVER_EXAMPLE),
    room: wordForm(/^![^\s]+$/u, 'an ID such as !abcdef:example.com'),
    token: wordForm(/^[\x21-\x7e]+$/, 'a token without spaces'),
  },
  describe: ({ server, room }) => `${room} of ${hostOf(server)}`,
  async send(tools, sending, { server, room, token }) {
    const { message, channel, id } = sending;
    const content = contentOf(renderMessage(message, channel.language), channel.language);
    const put = (transaction: string, json: object) => {
      const path = `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message/${encodeURIComponent(transaction)}`;
      const headers = { authorization: `Bearer ${token}` };
      const request = {
        method: 'PUT',
        url: addressOn(server, path),
        headers,
        json,
        secrets: [token],
      } as const;
      return sendRequest(tools, sending, request, RULES);
    };
    return await sendInThread(sending, {
      post: (thread) => put(id, { ...content, ...(thread === null ? {} : inThread(thread)) }),
      edit: (event) =>
        put(`${id}-edit`, {
          ...content,
          // What clients show that know no edits.
          body: `* ${content.body}`,
          formatted_body: `* ${content.formatted_body}`,
          'm.new_content': content,
          'm.relates_to': { rel_type: 'm.replace', event_id: event },
        }),
      identify: (json) => ({ thread: textMember(json, 'event_id'), id: textMember(json, 'event_id') }),
    });
  },
});

function inThread(event: string): object {
  return {
    'm.relates_to': {
      rel_type: 'm.thread',
      event_id: event,
      is_falling_back: true,
      'm.in_reply_to': { event_id: event },
    },
  };
}

function contentOf(message: MessageText, language: MessageLanguage) {
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
