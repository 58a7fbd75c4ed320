/**
 * Kind `opsgenie`: an API integration of Opsgenie, or of Jira Service Management, which takes its place and has the same API. The
 * thread of an alert is its alias, and the thread's reference the priority that it has there: an alert that exists keeps its priority until
 * it is changed by a request for that. Limits: 130 characters of message, 512 of alias, 15,000 of description, 25,000 of a note.
 */
import { strictObject, Type } from '../../json-schema.ts';
import { defineChannel, SECRET, wordForm, wordSetting } from './define-channel.ts';
import { cutText, joinLines } from './message-cut.ts';
import { plainLines, renderMessage, type Tone } from './message-text.ts';
import { type ResponseRules, resultOf, secondsToMs, sendRequest, textMember } from './send-request.ts';

const REGIONS = ['us', 'eu', 'jira'] as const;
const SERVERS = {
  us: 'https://api.opsgenie.com',
  eu: 'https://api.eu.opsgenie.com',
  jira: 'https://api.atlassian.com/jsm/ops/integration',
} as const;
const MAX_MESSAGE_LENGTH = 130;
const MAX_DESCRIPTION_LENGTH = 15_000;
const PRIORITIES: Readonly<Record<Tone, string>> = { bad: 'P1', warning: 'P3', good: 'P5', info: 'P5' };
const RULES: ResponseRules = {
  explain: (json) => textMember(json, 'message'),
  retryAfterMs: (_, headers) => secondsToMs(headers['x-ratelimit-period-in-sec']),
};

export const opsgenieChannel = defineChannel({
  settings: strictObject({
    key: wordSetting('API key', 'Of an integration "API" of a team.', SECRET),
    region: Type.Optional(
      Type.Unsafe<(typeof REGIONS)[number]>({
        type: 'string',
        enum: REGIONS,
        title: 'Instance',
        description:
          'eu: your address ends in app.eu.opsgenie.com. jira: alerts are in Jira Service Management. Default us.',
      }),
    ),
  }),
  forms: { key: wordForm(/^[\x21-\x7e]{8,}$/, 'a key such as 12345678-90ab-cdef-1234-567890abcdef') },
  describe: ({ region = 'us' }) => SERVERS[region].replace('https://', ''),
  async send(tools, sending, { key, region = 'us' }) {
    const { message, channel, reference } = sending;
    const text = renderMessage(message, channel.language);
    const lines = [
      text.title,
      ...text.links.map(({ label, url }) => `${label}: ${url}`),
      ...plainLines(text, channel.language),
    ];
    const description = joinLines(lines, MAX_DESCRIPTION_LENGTH);
    const call = (path: string, json: object, method: 'POST' | 'PUT' = 'POST') =>
      sendRequest(
        tools,
        sending,
        {
          url: `${SERVERS[region]}/v2/alerts${path}`,
          method,
          headers: { authorization: `GenieKey ${key}` },
          json,
          secrets: [key],
        },
        RULES,
      );
    const act = (action: string) =>
      call(`/${encodeURIComponent(message.thread)}/${action}?identifierType=alias`, {
        source: 'Upbeat',
        note: description,
      });
    const create = () =>
      call('', {
        message: cutText(text.title, MAX_MESSAGE_LENGTH),
        alias: message.thread,
        description,
        entity: message.items[0]?.service.domain ?? 'Upbeat',
        source: 'Upbeat',
        priority: PRIORITIES[text.tone],
        tags: ['upbeat'],
        details: { url: message.url },
      });
    switch (message.type) {
      case 'recovery':
      case 'prober_online':
        return resultOf(await act('close'));
      case 'acknowledged':
        return resultOf(await act('acknowledge'));
      case 'update':
        return resultOf(await act('notes'));
      case 'test': {
        // A test leaves no open alert behind.
        const created = await create();
        return resultOf(created.ok ? await act('close') : created);
      }
      default: {
        const priority = PRIORITIES[text.tone];
        const created = await create();
        // `P1` is before `P3`, and worse.
        if (!created.ok || reference === null || priority >= reference)
          return created.ok && reference === null
            ? { outcome: 'delivered', reference: priority }
            : resultOf(created);
        const path = `/${encodeURIComponent(message.thread)}/priority?identifierType=alias`;
        const raised = await call(path, { priority }, 'PUT');
        if (!raised.ok && raised.result.outcome === 'failed') return raised.result;
        return { outcome: 'delivered', reference: priority };
      }
    }
  },
});
