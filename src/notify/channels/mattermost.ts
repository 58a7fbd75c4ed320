/**
 * Kind `mattermost`: an incoming webhook, or a bot with its token and a channel, which answers in threads and edits its
 * posts. A post has at most 16,383 characters, of servers before 5.0 4,000.
 */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import { strictObject, Type } from '../../json-schema.ts';
import {
  addressOn,
  type ChannelTools,
  defineChannel,
  hookForm,
  hostOf,
  SECRET,
  type Sending,
  type SendResult,
  serverForm,
  urlSetting,
  wordForm,
  wordSetting,
} from './define-channel.ts';
import { escapeMarkdown, linkUrl, type Markup, markUp } from './markup.ts';
import { joinLines } from './message-cut.ts';
import { type MessageText, renderMessage, TONE_MARKS } from './message-text.ts';
import { type ResponseRules, resultOf, sendInThread, sendRequest, textMember } from './send-request.ts';

const HOOK_EXAMPLE = 'https://mattermost.example.com/hooks/xxxxxxxxxxxxxxxxxxxxxxxxxx';
const SERVER_EXAMPLE = 'https://mattermost.example.com';
const MAX_POST_LENGTH = 4_000;

const MATTERMOST: Markup = { text: escapeMattermost, time: (_, shown) => shown };
const RULES: ResponseRules = { explain: (json) => textMember(json, 'message') };

export const mattermostChannel = defineChannel({
  settings: strictObject({
    url: Type.Optional(
      urlSetting(
        'Webhook URL',
        'From Integrations, Incoming Webhooks. Recoveries are posts of their own.',
        HOOK_EXAMPLE,
        SECRET,
      ),
    ),
    server: Type.Optional(
      urlSetting(
        'Server',
        'In place of the webhook URL, for a bot: the address of the server.',
        SERVER_EXAMPLE,
      ),
    ),
    token: Type.Optional(
      wordSetting(
        'Bot token',
        'Access token of the bot, from Integrations, Bot Accounts. Recoveries answer in the thread of their alert.',
        SECRET,
      ),
    ),
    channel: Type.Optional(
      wordSetting(
        'Channel ID',
        'Of 26 letters and digits, at the end of "View Info" of the channel. Add the bot to it.',
        { maxLength: 26 },
      ),
    ),
  }),
  forms: {
    url: hookForm(HOOK_EXAMPLE),
    server: serverForm(SERVER_EXAMPLE),
    token: wordForm(/^[\x21-\x7e]+$/, 'a token without spaces'),
    channel: wordForm(/^[a-z0-9]{26}$/, 'an ID of 26 letters and digits'),
  },
  refuse: ({ url, server, token, channel }) => {
    const bot = Object.entries({ server, token, channel });
    if (url !== undefined)
      return bot.flatMap(([setting, value]) =>
        value === undefined ? [] : [{ setting, problem: { code: 'not_with', other: 'url' } as const }],
      );
    if (server === undefined && token === undefined && channel === undefined)
      return [{ setting: 'url', problem: { code: 'missing' } }];
    return bot.flatMap(([setting, value]) =>
      value === undefined ? [{ setting, problem: { code: 'missing' } as const }] : [],
    );
  },
  describe: ({ url, server, channel }) =>
    url === undefined ? `${channel ?? ''} of ${hostOf(server ?? '')}` : hostOf(url),
  async send(tools, sending, { url, server, token, channel }) {
    const { message, channel: target } = sending;
    const text = textOf(renderMessage(message, target.language), target.language);
    if (url === undefined)
      return sendByBot(tools, sending, {
        server: server ?? '',
        token: token ?? '',
        channel: channel ?? '',
        text,
      });
    return resultOf(await sendRequest(tools, sending, { url, json: { text }, secrets: [url] }, RULES));
  },
});

async function sendByBot(
  tools: ChannelTools,
  sending: Sending,
  { server, token, channel, text }: Readonly<Record<'server' | 'token' | 'channel' | 'text', string>>,
): Promise<SendResult> {
  const call = (method: 'POST' | 'PUT', path: string, json: object) =>
    sendRequest(
      tools,
      sending,
      {
        method,
        url: addressOn(server, `/api/v4/posts${path}`),
        headers: { authorization: `Bearer ${token}` },
        json,
        secrets: [token],
      },
      RULES,
    );
  return await sendInThread(sending, {
    post: (root) =>
      call('POST', '', { channel_id: channel, message: text, ...(root === null ? {} : { root_id: root }) }),
    edit: (id) => call('PUT', `/${encodeURIComponent(id)}/patch`, { message: text }),
    // The post that began the thread is gone.
    isGone: ({ json }) => /\.root_id\./.test(textMember(json, 'id')),
    identify: (json) => ({ thread: textMember(json, 'id'), id: textMember(json, 'id') }),
  });
}

function textOf(
  { tone, title, facts, text, services, more, links }: MessageText,
  language: MessageLanguage,
): string {
  const list = services.map(
    ({ name, url, text }) =>
      `- ${link(url, escapeMattermost(name))}${text === '' ? '' : `: ${escapeMattermost(text)}`}`,
  );
  const lines = [
    `${TONE_MARKS[tone]} **${escapeMattermost(title)}**`,
    links.map(({ label, url }) => link(url, label)).join(' · '),
    ...facts.map(({ label, value, url }) => {
      const shown = markUp(value, MATTERMOST, language);
      return `**${label}:** ${url === undefined ? shown : link(url, shown)}`;
    }),
    ...(text === '' ? [] : escapeMattermost(text).split('\n')),
    ...list,
    ...(more === null ? [] : [escapeMattermost(more)]),
  ];
  return joinLines(lines, MAX_POST_LENGTH);
}

/** As Markdown. The server looks for mentions in the text without its backslashes, so a space of no width breaks them. */
function escapeMattermost(text: string): string {
  return escapeMarkdown(text).replaceAll('\\@', '@\u200b');
}

function link(url: string, shown: string): string {
  return `[${shown}](${linkUrl(url)})`;
}
