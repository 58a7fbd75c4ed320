/** Reads endpoints of a Gatus configuration (YAML). */
import { isIPv6 } from 'node:net';
import { DAY_MS, parseDuration } from '../../domain/durations.ts';
import {
  type Category,
  type CheckSettings,
  isCategory,
  type ProbedKind,
  STATUS_CLASSES,
} from '../../domain/service.ts';
import {
  conditionsOf,
  expectsNothing,
  parseCondition,
  readConnectionConditions,
  readExpiry,
  readResponseConditions,
} from './gatus-expectations.ts';
import { fillBody, readBooleans } from './gatus-rows.ts';
import { type ListedRequest, listRequest, PLAIN_REQUEST } from './http-request.ts';
import { readGatusQuery } from './kuma-servers.ts';
import {
  asRow,
  asText,
  type EntryReading,
  findLost,
  goDurationMs,
  type LostField,
  listHeartbeat,
  listKind,
  lostIf,
  namesIn,
  type Row,
  readGatusTimes,
  readWebSocketAddress,
  withNote,
  withTimes,
} from './listed-service.ts';

const KNOWN = namesIn('name group url method conditions enabled token alerts maintenance-windows');

/** Fields of a request that become settings of an `http` check. */
const OF_REQUESTS = new Set(['headers', 'body', 'graphql']);

/** The replacement of a field. */
const REASONS: Readonly<Record<string, string>> = {
  token: 'its sender needs the address of the service here (docs/heartbeats.md)',
  ssh: 'a check of the kind ssh signs in nowhere',
  ui: 'pages have a form of their own',
  'client.insecure': 'only checks of the kind http may accept any certificate',
  'client.ignore-redirect': 'only checks of web pages follow redirects',
  'client.dns-resolver': 'resolvers are set for all checks',
  'client.proxy-url': 'checks use no proxy',
  'client.oauth2': 'checks sign in by basic authentication, a token, a certificate or headers alone',
  'client.identity-aware-proxy':
    'checks sign in by basic authentication, a token, a certificate or headers alone',
  'client.tls': 'set the texts of the files as clientCertificate and clientKey (docs/checks.md)',
  'client.network': 'checks use both families of addresses',
  'client.tunnel': 'checks use no tunnel',
  'client.store-cookies': 'checks keep no cookies',
  body: 'a check of this kind sends nothing',
};

/** An endpoint. Its conditions on the status become `accept`; a group with the name of a category becomes the category. */
export function readGatusEndpoint(given: Row): EntryReading {
  const row = fillBody(readBooleans(given));
  const { interval: _interval, client, 'extra-labels': labels, ...others } = row;
  const {
    timeout: _timeout,
    'ignore-redirect': ignoresRedirects,
    insecure,
    ...ofClient
  } = readBooleans(asRow(client));
  const rest = Object.entries(ofClient).map(([name, value]) => [`client.${name}`, value]);
  const tags = Object.entries(asRow(labels)).map(([name, value]) => `${name}: ${value}`);
  const reading = readEndpointOf(
    { ...others, ...Object.fromEntries(rest) },
    { followRedirects: ignoresRedirects === true ? false : null, ignoresCertificate: insecure === true },
  );
  return withNote(withTimes(reading, readGatusTimes(row)), [
    groupNote(row.group),
    tags.length === 0 ? '' : `Tags: ${tags.join(', ')}`,
  ]);
}

function groupNote(value: unknown): string {
  const group = asText(value);
  return group === null || isCategory(group.toLowerCase()) ? '' : `Group: ${group}`;
}

function readEndpointOf(
  row: Row,
  client: Pick<ListedRequest, 'followRedirects' | 'ignoresCertificate'>,
): EntryReading {
  const paused = row.enabled === false;
  const name = asText(row.name);
  const more = { ...categoryOf(row.group), ...(name === null ? {} : { name }), paused };
  const query = readGatusQuery(row);
  const endpoint = query === null ? (readRegistration(row) ?? readEndpoint(asText(row.url))) : null;
  const isOther = query !== null || endpoint !== null;
  if (expectsNothing(row.conditions, isOther ? 'other' : 'http'))
    return { problem: 'it is healthy only where nothing answers, which has no equal here' };
  const notUsed: Row = {
    ...(client.ignoresCertificate ? { 'client.insecure': true } : {}),
    ...(client.followRedirects === null ? {} : { 'client.ignore-redirect': true }),
  };
  if (query !== null) {
    if ('problem' in query) return query;
    const lost = findLost({ ...row, ...notUsed }, (field) => KNOWN.has(field) || field === 'dns', REASONS);
    return listKind('dns', query.settings, { ...more, domain: query.domain }, [...query.lost, ...lost]);
  }
  if (endpoint !== null) {
    const isSent = endpoint.kind === 'websocket' && typeof row.body === 'string';
    const isKnown = (field: string) => KNOWN.has(field) || (isSent && field === 'body');
    const lost = findLost({ ...row, ...notUsed }, isKnown, REASONS);
    const conditions = readConnectionConditions(row.conditions, endpoint.kind);
    const settings = {
      ...endpoint.settings,
      ...conditions.settings,
      ...(isSent ? { send: String(row.body) } : {}),
    };
    return listKind(endpoint.kind, settings, { ...more, domain: endpoint.host }, [
      ...lost,
      ...conditions.lost,
    ]);
  }
  const { accept, expectations, lost: lostConditions } = readResponseConditions(row.conditions);
  const request: ListedRequest = { ...readRequest(row), ...client, expectations };
  const isRandom = /\[(?:RANDOM_STRING_\d+|LOCAL_ADDRESS)\]/.test(request.body ?? '');
  return listRequest(request, name, { ...more, accept }, [
    ...lostConditions,
    ...lostIf(isRandom, 'body', 'its placeholders are sent as they stand'),
    ...findLost(row, (field) => KNOWN.has(field) || OF_REQUESTS.has(field), REASONS),
  ]);
}

/** The request of an endpoint. Gatus sends the body of a GraphQL endpoint as a query in JSON. */
function readRequest(row: Row): ListedRequest {
  const headers = Object.entries(asRow(row.headers)).map(
    ([name, value]) => [name, String(value ?? '')] as const,
  );
  const body = typeof row.body === 'string' && row.body !== '' ? row.body : null;
  const isQuery = row.graphql === true && body !== null;
  const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return {
    ...PLAIN_REQUEST,
    url: asText(row.url),
    method: asText(row.method)?.toUpperCase() ?? null,
    headers: isQuery && !hasType ? [...headers, ['Content-Type', 'application/json']] : headers,
    body: isQuery ? JSON.stringify({ query: body }) : body,
    anyStatus: STATUS_CLASSES,
  };
}

/** The longest period of heartbeats. */
const NEVER_MISSED_MS = 365 * DAY_MS;

/** An external endpoint, which sends heartbeats. It has no address: a name that is no domain becomes one. */
export function readGatusExternal(given: Row): EntryReading {
  const row = readBooleans(given);
  const name = asText(row.name);
  const interval = asText(asRow(row.heartbeat).interval);
  const periodMs = interval === null ? NEVER_MISSED_MS : (goDurationMs(interval) ?? parseDuration(interval));
  const paused = row.enabled === false;
  const isKnown = (field: string) =>
    (KNOWN.has(field) && field !== 'token') || field === 'heartbeat' || field === 'interval';
  const reading = listHeartbeat(name, 'external', { ...categoryOf(row.group), paused, periodMs }, [
    ...lostIf(
      interval === null,
      'heartbeat',
      'without an interval none is missed there; here one is after a year',
    ),
    ...lostIf(periodMs === null, 'heartbeat', 'its interval cannot be read'),
    ...findLost(row, isKnown, REASONS),
  ]);
  return withNote(reading, [groupNote(row.group)]);
}

const NO_EQUAL = 'this section has no equal here; docs/operating.md has our settings';
/** The replacements of the sections of the program. It ignores others, which hold what aliases stand for. */
const SECTIONS: ReadonlyMap<string, string> = new Map([
  ...[
    'announcements',
    'concurrency',
    'connectivity',
    'disable-monitoring-lock',
    'metrics',
    'remote',
    'security',
    'skip-invalid-config-update',
    'storage',
    'tunneling',
    'ui',
    'web',
  ].map((name) => [name, NO_EQUAL] as const),
]);

export function readGatusSections(root: Row): LostField[] {
  return findLost(root, (field) => !SECTIONS.has(field), Object.fromEntries(SECTIONS));
}

/** The check of an endpoint that only expects that its domain stays registered; null: it expects something else. */
function readRegistration({ url, conditions }: Row): Endpoint | null {
  const host = URL.parse(asText(url) ?? '')?.hostname ?? '';
  const all = conditionsOf(conditions).map(parseCondition);
  const isAbout = all.every((one) => one?.placeholder === 'DOMAIN_EXPIRATION' && readExpiry(one) !== null);
  return all.length > 0 && isAbout && host !== '' ? { kind: 'domain', host, settings: {} } : null;
}

/** A check that is no request of a web page. */
interface Endpoint {
  readonly kind: ProbedKind;
  readonly host: string;
  readonly settings: CheckSettings;
}

/** The check of an address such as `tcp://db.example.com:5432`; null: it is another address. */
function readEndpoint(url: string | null): Endpoint | null {
  const address = url?.replace(/^icmp:\/\//i, '') ?? '';
  if (address !== url && isIPv6(address)) return { kind: 'icmp', host: address, settings: {} };
  const [, scheme, name = '', port = ''] =
    /^(icmp|tcp|tls|starttls|ssh|grpcs?):\/\/(\[[\da-f:.]+\]|[^\s/:]+)(?::(\d{1,5}))?\/?$/i.exec(url ?? '') ??
    [];
  const host = name.replaceAll(/[[\]]/g, '');
  if (scheme === undefined || (port === '' && !/^(?:icmp|ssh)$/i.test(scheme))) {
    const address = readWebSocketAddress(url);
    return address === null ? null : ({ kind: 'websocket', ...address } as const);
  }
  const settings = { port: port === '' ? 22 : Number(port) };
  switch (scheme.toLowerCase()) {
    case 'icmp':
      return { kind: 'icmp', host, settings: {} };
    case 'ssh':
      return { kind: 'ssh', host, settings };
    case 'starttls':
      return { kind: 'smtp', host, settings: { ...settings, security: 'starttls' } };
    case 'tls':
      return { kind: 'tls', host, settings };
    case 'grpcs':
      return { kind: 'grpc', host, settings };
    case 'grpc':
      return { kind: 'grpc', host, settings: { ...settings, plain: true } };
    default:
      return { kind: 'tcp', host, settings };
  }
}

function categoryOf(group: unknown): { readonly category?: Category } {
  const category = asText(group)?.toLowerCase() ?? '';
  return isCategory(category) ? { category } : {};
}
