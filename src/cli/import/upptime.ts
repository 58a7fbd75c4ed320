/** Reads the configuration of Upptime (`.upptimerc.yml`). */
import { formatDuration, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts';
import { type Expectation, listRequest, PLAIN_REQUEST, readStatusList } from './http-request.ts';
import { readKumaChannel } from './kuma-channels.ts';
import {
  Collection,
  channelItems,
  type DocumentReader,
  type ListedItem,
  mayShow,
  pageItem,
  ruleItems,
  uniqueNames,
  WHOLE_FILE,
} from './listed-content.ts';
import {
  asRow,
  asText,
  type EntryReading,
  findLost,
  type LostField,
  listKind,
  listOf,
  namesIn,
  type Row,
  readWebSocketAddress,
  slugOfTitle,
  textOf,
  withNote,
  withTimes,
} from './listed-service.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A configuration with a list of sites. */
export const upptime: DocumentReader = {
  expected: '"sites" (Upptime)',
  recognises: (root) =>
    Array.isArray(root.sites) &&
    ['owner', 'repo', 'status-website', 'workflowSchedule'].some((field) => field in root),
  read({ root, env }) {
    const found = new Collection();
    for (const { field, reason } of findLost(root, (one) => OF_FILE.has(one), FILE_REASONS))
      found.lose(WHOLE_FILE, field, reason);
    const interval = intervalOf(asRow(root.workflowSchedule).uptime, found);
    for (const [index, given] of (listOf(root.sites) ?? []).entries()) {
      const row = asRow(given);
      const name = textOf(row.name) ?? asText(row.url) ?? `site ${index + 1}`;
      found.add(name, row, readSite(row, name, interval, env));
    }
    return found.reading('upptime', [...readNotifications(env, found), ...readWebsite(root, found)]);
  },
};

const OF_FILE = namesIn(`
  owner repo sites status-website workflowSchedule secrets commitMessages runner skipGeneratingWebsite
  skipPoweredByReadme skipDescriptionUpdate skipTopicsUpdate skipHomepageUpdate customStatusWebsitePackage
  delay
`);
const FILE_REASONS: Readonly<Record<string, string>> = {
  assignees: 'there are no issues to assign: add the members to the account',
  notifications:
    'the receivers are secrets: set the variables NOTIFICATION_… for the import (docs/import.md)',
  'user-agent': 'all checks have the user agent of this installation',
  PAT: 'nothing is written to a repository',
  i18n: 'pages have the languages of this site',
};

const KNOWN = new Set(['name', 'url', 'check', 'tags', 'maxResponseTime', 'verbose', 'slug', 'icon']);
const OF_REQUESTS = namesIn(`
  method headers body expectedStatusCodes maxRedirects __dangerous__insecure
  __dangerous__disable_verify_peer __dangerous__body_down __dangerous__body_down_if_text_missing
`);
const REASONS: Readonly<Record<string, string>> = {
  ipv6: 'checks use both families of addresses',
  type: 'checks are made from the regions of this installation',
  location: 'checks are made from the regions of this installation',
  assignees: 'there are no issues to assign: add the members to the account',
  __dangerous__disable_verify_host: 'a check accepts any certificate, or judges its names too',
  __dangerous__body_degraded: 'a text makes no service slow',
  __dangerous__body_degraded_if_text_missing: 'a text makes no service slow',
  body: 'a check of this kind sends nothing',
};
/** The redirects that Upptime follows unless a site has another number. */
const USUAL_REDIRECTS = 3;
const REQUEST_TIMEOUT = '30s';

function readSite(given: Row, name: string, interval: string | null, env: Environment): EntryReading {
  const { row, unset, isSecret } = fillSecrets(given, env);
  if (unset.length > 0)
    return { problem: `it needs the environment variable ${unset.join(', ')}, which is not set` };
  if (/\$DYNAMIC_(?:RANDOM_NUMBER|ALPHANUMERIC_STRING)/.test(JSON.stringify(row)))
    return { problem: 'it sends random texts, which has no equal here' };
  const check = asText(row.check) ?? 'http';
  const slowOver = Number(row.maxResponseTime) > 0 ? `${Number(row.maxResponseTime)}ms` : null;
  const reading = readCheck(check, row, { name, ...(isSecret ? { visibility: 'private' as const } : {}) });
  const times = { interval, slowOver, timeout: check === 'http' ? REQUEST_TIMEOUT : null };
  const tags = (listOf(row.tags) ?? []).flatMap((tag) => textOf(tag) ?? []);
  return withNote(withTimes(reading, times), [tags.length === 0 ? '' : `Tags: ${tags.join(', ')}`]);
}

function readCheck(
  check: string,
  row: Row,
  more: { readonly name: string; readonly visibility?: 'private' },
): EntryReading {
  const url = asText(row.url);
  const notUsed = (known: readonly string[]) =>
    findLost(row, (field) => KNOWN.has(field) || known.includes(field), REASONS);
  switch (check) {
    case 'tcp-ping':
      return listKind('tcp', { port: Number(row.port) }, { ...more, domain: hostOf(url) }, notUsed(['port']));
    case 'icmp-ping':
      return listKind('icmp', {}, { ...more, domain: hostOf(url) }, notUsed([]));
    case 'ws': {
      const { host = null, settings = {} } = readWebSocketAddress(url) ?? {};
      return listKind('websocket', settings, { ...more, domain: host }, notUsed([]));
    }
    case 'http':
      return readRequest(row, more);
    default:
      return { problem: `checks "${check}" have no equal in this import` };
  }
}

/** The host of an address with or without a scheme. */
function hostOf(url: string | null): string | null {
  return url === null ? null : URL.parse(url)?.hostname || url;
}

function readRequest(
  row: Row,
  { name, ...more }: { readonly name: string; readonly visibility?: 'private' },
): EntryReading {
  const lost: LostField[] = [];
  const headers = (listOf(row.headers) ?? []).flatMap((line) => {
    const [, header = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(String(line)) ?? [];
    if (header === '') lost.push({ field: 'headers', reason: 'a header has a name and a value' });
    return header === '' ? [] : [[header.trim(), value] as const];
  });
  const body = typeof row.body === 'string' && row.body !== '' ? row.body : null;
  const hasType = headers.some(([header]) => header.toLowerCase() === 'content-type');
  const redirects = row.maxRedirects ?? USUAL_REDIRECTS;
  if (redirects !== USUAL_REDIRECTS && redirects !== 0)
    lost.push({ field: 'maxRedirects', reason: 'up to 5 redirects are followed' });
  const codes = readStatusList(listOf(row.expectedStatusCodes) ?? ['2xx', '3xx'], 'expectedStatusCodes');
  const texts: Expectation[] = (
    [
      ['__dangerous__body_down', 'lacks'],
      ['__dangerous__body_down_if_text_missing', 'contains'],
    ] as const
  ).flatMap(([field, operator]) => {
    const text = textOf(row[field]);
    return text === null ? [] : [{ field, line: `body ${operator} ${text}` }];
  });
  return listRequest(
    {
      ...PLAIN_REQUEST,
      url: asText(row.url),
      method: asText(row.method)?.toUpperCase() ?? null,
      headers:
        body === null || hasType
          ? headers
          : [...headers, ['Content-Type', 'application/x-www-form-urlencoded']],
      body,
      expectations: [...codes.expectations, ...texts],
      ignoresCertificate: row.__dangerous__insecure === true || row.__dangerous__disable_verify_peer === true,
      followRedirects: redirects === 0 ? false : null,
    },
    name,
    { ...more, accept: codes.accept },
    [
      ...lost,
      ...codes.lost,
      ...findLost(row, (field) => KNOWN.has(field) || OF_REQUESTS.has(field), REASONS),
    ],
  );
}

const SECRETS = ['url', 'port', 'headers', 'body'];

/** A site with the values of its variables such as `$SECRET_SITE`. A secret address makes it one for members. */
function fillSecrets(given: Row, env: Environment) {
  const unset = new Set<string>();
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'string') return value;
    return value.replaceAll(/\$([A-Z_][A-Z0-9_]*)/g, (written, variable: string) => {
      if (variable.startsWith('DYNAMIC_')) return written;
      const known = env[variable];
      if (known === undefined) unset.add(variable);
      return known ?? written;
    });
  };
  const row: Row = Object.fromEntries(
    Object.entries(given).map(([field, value]) => [field, SECRETS.includes(field) ? fill(value) : value]),
  );
  return { row, unset: [...unset], isSecret: row.url !== given.url };
}

/** The interval of a cron expression that says `every N minutes` or `every N hours`; the usual one is 5 minutes. */
function intervalOf(value: unknown, found: Collection): string | null {
  const cron = asText(value) ?? '*/5 * * * *';
  const [, minutes, hour, hours] =
    /^(?:\*(?:\/(\d{1,2}))? (\*)|0 \*(?:\/(\d{1,2}))?) \* \* \*$/.exec(cron) ?? [];
  if (hour !== undefined) return formatDuration(Number(minutes ?? 1) * MINUTE_MS);
  if (/^0 \*/.test(cron)) return formatDuration(Number(hours ?? 1) * HOUR_MS);
  found.lose(WHOLE_FILE, 'workflowSchedule.uptime', 'checks have an interval instead of times');
  return null;
}

/** The variables of receivers, as fields of Uptime Kuma's notifications. */
const PROVIDERS: readonly (readonly [type: string, fields: Readonly<Record<string, string>>])[] = [
  ['slack', { NOTIFICATION_SLACK_WEBHOOK_URL: 'slackwebhookURL' }],
  ['discord', { NOTIFICATION_DISCORD_WEBHOOK_URL: 'discordWebhookUrl' }],
  [
    'telegram',
    { NOTIFICATION_TELEGRAM_BOT_KEY: 'telegramBotToken', NOTIFICATION_TELEGRAM_CHAT_ID: 'telegramChatID' },
  ],
  ['smtp', { NOTIFICATION_EMAIL_TO: 'smtpTo' }],
];

/** The receivers that the environment names get the alerts of all sites. */
function readNotifications(env: Environment, found: Collection): ListedItem[] {
  return PROVIDERS.flatMap(([type, fields]) => {
    const values = Object.entries(fields).map(([variable, field]) => [field, env[variable]] as const);
    if (values.some(([, value]) => asText(value) === null)) return [];
    const reading = readKumaChannel({ config: { type, ...Object.fromEntries(values) } });
    if ('problem' in reading) return [];
    const [channelNames, ruleNames] = [uniqueNames(), uniqueNames()];
    const channels = channelItems(() => channelNames(reading.kind), reading);
    const services = found.entries.map(({ service }) => service);
    const events = { events: ['down', 'up', 'slow'] };
    return [...channels, ...ruleItems(() => ruleNames(reading.kind), services, channels, events)];
  });
}

const OF_WEBSITE = namesIn('name cname baseUrl introTitle introMessage publish singleCommit');
const WEBSITE_REASONS: Readonly<Record<string, string>> = {
  logoUrl: 'the picture is not in the file',
  favicon: 'the picture is not in the file',
  faviconSvg: 'the picture is not in the file',
  navbar: 'pages have no links of their own above them',
  theme: 'pages follow the choice of their readers',
};
/** Maximum number of services of a page. */
const MAX_OF_PAGE = 100;

/** The status website as a page with all sites. */
function readWebsite(root: Row, found: Collection): ListedItem[] {
  const website = asRow(root['status-website']);
  if (Object.keys(website).length === 0 || root.skipGeneratingWebsite === true) return [];
  const title = textOf(website.name) ?? textOf(root.repo) ?? 'Status';
  for (const { field, reason } of findLost(website, (one) => OF_WEBSITE.has(one), WEBSITE_REASONS))
    found.lose(title, field, reason);
  const services = found.entries
    .map(({ service }) => service)
    .filter((service) => mayShow(service, title, found));
  if (services.length > MAX_OF_PAGE) found.lose(title, 'sites', `a page has at most ${MAX_OF_PAGE} services`);
  const text = [textOf(website.introTitle), textOf(website.introMessage)].filter((one) => one !== null);
  const domain = asText(website.cname);
  return [
    pageItem(
      {
        ...{ slug: slugOfTitle(title), title },
        ...(text.length === 0 ? {} : { text: text.join('\n\n').slice(0, 1_000) }),
        ...(domain === null ? {} : { custom_domain: domain }),
        ...(website.publish === false ? { access: 'members' } : {}),
      },
      [{ name: '', services: services.slice(0, MAX_OF_PAGE) }],
    ),
  ];
}
