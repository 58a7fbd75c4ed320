/**
 * Kind `ntfy`: a topic of ntfy.sh or of a server of the owner's. Limits by ntfy's documentation: 4,096 bytes of message (longer ones
 * become attachments), 1,024 of title, which no title has, 3 actions.
 */
import { strictObject, Type } from '../../json-schema.ts';
import {
  defineChannel,
  hostOf,
  SECRET,
  serverForm,
  urlSetting,
  wordForm,
  wordSetting,
} from './define-channel.ts';
import { joinLines } from './message-cut.ts';
import { plainLines, renderMessage, type Tone } from './message-text.ts';
import { NO_THREAD, type ResponseRules, sendInThread, sendRequest, textMember } from './send-request.ts';

const DEFAULT_SERVER = 'https://ntfy.sh';
const MAX_MESSAGE_BYTES = 4_000;
/** From 1 to 5: 5 sounds and vibrates for long, 2 is silent. */
const PRIORITIES: Readonly<Record<Tone, number>> = { bad: 5, warning: 3, good: 3, info: 2 };
const TAGS: Readonly<Record<Tone, string>> = {
  bad: 'red_circle',
  warning: 'yellow_circle',
  good: 'green_circle',
  info: 'large_blue_circle',
};

const RULES: ResponseRules = { explain: (json) => textMember(json, 'error') };

/** The kind. */
export const ntfyChannel = defineChannel({
  settings: strictObject({
    topic: wordSetting(
      'Topic',
      'Letters, digits, _ and -. Anyone who knows the topic of a public server can read it: choose one that cannot be guessed.',
      { ...SECRET, maxLength: 64 },
    ),
    server: Type.Optional(
      urlSetting('Server', `Of your own server; default ${DEFAULT_SERVER}.`, DEFAULT_SERVER),
    ),
    token: Type.Optional(
      wordSetting(
        'Access token',
        'For a protected topic: begins with tk_, from "Account" of the server.',
        SECRET,
      ),
    ),
  }),
  forms: {
    topic: wordForm(/^[-_A-Za-z0-9]{1,64}$/, 'a topic such as upbeat-3f9a1c'),
    server: serverForm(DEFAULT_SERVER),
    token: wordForm(/^[\x21-\x7e]+$/, 'a token such as tk_…'),
  },
  describe: ({ server = DEFAULT_SERVER }) => hostOf(server),
  async send(tools, sending, { topic, server = DEFAULT_SERVER, token }) {
    const { message, channel } = sending;
    const text = renderMessage(message, channel.language);
    const lines = plainLines(text, channel.language);
    const json = {
      topic,
      title: text.title,
      message: joinLines(lines.length === 0 ? [text.title] : lines, MAX_MESSAGE_BYTES, Buffer.byteLength),
      priority: PRIORITIES[text.tone],
      tags: [TAGS[text.tone]],
      click: message.url,
      actions: text.links.map(({ label, url }) => ({ action: 'view', label, url })),
    };
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const publish = (more: object) => {
      const request = { url: server, headers, json: { ...json, ...more }, secrets: [topic, token ?? ''] };
      return sendRequest(tools, sending, request, RULES);
    };
    return await sendInThread(sending, {
      post: () => publish({}),
      // The identifier of a message is that of the sequence which it begins. Servers before 2.16 publish another message.
      edit: (id) => publish({ sequence_id: id }),
      identify: (response) => ({ thread: NO_THREAD, id: textMember(response, 'id') }),
    });
  },
});
