/** Alerting and maintenance of Gatus: channels, rules and maintenance as documents of `apply`. */
import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts';
import { readBooleans, unsetIn } from './gatus-rows.ts';
import { readKumaChannel } from './kuma-channels.ts';
import { readKumaMaintenance } from './kuma-maintenance.ts';
import {
  type Collection,
  channelItems,
  inParts,
  type ListedEntry,
  type ListedItem,
  maintenanceItem,
  ruleItems,
  ruleTimes,
  uniqueNames,
} from './listed-content.ts';
import { asRow, asText, goDurationMs, isEmpty, listOf, namesIn, type Row } from './listed-service.ts';

/** Takes what has no equal here. */
type Losses = Pick<Collection, 'skip' | 'lose'>;

/** The types of Uptime Kuma's notifications for providers, and its fields for theirs. */
const PROVIDERS: Readonly<Record<string, readonly [type: string, fields: Readonly<Record<string, string>>]>> =
  {
    slack: ['slack', { 'webhook-url': 'slackwebhookURL' }],
    discord: ['discord', { 'webhook-url': 'discordWebhookUrl' }],
    teams: ['teams', { 'webhook-url': 'webhookUrl' }],
    'teams-workflows': ['teams', { 'webhook-url': 'webhookUrl' }],
    mattermost: ['mattermost', { 'webhook-url': 'mattermostWebhookUrl' }],
    googlechat: ['googlechat', { 'webhook-url': 'googleChatWebhookURL' }],
    telegram: [
      'telegram',
      {
        token: 'telegramBotToken',
        id: 'telegramChatID',
        'topic-id': 'telegramMessageThreadID',
        'api-url': 'telegramServerUrl',
      },
    ],
    matrix: [
      'matrix',
      { 'server-url': 'homeserverUrl', 'access-token': 'accessToken', 'internal-room-id': 'internalRoomId' },
    ],
    ntfy: ['ntfy', { topic: 'ntfytopic', url: 'ntfyserverurl', token: 'ntfyaccesstoken' }],
    gotify: ['gotify', { 'server-url': 'gotifyserverurl', token: 'gotifyapplicationToken' }],
    pushover: [
      'pushover',
      {
        'application-token': 'pushoverapptoken',
        'user-key': 'pushoveruserkey',
        device: 'pushoverdevice',
        priority: 'pushoverpriority',
      },
    ],
    pagerduty: ['pagerduty', { 'integration-key': 'pagerdutyIntegrationKey' }],
    opsgenie: ['opsgenie', { 'api-key': 'opsgenieApiKey' }],
    email: ['smtp', { to: 'smtpTo', host: 'smtpHost' }],
    'aws-ses': ['smtp', { to: 'smtpTo' }],
    sendgrid: ['smtp', { to: 'smtpTo' }],
    custom: ['webhook', { url: 'webhookURL' }],
  };
/** Fields that need no equal: letters go through the mail server of the settings. */
const OF_PROVIDERS = namesIn(
  'default-alert overrides from username password port access-key-id secret-access-key region api-key',
);
const OF_ALERTS: Readonly<Record<string, string>> = {
  description: 'messages have texts of their own',
  'success-threshold': 'a recovery is reported at once',
};
/** The usual interval, and how many failures are an outage. */
const USUAL = { intervalMs: MINUTE_MS, failures: 3 } as const;
/** Maximum number of services of a maintenance. */
const MAX_OF_MAINTENANCE = 100;

/** Channels of the providers that endpoints use, and a rule for the endpoints with equal alerts of one. */
export function readGatusAlerts(
  alerting: Row,
  endpoints: readonly ListedEntry[],
  losses: Losses,
): ListedItem[] {
  const wanted = endpoints.flatMap(({ row, service }) =>
    (listOf(row.alerts) ?? []).map(asRow).flatMap((given) => {
      const type = asText(given.type) ?? '';
      const provider = asRow(alerting[type]);
      const alert = readBooleans({ ...asRow(provider['default-alert']), ...given });
      if (alert.enabled === false) return [];
      const entry = service.name;
      for (const [field, reason] of Object.entries(OF_ALERTS))
        if (!isEmpty(alert[field])) losses.lose(entry, `alerts.${field}`, reason);
      const group = asText(row.group);
      const own = (listOf(provider.overrides) ?? [])
        .map(asRow)
        .find((one) => group !== null && one.group === group);
      const { group: _group, ...override } = own ?? {};
      const config = { ...provider, ...override, ...asRow(alert['provider-override']) };
      const rest = Object.entries(config).filter(
        ([field]) => field !== 'default-alert' && field !== 'overrides',
      );
      return [{ type, config: Object.fromEntries(rest), alert, row, service }];
    }),
  );
  const channelNames = uniqueNames();
  const ruleNames = uniqueNames();
  return [...Map.groupBy(wanted, ({ type, config }) => JSON.stringify([type, config])).values()].flatMap(
    (alike) => {
      const [first] = alike;
      const channels =
        first === undefined ? [] : readChannels(first.type, first.config, channelNames, losses);
      const rules = [...Map.groupBy(alike, ({ alert, row }) => JSON.stringify(ruleOf(alert, row))).values()];
      return [
        ...channels,
        ...rules.flatMap((equal) =>
          ruleItems(
            () => ruleNames(channels[0]?.entry ?? ''),
            equal.map(({ service }) => service),
            channels,
            ruleOf(asRow(equal[0]?.alert), asRow(equal[0]?.row)),
          ),
        ),
      ].filter(() => channels.length > 0);
    },
  );
}

function readChannels(
  type: string,
  config: Row,
  nameOf: (name: string) => string,
  { skip, lose }: Losses,
): ListedItem[] {
  const provider = Object.hasOwn(PROVIDERS, type) ? PROVIDERS[type] : undefined;
  const unset = unsetIn(config);
  const fail = (reason: string) => {
    skip(`alerting.${type}`, reason);
    return [];
  };
  if (provider === undefined) return fail('alerts of this provider have no equal here');
  if (unset.length > 0)
    return fail(`it needs the environment variable ${unset.join(', ')}, which is not set`);
  if (Object.keys(config).length === 0) return fail('the provider is not configured');
  const [kumaType, fields] = provider;
  const renamed = Object.entries(config).flatMap(([field, value]) =>
    Object.hasOwn(fields, field) ? [[fields[field] ?? '', value] as const] : [],
  );
  for (const [field, value] of Object.entries(config))
    if (!Object.hasOwn(fields, field) && !OF_PROVIDERS.has(field) && !isEmpty(value))
      lose(`alerting.${type}`, field, 'messages have a form of their own');
  const signIn = isEmpty(config.token) ? {} : { ntfyAuthenticationMethod: 'accessToken' };
  const reading = readKumaChannel({ config: { type: kumaType, ...signIn, ...Object.fromEntries(renamed) } });
  if ('problem' in reading) return fail(reading.problem);
  if (kumaType === 'smtp')
    lose(
      `alerting.${type}`,
      type === 'email' ? 'host' : 'service',
      'letters go through the mail server of "alerts.smtp" (docs/operating.md)',
    );
  return channelItems(() => nameOf(type), reading);
}

function ruleOf(alert: Row, row: Row): object {
  const intervalMs = goDurationMs(asText(row.interval) ?? '') ?? USUAL.intervalMs;
  const failures = Number(alert['failure-threshold']) || USUAL.failures;
  const afterMs = isEmpty(row.heartbeat) ? Math.min((failures - 1) * intervalMs, DAY_MS) : 0;
  const repeatMs = goDurationMs(asText(alert['minimum-reminder-interval']) ?? '') ?? 0;
  return {
    events: alert['send-on-resolved'] === true ? ['down', 'up'] : ['down'],
    ...ruleTimes(afterMs, repeatMs),
  };
}

/** Maintenance of the whole file, and that of endpoints. */
export function readGatusMaintenances(
  root: Row,
  endpoints: readonly ListedEntry[],
  now: number,
  { skip }: Losses,
): ListedItem[] {
  const all = endpoints.map(({ service }) => service);
  const windows = [
    ...(isEmpty(root.maintenance)
      ? []
      : [{ title: 'Maintenance', row: asRow(root.maintenance), services: all }]),
    ...endpoints.flatMap(({ row, service }) =>
      (listOf(row['maintenance-windows']) ?? []).map((window) => ({
        title: `Maintenance of ${service.name}`,
        row: asRow(window),
        services: [service],
      })),
    ),
  ];
  const nameOf = uniqueNames();
  return windows.flatMap(({ title, row: given, services }) => {
    const row = readBooleans(given);
    if (row.enabled === false) return [];
    return inParts(services, MAX_OF_MAINTENANCE).flatMap((part): ListedItem[] => {
      const entry = nameOf(title);
      const reading = readKumaMaintenance(windowOf(row, entry), 'UTC', now);
      if ('problem' in reading) {
        skip(entry, reading.problem);
        return [];
      }
      return [maintenanceItem(entry, reading.document, part)];
    });
  });
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** A window as a recurring maintenance of Uptime Kuma. */
function windowOf(row: Row, title: string): Row {
  const [hours = Number.NaN, minutes = Number.NaN] = (asText(row.start) ?? '').split(':').map(Number);
  const length = Math.round((goDurationMs(asText(row.duration) ?? '') ?? Number.NaN) / MINUTE_MS);
  const end = (hours * 60 + minutes + length) % (DAY_MS / MINUTE_MS);
  const days = listOf(row.every) ?? [];
  const rest = { title, active: 1, timezone: asText(row.timezone) ?? 'UTC', startTime: asText(row.start) };
  return {
    ...rest,
    endTime: Number.isNaN(end) ? null : `${Math.floor(end / 60)}:${String(end % 60).padStart(2, '0')}`,
    ...(days.length === 0
      ? { strategy: 'recurring-interval', intervalDay: 1 }
      : { strategy: 'recurring-weekday', weekdays: days.map((day) => WEEKDAYS.indexOf(String(day))) }),
  };
}
