/**
 * Kind `google-chat`: an incoming webhook of a space. Messages of one alert have one `threadKey`. A message has at most 32,000 bytes;
 * a space takes one request a second.
 */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import { strictObject } from '../../json-schema.ts';
import { escapeMarkup } from '../../language/phrase.ts';
import { defineChannel, hookForm, hostOf, SECRET, urlSetting } from './define-channel.ts';
import { htmlLines, htmlServices } from './markup.ts';
import { joinLines } from './message-cut.ts';
import { type MessageText, renderMessage, TONE_MARKS } from './message-text.ts';
import { type ResponseRules, resultOf, sendRequest, textMember } from './send-request.ts';

const HOOK_EXAMPLE = 'https://chat.googleapis.com/v1/spaces/AAAA/messages?key=…&token=…';
/** Of the text of the card; the rest of the message has at most 8,000 more. */
const MAX_CARD_BYTES = 24_000;
const RULES: ResponseRules = { explain: (json) => textMember(json, 'error', 'message') };

export const googleChatChannel = defineChannel({
  settings: strictObject({
    url: urlSetting(
      'Webhook URL',
      "The space's menu, Apps & integrations, Webhooks, Add webhook.",
      HOOK_EXAMPLE,
      SECRET,
    ),
  }),
  forms: { url: hookForm(HOOK_EXAMPLE) },
  // One message a second to a space.
  paceMs: 1_000,
  describe: ({ url }) => hostOf(url),
  async send(tools, sending, { url }) {
    const { message, channel } = sending;
    const target = new URL(url);
    target.searchParams.set('messageReplyOption', 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD');
    const json = {
      ...contentOf(renderMessage(message, channel.language), channel.language),
      thread: { threadKey: message.thread },
    };
    return resultOf(
      await sendRequest(tools, sending, { url: target.href, json, secrets: [url, target.href] }, RULES),
    );
  },
});

/** The text, which notifications show, and a card. The text of a card is HTML; that of the message has mentions in `<…>`. */
function contentOf(message: MessageText, language: MessageLanguage): object {
  const { tone, title, more, links } = message;
  const paragraphs = [
    ...htmlLines(message, language),
    ...htmlServices(message).map((item) => `• ${item}`),
    ...(more === null ? [] : [escapeMarkup(more)]),
  ];
  return {
    text: `${TONE_MARKS[tone]} ${title.replaceAll('<', '‹').replaceAll('>', '›')}`,
    cardsV2: [
      {
        cardId: 'alert',
        card: {
          sections: [
            {
              widgets: [
                ...(paragraphs.length === 0
                  ? []
                  : [
                      {
                        textParagraph: {
                          text: joinLines(paragraphs, MAX_CARD_BYTES, Buffer.byteLength).replaceAll(
                            '\n',
                            '<br>',
                          ),
                        },
                      },
                    ]),
                {
                  buttonList: {
                    buttons: links.map(({ label, url }) => ({ text: label, onClick: { openLink: { url } } })),
                  },
                },
              ],
            },
          ],
        },
      },
    ],
  };
}
