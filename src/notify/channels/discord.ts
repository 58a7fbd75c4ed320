/**
 * Kind `discord`: a webhook of a channel. A message can be edited. In a forum each alert opens a post, and what follows answers in it. Limits by Discord's
 * documentation: 2,000 characters of content; of an embed 4,096 in the description, 25 fields of 256 and 1,024, 6,000 in total.
 */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import { strictObject, Type } from '../../json-schema.ts';
import { defineChannel, hookForm, hostOf, SECRET, urlSetting } from './define-channel.ts';
import { escapeMarkdown, linkUrl, type Markup, markUp } from './markup.ts';
import { cutText, joinLines } from './message-cut.ts';
import { type MessageText, renderMessage, TONE_COLOURS, TONE_MARKS } from './message-text.ts';
import {
  memberOf,
  NO_THREAD,
  type ResponseRules,
  secondsToMs,
  sendInThread,
  sendRequest,
  textMember,
} from './send-request.ts';

const HOOK_EXAMPLE = 'https://discord.com/api/webhooks/123456789/XXXX';
const MAX_POST_NAME_LENGTH = 100;
const MAX_DESCRIPTION_LENGTH = 3_000;
const MAX_FIELD_LENGTH = 1_024;
/** "Unknown channel": the post of the thread was deleted; "This thread is archived": it cannot be opened again. */
const GONE: ReadonlySet<number> = new Set([10_003, 50_083]);

const DISCORD: Markup = { text: escapeMarkdown, time: (at) => `<t:${Math.floor(at / 1_000)}:f>` };

const RULES: ResponseRules = {
  explain: (json) => textMember(json, 'message'),
  // In seconds with a fraction; the header is rounded.
  retryAfterMs: (json) => secondsToMs(memberOf(json, 'retry_after')),
  needsBody: true,
};

export const discordChannel = defineChannel({
  settings: strictObject({
    url: urlSetting(
      'Webhook URL',
      'Edit the channel, Integrations, Webhooks, New Webhook, Copy Webhook URL.',
      HOOK_EXAMPLE,
      SECRET,
    ),
    forum: Type.Optional(
      Type.Boolean({
        title: 'Forum',
        description: 'The channel is a forum: each alert opens a post, and its recovery answers there.',
      }),
    ),
  }),
  forms: { url: hookForm(HOOK_EXAMPLE) },
  // 30 messages a minute by a webhook.
  paceMs: 2_000,
  describe: ({ url }) => hostOf(url),
  async send(tools, sending, { url, forum = false }) {
    const { channel, message } = sending;
    const text = renderMessage(message, channel.language);
    const content = contentOf(text, channel.language);
    const [thread = null] = forum ? (sending.reference?.split(' ') ?? []) : [];
    const call = (method: 'POST' | 'PATCH', path: string, inThread: string | null, json: object) => {
      const target = new URL(url);
      target.pathname = `${target.pathname.replace(/\/+$/, '')}${path}`;
      // Without it a message that Discord drops would count as delivered.
      if (method === 'POST') target.searchParams.set('wait', 'true');
      if (inThread !== null) target.searchParams.set('thread_id', inThread);
      return sendRequest(tools, sending, { method, url: target.href, json, secrets: [url] }, RULES);
    };
    return await sendInThread(sending, {
      post: (known) => {
        const post = forum ? known : null;
        const name = cutText(`${TONE_MARKS[text.tone]} ${text.title}`, MAX_POST_NAME_LENGTH);
        return call('POST', '', post, forum && post === null ? { ...content, thread_name: name } : content);
      },
      edit: (id) => call('PATCH', `/messages/${encodeURIComponent(id)}`, thread, content),
      isGone: ({ json }) => thread !== null && GONE.has(Number(memberOf(json, 'code'))),
      identify: (json) => ({
        thread: forum ? textMember(json, 'channel_id') : NO_THREAD,
        id: textMember(json, 'id'),
      }),
    });
  },
});

function contentOf(
  { tone, title, facts, text, services, more, links }: MessageText,
  language: MessageLanguage,
): object {
  const list = services.map(
    ({ name, url, text }) =>
      `- ${link(url, escapeMarkdown(name))}${text === '' ? '' : `: ${escapeMarkdown(text)}`}`,
  );
  const lines = [
    // Links first: whatever is cut, they stay.
    links.map(({ label, url }) => `**${link(url, label)}**`).join(' · '),
    ...(text === '' ? [] : escapeMarkdown(text).split('\n')),
    ...list,
    ...(more === null ? [] : [escapeMarkdown(more)]),
  ];
  return {
    content: `${TONE_MARKS[tone]} **${escapeMarkdown(title)}**`,
    // Nobody is mentioned, whatever names and texts contain.
    allowed_mentions: { parse: [] },
    embeds: [
      {
        color: TONE_COLOURS[tone],
        description: joinLines(lines, MAX_DESCRIPTION_LENGTH),
        fields: facts.map(({ label, value, url }) => {
          const shown = markUp(value, DISCORD, language);
          const linked = url === undefined ? shown : link(url, shown);
          return { name: label, value: linked.length <= MAX_FIELD_LENGTH ? linked : shown, inline: true };
        }),
      },
    ],
  };
}

function link(url: string, shown: string): string {
  return `[${shown}](${linkUrl(url)})`;
}
