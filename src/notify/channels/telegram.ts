/**
 * Kind `telegram`: a bot and a chat. What follows an alert answers to it, or edits it. A message has at most 4,096 characters after its markup.
 */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import { strictObject, Type } from '../../json-schema.ts';
import { escapeMarkup } from '../../language/phrase.ts';
import {
  addressOn,
  defineChannel,
  SECRET,
  serverForm,
  urlSetting,
  wordForm,
  wordSetting,
} from './define-channel.ts';
import { htmlLines, htmlLinks, htmlServices } from './markup.ts';
import { joinLines } from './message-cut.ts';
import { type MessageText, renderMessage, TONE_MARKS } from './message-text.ts';
import {
  memberOf,
  type ResponseRules,
  secondsToMs,
  sendInThread,
  sendRequest,
  textMember,
} from './send-request.ts';

const DEFAULT_SERVER = 'https://api.telegram.org';
const MAX_TEXT_LENGTH = 4_096;
const RULES: ResponseRules = {
  explain: (json) => textMember(json, 'description'),
  retryAfterMs: (json) => secondsToMs(memberOf(json, 'parameters', 'retry_after')),
};

/** The kind. */
export const telegramChannel = defineChannel({
  settings: strictObject({
    token: wordSetting('Bot token', 'From @BotFather, such as 123456:ABC-DEF.', SECRET),
    chat: wordSetting(
      'Chat ID',
      'Number of the chat, negative for groups, or @name of a public channel. Add the bot to it.',
      { maxLength: 64 },
    ),
    topic: Type.Optional(
      Type.Integer({
        title: 'Topic',
        description: 'Of a group with topics: the number of the topic, the last one in its link.',
        minimum: 1,
        maximum: 2_147_483_647,
      }),
    ),
    silent: Type.Optional(
      Type.Boolean({
        title: 'Silent recoveries',
        description: 'Recoveries and other good news make no sound.',
      }),
    ),
    server: Type.Optional(
      urlSetting('Server', `Of your own Bot API server; default ${DEFAULT_SERVER}.`, DEFAULT_SERVER),
    ),
  }),
  forms: {
    token: wordForm(/^\d{3,20}:[\w-]{10,100}$/, 'a token such as 123456:ABC-DEF…'),
    chat: wordForm(/^(?:-?\d{1,20}|@[A-Za-z]\w{3,40})$/, 'an ID such as -1001234567890, or @name'),
    server: serverForm(DEFAULT_SERVER),
  },
  // 20 messages a minute to a group; one a second to a person.
  paceMs: 3_000,
  describe: ({ chat }) => `${chat} of Telegram`,
  async send(tools, sending, { token, chat, topic, silent = false, server = DEFAULT_SERVER }) {
    const text = renderMessage(sending.message, sending.channel.language);
    const content = contentOf(text, sending.channel.language);
    const isQuiet = silent && text.tone !== 'bad' && text.tone !== 'warning';
    let chatId = chat;
    const call = (method: string, json: object) => {
      const url = addressOn(server, `/bot${token}/${method}`);
      const request = { url, json: { chat_id: chatId, ...content, ...json }, secrets: [token] };
      return sendRequest(tools, sending, request, RULES);
    };
    return await sendInThread(sending, {
      post: (replyTo) =>
        call('sendMessage', {
          ...(topic === undefined ? {} : { message_thread_id: topic }),
          ...(isQuiet ? { disable_notification: true } : {}),
          ...(replyTo === null
            ? {}
            : { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true } }),
        }),
      async edit(id) {
        const answer = await call('editMessageText', { message_id: Number(id) });
        const isSame = !answer.ok && /message is not modified/.test(textMember(answer.json, 'description'));
        return isSame ? { ok: true, json: answer.json, text: '' } : answer;
      },
      // A group that became a supergroup has another number, and its messages have others too.
      isGone(answer) {
        const moved = memberOf(answer.json, 'parameters', 'migrate_to_chat_id');
        if (typeof moved === 'number') chatId = String(moved);
        return typeof moved === 'number';
      },
      identify(json) {
        const id = String(memberOf(json, 'result', 'message_id') ?? '');
        return { thread: id, id };
      },
    });
  },
});

function contentOf(message: MessageText, language: MessageLanguage): object {
  const { tone, title, more } = message;
  const lines = [
    `${TONE_MARKS[tone]} <b>${escapeMarkup(title)}</b>`,
    // Also as text: buttons are refused where the URL is not public.
    htmlLinks(message),
    ...htmlLines(message, language),
    ...htmlServices(message).map((item) => `• ${item}`),
    ...(more === null ? [] : [escapeMarkup(more)]),
  ];
  return {
    text: joinLines(lines, MAX_TEXT_LENGTH),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  };
}
