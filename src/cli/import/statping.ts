/** Statping: its `services.yml`, answers of its API, and its export. */
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../domain/durations.ts';
import type { CheckSettings } from '../../domain/service.ts';
import { type ListedRequest, listRequest, matchLine, PLAIN_REQUEST } from './http-request.ts';
import { readKumaChannel } from './kuma-channels.ts';
import {
  Collection,
  channelItems,
  type DocumentReader,
  type ImportReading,
  type ListedEntry,
  type ListedItem,
  mayShow,
  pageItem,
  ruleItems,
  ruleTimes,
  uniqueNames,
  WHOLE_FILE,
} from './listed-content.ts';
import {
  asRow,
  asText,
  type EntryReading,
  findLost,
  hostOfName,
  isEmpty,
  listKind,
  listOf,
  listService,
  lostIf,
  namesIn,
  quote,
  type Row,
  slugOfTitle,
  withNote,
  withTimes,
} from './listed-service.ts';

/** Reads a list of services, alone or with the other lists of an export. */
export const statping: DocumentReader = {
  expected: '"services" with "check_interval" or "expected_status" (Statping)',
  recognises: (root, document) =>
    (listOf(Array.isArray(document) ? document : root.services) ?? []).some((row) =>
      isOfStatping(asRow(row)),
    ),
  read: ({ root, document }) => readExport(Array.isArray(document) ? { services: document } : root),
};

/** Fields that no other program's services have. */
const MARKS = [
  'check_interval',
  'expected_status',
  'verify_ssl',
  'order_id',
  'post_data',
  'grpc_health_check',
];

function isOfStatping(row: Row): boolean {
  return 'domain' in row && MARKS.some((field) => field in row);
}

/** Sections beside services that are not imported. */
const SECTIONS: Readonly<Record<string, string>> = {
  messages: 'announce maintenance on the dashboard (docs/maintenance.md)',
  users: 'invite them on the dashboard',
};

function readExport(root: Row): ImportReading {
  const found = new Collection();
  const groups = (listOf(root.groups) ?? []).map(asRow).toSorted(byOrder);
  const nameOfGroup = new Map(groups.map(({ id, name }) => [id, asText(name) ?? '']));
  const rows = (listOf(root.services) ?? []).map(asRow);
  for (const [index, row] of rows.entries())
    found.add(
      asText(row.name) ?? `service ${index + 1}`,
      row,
      readService(row, nameOfGroup.get(row.group_id) ?? ''),
    );
  const entries = [...found.entries];
  const checkins = (listOf(root.checkins) ?? rows.flatMap((row) => listOf(row.checkins) ?? [])).map(asRow);
  for (const [index, row] of checkins.entries())
    found.add(asText(row.name) ?? `checkin ${index + 1}`, row, readCheckin(row));
  for (const [section, reason] of Object.entries(SECTIONS))
    if (!isEmpty(root[section])) found.lose(WHOLE_FILE, section, reason);
  return found.reading('statping', [
    ...readNotifiers(root, entries, found),
    ...readPage(root, groups, entries, found),
  ]);
}

function byOrder(one: Row, other: Row): number {
  return Number(one.order_id ?? 0) - Number(other.order_id ?? 0);
}

/** Fields that are imported, or that tell of results. */
const KNOWN = namesIn(`
  id name domain type method expected expected_status check_interval timeout port public group group_id
  order order_id verify_ssl redirect created_at updated_at online latency ping_time online_24_hours
  online_7_days avg_response failures_24_hours status_code last_success last_error stats failures checkins
  hits allow_notifications notify_after notify_all_changes grpc_health_check outage_type is_outage_enabled
`);
const REASONS: Readonly<Record<string, string>> = {
  permalink: 'the address of a service follows from its host',
  tls_cert: 'set the text of the file as clientCertificate (docs/checks.md)',
  tls_cert_key: 'set the text of the file as clientKey (docs/checks.md)',
  tls_cert_root: 'set the text of the file as certificate (docs/checks.md)',
  messages: 'announce maintenance on the dashboard (docs/maintenance.md)',
  incidents: 'post incidents on the dashboard (docs/incidents.md)',
  headers: 'a check of this kind sends nothing',
  post_data: 'a check of this kind sends nothing',
};
/** Seconds between checks, and for one, where the file says nothing. */
const USUAL_SECONDS = 30;

function readService(row: Row, group: string): EntryReading {
  const reading = withTimes(readKind(row), {
    interval: `${Number(row.check_interval) || USUAL_SECONDS}s`,
    timeout: `${Number(row.timeout) || USUAL_SECONDS}s`,
  });
  return withNote(reading, [group === '' ? '' : `Group: ${group}`]);
}

function readKind(row: Row): EntryReading {
  const type = (asText(row.type) ?? 'http').toLowerCase();
  const name = asText(row.name);
  const more = {
    ...(name === null ? {} : { name }),
    ...(row.public === false ? { visibility: 'private' as const } : {}),
  };
  if (type === 'http') return readWeb(row, name, more);
  const { host, port } = placeOf(row);
  const list = (
    kind: 'tcp' | 'icmp' | 'grpc' | 'smtp' | 'tls',
    settings: CheckSettings,
    known: readonly string[] = [],
  ) =>
    listKind(
      kind,
      { ...(port === null || kind === 'icmp' ? {} : { port }), ...settings },
      { ...more, domain: host },
      findLost(row, (field) => KNOWN.has(field) || known.includes(field), REASONS),
    );
  if (type === 'icmp') return list('icmp', {});
  if (type === 'static') return { problem: 'a static service is not checked' };
  if (!['tcp', 'grpc', 'smtp', 'imap'].includes(type))
    return { problem: `services of type ${quote(type)} have no equal here` };
  if (port === null) return { problem: 'it has no port' };
  if (type === 'tcp') return list('tcp', {});
  if (type === 'grpc') return readGrpc(row, list);
  const [username, password] = ['username', 'password'].map(
    (wanted) => headersOf(row.headers).find(([field]) => field.toLowerCase() === wanted)?.[1] ?? null,
  );
  const isSecure = row.verify_ssl === true || [465, 587, 993].includes(port);
  if (type === 'smtp') {
    const signIn = port === 25 || username === null || password === null ? {} : { username, password };
    return list('smtp', { security: isSecure ? 'tls' : 'plain', ...signIn } as CheckSettings, ['headers']);
  }
  return isSecure ? list('tls', {}) : list('tcp', { banner: '* OK' });
}

/** A call of the health service, or a connection to its port. */
function readGrpc(
  row: Row,
  list: (kind: 'grpc' | 'tls' | 'tcp', settings: CheckSettings) => EntryReading,
): EntryReading {
  const isSecure = row.verify_ssl === true;
  if (row.grpc_health_check !== true) return list(isSecure ? 'tls' : 'tcp', {});
  const expected = asText(row.expected)?.replaceAll(/\s/g, '') ?? null;
  const isServing =
    (isEmpty(row.expected_status) || row.expected_status === 1) && expected !== 'status:NOT_SERVING';
  if (!isServing)
    return { problem: 'it is healthy only where the server is not serving, which has no equal here' };
  return list('grpc', isSecure ? {} : { plain: true });
}

/** The host and port of an address, which may be a name alone. */
function placeOf(row: Row) {
  const address = asText(row.domain) ?? '';
  const isV6 = /^[\da-f:]*:[\da-f:]*:[\da-f:.]*$/i.test(address);
  const url = URL.parse(
    /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `tcp://${isV6 ? `[${address}]` : address}`,
  );
  const host = url?.hostname.replaceAll(/[[\]]/g, '') ?? '';
  const port = Number(row.port) || Number(url?.port ?? 0);
  return { host: host === '' ? null : host, port: port > 0 ? port : null };
}

function readWeb(row: Row, name: string | null, more: { readonly visibility?: 'private' }): EntryReading {
  const method = (asText(row.method) ?? 'GET').toUpperCase();
  const body =
    typeof row.post_data === 'string' && row.post_data !== '' && method !== 'GET' ? row.post_data : null;
  const headers = headersOf(row.headers);
  const hasType = headers.some(([field]) => field.toLowerCase() === 'content-type');
  const text = asText(row.expected);
  const line = text === null ? null : matchLine('body', text);
  const request: ListedRequest = {
    ...PLAIN_REQUEST,
    url: asText(row.domain),
    method,
    headers: body === null || hasType ? headers : [...headers, ['Content-Type', 'application/json'] as const],
    body,
    expectations: line === null ? [] : [{ field: 'expected', line }],
    ignoresCertificate: row.verify_ssl !== true,
    followRedirects: row.redirect === true,
  };
  return listRequest(request, name, { ...more, accept: [Number(row.expected_status) || 200] }, [
    ...lostIf(
      line?.startsWith('body matches') === true,
      'expected',
      'an expression is matched within the first 4096 characters of the body',
    ),
    ...lostIf(method === 'GET' && !isEmpty(row.post_data), 'post_data', 'a GET has no body'),
    ...findLost(row, (field) => KNOWN.has(field) || field === 'headers' || field === 'post_data', REASONS),
  ]);
}

/** Texts such as `Accept=text/html,X-Mode=probe`. */
function headersOf(value: unknown): (readonly [name: string, value: string])[] {
  return (asText(value) ?? '').split(',').flatMap((pair) => {
    const [, name = '', text = ''] = /^\s*([^=]*)=(.*)$/s.exec(pair) ?? [];
    return name === '' || text === '' ? [] : [[name, text] as const];
  });
}

function readCheckin(row: Row): EntryReading {
  const name = asText(row.name);
  const periodMs = Number(row.interval) * MINUTE_MS;
  if (!(periodMs > 0)) return { problem: 'its interval cannot be read' };
  return listService(hostOfName(name ?? '', 'checkin'), name, { kind: 'heartbeat', periodMs }, [
    { field: 'api_key', reason: 'its sender needs the address of the service here (docs/heartbeats.md)' },
  ]);
}

/** The types of Uptime Kuma's notifications, and its fields for those of notifiers. */
const NOTIFIERS: Readonly<Record<string, readonly [type: string, fields: Readonly<Record<string, string>>]>> =
  {
    slack: ['slack', { host: 'slackwebhookURL' }],
    discord: ['discord', { host: 'discordWebhookUrl' }],
    mattermost: ['mattermost', { host: 'mattermostWebhookUrl' }],
    telegram: ['telegram', { api_secret: 'telegramBotToken', var1: 'telegramChatID' }],
    pushover: [
      'pushover',
      { api_key: 'pushoveruserkey', api_secret: 'pushoverapptoken', var2: 'pushoversounds' },
    ],
    gotify: ['gotify', { host: 'gotifyserverurl', api_key: 'gotifyapplicationToken' }],
    email: ['smtp', { var2: 'smtpTo', host: 'smtpHost' }],
  };

/** Channels of the notifiers that are switched on, and rules for the services with equal delays. */
function readNotifiers(root: Row, entries: readonly ListedEntry[], { skip, lose }: Collection): ListedItem[] {
  const watched = entries.filter(({ row }) => row.allow_notifications !== false);
  const channelNames = uniqueNames();
  const ruleNames = uniqueNames();
  return (listOf(root.notifiers) ?? []).map(asRow).flatMap((given): ListedItem[] => {
    // Before version 0.90, each notifier was wrapped in an object.
    const row = 'method' in given ? given : asRow(given.notification ?? given.Notification);
    const method = asText(row.method) ?? '';
    if (row.enabled !== true) return [];
    const [type, fields] = (Object.hasOwn(NOTIFIERS, method) ? NOTIFIERS[method] : undefined) ?? ['', {}];
    const renamed = Object.entries(fields).map(([field, own]) => [own, row[field]]);
    const priority = /^emergency$/i.test(asText(row.var1) ?? '') ? { pushoverpriority: 2 } : {};
    const reading = readKumaChannel({ config: { type, ...priority, ...Object.fromEntries(renamed) } });
    if (type === '' || 'problem' in reading) {
      skip(
        `notifier ${method}`,
        type === '' ? 'notifiers of this type have no equal here' : 'it has no receiver',
      );
      return [];
    }
    for (const { field, reason } of reading.lost) {
      const own = Object.entries(fields).find(([, kuma]) => kuma === field)?.[0] ?? field;
      lose(`notifier ${method}`, own, reason);
    }
    const channels = channelItems(() => channelNames(method), reading);
    const alike = Map.groupBy(watched, ({ row: { notify_after: after, check_interval: every } }) =>
      Math.min(Number(after ?? 0) * (Number(every) || USUAL_SECONDS) * SECOND_MS, DAY_MS),
    );
    const rules = [...alike].flatMap(([afterMs, equal]) =>
      ruleItems(
        () => ruleNames(method),
        equal.map(({ service }) => service),
        channels,
        { events: ['down', 'up'], ...ruleTimes(afterMs, 0) },
      ),
    );
    return [...channels, ...rules];
  });
}

/** The start page of Statping as a status page, if the file tells of it. */
function readPage(
  { core: given }: Row,
  groups: readonly Row[],
  entries: readonly ListedEntry[],
  found: Collection,
): ListedItem[] {
  if (isEmpty(given) && groups.length === 0) return [];
  const core = asRow(given);
  const title = asText(core.name) ?? 'Statping';
  const text = asText(core.description);
  const host = URL.parse(asText(core.domain) ?? '')?.hostname ?? '';
  if (!isEmpty(core.footer)) found.lose(title, 'footer', 'pages have no footer of their own');
  const shown = entries
    .toSorted((one, other) => byOrder(one.row, other.row))
    .filter(({ row, service }) => row.public !== false && mayShow(service, title, found));
  const known = new Set(groups.map(({ id }) => id));
  const listed = [
    ...groups.map(({ id, name }) => ({
      name: asText(name) ?? '',
      of: shown.filter(({ row }) => row.group_id === id),
    })),
    { name: '', of: shown.filter(({ row }) => !known.has(row.group_id)) },
  ];
  return [
    pageItem(
      {
        ...{ slug: slugOfTitle(title), title },
        ...(text === null ? {} : { text }),
        ...(host.includes('.') ? { custom_domain: host } : {}),
      },
      listed
        .map(({ name, of }) => ({ name, services: of.map(({ service }) => service) }))
        .filter(({ services }) => services.length > 0),
    ),
  ];
}
