/** Notifications of Uptime Kuma as channels, with their secrets. */
import type { ChannelKind, ChannelSettings } from '../../domain/alert/channel.ts';
import { asRow, asText, isEmpty, type LostField, quote, type Row, textOf } from './listed-service.ts';

/** A channel of a notification, or several: one for each receiver of letters. */
export type ChannelReading =
  | {
      readonly kind: ChannelKind;
      readonly settings: readonly ChannelSettings[];
      readonly lost: readonly LostField[];
    }
  | { readonly problem: string };

/** The conversion of notifications of a type into channels. */
interface Provider {
  readonly kind: ChannelKind;
  readonly settings: (config: Row) => Settings | readonly Settings[];
  /** Fields without an equal, and what to use instead. */
  readonly lost?: Readonly<Record<string, string>>;
}
type Settings = Readonly<Record<string, string | number | boolean | null>>;

const OWN_TEXTS = 'messages have texts of their own';
const FORM = 'messages have a form of their own';

const PROVIDERS: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  [
    'telegram',
    {
      kind: 'telegram',
      settings: (config) => ({
        token: asText(config.telegramBotToken),
        chat: textOf(config.telegramChatID),
        topic: numberOf(config.telegramMessageThreadID),
        silent: config.telegramSendSilently === true ? true : null,
        server: otherThan('https://api.telegram.org', config.telegramServerUrl),
      }),
      lost: {
        telegramSendSilently: 'good news alone is silent',
        telegramProtectContent: 'messages may be forwarded',
        telegramUseTemplate: OWN_TEXTS,
      },
    },
  ],
  [
    'discord',
    {
      kind: 'discord',
      settings: (config) => ({
        url: asText(config.discordWebhookUrl),
        forum: config.discordChannelType === 'createNewForumPost' ? true : null,
      }),
      lost: {
        discordUsername: 'the name of the webhook is used',
        discordPrefixMessage: OWN_TEXTS,
        discordUseMessageTemplate: OWN_TEXTS,
        threadId: 'each alert has its own post in a forum',
      },
    },
  ],
  [
    'slack',
    {
      kind: 'slack',
      settings: (config) => ({ url: asText(config.slackwebhookURL) }),
      lost: {
        slackchannel: 'the channel of the webhook is used',
        slackusername: 'the name of the webhook is used',
        slackiconemo: 'the icon of the webhook is used',
        slackchannelnotify: 'nobody is called by name',
        slackUseTemplate: OWN_TEXTS,
      },
    },
  ],
  [
    'smtp',
    {
      kind: 'email',
      settings: (config) =>
        [config.smtpTo, config.smtpCC, config.smtpBCC]
          .flatMap((list) => (asText(list) ?? '').split(/[,;]/))
          .map((address) => ({ to: /<([^<>]+)>\s*$/.exec(address)?.[1] ?? address.trim() }))
          .filter(({ to }) => to !== ''),
      lost: {
        smtpHost: 'letters go through the mail server of "alerts.smtp" (docs/operating.md)',
        customSubject: OWN_TEXTS,
        customBody: OWN_TEXTS,
      },
    },
  ],
  [
    'webhook',
    {
      kind: 'webhook',
      settings: (config) => ({ url: asText(config.webhookURL) }),
      lost: {
        webhookContentType: 'the body has its own form (docs/webhooks.md)',
        webhookAdditionalHeaders: 'a webhook sends no further headers',
        httpMethod: 'a webhook is a POST',
      },
    },
  ],
  ['teams', { kind: 'teams', settings: (config) => ({ url: asText(config.webhookUrl) }) }],
  [
    'mattermost',
    {
      kind: 'mattermost',
      settings: (config) => ({ url: asText(config.mattermostWebhookUrl) }),
      lost: {
        mattermostchannel: 'the channel of the webhook is used',
        mattermostusername: 'the name of the webhook is used',
        mattermosticonemo: 'the icon of the webhook is used',
        mattermosticonurl: 'the icon of the webhook is used',
      },
    },
  ],
  [
    'googlechat',
    {
      kind: 'google-chat',
      settings: (config) => ({ url: asText(config.googleChatWebhookURL) }),
      lost: { googleChatUseTemplate: OWN_TEXTS },
    },
  ],
  [
    'matrix',
    {
      kind: 'matrix',
      settings: (config) => ({
        server: asText(config.homeserverUrl),
        room: asText(config.internalRoomId),
        token: asText(config.accessToken),
      }),
      lost: { matrixUseTemplate: OWN_TEXTS },
    },
  ],
  [
    'ntfy',
    {
      kind: 'ntfy',
      settings: (config) => ({
        topic: asText(config.ntfytopic),
        server: otherThan('https://ntfy.sh', config.ntfyserverurl),
        token: config.ntfyAuthenticationMethod === 'accessToken' ? asText(config.ntfyaccesstoken) : null,
      }),
      lost: {
        ntfyusername: 'a channel signs in by a token: create one for this user',
        ntfyPriority: 'the priority follows from what is reported',
        ntfyPriorityDown: 'the priority follows from what is reported',
        ntfyIcon: FORM,
        ntfyCall: 'nobody is called by telephone',
        ntfyUseTemplate: OWN_TEXTS,
      },
    },
  ],
  [
    'gotify',
    {
      kind: 'gotify',
      settings: (config) => ({
        server: asText(config.gotifyserverurl),
        token: asText(config.gotifyapplicationToken),
      }),
      lost: { gotifyPriority: 'the priority follows from what is reported' },
    },
  ],
  [
    'pushover',
    {
      kind: 'pushover',
      settings: (config) => ({
        user: asText(config.pushoveruserkey),
        token: asText(config.pushoverapptoken),
        device: asText(config.pushoverdevice),
        emergency: Number(config.pushoverpriority) === 2 ? true : null,
      }),
      lost: {
        pushoversounds: 'the sound of the application is used',
        pushoversounds_up: 'the sound of the application is used',
        pushovertitle: OWN_TEXTS,
        pushoverttl: 'messages do not expire',
      },
    },
  ],
  [
    'pagerduty',
    {
      kind: 'pagerduty',
      settings: (config) => ({
        key: asText(config.pagerdutyIntegrationKey),
        region: /\.eu\./.test(asText(config.pagerdutyIntegrationUrl) ?? '') ? 'eu' : null,
      }),
      lost: { pagerdutyPriority: 'the severity follows from what is reported' },
    },
  ],
  [
    'opsgenie',
    {
      kind: 'opsgenie',
      settings: (config) => ({
        key: asText(config.opsgenieApiKey),
        region: config.opsgenieRegion === 'eu' ? 'eu' : null,
      }),
      lost: { opsgeniePriority: 'the priority follows from what is reported' },
    },
  ],
]);

/** Values that say nothing more than the default. */
const USUAL: Row = { httpMethod: 'post', slackiconemo: ':robot_face:', mattermosticonemo: ':robot_face:' };

export function readKumaChannel({ config: given }: Row): ChannelReading {
  const config = readConfig(given);
  if (config === null) return { problem: 'its settings cannot be read' };
  const type = textOf(config.type) ?? '';
  const provider = PROVIDERS.get(type.toLowerCase());
  if (provider === undefined) return { problem: `notifications of type ${quote(type)} have no equal here` };
  const { kind, settings, lost = {} } = provider;
  const lists = [settings(config)].flat() as Settings[];
  if (lists.length === 0) return { problem: 'it has no receiver' };
  return {
    kind,
    settings: lists.map((one) =>
      Object.fromEntries(
        Object.entries(one).filter((pair): pair is [string, string | number | boolean] => pair[1] !== null),
      ),
    ),
    lost: Object.entries(lost).flatMap(([field, reason]) =>
      isEmpty(config[field]) || config[field] === USUAL[field] ? [] : [{ field, reason }],
    ),
  };
}

function readConfig(given: unknown): Row | null {
  if (typeof given !== 'string') return typeof given === 'object' && given !== null ? asRow(given) : null;
  try {
    return asRow(JSON.parse(given));
  } catch {
    return null;
  }
}

function numberOf(value: unknown): number | null {
  const number = Number(textOf(value));
  return Number.isSafeInteger(number) && number > 0 ? number : null;
}

/** The text, without slashes at its end; null: there is none, or the usual one. */
function otherThan(usual: string, value: unknown): string | null {
  const text = asText(value)?.replace(/\/+$/, '') ?? null;
  return text === usual ? null : text;
}
