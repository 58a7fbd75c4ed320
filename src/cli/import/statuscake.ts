/** Tests of StatusCake: answers of its API (v1), and lists of the older one. */
import { STATUS_CODES } from 'node:http';
import { type AcceptRule, STATUS_CLASSES } from '../../domain/service.ts';
import { type Contact, contactItems, minutesMs, windowItem } from './contacts.ts';
import { type ListedRequest, listRequest, PLAIN_REQUEST } from './http-request.ts';
import { Collection, type DocumentReader, WHOLE_FILE } from './listed-content.ts';
import {
  asRow,
  asText,
  type EntryReading,
  findLost,
  hostOfName,
  isEmpty,
  type LostField,
  listKind,
  listOf,
  listService,
  lostIf,
  namesIn,
  quote,
  type Row,
  withNote,
  withTimes,
} from './listed-service.ts';

/** Reads uptime tests, heartbeats and tests of certificates: an answer, or several in a list. */
export const statuscake: DocumentReader = {
  expected: '"data" with "website_url" (StatusCake)',
  recognises: (root, document) => rowsOf(root, document).length > 0,
  read({ root, document, now }) {
    const rows = rowsOf(root, document);
    const beside = answersOf(root, document);
    const groups = beside.filter(isGroup);
    const known = new Set(groups.map(({ id }) => String(id)));
    const found = new Collection();
    if (rows.some((row) => isUptime(row) && !isDetailed(row)))
      found.lose(WHOLE_FILE, SHORT.field, SHORT.reason);
    found.addAll(rows, (row) => {
      const read = readTest(row);
      if ('problem' in read || !groupsOf(row).every((id) => known.has(id))) return read;
      return { ...read, lost: read.lost.filter(({ field }) => !OF_GROUPS.has(field)) };
    });
    return found.reading('statuscake', readBeside(groups, beside.filter(isWindow), found, now));
  },
};

/** Fields of tests that become rules if the file has their groups. */
const OF_GROUPS = new Set(['contact_groups', 'trigger_rate']);

function groupsOf(row: Row): string[] {
  return (listOf(row.contact_groups) ?? []).map(String);
}

/** Groups of contacts as channels with rules, and windows as maintenance. */
function readBeside(groups: readonly Row[], windows: readonly Row[], found: Collection, now: number) {
  const { entries: tests, skip, lose } = found;
  const contacts = groups.flatMap((row): Contact[] => {
    const name = asText(row.name) ?? `group ${row.id}`;
    const addresses = (listOf(row.email_addresses) ?? []).flatMap((one) => asText(one) ?? []);
    if (addresses.length === 0) skip(name, 'it has no address for letters');
    for (const { field, reason } of findLost(row, (field) => OF_CONTACTS.has(field), CONTACT_REASONS))
      lose(name, field, reason);
    return addresses.length === 0 ? [] : [{ id: String(row.id), name, addresses }];
  });
  const watched = tests.map(({ row, service }) => {
    const isAboutEnd = isCertificate(row) || row.enable_ssl_alert === true;
    const events = ['down', 'up', ...(isAboutEnd ? ['certificate'] : [])];
    return { service, contacts: groupsOf(row), events, afterMs: minutesMs(row.trigger_rate), repeatMs: 0 };
  });
  const maintenances = windows.flatMap((row) => {
    const title = asText(row.name) ?? 'Maintenance';
    const ids = new Set((listOf(row.tests) ?? []).map(String));
    const tags = new Set((listOf(row.tags) ?? []).map(String));
    const services = tests
      .filter(({ row: test }) => isUptime(test))
      .filter(
        ({ row: test }) =>
          ids.has(String(test.id)) || (listOf(test.tags) ?? []).some((tag) => tags.has(String(tag))),
      )
      .map(({ service }) => service);
    const [, number, unit] = /^(\d)([dwm])$/.exec(asText(row.repeat_interval) ?? '') ?? [];
    const every = unit === 'm' ? 'month' : { days: Number(number) * (unit === 'w' ? 7 : 1) };
    const item = windowItem(
      {
        ...{ title, services, timeZone: asText(row.timezone) ?? 'UTC', until: null },
        ...{ from: Date.parse(asText(row.start_at) ?? ''), to: Date.parse(asText(row.end_at) ?? '') },
        every: unit === undefined ? null : every,
      },
      now,
    );
    if (!('problem' in item)) return [item];
    skip(title, item.problem);
    return [];
  });
  return [...contactItems(contacts, watched), ...maintenances];
}

const OF_CONTACTS = new Set(['id', 'name', 'email_addresses']);
const CONTACT_REASONS: Readonly<Record<string, string>> = {
  mobile_numbers: 'nobody is called by telephone',
  integrations: 'the file does not have them: add a channel for each (docs/alerts.md)',
  ping_url: 'a webhook is a POST, and has its own form (docs/webhooks.md)',
};

const SHORT: LostField = {
  field: 'conditions',
  reason:
    'the list tells no texts, statuses, headers and timeouts of tests: save /v1/uptime/ID, which does, or set them here',
};

const KNOWN = namesIn(`
  id name website_url test_type check_rate paused tags status uptime timeout last_tested_at next_location
  processing processing_on processing_state host use_jar enable_ssl_alert contact_id url period
  confirmation down_times last_tested method normalised_response public logo_image sensitive
`);
const REASONS: Readonly<Record<string, string>> = {
  contact_groups: 'the file has no addresses: add a channel and a rule for them (docs/alerts.md)',
  trigger_rate: 'set "after" of a rule (docs/alerts.md)',
  final_endpoint: 'only the status at the end of redirects is judged',
  include_header: 'a text is looked for in the body alone, so it is not expected',
  servers: 'your own nodes make the checks (docs/cluster.md)',
};
/** Fields of web pages, and of other tests. */
const OF_WEB = namesIn(`
  custom_header user_agent post_raw find_string do_not_find status_codes follow_redirects basic_username
  basic_password port dns_ips dns_server
`);

function readTest(row: Row): EntryReading {
  if (isSpeed(row)) return { problem: 'the size and speed of pages are not checked' };
  const seconds = Number(row.check_rate);
  const timeout = Number(row.timeout);
  const reading = withTimes(readKind(row), {
    ...(seconds > 0 ? { interval: `${seconds}s` } : {}),
    ...(timeout > 0 ? { timeout: `${timeout}s` } : {}),
  });
  const tags = (listOf(row.tags) ?? []).flatMap((tag) => asText(tag) ?? []);
  const host = asText(row.host);
  return withNote(reading, [
    host === null ? '' : `Host: ${host}`,
    tags.length === 0 ? '' : `Tags: ${tags.join(', ')}`,
  ]);
}

function readKind(row: Row): EntryReading {
  const name = asText(row.name);
  const more = { paused: row.paused === true, ...(name === null ? {} : { name }) };
  if (isHeartbeat(row)) return readHeartbeat(row, name, more.paused);
  const { host, port } = placeOf(asText(row.website_url) ?? '');
  const lostOf = (known: readonly string[]) =>
    findLost(row, (field) => KNOWN.has(field) || OF_WEB.has(field) || known.includes(field), REASONS);
  if (isCertificate(row)) return readCertificate(row, host, port);
  const type = asText(row.test_type)?.toUpperCase() ?? '';
  const given = isEmpty(row.port) ? {} : { port: Number(row.port) };
  const named = { ...more, domain: host };
  const unknown = {
    problem: `the list does not tell what a test of type ${quote(type)} checks: save /v1/uptime/ID`,
  };
  switch (type) {
    case 'HTTP':
    case 'HEAD':
      return readWeb(row, type, more);
    case 'PING':
      return listKind('icmp', {}, named, lostOf([]));
    case 'SSH':
      return listKind('ssh', given, named, lostOf([]));
    case 'SMTP':
      return listKind('smtp', { ...given, security: 'plain' }, named, lostOf([]));
    case 'TCP':
      if (isEmpty(row.port)) return isDetailed(row) ? { problem: 'it has no port' } : unknown;
      return listKind('tcp', given, named, lostOf([]));
    case 'DNS':
      return isDetailed(row) ? readQuery(row, named, lostOf([])) : unknown;
    default:
      return { problem: `tests of type ${quote(type)} have no equal here` };
  }
}

function readQuery(
  row: Row,
  named: { readonly domain: string | null },
  lost: readonly LostField[],
): EntryReading {
  const addresses = (
    typeof row.dns_ips === 'string' ? row.dns_ips.split(',') : (listOf(row.dns_ips) ?? [])
  ).flatMap((one) => asText(one) ?? []);
  const [address] = addresses;
  const isOne = addresses.length === 1 && address !== undefined;
  const server = asText(row.dns_server);
  const settings = {
    record: isOne && address.includes(':') ? 'AAAA' : 'A',
    ...(server === null ? {} : { server }),
    ...(isOne ? { values: [address] } : {}),
  };
  return listKind('dns', settings, named, [
    ...lost,
    ...lostIf(addresses.length > 1, 'dns_ips', 'a check expects each of its values'),
  ]);
}

/** The host and port of an address, which may be a name alone. */
function placeOf(address: string) {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `tcp://${address}`);
  const host = url?.hostname.replaceAll(/[[\]]/g, '') ?? '';
  return { host: host === '' ? null : host, port: url?.port ? Number(url.port) : 443 };
}

function readHeartbeat(row: Row, name: string | null, paused: boolean): EntryReading {
  const periodMs = Number(row.period) * 1_000;
  if (!(periodMs > 0)) return { problem: 'its period cannot be read' };
  return listService(hostOfName(name ?? '', 'heartbeat'), name, { kind: 'heartbeat', paused, periodMs }, [
    ...findLost(row, (field) => KNOWN.has(field), REASONS),
    { field: 'url', reason: 'its sender needs the address of the service here (docs/heartbeats.md)' },
  ]);
}

const OF_CERTIFICATES = namesIn(`
  alert_broken alert_expiry certificate_score certificate_status cipher cipher_score issuer_common_name
  flags hostname last_reminder mixed_content updated_at valid_from valid_until user_agent alert_reminder
  follow_redirects
`);

function readCertificate(row: Row, host: string | null, port: number): EntryReading {
  const isKnown = (field: string) => KNOWN.has(field) || OF_CERTIFICATES.has(field);
  const lost = findLost(row, isKnown, {
    ...REASONS,
    alert_at:
      'rules report a certificate 21, 7 and 1 days before it ends; set minDays to let the check fail sooner',
    alert_mixed: 'pages are not searched for what they load without TLS',
  });
  const name = `${host} (certificate)`;
  return listKind(
    'tls',
    port === 443 ? {} : { port },
    { name, domain: host, paused: row.paused === true },
    lost,
  );
}

/** All registered statuses but those that alert; null: the file does not tell them. */
function acceptedBut(refused: unknown): readonly AcceptRule[] | null {
  const list = typeof refused === 'string' ? refused.split(',') : (listOf(refused) ?? []);
  const codes = new Set(list.map(Number));
  if (codes.size === 0) return null;
  return STATUS_CLASSES.flatMap((family): AcceptRule[] => {
    const isOf = (code: number) => `${Math.floor(code / 100)}xx` === family;
    if (![...codes].some(isOf)) return [family];
    return Object.keys(STATUS_CODES)
      .map(Number)
      .filter((code) => isOf(code) && !codes.has(code));
  });
}

function readWeb(row: Row, type: string, more: { readonly paused: boolean }): EntryReading {
  if (!isEmpty(row.post_body))
    return { problem: 'how the fields of post_body are sent is not known; set them as post_raw' };
  const text = asText(row.find_string);
  const isExpected = text !== null && isEmpty(row.include_header);
  const user = asText(row.basic_username);
  const password = typeof row.basic_password === 'string' ? row.basic_password : null;
  const isGuess = user !== null && password === null;
  const agent = asText(row.user_agent);
  const headers = headersOf(row.custom_header);
  const body = typeof row.post_raw === 'string' && row.post_raw !== '' ? row.post_raw : null;
  const accept = acceptedBut(row.status_codes);
  const request: ListedRequest = {
    ...PLAIN_REQUEST,
    url: asText(row.website_url),
    method: body === null ? (type === 'HEAD' ? 'HEAD' : 'GET') : 'POST',
    headers: [...(headers ?? []), ...(agent === null ? [] : [['User-Agent', agent] as const])],
    body,
    username: user,
    password,
    expectations: isExpected
      ? [{ field: 'find_string', line: `body ${row.do_not_find === true ? 'lacks' : 'contains'} ${text}` }]
      : [],
    followRedirects: typeof row.follow_redirects === 'boolean' ? row.follow_redirects : null,
  };
  const lost = findLost(row, (field) => KNOWN.has(field) || OF_WEB.has(field), REASONS);
  return listRequest(request, asText(row.name), { paused: more.paused || isGuess, accept }, [
    ...(text === null ? lost.filter(({ field }) => field !== 'include_header') : lost),
    ...lostIf(headers === null, 'custom_header', 'it is no object in JSON'),
    ...lostIf(isGuess, 'basic_password', 'the file does not have it, so the service is paused: set it here'),
  ]);
}

/** Headers as an object in JSON; null: they cannot be read. */
function headersOf(value: unknown): [name: string, value: string][] | null {
  if (isEmpty(value)) return [];
  try {
    const headers: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return Object.entries(asRow(headers)).map(([name, text]) => [name, String(text)]);
  } catch {
    return null;
  }
}

function answersOf(root: Row, document: unknown): readonly Row[] {
  return (Array.isArray(document) ? document : [root])
    .map(asRow)
    .flatMap((answer) =>
      Array.isArray(answer.data) ? answer.data : 'data' in answer ? [answer.data] : [answer],
    )
    .map(asRow);
}

/** The tests among them; where the file has the details of one, they count. */
function rowsOf(root: Row, document: unknown): readonly Row[] {
  const rows = answersOf(root, document)
    .map((row) => ('WebsiteName' in row ? ofOldForm(row) : row))
    .filter((row) => isUptime(row) || isHeartbeat(row) || isCertificate(row) || isSpeed(row));
  const detailed = new Set(rows.filter(isDetailed).map(({ id }) => String(id)));
  return rows.filter((row) => !isUptime(row) || isDetailed(row) || !detailed.has(String(row.id)));
}

const isUptime = (row: Row) => 'website_url' in row && 'test_type' in row;
const isHeartbeat = (row: Row) => 'period' in row && 'contact_groups' in row;
const isCertificate = (row: Row) => 'website_url' in row && 'alert_at' in row;
const isGroup = (row: Row) => 'email_addresses' in row;
const isWindow = (row: Row) => 'repeat_interval' in row && 'start_at' in row;
const isSpeed = (row: Row) => 'website_url' in row && 'alert_bigger' in row;
/** The list has fewer members than an answer about one test. */
const isDetailed = (row: Row) => 'timeout' in row;

const OLD_NAMES: Readonly<Record<string, string>> = {
  TestID: 'id',
  WebsiteName: 'name',
  WebsiteURL: 'website_url',
  URI: 'website_url',
  TestType: 'test_type',
  CheckRate: 'check_rate',
  ContactGroup: 'contact_groups',
  ContactGroups: 'contact_groups',
  CustomHeader: 'custom_header',
  TestTags: 'tags',
  WebsiteHost: 'host',
  DNSServer: 'dns_server',
  DNSIP: 'dns_ips',
  DNSIPs: 'dns_ips',
  NodeLocations: 'servers',
  FollowRedirect: 'follow_redirects',
  UseJar: 'use_jar',
  EnableSSLAlert: 'enable_ssl_alert',
  BasicUser: 'basic_username',
  BasicPass: 'basic_password',
};

/** A test of the older API with the names of the new one. */
function ofOldForm(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => !isEmpty(value) || typeof value === 'boolean')
      .map(([name, value]) => [
        OLD_NAMES[name] ?? name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase(),
        value,
      ]),
  );
}
