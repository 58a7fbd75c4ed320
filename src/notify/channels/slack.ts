/**
 * Kind `slack`: an incoming webhook, or a bot with its token and a channel, which answers in threads and edits its messages. Limits by Slack's reference
 * of blocks: 50 blocks, 150 characters in a header, 3,000 in a section.
 */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import { strictObject, Type } from '../../json-schema.ts';
import {
  type ChannelTools,
  defineChannel,
  hookForm,
  hostOf,
  SECRET,
  type Sending,
  type SendResult,
  urlSetting,
  wordForm,
  wordSetting,
} from './define-channel.ts';
import { escapeSlack, linkUrl, type Markup, markUp } from './markup.ts';
import { cutText, joinLines } from './message-cut.ts';
import { type MessageText, renderMessage, TONE_MARKS } from './message-text.ts';
import {
  type Answer,
  type ResponseRules,
  resultOf,
  sendInThread,
  sendRequest,
  textMember,
} from './send-request.ts';

const API_URL = 'https://slack.com/api';
const HOOK_EXAMPLE = 'https://hooks.slack.com/services/T000/B000/XXXX';
const MAX_HEADER_LENGTH = 150;
const MAX_SECTION_LENGTH = 3_000;

/** Errors of the Web API after which an attempt may succeed. */
const PASSING_ERRORS = new Set([
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
]);
/** Errors that concern the thread alone. */
const THREAD_ERRORS = new Set([
  'cannot_reply_to_message',
  'restricted_action_thread_locked',
  'thread_not_found',
]);

const SLACK: Markup = {
  text: escapeSlack,
  // The reader's own time zone; the text after the bar is for clients that do not know the form.
  time: (at, shown) => `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} {time}|${escapeSlack(shown)}>`,
};

/** The rules of both ways. The Web API answers 200 with `ok: false`. */
const RULES: ResponseRules = { explain: (json) => textMember(json, 'error'), needsBody: true };

/** The kind. */
export const slackChannel = defineChannel({
  settings: strictObject({
    url: Type.Optional(
      urlSetting(
        'Webhook URL',
        'From "Incoming Webhooks" of your Slack app. Recoveries are messages of their own.',
        HOOK_EXAMPLE,
        SECRET,
      ),
    ),
    token: Type.Optional(
      wordSetting(
        'Bot token',
        'In place of the webhook URL: begins with xoxb-, from "OAuth & Permissions" of your Slack app, with the scope chat:write. Recoveries answer in the thread of their alert.',
        SECRET,
      ),
    ),
    channel: Type.Optional(
      wordSetting(
        'Channel',
        'With a bot token: the ID of the channel, such as C0123456789, at the end of its "About" tab. Invite the bot to it.',
        { maxLength: 80 },
      ),
    ),
  }),
  forms: {
    url: hookForm(HOOK_EXAMPLE),
    token: wordForm(/^xox[a-z]-[\w-]+$/, 'a token such as xoxb-…'),
    channel: wordForm(/^(?:[CGD][A-Z0-9]{5,}|#?[^\s#@,]{1,80})$/u, 'an ID such as C0123456789'),
  },
  refuse: ({ url, token, channel }) => {
    if (url !== undefined)
      return token === undefined ? [] : [{ setting: 'token', problem: { code: 'not_with', other: 'url' } }];
    if (token === undefined) return [{ setting: 'url', problem: { code: 'missing' } }];
    return channel === undefined ? [{ setting: 'channel', problem: { code: 'missing' } }] : [];
  },
  // One message a second to a channel or webhook.
  paceMs: 1_000,
  describe: ({ url, channel }) => (url === undefined ? `${channel ?? ''} of Slack` : hostOf(url)),
  send(tools, sending, { url, token, channel }) {
    const { message, channel: target } = sending;
    const content = contentOf(renderMessage(message, target.language), target.language);
    if (url !== undefined) return sendByHook(tools, sending, url, content);
    return sendByBot(tools, sending, token ?? '', { channel, ...content });
  },
});

async function sendByHook(
  tools: ChannelTools,
  sending: Sending,
  url: string,
  json: object,
): Promise<SendResult> {
  const answer = await sendRequest(tools, sending, { url, json, secrets: [url] }, { needsBody: false });
  return resultOf(answer);
}

async function sendByBot(
  tools: ChannelTools,
  sending: Sending,
  token: string,
  json: object,
): Promise<SendResult> {
  const call = async (method: string, more: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}` };
    const request = { url: `${API_URL}/${method}`, headers, json: { ...json, ...more }, secrets: [token] };
    const answer = await sendRequest(tools, sending, request, RULES);
    return answer.ok && !isOk(answer.json) ? { ...answer, ok: false, ...faultOf(answer.json) } : answer;
  };
  return await sendInThread(sending, {
    post: (thread) =>
      call('chat.postMessage', {
        ...{ unfurl_links: false, unfurl_media: false },
        // A recovery shows in the channel too: a person who watches it need not open the thread.
        ...(thread === null
          ? {}
          : { thread_ts: thread, reply_broadcast: sending.message.type === 'recovery' }),
      }),
    edit: (ts) => call('chat.update', { ts }),
    isGone: ({ json }) => THREAD_ERRORS.has(textMember(json, 'error')),
    identify: (json) => ({ thread: textMember(json, 'ts'), id: textMember(json, 'ts') }),
  });
}

/** The end of an attempt that the Web API answered with `ok: false`. */
function faultOf(json: unknown): { readonly statusCode: number; readonly result: SendResult } {
  const error = textMember(json, 'error');
  const text = error === '' ? 'the response is not of Slack' : cutText(error, 100);
  const outcome = error === '' || PASSING_ERRORS.has(error) ? 'failed' : 'refused';
  return { statusCode: 200, result: { outcome, problem: { code: 'text', text } } };
}

function isOk(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'ok' in json && json.ok === true;
}

/** Text for notifications, and blocks. The text is what a phone shows. */
function contentOf(
  message: MessageText,
  language: MessageLanguage,
): { readonly text: string; readonly blocks: object[] } {
  const { tone, title, facts, text, services, more, links } = message;
  const factLines = facts.map(({ label, value, url }) => {
    const shown = markUp(value, SLACK, language);
    return `*${escapeSlack(label)}:* ${url === undefined ? shown : link(url, shown)}`;
  });
  const list = services.map(
    ({ name, url, text }) =>
      `• ${link(url, escapeSlack(name))}${text === '' ? '' : `: ${escapeSlack(text)}`}`,
  );
  const sections = [
    factLines,
    text === '' ? [] : escapeSlack(text).split('\n'),
    [...list, ...(more === null ? [] : [escapeSlack(more)])],
    [links.map(({ label, url }) => link(url, escapeSlack(label))).join('  ·  ')],
  ];
  return {
    text: `${TONE_MARKS[tone]} ${escapeSlack(title)}`,
    blocks: [
      // Plain text: no name can make a mention or a link in it.
      {
        type: 'header',
        text: {
          type: 'plain_text',
          emoji: false,
          text: cutText(`${TONE_MARKS[tone]} ${title}`, MAX_HEADER_LENGTH),
        },
      },
      ...sections
        .filter((lines) => lines.length > 0)
        // `verbatim`: bare URLs and names of channels in foreign text stay text.
        .map((lines) => ({
          type: 'section',
          text: { type: 'mrkdwn', verbatim: true, text: joinLines(lines, MAX_SECTION_LENGTH) },
        })),
    ],
  };
}

function link(url: string, shown: string): string {
  return `<${linkUrl(url).replaceAll('&', '&amp;')}|${shown.replaceAll('|', '¦')}>`;
}
