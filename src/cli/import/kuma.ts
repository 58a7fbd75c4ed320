/** Reads monitors of Uptime Kuma, with the names of members that its backups have (JSON, version 1). */

import {
  type Expectation,
  type ListedRequest,
  listRequest,
  PLAIN_REQUEST,
  readStatusList,
} from './http-request.ts';
import { readKumaQuery, readKumaServer } from './kuma-servers.ts';
import {
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
  quote,
  type Row,
  readKumaTimes,
  readWebSocketAddress,
  withTimes,
} from './listed-service.ts';

/** Types of monitors that check a URL. */
const WEB_TYPES = new Set(['http', 'keyword', 'json-query']);

/** Fields that are imported, or that only number and order monitors. */
const KNOWN = new Set([
  ...['type', 'name', 'url', 'method', 'accepted_statuscodes', 'active'],
  ...['id', 'pathName', 'childrenIDs', 'weight', 'forceInactive', 'maintenance', 'includeSensitiveData'],
  ...['pushToken', 'screenshot', 'path', 'userId', 'createdDate'],
  // Of the database of version 2: what is kept of responses, and numbers of other types.
  ...['saveResponse', 'saveErrorResponse', 'responseMaxLength', 'screenshot_delay', 'manual_status'],
  // What becomes a note, and the rules of channels.
  ...['parent', 'tags', 'description', 'notificationIDList', 'expiryNotification', 'resendInterval'],
]);

/** Fields of other types of monitors, which every monitor has. */
const OF_OTHER_TYPES =
  /^(?:dns_|mqtt|grpc|ws[A-Z]|radius|kafka|docker_|game|database|snmp|rabbitmq|smtpSecurity$|ntp[A-Z]|ping_|remote_browser$|system_service_name$|packetSize$|hostname$|port$)/;

/** Size of the packets of new monitors of type `ping`, as of ours. */
const USUAL_PACKET_BYTES = 56;

/** Defaults of new monitors that have the same effect here. */
const DEFAULTS: Row = {
  maxredirects: 10,
  httpBodyEncoding: 'json',
  expectedTlsAlert: 'none',
};

/** The replacement of a field. */
const REASONS: Readonly<Record<string, string>> = {
  authMethod: 'checks sign in by basic authentication, a token, a certificate or headers alone',
  ignoreTls: 'only checks of the kind http may accept any certificate',
  expectedTlsAlert: 'a port that refuses TLS counts as up',
  domainExpiryNotification: 'add a service of the kind "domain" (docs/checks.md)',
  cacheBust: 'checks ask for nothing of a cache',
  ipFamily: 'checks use both families of addresses',
  retryOnlyOnStatusCodeFailure: 'every failure is confirmed',
  maxredirects: 'at most 5 redirects are followed',
  proxyId: 'checks use no proxy',
};
/** Fields of a request that become settings of an `http` check. */
const OF_REQUESTS: ReadonlySet<string> = namesIn(`
  headers body httpBodyEncoding keyword invertKeyword jsonPath jsonPathOperator expectedValue maxredirects
  ignoreTls
`);
/** Fields of ways to sign in, of which only those of the chosen one say something. */
const OF_SIGN_IN = /^(?:basic_auth_|oauth_|auth[DW]|tls(?:Ca|Cert|Key)$|bearer_token$)/;
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['json', 'application/json'],
  ['xml', 'text/xml; charset=utf-8'],
  ['form', 'application/x-www-form-urlencoded'],
]);

/** Fields of monitors that make checks, which become times of the check. */
const TIMES = new Set(['interval', 'timeout', 'maxretries', 'retryInterval']);

/** A monitor; an inactive one becomes a paused service. */
export function readKumaMonitor(row: Row): EntryReading {
  return withTimes(readMonitor(row), readKumaTimes(row));
}

function readMonitor(row: Row): EntryReading {
  const type = asText(row.type) ?? '';
  if (row.upsideDown === true) return { problem: 'a monitor that is upside down has no equal here' };
  const paused = row.active === false || row.active === 0;
  const name = asText(row.name);
  if (type === 'push') return readPush(row, name, paused);
  const more = { ...(name === null ? {} : { name }), paused };
  if (type === 'port') {
    const settings = { port: Number(row.port) };
    const lost = findLostFields(row, new Set(['url']));
    if (asText(row.smtpSecurity) !== null && !isEmpty(row.expiryNotification))
      lost.push({ field: 'smtpSecurity', reason: 'add a service of the kind "tls" for the certificate' });
    return listKind('tcp', settings, { ...more, domain: asText(row.hostname) }, lost);
  }
  if (type === 'ping') {
    const size = Number(row.packetSize ?? USUAL_PACKET_BYTES);
    const lost = findLostFields(row, new Set(['url']));
    return listKind('icmp', {}, { ...more, domain: asText(row.hostname) }, [
      ...lost,
      ...lostIf(size !== USUAL_PACKET_BYTES, 'packetSize', 'a ping has 56 bytes'),
      ...lostIf(Number(row.ping_count ?? 1) !== 1, 'ping_count', 'a check sends one ping'),
    ]);
  }
  if (type === 'dns') {
    const { domain, settings, lost } = readKumaQuery(row);
    const notUsed = findLostFields(row, new Set(['url', 'accepted_statuscodes', 'conditions']));
    return listKind('dns', settings, { ...more, domain }, [...lost, ...notUsed]);
  }
  if (type === 'grpc-keyword') return readGrpcMonitor(row, more);
  if (type === 'websocket-upgrade') {
    const { host = null, settings = {} } = readWebSocketAddress(asText(row.url)) ?? {};
    const subprotocol = asText(row.wsSubprotocol);
    const lost = findLostFields(row, new Set(['accepted_statuscodes']));
    return listKind(
      'websocket',
      { ...settings, ...(subprotocol === null ? {} : { subprotocol }) },
      { ...more, domain: host },
      [
        ...lost,
        ...lostIf(
          !isEmpty(row.wsIgnoreSecWebsocketAcceptHeader),
          'wsIgnoreSecWebsocketAcceptHeader',
          'the handshake is always judged',
        ),
      ],
    );
  }
  const server = readKumaServer(type, row);
  if (server !== null) {
    if ('problem' in server) return server;
    const { kind, host, settings, lost, imported } = server;
    const notUsed = findLostFields(row, new Set(['url', 'accepted_statuscodes', 'conditions', ...imported]));
    return listKind(kind, settings, { ...more, domain: host }, [...lost, ...notUsed]);
  }
  if (!WEB_TYPES.has(type)) return { problem: `monitors of type ${type.slice(0, 40)} have no equal here` };
  const codes = readStatusList(listOf(row.accepted_statuscodes) ?? [], 'accepted_statuscodes');
  const { request, lost, imported } = readRequest(row, type);
  const expectations = [...request.expectations, ...codes.expectations];
  return listRequest({ ...request, expectations }, name, { accept: codes.accept, paused }, [
    ...lost,
    ...codes.lost,
    ...findLostFields(row, imported),
  ]);
}

/** A push monitor, which has no address: one with a name that is no domain gets one from the name. */
function readPush(row: Row, name: string | null, paused: boolean): EntryReading {
  const seconds = Number(row.interval);
  const periodMs = Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1_000 : null;
  const retriesMs = Number(row.maxretries) * Number(row.retryInterval) * 1_000;
  const graceMs = PUSH_BUFFER_MS + (retriesMs > 0 ? Math.min(retriesMs, MAX_PUSH_RETRIES_MS) : 0);
  const token = asText(row.pushToken);
  const lost = findLostFields(row, new Set(['interval', 'timeout', 'url', 'maxretries', 'retryInterval']));
  return listHeartbeat(
    name,
    'push',
    { paused, periodMs, graceMs, pushToken: token },
    lost.filter(
      ({ field }) => !OF_REQUESTS.has(field) && field !== 'accepted_statuscodes' && field !== 'authMethod',
    ),
  );
}

/** The delay that Uptime Kuma allows a heartbeat, milliseconds. */
const PUSH_BUFFER_MS = 1_000;
const MAX_PUSH_RETRIES_MS = 86_400_000;

/** A monitor of gRPC calls any method; the check calls the health service only. */
function readGrpcMonitor(row: Row, more: { readonly name?: string; readonly paused: boolean }): EntryReading {
  const service = asText(row.grpcServiceName) ?? '';
  const method = asText(row.grpcMethod) ?? '';
  if (!/^(?:grpc\.health\.v1\.)?Health$/.test(service) || method.toLowerCase() !== 'check')
    return {
      problem: `of gRPC, only grpc.health.v1.Health/Check is called, and not ${quote(`${service}/${method}`)}`,
    };
  const [, host = null, port] = /^([^:/]+):(\d{1,5})$/.exec(asText(row.grpcUrl) ?? '') ?? [];
  const asked = /^\s*\{\s*"service"\s*:\s*"([^"\\]+)"\s*\}\s*$/.exec(asText(row.grpcBody) ?? '')?.[1];
  const settings = {
    ...(asked === undefined ? {} : { service: asked }),
    ...(isEmpty(row.grpcEnableTls) ? { plain: true } : {}),
    ...(port === undefined ? {} : { port: Number(port) }),
  };
  const isServing = row.keyword === 'SERVING' && isEmpty(row.invertKeyword);
  const lost = findLostFields(row, new Set(isServing ? ['keyword', 'url'] : ['url']));
  const metadata = { field: 'grpcMetadata', reason: 'checks send no metadata' };
  return listKind(
    'grpc',
    settings,
    { ...more, domain: host },
    isEmpty(row.grpcMetadata) ? lost : [...lost, metadata],
  );
}

/** The request of a monitor, the fields that it cannot carry over, and those that it does. */
function readRequest(row: Row, type: string) {
  const lost: LostField[] = [];
  const method = asText(row.method)?.toUpperCase() ?? null;
  const redirects = row.maxredirects ?? DEFAULTS.maxredirects;
  const isFollowed = method === null || ['GET', 'HEAD', 'OPTIONS'].includes(method);
  const follows = Number(redirects) !== 0;
  if (follows && redirects !== DEFAULTS.maxredirects)
    lost.push({ field: 'maxredirects', reason: 'up to 5 redirects are followed' });
  const signIn = asText(row.authMethod)?.toLowerCase() ?? 'basic';
  const isBasic = signIn === 'basic';
  const headers = readHeaders(row.headers);
  if (headers === null) lost.push({ field: 'headers', reason: 'they are no object in JSON' });
  const { body, contentType } = readBody(row);
  const hasType = headers?.some(([name]) => name.toLowerCase() === 'content-type') ?? false;
  const expectation = readExpectation(row, type);
  const request: ListedRequest = {
    ...PLAIN_REQUEST,
    url: asText(row.url),
    method,
    headers: [
      ...(headers ?? []),
      ...(contentType === null || hasType ? [] : [['Content-Type', contentType] as const]),
    ],
    body,
    username: isBasic ? asText(row.basic_auth_user) : null,
    password: isBasic && typeof row.basic_auth_pass === 'string' ? row.basic_auth_pass : null,
    expectations: expectation === null ? [] : [expectation],
    ignoresCertificate: !isEmpty(row.ignoreTls),
    followRedirects: follows === isFollowed ? null : follows,
    signIn: readSignIn(row, signIn),
  };
  const isKnown = ['basic', 'bearer', 'mtls'].includes(signIn);
  return { request, lost, imported: new Set([...OF_REQUESTS, ...(isKnown ? ['authMethod'] : [])]) };
}

/** Settings of ways to sign in beside a name and a password, with the fields that they come from. */
function readSignIn(row: Row, method: string): ListedRequest['signIn'] {
  const [token, certificate, key, authority] = ['bearer_token', 'tlsCert', 'tlsKey', 'tlsCa'].map((field) =>
    asText(row[field]),
  );
  if (method === 'bearer') return token ? [['bearer_token', { token }]] : [];
  if (method !== 'mtls') return [];
  return [
    ...(certificate && key ? [['tlsCert', { clientCertificate: certificate, clientKey: key }] as const] : []),
    ...(authority && isEmpty(row.ignoreTls) ? [['tlsCa', { certificate: authority }] as const] : []),
  ];
}

/** Headers as an object in JSON; null: they cannot be read. */
function readHeaders(value: unknown): [name: string, value: string][] | null {
  if (isEmpty(value)) return [];
  try {
    const headers: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return null;
    return Object.entries(headers).map(([name, text]) => [name, String(text)]);
  } catch {
    return null;
  }
}

function readBody({ body: value, httpBodyEncoding }: Row): {
  readonly body: string | null;
  readonly contentType: string | null;
} {
  if (typeof value !== 'string' || value.trim() === '') return { body: null, contentType: null };
  const encoding = asText(httpBodyEncoding) ?? 'json';
  const contentType = CONTENT_TYPES.get(encoding) ?? null;
  if (encoding !== 'form') return { body: value, contentType };
  const fields = readHeaders(value);
  return { body: fields === null ? value : new URLSearchParams(fields).toString(), contentType };
}

const JSON_OPERATORS: ReadonlyMap<string, string> = new Map([
  ['==', 'is'],
  ['!=', 'is not'],
  ['>', 'above'],
  ['<', 'below'],
  ['contains', 'contains'],
]);

/** The expectation of a monitor on the body; null: none. Expressions of JSONata that are no plain path stay as they are. */
function readExpectation(row: Row, type: string): Expectation | null {
  if (type === 'keyword' && typeof row.keyword === 'string') {
    const operator = isEmpty(row.invertKeyword) ? 'contains' : 'lacks';
    return { field: 'keyword', line: `body ${operator} ${row.keyword}` };
  }
  if (type !== 'json-query') return null;
  const path = asText(row.jsonPath) ?? '$';
  const plain = /^(?:\$\.?)?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*)?$/.exec(path);
  const given = asText(row.jsonPathOperator) ?? '==';
  const operator = JSON_OPERATORS.get(given) ?? given;
  const at = plain === null ? path : plain[1] === undefined ? '$' : `$.${plain[1]}`;
  const value = String(row.expectedValue ?? '').trim();
  return { field: 'jsonPath', line: `json ${at} ${boundOf(given, value) ?? `${operator} ${value}`}` };
}

/** `>=` and `<=` of numbers with at most five decimals, of which assertions have six; null: it is neither. */
function boundOf(operator: string, value: string): string | null {
  if (!/^-?\d{1,12}(?:\.\d{1,5})?$/.test(value)) return null;
  if (operator === '>=') return `above ${(Number(value) - 1e-6).toFixed(6)}`;
  return operator === '<=' ? `below ${(Number(value) + 1e-6).toFixed(6)}` : null;
}

function findLostFields(row: Row, imported: ReadonlySet<string> = new Set()): LostField[] {
  const isImported = (field: string, value: unknown) =>
    KNOWN.has(field) ||
    (row.type !== 'push' && TIMES.has(field)) ||
    imported.has(field) ||
    OF_OTHER_TYPES.test(field) ||
    OF_SIGN_IN.test(field) ||
    DEFAULTS[field] === value ||
    (typeof value === 'object' && value !== null && Object.values(value).every(isEmpty));
  return findLost(row, isImported, REASONS);
}
