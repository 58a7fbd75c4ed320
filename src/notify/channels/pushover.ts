/**
 * Kind `pushover`: an application and a user or group. Limits by Pushover's API: 1,024 characters of message, 250 of title, 512 of URL,
 * 100 of its title. An emergency repeats until a person confirms it or it is over, for an hour at most. It has the thread as its
 * tag, by which all that repeat in a thread are ended, so that a reminder takes the place of the emergency before it.
 */
import { strictObject, Type } from '../../json-schema.ts';
import {
  type ChannelTools,
  defineChannel,
  SECRET,
  type Sending,
  type SendResult,
  wordForm,
  wordSetting,
} from './define-channel.ts';
import { cutText, joinLines } from './message-cut.ts';
import { plainLines, renderMessage, TONE_MARKS, type Tone } from './message-text.ts';
import { memberOf, type ResponseRules, resultOf, sendRequest } from './send-request.ts';

const API_URL = 'https://api.pushover.net/1';
const MAX_MESSAGE_LENGTH = 1_024;
const MAX_TITLE_LENGTH = 250;
const MAX_URL_LENGTH = 512;
const EMERGENCY_PRIORITY = 2;
/** Seconds between repetitions, 30 or more, and until they end, 10,800 or fewer. */
const EMERGENCY = { retry: 60, expire: 3_600 };
const PRIORITIES: Readonly<Record<Tone, number>> = { bad: 1, warning: 0, good: 0, info: -1 };
const RULES: ResponseRules = {
  explain: (json) => {
    const errors = memberOf(json, 'errors');
    return Array.isArray(errors) ? errors.map(String).join('; ') : '';
  },
};

export const pushoverChannel = defineChannel({
  settings: strictObject({
    user: wordSetting('User key', 'Of the user or group, at the top of pushover.net.', {
      ...SECRET,
      maxLength: 30,
    }),
    token: wordSetting('API token', 'Of an application that you create at pushover.net/apps/build.', {
      ...SECRET,
      maxLength: 30,
    }),
    device: Type.Optional(
      wordSetting('Device', 'Name of one device; without it all devices get messages.', { maxLength: 25 }),
    ),
    emergency: Type.Optional(
      Type.Boolean({
        title: 'Emergency',
        description:
          'What is down repeats each minute, for an hour at most, until someone confirms it or it is over.',
      }),
    ),
  }),
  forms: {
    user: wordForm(/^[A-Za-z0-9]{30}$/, 'a key of 30 letters and digits'),
    token: wordForm(/^[A-Za-z0-9]{30}$/, 'a token of 30 letters and digits'),
    device: wordForm(/^[A-Za-z0-9_-]{1,25}$/, 'a name such as phone'),
  },
  describe: ({ device }) => (device === undefined ? 'Pushover' : `${device} of Pushover`),
  async send(tools, sending, { user, token, device, emergency = false }) {
    const { message, channel } = sending;
    const text = renderMessage(message, channel.language);
    const [page, acknowledge] = text.links;
    const isEmergency = emergency && text.tone === 'bad' && message.type !== 'update';
    const ends = message.type === 'recovery' || message.type === 'acknowledged';
    if (emergency && (ends || isEmergency))
      for (const thread of [message.thread, ...(message.endsAlso ?? [])]) {
        const failed = await endEmergencies(tools, sending, { token, user, thread });
        if (failed !== null) return failed;
      }
    const shown = acknowledge ?? page;
    const lines = plainLines(text, channel.language);
    const json = {
      token,
      user,
      ...(device === undefined ? {} : { device }),
      title: cutText(`${TONE_MARKS[text.tone]} ${text.title}`, MAX_TITLE_LENGTH),
      message: joinLines(lines.length === 0 ? [text.title] : lines, MAX_MESSAGE_LENGTH),
      timestamp: Math.floor(message.at / 1_000),
      ...(shown === undefined || shown.url.length > MAX_URL_LENGTH
        ? {}
        : { url: shown.url, url_title: cutText(shown.label, 100) }),
      ...(isEmergency
        ? { priority: EMERGENCY_PRIORITY, ...EMERGENCY, tags: message.thread }
        : { priority: PRIORITIES[text.tone] }),
    };
    const answer = await sendRequest(
      tools,
      sending,
      { url: `${API_URL}/messages.json`, json, secrets: [token, user] },
      RULES,
    );
    return resultOf(answer);
  },
});

/** Ends all emergencies of a thread that repeat; null: they have ended, or there is nothing to end. Otherwise it has to be tried again. */
async function endEmergencies(
  tools: ChannelTools,
  sending: Sending,
  { token, user, thread }: { readonly token: string; readonly user: string; readonly thread: string },
): Promise<SendResult | null> {
  const url = `${API_URL}/receipts/cancel_by_tag/${encodeURIComponent(thread)}.json`;
  const answer = await sendRequest(tools, sending, { url, json: { token }, secrets: [token, user] }, RULES);
  return answer.ok || answer.result.outcome === 'refused' ? null : answer.result;
}
