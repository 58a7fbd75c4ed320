/** Kind `webhook`: JSON to a URL of the owner's, signed by Standard Webhooks as the webhooks of events are. */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import type { AlertMessage, MessageItem } from '../../domain/alert/message.ts';
import { formatTime, formatTimeOrNull } from '../../domain/durations.ts';
import { describeReasonOrNull } from '../../domain/incident/incident.ts';
import { strictObject } from '../../json-schema.ts';
import { createWebhookSecret, signatureHeaders } from '../webhook-sender.ts';
import {
  defineChannel,
  hostOf,
  SECRET,
  type SettingForm,
  urlSetting,
  wordForm,
  wordSetting,
} from './define-channel.ts';
import { renderMessage } from './message-text.ts';
import { resultOf, sendRequest, toJson } from './send-request.ts';

const URL_EXAMPLE = 'https://example.com/hooks/upbeat';
const urlForm: SettingForm = {
  accepts: (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? '') && !/[\s@#]/.test(text),
  example: URL_EXAMPLE,
};

/** The kind. */
export const webhookChannel = defineChannel({
  settings: strictObject({
    url: urlSetting('URL', 'Receives a POST of JSON for each message.', URL_EXAMPLE),
    secret: wordSetting(
      'Signing secret',
      'Begins with whsec_, then base64 of 24 to 64 random bytes, such as from: echo "whsec_$(openssl rand -base64 32)". Your receiver verifies signatures by it.',
      { ...SECRET, maxLength: 100 },
    ),
  }),
  forms: {
    url: urlForm,
    secret: wordForm(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, 'a secret of whsec_ and base64 of 24 to 64 bytes'),
  },
  make: { secret: createWebhookSecret },
  describe: ({ url }) => hostOf(url),
  async send(tools, sending, { url, secret }) {
    const { message, channel, id } = sending;
    const body = alertBody(message, channel.language);
    const headers = {
      'content-type': 'application/json',
      ...signatureHeaders(secret, { id, at: (tools.sharedNow ?? tools.clock.now)(), body }),
    };
    // As the webhooks of events: any status but 2xx may be a passing state of the receiver, and 410 asks for no further attempt.
    return resultOf(
      await sendRequest(
        tools,
        sending,
        { url, headers, body, secrets: [secret] },
        { isFinal: (status) => status === 410 },
      ),
    );
  },
});

/** The body for a message: JSON with stable members in a stable order. It is the same in all attempts, unless what it calls well fails again. */
export function alertBody(message: AlertMessage, language: MessageLanguage): string {
  return toJson({ type: 'alert', timestamp: formatTime(message.at), data: dataOf(message, language) });
}

function dataOf(message: AlertMessage, language: MessageLanguage): object {
  const { type, thread, urgency, items, total, cause, rule, note, url, acknowledgeUrl } = message;
  return {
    type,
    thread,
    urgency,
    title: renderMessage(message, language).title,
    total,
    services: items.map(itemOf),
    cause,
    rule,
    note,
    dropped: message.dropped ?? 0,
    url,
    acknowledge_url: acknowledgeUrl,
  };
}

function itemOf(item: MessageItem): object {
  const { service, flapping, incident, maintenance, certificate } = item;
  return {
    service: { slug: service.slug, name: service.name, domain: service.domain, url: service.url },
    event: item.event,
    status: item.status,
    told: item.told === true,
    since: formatTime(item.since),
    lasted_seconds: item.lastedMs === null ? null : Math.round(item.lastedMs / 1_000),
    reason: describeReasonOrNull(item.reason),
    phase: item.phase,
    last_good_at: formatTimeOrNull(item.lastGoodAt),
    scope: item.scope,
    regions: item.regions,
    vendor: item.vendor,
    flapping:
      flapping === null
        ? null
        : { changes: flapping.changes, within_seconds: Math.round(flapping.withinMs / 1_000) },
    incident: incident === null ? null : incidentOf(incident),
    maintenance:
      maintenance === null
        ? null
        : {
            phase: maintenance.phase,
            title: maintenance.title,
            text: maintenance.text,
            starts_at: formatTime(maintenance.startsAt),
            ends_at: formatTimeOrNull(maintenance.endsAt),
            url: maintenance.url,
          },
    certificate:
      certificate === null ? null : { ends_at: formatTime(certificate.endsAt), days: certificate.days },
    ended: item.ended ?? null,
    ...(item.because === undefined ? {} : { because: item.because }),
    ...(item.behind === undefined ? {} : { behind: item.behind }),
  };
}

function incidentOf(incident: NonNullable<MessageItem['incident']>): object {
  const { id, source, title, text, severity, status, startedAt, url } = incident;
  return { id, source, title, text, severity, status, started_at: formatTime(startedAt), url };
}
