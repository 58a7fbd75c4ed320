/**
 * Kind `pagerduty`: an integration of Events API v2. The thread of an alert is its `dedup_key`: the alert triggers an incident, its
 * recovery resolves it. A trigger for a key that a person has resolved opens a new incident, so an update is not sent: only what begins, gets
 * worse or still goes on is. Limits: 1,024 characters of summary, 255 of the key, 512 KB of event.
 */
import { strictObject, Type } from '../../json-schema.ts';
import { defineChannel, SECRET, wordForm, wordSetting } from './define-channel.ts';
import { cutText } from './message-cut.ts';
import { plainLines, plainPhrase, renderMessage, type Tone } from './message-text.ts';
import { memberOf, type ResponseRules, resultOf, sendRequest, textMember } from './send-request.ts';

const HOSTS = { us: 'events.pagerduty.com', eu: 'events.eu.pagerduty.com' } as const;
const MAX_SUMMARY_LENGTH = 1_024;
const SEVERITIES: Readonly<Record<Tone, string>> = {
  bad: 'critical',
  warning: 'warning',
  good: 'info',
  info: 'info',
};
const RULES: ResponseRules = {
  explain: (json) => {
    const errors = memberOf(json, 'errors');
    return [textMember(json, 'message'), ...(Array.isArray(errors) ? errors.map(String) : [])].join('; ');
  },
};

export const pagerdutyChannel = defineChannel({
  settings: strictObject({
    key: wordSetting('Integration key', 'Of an integration "Events API v2" of a service of PagerDuty.', {
      ...SECRET,
      maxLength: 32,
    }),
    region: Type.Optional(
      Type.Unsafe<'us' | 'eu'>({
        type: 'string',
        enum: ['us', 'eu'],
        title: 'Region',
        description: 'eu: your address ends in eu.pagerduty.com. Default us.',
      }),
    ),
  }),
  forms: { key: wordForm(/^[A-Za-z0-9]{32}$/, 'a key of 32 letters and digits') },
  // 120 events a minute for an integration key.
  paceMs: 500,
  describe: ({ region = 'us' }) => (region === 'eu' ? 'PagerDuty, EU' : 'PagerDuty'),
  async send(tools, sending, { key, region = 'us' }) {
    const { message, channel } = sending;
    const text = renderMessage(message, channel.language);
    const enqueue = (action: 'trigger' | 'acknowledge' | 'resolve') => {
      const json = {
        routing_key: key,
        event_action: action,
        dedup_key: message.thread,
        ...(action === 'trigger' ? triggerOf() : {}),
      };
      return sendRequest(
        tools,
        sending,
        { url: `https://${HOSTS[region]}/v2/enqueue`, json, secrets: [key] },
        RULES,
      );
    };
    const triggerOf = () => ({
      payload: {
        summary: cutText(text.title, MAX_SUMMARY_LENGTH),
        source: message.items[0]?.service.domain ?? 'Upbeat',
        severity: SEVERITIES[text.tone],
        timestamp: new Date(message.at).toISOString(),
        class: message.items[0]?.event ?? message.type,
        custom_details: {
          ...Object.fromEntries(
            text.facts.map(({ label, value }) => [label, plainPhrase(value, channel.language)]),
          ),
          text: plainLines({ ...text, facts: [] }, channel.language).join('\n'),
        },
      },
      links: text.links.map(({ label, url }) => ({ href: url, text: label })),
      client: 'Upbeat',
      client_url: message.url,
    });
    switch (message.type) {
      case 'recovery':
      case 'prober_online':
        return resultOf(await enqueue('resolve'));
      case 'acknowledged':
        return resultOf(await enqueue('acknowledge'));
      case 'update':
        return { outcome: 'delivered' };
      case 'test': {
        // A test leaves no open incident behind.
        const triggered = await enqueue('trigger');
        return resultOf(triggered.ok ? await enqueue('resolve') : triggered);
      }
      default:
        return resultOf(await enqueue('trigger'));
    }
  },
});
