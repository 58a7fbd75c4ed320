/** Reads monitors and heartbeats of Better Stack: the answers of its API, and tables with their fields as columns. */
import type { CheckSettings, ProbedKind } from '../../domain/service.ts';
import {
  ANY_STATUS,
  acceptCodes,
  type Expectation,
  listRequest,
  PLAIN_REQUEST,
  readStatusList,
} from './http-request.ts';
import { readKumaMaintenance } from './kuma-maintenance.ts';
import {
  Collection,
  type CsvReader,
  type DocumentReader,
  type ListedEntry,
  type ListedItem,
  maintenanceItem,
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

/** The resources of an answer, of one resource, or of several answers in a list. */
function resourcesOf(root: Row, document: unknown): Row[] {
  const answers = Array.isArray(document) ? document.map(asRow) : [root];
  return answers.flatMap((answer) =>
    (Array.isArray(answer.data) ? answer.data : [answer.data ?? answer]).map(asRow),
  );
}

const TYPES = new Set(['monitor', 'heartbeat', 'monitor_group', 'heartbeat_group', 'hearbeat_group']);

/** Resources of JSON:API. */
export const betterStack: DocumentReader = {
  expected: '"data" with the type "monitor" or "heartbeat" (Better Stack)',
  recognises(root, document) {
    const resources = resourcesOf(root, document);
    return (
      resources.length > 0 &&
      resources.every(({ type, attributes }) => TYPES.has(String(type)) && !isEmpty(attributes))
    );
  },
  read({ root, document, now }) {
    const resources = resourcesOf(root, document);
    const groups = new Map(
      resources
        .filter(({ type }) => String(type).endsWith('_group'))
        .map(({ id, type, attributes }) => [`${String(type)[0]}${textOf(id)}`, asRow(attributes)]),
    );
    const found = new Collection();
    for (const { type, attributes } of resources)
      if (type === 'monitor' || type === 'heartbeat') addResource(found, type, asRow(attributes), groups);
    return found.reading('better-stack', readMaintenances(found, now));
  },
};

/** Monitors by the fields of the API as columns, with spaces or underscores. */
export const betterStackTable: CsvReader = {
  expected: '"monitor_type" and "url" (Better Stack)',
  recognises: (columns) =>
    ['monitor_type', 'monitor type'].some((name) => columns.has(name)) && columns.has('url'),
  read(rows) {
    const found = new Collection();
    for (const row of rows) {
      const values = Object.entries(row).map(([column, cell]) => [
        column.replaceAll(' ', '_'),
        readValue(cell),
      ]);
      addResource(found, 'monitor', Object.fromEntries(values), new Map());
    }
    return found.reading('better-stack');
  },
};

function readValue(cell: string): unknown {
  const word = cell.toLowerCase();
  return word === 'true' || word === 'false' ? word === 'true' : cell;
}

/** Fields that say what has been. */
const STATE = namesIn(
  'id last_checked_at last_event_at status created_at updated_at sort_index paused_at paused team_name',
);
const KNOWN = namesIn(`
  url pronounceable_name name monitor_type check_frequency request_timeout confirmation_period port
  maintenance_from maintenance_to maintenance_timezone maintenance_days period grace expected_status_codes
  remember_cookies follow_redirects
`);
const OF_REQUESTS = namesIn(
  'required_keyword verify_ssl http_method request_headers request_body auth_username auth_password',
);
/** Values that every monitor has, whatever its type. */
const USUAL: Row = { http_method: 'get', verify_ssl: true };
const NO_RECEIVERS = 'the file names no receivers: add channels and a rule (docs/alerts.md)';
const REASONS: Readonly<Record<string, string>> = {
  call: 'nobody is called by telephone',
  sms: 'nobody is sent text messages',
  email: NO_RECEIVERS,
  push: NO_RECEIVERS,
  critical_alert: NO_RECEIVERS,
  team_wait: NO_RECEIVERS,
  policy_id: NO_RECEIVERS,
  expiration_policy_id: NO_RECEIVERS,
  ssl_expiration: 'rules with the event "certificate" announce its end',
  domain_expiration: 'add a service of the kind "domain"',
  regions: 'checks are made from the regions of this installation',
  ip_version: 'checks use both families of addresses',
  recovery_period: 'a recovery counts at once',
};
/** The regions of a monitor that is checked from everywhere. */
const ALL_REGIONS = 4;

function addResource(found: Collection, type: string, row: Row, groups: ReadonlyMap<string, Row>): void {
  const name =
    textOf(row.pronounceable_name) ?? textOf(row.name) ?? asText(row.url) ?? 'a monitor without a name';
  const groupId = textOf(row[`${type}_group_id`]);
  const group = groupId === null ? undefined : groups.get(`${type[0]}${groupId}`);
  const groupName = textOf(group?.name);
  const paused =
    [row, group].some((one) => one?.paused === true || !isEmpty(one?.paused_at)) || row.status === 'paused';
  const lost = findLost(
    row,
    (field, value) =>
      STATE.has(field) ||
      KNOWN.has(field) ||
      OF_REQUESTS.has(field) ||
      (field === `${type}_group_id` && groupName !== null) ||
      (field === 'regions' && listOf(value)?.length === ALL_REGIONS),
    { ...REASONS, [`${type}_group_id`]: 'the name of the group is not in the file' },
  );
  const reading =
    type === 'heartbeat'
      ? readHeartbeat(row, { name, paused }, lost)
      : readMonitor(row, { name, paused }, lost);
  found.add(name, row, withNote(reading, [groupName === null ? '' : `Group: ${groupName}`]));
}

interface Common {
  readonly name: string;
  readonly paused: boolean;
}

function readHeartbeat(row: Row, { name, paused }: Common, lost: readonly LostField[]): EntryReading {
  const token = /\/heartbeat\/([\w-]+)$/.exec(asText(row.url) ?? '')?.[1] ?? null;
  const periodMs = Number(row.period) * 1_000;
  if (!(periodMs > 0)) return { problem: 'it has no period' };
  const reason =
    token === null
      ? 'senders need the address of the service here (docs/heartbeats.md)'
      : 'senders need the host of this site and /beat/ before the same token (docs/heartbeats.md)';
  const graceMs = Number(row.grace) > 0 ? Number(row.grace) * 1_000 : null;
  return listHeartbeat(name, 'heartbeat', { paused, periodMs, graceMs, pushToken: token }, [
    { field: 'url', reason },
    ...lost,
  ]);
}

/** Types whose timeout is in milliseconds. */
const IN_MILLISECONDS = new Set(['ping', 'tcp', 'udp', 'smtp', 'pop', 'imap', 'dns']);

function readMonitor(row: Row, common: Common, lost: readonly LostField[]): EntryReading {
  const type = asText(row.monitor_type) ?? '';
  const seconds = (value: unknown) => (Number(value) > 0 ? `${Number(value)}s` : null);
  const timeout = Number(row.request_timeout);
  const confirmation = row.confirmation_period;
  return withTimes(readType(type, row, common, lost), {
    interval: seconds(row.check_frequency),
    timeout: timeout > 0 ? `${timeout}${IN_MILLISECONDS.has(type) ? 'ms' : 's'}` : null,
    confirmAfter: confirmation === 0 || confirmation === '0' ? 'none' : seconds(confirmation),
  });
}

/** Ports of mail servers that speak TLS from the beginning. */
const TLS_PORTS = new Set([465, 993, 995]);

function readType(type: string, row: Row, common: Common, lost: readonly LostField[]): EntryReading {
  const url = asText(row.url);
  const host = url === null ? null : URL.parse(url)?.hostname || url;
  const [port, ...otherPorts] = (textOf(row.port) ?? '')
    .split(',')
    .flatMap((one) => (one.trim() === '' ? [] : [Number(one)]));
  const listServer = (kind: ProbedKind, settings: CheckSettings) =>
    listKind(kind, settings, { ...common, domain: host }, [
      ...lost,
      ...lostIf(otherPorts.length !== 0, 'port', 'a check has one port: add a service for the others'),
      ...findLost(row, (field, value) => !OF_REQUESTS.has(field) || USUAL[field] === value, {}),
    ]);
  const portSetting: CheckSettings = port === undefined ? {} : { port };
  switch (type) {
    case 'status':
    case 'expected_status_code':
    case 'keyword':
    case 'keyword_absence':
      return readRequest(type, row, common, lost);
    case 'ping':
      return listServer('icmp', {});
    case 'tcp':
      return listServer('tcp', portSetting);
    case 'smtp':
    case 'pop':
    case 'imap':
      if (!TLS_PORTS.has(port ?? 0))
        return type === 'smtp'
          ? listServer('smtp', { ...portSetting, security: 'plain' })
          : listServer('tcp', { ...portSetting, banner: type === 'pop' ? '+OK' : '* OK' });
      // A check of a kind with TLS judges the certificate.
      if (row.verify_ssl === false) return listServer('tcp', portSetting);
      return type === 'smtp'
        ? listServer('smtp', { ...portSetting, security: 'tls' })
        : listServer('tls', portSetting);
    case 'dns':
      return listKind(
        'dns',
        host === null ? {} : { server: host },
        { ...common, domain: asText(row.request_body) },
        lost,
      );
    default:
      return { problem: `monitors of type ${type.slice(0, 40)} have no equal here` };
  }
}

function readRequest(
  type: string,
  row: Row,
  { name, paused }: Common,
  lost: readonly LostField[],
): EntryReading {
  const codes =
    type === 'expected_status_code'
      ? readStatusList(codesOf(row.expected_status_codes), 'expected_status_codes')
      : type === 'keyword'
        ? acceptCodes(ANY_STATUS, 'monitor_type')
        : readStatusList(['2xx'], 'monitor_type');
  const keyword = textOf(row.required_keyword);
  const asks = type === 'keyword' || type === 'keyword_absence';
  if (asks && keyword === null) return { problem: 'it has no keyword' };
  if (type === 'expected_status_code' && codes.accept === null) return { problem: 'it has no status codes' };
  const line = `body ${type === 'keyword' ? 'contains' : 'lacks'} ${keyword ?? ''}`;
  const expectations: Expectation[] = asks ? [{ field: 'required_keyword', line }] : [];
  const headers = (listOf(row.request_headers) ?? []).map(asRow).flatMap((header) => {
    const headerName = textOf(header.name);
    return headerName === null ? [] : [[headerName, textOf(header.value) ?? ''] as const];
  });
  const followsNone = row.follow_redirects === false;
  const isTable = typeof row.request_headers === 'string' && row.request_headers !== '';
  return listRequest(
    {
      ...PLAIN_REQUEST,
      url: asText(row.url),
      method: asText(row.http_method)?.toUpperCase() ?? null,
      headers,
      body: textOf(row.request_body),
      username: asText(row.auth_username),
      password: asText(row.auth_password),
      expectations: [...codes.expectations, ...expectations],
      ignoresCertificate: row.verify_ssl === false,
      followRedirects: followsNone ? false : null,
    },
    name,
    { paused, accept: codes.accept },
    [
      ...codes.lost,
      ...lostIf(isTable, 'request_headers', 'headers of a table are not read'),
      ...lostIf(
        row.remember_cookies === false && !followsNone,
        'remember_cookies',
        'cookies go with the next requests of redirects',
      ),
      ...lost,
    ],
  );
}

function codesOf(value: unknown): readonly unknown[] {
  return typeof value === 'string'
    ? value.split(/[\s,;]+/).filter((code) => code !== '')
    : (listOf(value) ?? []);
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** The daily windows in which nothing is checked, as announced maintenance. */
function readMaintenances(found: Collection, now: number): ListedItem[] {
  const nameOf = uniqueNames();
  return found.entries.flatMap((entry): ListedItem[] => {
    const { row, service } = entry;
    if (isEmpty(row.maintenance_from) || isEmpty(row.maintenance_to)) return [];
    const title = nameOf(`Maintenance of ${service.name}`);
    const reading = readKumaMaintenance({ title, active: 1, ...windowOf(entry) }, 'UTC', now);
    if ('problem' in reading) {
      found.skip(title, reading.problem);
      return [];
    }
    return [maintenanceItem(title, reading.document, [service])];
  });
}

/** A window as a recurring maintenance of Uptime Kuma. One over midnight has no clear day, and no end here. */
function windowOf({ row }: ListedEntry): Row {
  const [startTime, endTime] = [row.maintenance_from, row.maintenance_to].map(
    (time) => asText(time)?.slice(0, 5) ?? '',
  );
  const days = (listOf(row.maintenance_days) ?? []).map((day) => DAYS.indexOf(String(day)));
  return {
    startTime,
    endTime: String(startTime) < String(endTime) ? endTime : null,
    timezone: timeZoneOf(asText(row.maintenance_timezone)),
    ...(days.length === 0 || days.length === DAYS.length
      ? { strategy: 'recurring-interval', intervalDay: 1 }
      : { strategy: 'recurring-weekday', weekdays: days }),
  };
}

/** The IANA name of a time zone that Rails names by its city. */
function timeZoneOf(name: string | null): string {
  if (name === null) return 'UTC';
  const city = `/${name.replaceAll(' ', '_')}`;
  return Intl.supportedValuesOf('timeZone').find((zone) => zone.endsWith(city)) ?? name;
}
