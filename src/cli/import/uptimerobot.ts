/** Monitors of UptimeRobot, and their contacts: answers of its API (v2, v3), and its export. */
import { MINUTE_MS } from '../../domain/durations.ts';
import { type Expectation, listRequest, PLAIN_REQUEST, readStatusList } from './http-request.ts';
import { type ChannelReading, readKumaChannel } from './kuma-channels.ts';
import {
  Collection,
  type CsvReader,
  channelItems,
  type DocumentReader,
  type ListedItem,
  ruleItems,
  ruleTimes,
  uniqueNames,
} from './listed-content.ts';
import {
  asRow,
  asText,
  type EntryReading,
  findLost,
  isEmpty,
  type LostField,
  listHeartbeat,
  listKind,
  listOf,
  lostIf,
  namesIn,
  type Row,
  textOf,
  withNote,
  withTimes,
} from './listed-service.ts';

/** The monitors of an answer; version 3 has `data`. */
function monitorsOf(root: Row): Row[] {
  const list = Array.isArray(root.monitors) ? root.monitors : Array.isArray(root.data) ? root.data : [];
  return list.map(asRow);
}

/** A list of monitors with friendly names. */
export const uptimerobot: DocumentReader = {
  expected: '"monitors" or "data" with friendly names (UptimeRobot)',
  recognises(root) {
    const monitors = monitorsOf(root);
    return monitors.length > 0 && monitors.every((row) => 'friendly_name' in row || 'friendlyName' in row);
  },
  read({ root }) {
    const found = new Collection();
    for (const row of monitorsOf(root)) addMonitor(found, 'friendly_name' in row ? renamed(row) : row);
    const contacts = [root.alert_contacts, root.alertContacts]
      .flatMap((list) => listOf(list) ?? [])
      .map(asRow);
    return found.reading('uptimerobot', readContacts(found, contacts));
  },
};

/** Its export, with the address in `URL/IP`. */
export const uptimerobotTable: CsvReader = {
  expected: '"URL/IP" and "Type" (UptimeRobot)',
  recognises: (columns) => columns.has('url/ip') && columns.has('type'),
  read(rows) {
    const found = new Collection();
    // Older files have minutes, of which the usual number is 5; newer ones have seconds, of which the least is 30.
    const isInMinutes = rows.some(({ interval }) => Number(interval) > 0 && Number(interval) < 30);
    for (const row of rows) {
      const { interval, ...others } = row;
      const seconds = Number(interval) * (isInMinutes ? 60 : 1);
      addMonitor(found, renamed({ ...others, ...(seconds > 0 ? { interval: seconds } : {}) }));
    }
    return found.reading('uptimerobot');
  },
};

/** Names of version 2 and of columns, and those of version 3. */
const NAMES: Readonly<Record<string, string>> = {
  friendly_name: 'friendlyName',
  'friendly name': 'friendlyName',
  name: 'friendlyName',
  'url/ip': 'url',
  keyword_type: 'keywordType',
  'keyword type': 'keywordType',
  keyword_case_type: 'keywordCaseType',
  'keyword case type': 'keywordCaseType',
  keyword_value: 'keywordValue',
  'keyword value': 'keywordValue',
  http_username: 'httpUsername',
  'http username': 'httpUsername',
  http_password: 'httpPassword',
  'http password': 'httpPassword',
  http_auth_type: 'authType',
  http_method: 'httpMethodType',
  'http method': 'httpMethodType',
  post_type: 'postValueType',
  post_value: 'postValueData',
  post_content_type: 'postContentType',
  custom_http_headers: 'customHttpHeaders',
  alert_contacts: 'assignedAlertContacts',
  'alert contact': 'alertContacts',
  'alert contacts': 'alertContacts',
  mwindows: 'maintenanceWindows',
};

function renamed(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => [Object.hasOwn(NAMES, field) ? NAMES[field] : field, value]),
  );
}

/** The words of version 3 for numbers of version 2. */
const WORDS = {
  type: ['', 'HTTP', 'KEYWORD', 'PING', 'PORT', 'HEARTBEAT'],
  authType: ['NONE', 'HTTP_BASIC', 'DIGEST'],
  httpMethodType: ['', 'HEAD', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  keywordType: ['', 'ALERT_EXISTS', 'ALERT_NOT_EXISTS'],
  postValueType: ['', 'KEY_VALUE', 'RAW_JSON'],
} as const;

/** The value of a field as an upper-case word; empty: there is none. */
function wordOf(row: Row, field: keyof typeof WORDS): string {
  const text = textOf(row[field])?.toUpperCase() ?? '';
  return /^\d+$/.test(text) ? (WORDS[field][Number(text)] ?? text) : text;
}

/** Ports of the kinds of version 2's port monitors. */
const SUB_TYPE_PORTS = new Map(
  [1, 2, 3, 4, 5, 6].map((type, index) => [type, [80, 443, 21, 25, 110, 143][index]]),
);

/** Fields that say what has been, and those of other types. */
const STATE =
  /^(?:id|user_?id|create_?date_?time|api_?key|logs|.*(?:uptime|response_time|down_durations).*|last\w*|currentStateDuration|ssl|sslBrand|sslExpiryDateTime|domainExpireDate|monitor_group|is_group_main|status|sub_type|keyword\w+|postContentType|tag_?names?|psp_?ids?)$/i;
const KNOWN = namesIn(`
  friendlyName type url interval timeout tags assignedAlertContacts responseTimeThreshold port
  httpMethodType authType httpUsername httpPassword
`);
const OF_REQUESTS = namesIn(`
  customHttpHeaders postValueType postValueData successHttpResponseCodes custom_http_statuses
  followRedirections checkSSLErrors ignore_ssl_errors
`);
const REASONS: Readonly<Record<string, string>> = {
  alertContacts: 'the file has only their numbers: add channels and a rule (docs/alerts.md)',
  maintenanceWindows:
    'the file does not say in which time zone: announce it on the dashboard (docs/maintenance.md)',
  psps: 'add a page with this service (docs/status-pages.md)',
  sslExpirationReminder: 'rules with the event "certificate" announce its end',
  domainExpirationReminder: 'add a service of the kind "domain"',
  disable_domain_expire_notifications: 'add a service of the kind "domain"',
  regionalData: 'checks are made from the regions of this installation',
  groupId: 'the file does not name the group',
  config: 'its assertions and options have no equal in this import',
};

function addMonitor(found: Collection, row: Row): void {
  const name = textOf(row.friendlyName) ?? asText(row.url) ?? 'a monitor without a name';
  const tags = (listOf(row.tags) ?? []).flatMap((tag) => textOf(asRow(tag).name ?? tag) ?? []);
  const reading = withTimes(readMonitor(row, name), {
    interval: secondsOf(row.interval),
    timeout: secondsOf(row.timeout),
    slowOver: Number(row.responseTimeThreshold) > 0 ? `${Number(row.responseTimeThreshold)}ms` : null,
  });
  found.add(name, row, withNote(reading, [tags.length === 0 ? '' : `Tags: ${tags.join(', ')}`]));
}

function secondsOf(value: unknown): string | null {
  return Number(value) > 0 ? `${Number(value)}s` : null;
}

function readMonitor(row: Row, name: string): EntryReading {
  const type = wordOf(row, 'type').replace('HTTP(S)', 'HTTP');
  const paused = ['0', 'PAUSED'].includes(textOf(row.status)?.toUpperCase() ?? '');
  const more = { name, paused };
  const url = asText(row.url);
  const lost = findLost(
    row,
    (field) => KNOWN.has(field) || OF_REQUESTS.has(field) || STATE.test(field),
    REASONS,
  );
  switch (type) {
    case 'HTTP':
    case 'KEYWORD':
    case 'API':
      return readRequest(row, type, more, lost);
    case 'PING':
      return listKind('icmp', {}, { ...more, domain: hostOf(url) }, lost);
    case 'PORT': {
      const port = isEmpty(row.port) ? SUB_TYPE_PORTS.get(Number(row.sub_type)) : Number(row.port);
      return listKind('tcp', port === undefined ? {} : { port }, { ...more, domain: hostOf(url) }, lost);
    }
    case 'HEARTBEAT':
      return readHeartbeat(row, name, paused, lost);
    default:
      return { problem: `monitors of type ${type.slice(0, 40)} have no equal in this import` };
  }
}

function hostOf(url: string | null): string | null {
  return url === null ? null : URL.parse(url)?.hostname || url;
}

/** The delay that a heartbeat has where the file does not say. */
const USUAL_GRACE_MS = 30_000;

function readHeartbeat(row: Row, name: string, paused: boolean, lost: readonly LostField[]): EntryReading {
  const { gracePeriod } = row;
  const address = URL.parse(asText(row.url) ?? '');
  const token = address?.hostname === 'heartbeat.uptimerobot.com' ? address.pathname.slice(1) : '';
  const hasGrace = typeof gracePeriod === 'number';
  const periodMs = Number(row.interval) * 1_000;
  if (!(periodMs > 0)) return { problem: 'it has no interval' };
  return listHeartbeat(
    name,
    'heartbeat',
    {
      paused,
      periodMs,
      graceMs: hasGrace ? gracePeriod * 1_000 : USUAL_GRACE_MS,
      pushToken: token === '' ? null : token,
    },
    [
      {
        field: 'url',
        reason:
          token === ''
            ? 'senders need the address of the service here (docs/heartbeats.md)'
            : 'senders need the host of this site and /beat/ before the same token (docs/heartbeats.md)',
      },
      ...lostIf(!hasGrace, 'gracePeriod', 'it is not in the file; 30 seconds are taken'),
      ...lost.filter(({ field }) => field !== 'gracePeriod'),
    ],
  );
}

function readRequest(
  row: Row,
  type: string,
  { name, paused }: { readonly name: string; readonly paused: boolean },
  lost: readonly LostField[],
): EntryReading {
  const codes = readCodes(row);
  const keyword = type === 'KEYWORD' ? readKeyword(row) : { expectations: [], lost: [] };
  const signIn = wordOf(row, 'authType');
  const isBasic = signIn !== 'DIGEST' && signIn !== 'BEARER';
  const user = asText(row.httpUsername);
  const headers = Object.entries(asRow(row.customHttpHeaders)).map(
    ([header, value]) => [header, String(value ?? '')] as const,
  );
  const { body, contentType } = readBody(row);
  const hasType = headers.some(([header]) => header.toLowerCase() === 'content-type');
  return listRequest(
    {
      ...PLAIN_REQUEST,
      url: asText(row.url),
      method: wordOf(row, 'httpMethodType') || null,
      headers: contentType === null || hasType ? headers : [...headers, ['Content-Type', contentType]],
      body,
      username: isBasic ? user : null,
      password: isBasic && user !== null ? asText(row.httpPassword) : null,
      expectations: [...codes.expectations, ...keyword.expectations],
      ignoresCertificate: row.checkSSLErrors === false || Number(row.ignore_ssl_errors) === 1,
      followRedirects: row.followRedirections === false ? false : null,
    },
    name,
    { paused, accept: codes.accept },
    [
      ...codes.lost,
      ...keyword.lost,
      ...lostIf(
        !isBasic,
        'authType',
        'checks sign in by basic authentication, a token, a certificate or headers',
      ),
      ...lost,
    ],
  );
}

/** The usual statuses, with those of version 2 such as `404:1_200:0`, of which 1 is up. */
function readCodes(row: Row) {
  const given = listOf(row.successHttpResponseCodes) ?? [];
  if (given.length > 0) return readStatusList(given, 'successHttpResponseCodes');
  const field = 'custom_http_statuses';
  const own = [...(asText(row[field]) ?? '').matchAll(/(\d{3}):([01])/g)];
  const up = own.flatMap(([, code = '', isUp]) => (isUp === '1' ? [code] : []));
  const down = new Set(own.flatMap(([, code = '', isUp]) => (isUp === '0' ? [code] : [])));
  const rules = readStatusList(['2xx', '3xx', ...up], field);
  return {
    ...rules,
    expectations: [...down].map((code): Expectation => ({ field, line: `status is not ${code}` })),
  };
}

/** The keyword; a monitor alerts where it exists, or where it does not. */
function readKeyword(row: Row): { expectations: Expectation[]; lost: LostField[] } {
  const value = textOf(row.keywordValue);
  const type = wordOf(row, 'keywordType')
    .replaceAll(' ', '_')
    .replace(/^ALERT_/, '');
  const operator = type === 'EXISTS' ? 'lacks' : type === 'NOT_EXISTS' ? 'contains' : null;
  const field = 'keywordValue';
  if (value === null || operator === null)
    return { expectations: [], lost: [{ field, reason: 'the file does not say what it alerts of' }] };
  const caseType = textOf(row.keywordCaseType)?.toLowerCase() ?? '0';
  const isExact = caseType !== '1' && !caseType.includes('insensitive');
  if (isExact || value.toLowerCase() === value.toUpperCase())
    return { expectations: [{ field, line: `body ${operator} ${value}` }], lost: [] };
  return {
    expectations: [],
    lost: [
      {
        field,
        reason: `texts are compared in their letters: add "body ${operator} ${value}" if the page has them so`,
      },
    ],
  };
}

function readBody(row: Row): { readonly body: string | null; readonly contentType: string | null } {
  const value = row.postValueData;
  if (isEmpty(value)) return { body: null, contentType: null };
  const isJson = wordOf(row, 'postValueType') !== 'KEY_VALUE';
  const fields = typeof value === 'string' ? parseFields(value) : asRow(value);
  if (!isJson && fields !== null)
    return {
      body: new URLSearchParams(
        Object.entries(fields).map(([key, one]) => [key, String(one)] as [string, string]),
      ).toString(),
      contentType: 'application/x-www-form-urlencoded',
    };
  const body = typeof value === 'string' ? value : JSON.stringify(value);
  const isHtml = textOf(row.postContentType) === '0';
  return { body, contentType: isHtml ? 'text/html' : 'application/json' };
}

function parseFields(text: string): Row | null {
  try {
    return asRow(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Contacts as channels, and a rule for the monitors that have one with equal times. */
function readContacts(found: Collection, listed: readonly Row[]): ListedItem[] {
  const wanted = found.entries.flatMap((entry) =>
    (listOf(entry.row.assignedAlertContacts) ?? []).map((given) => {
      const contact = asRow(given);
      const id = textOf(contact.id) ?? textOf(contact.alertContactId) ?? '';
      const known = listed.find((one) => textOf(one.id) === id);
      return { id, contact: { ...known, ...contact }, entry };
    }),
  );
  const channelNames = uniqueNames();
  const ruleNames = uniqueNames();
  return [...Map.groupBy(wanted, ({ id }) => id).values()].flatMap((ofContact): ListedItem[] => {
    const contact = asRow(ofContact[0]?.contact);
    const label =
      textOf(contact.friendly_name) ?? textOf(contact.friendlyName) ?? `contact ${ofContact[0]?.id ?? ''}`;
    const reading = readContact(contact);
    if ('problem' in reading) {
      found.skip(label, reading.problem);
      return [];
    }
    for (const { field, reason } of reading.lost) found.lose(label, field, reason);
    const channels = channelItems(() => channelNames(label), reading);
    const alike = Map.groupBy(ofContact, ({ contact: one }) => JSON.stringify(timesOf(one)));
    const rules = [...alike.values()].flatMap((equal) =>
      ruleItems(
        () => ruleNames(label),
        equal.map(({ entry }) => entry.service),
        channels,
        timesOf(asRow(equal[0]?.contact)),
      ),
    );
    return [...channels, ...rules];
  });
}

/** The delay before an alert and the time between reminders, which are in minutes there. */
function timesOf(contact: Row): object {
  const [after, repeat] = [contact.threshold, contact.recurrence].map((value) => Number(value) * MINUTE_MS);
  return { events: ['down', 'up'], ...ruleTimes(Number(after), Number(repeat)) };
}

/** The channel of a contact, which its value tells. */
function readContact(contact: Row): ChannelReading {
  const value = asText(contact.value);
  const type = textOf(contact.type)?.toLowerCase() ?? '';
  if (value === null) return { problem: 'the file has only its number' };
  if ((type === '2' || type === 'email') && value.includes('@'))
    return readKumaChannel({ config: { type: 'smtp', smtpTo: value } });
  const address = URL.parse(value);
  const path = address?.pathname ?? '';
  if (address?.hostname === 'hooks.slack.com')
    return readKumaChannel({ config: { type: 'slack', slackwebhookURL: value } });
  if (/^(?:\w+\.)?discord(?:app)?\.com$/.test(address?.hostname ?? '') && path.startsWith('/api/webhooks/'))
    return readKumaChannel({ config: { type: 'discord', discordWebhookUrl: value } });
  return { problem: `contacts of type "${type.slice(0, 40)}" have no equal in this import` };
}
