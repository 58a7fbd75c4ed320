/** Reads endpoints of a Gatus configuration (YAML). */
import { type Category, isCategory } from '../../domain/category.ts';
import { parseDuration } from '../../domain/durations.ts';
import {
  type AcceptRule,
  type CheckSettings,
  type ProbedKind,
  STATUS_CLASSES,
} from '../../domain/service.ts';
import { readAssertion } from '../../kinds/assertions.ts';
import { readGatusQuery } from './dns-query.ts';
import { readGatusCondition } from './gatus-condition.ts';
import { type Expectation, type ListedRequest, listRequest, PLAIN_REQUEST } from './http-request.ts';
import {
  asRow,
  asText,
  type EntryReading,
  findLost,
  groupCodes,
  isEmpty,
  type LostField,
  listKind,
  listService,
  type Row,
  readWebSocketAddress,
} from './listed-service.ts';
import { readGatusTimes, withTimes } from './listed-times.ts';

const KNOWN = new Set(['name', 'group', 'url', 'method', 'conditions', 'enabled', 'token']);

/** Fields of a request that become settings of an `http` check. */
const OF_REQUESTS = new Set(['headers', 'body', 'graphql']);

const ALERTS = 'create channels and rules on the dashboard or by "upbeat apply" (docs/alerts.md)';
const MAINTENANCE = 'announce maintenance on the dashboard or by "upbeat apply" (docs/maintenance.md)';

/** What to use instead of a field. */
const REASONS: Readonly<Record<string, string>> = {
  client: 'resolvers and certificates are set for all checks',
  alerts: ALERTS,
  ssh: 'a check of the kind ssh signs in nowhere',
  'maintenance-windows': MAINTENANCE,
};

/** What to use instead of a condition. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  BODY: 'no expectation of a check says the same',
  RESPONSE_TIME: 'what takes longer than checks.slowOver is slow, and not down',
  DOMAIN_EXPIRATION: 'a check of the kind domain has minDays for it',
  CERTIFICATE_EXPIRATION: 'a check of the kind tls has minDays for it',
};

/** An endpoint. Its conditions on the status become `accept`; a group with the name of a category becomes the category. */
export function readGatusEndpoint(given: Row): EntryReading {
  const row = readBooleans(given);
  const { interval: _interval, client, ...others } = row;
  const { timeout: _timeout, 'ignore-redirect': ignoresRedirects, ...ofClient } = readBooleans(asRow(client));
  const rest = Object.fromEntries(Object.entries(ofClient).filter(([, value]) => !isEmpty(value)));
  return withTimes(
    readEndpointOf({ ...others, client: rest }, ignoresRedirects === true ? false : null),
    readGatusTimes(row),
  );
}

/** Fields that the program decodes as texts, whatever they look like: `X-Mode: 0644`, `X-Version: 1.10`. */
const TEXTS = ['name', 'group', 'url', 'method', 'headers', 'body'];

/** An entry whose texts are as they stand in the file. `texts`: the entry with all of its values as texts. */
export function withTexts(row: Row, texts: Row): Row {
  const known = TEXTS.filter((field) => !isEmpty(row[field]));
  return { ...row, ...Object.fromEntries(known.map((field) => [field, textOf(row[field], texts[field])])) };
}

/** A value, or its members, as texts; null stays null. */
function textOf(value: unknown, text: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? null : text;
  const texts = asRow(text);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, textOf(one, texts[name])]));
}

/** Fields that the program decodes as booleans, as which it takes the words of YAML 1.1 too. */
const BOOLEANS = new Set(['enabled', 'graphql', 'insecure', 'ignore-redirect']);

function readBooleans(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => {
      const word = BOOLEANS.has(field) && typeof value === 'string' ? value.toLowerCase() : '';
      if (['n', 'no', 'off', 'false'].includes(word)) return [field, false];
      return [field, ['y', 'yes', 'on', 'true'].includes(word) ? true : value];
    }),
  );
}

function readEndpointOf(row: Row, followRedirects: boolean | null): EntryReading {
  const { category, lost: lostGroup } = readGroup(row.group);
  const paused = row.enabled === false;
  const query = readGatusQuery(row);
  if (query !== null) {
    const lost = findLost(row, (field) => KNOWN.has(field) || field === 'dns', REASONS);
    const name = asText(row.name);
    const more = { ...category, ...(name === null ? {} : { name }), paused };
    return listKind('dns', query.settings, query.domain, more, [...lostGroup, ...query.lost, ...lost]);
  }
  const endpoint = readRegistration(row) ?? readEndpoint(asText(row.url));
  if (endpoint !== null) {
    const isSent = endpoint.kind === 'websocket' && typeof row.body === 'string';
    const isKnown = (field: string) => KNOWN.has(field) || (isSent && field === 'body');
    const lost = [...lostGroup, ...findLost(row, isKnown, REASONS)];
    const name = asText(row.name);
    const more = { ...category, ...(name === null ? {} : { name }), paused };
    const conditions = readCheckConditions(row.conditions, endpoint.kind);
    const settings = {
      ...endpoint.settings,
      ...conditions.settings,
      ...(isSent ? { send: String(row.body) } : {}),
    };
    return listKind(endpoint.kind, settings, endpoint.host, more, [...lost, ...conditions.lost]);
  }
  const { accept, expectations, lost: lostConditions } = readConditions(row.conditions);
  const { insecure, ...client } = asRow(row.client);
  const request: ListedRequest = {
    ...readRequest(row),
    expectations,
    followRedirects,
    ignoresCertificate: insecure === true,
  };
  return listRequest(request, asText(row.name), { ...category, accept, paused }, [
    ...lostGroup,
    ...lostConditions,
    ...findLost({ ...row, client }, (field) => KNOWN.has(field) || OF_REQUESTS.has(field), REASONS),
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

/** An external endpoint, which sends heartbeats. It has no address, so its name must be a domain. */
export function readGatusExternal(given: Row): EntryReading {
  const row = readBooleans(given);
  const { category, lost } = readGroup(row.group);
  const name = asText(row.name);
  const interval = asText(asRow(row.heartbeat).interval);
  const periodMs = interval === null ? null : parseDuration(interval);
  const paused = row.enabled === false;
  return listService(name, name, { ...category, kind: 'heartbeat', paused, periodMs }, [
    ...lost,
    ...(interval !== null && periodMs === null
      ? [{ field: 'heartbeat', reason: 'its interval cannot be read' }]
      : []),
    ...findLost(row, (field) => KNOWN.has(field) || field === 'heartbeat' || field === 'interval', REASONS),
  ]);
}

const NO_EQUAL = 'this section has no equal here; docs/operating.md has our settings';
/** What to use instead of the sections of the program. It ignores others, which hold what aliases stand for. */
const SECTIONS: ReadonlyMap<string, string> = new Map([
  ['alerting', ALERTS],
  ['maintenance', MAINTENANCE],
  ['suites', 'a check makes one request'],
  ...[
    'announcements',
    'connectivity',
    'metrics',
    'remote',
    'security',
    'storage',
    'tunneling',
    'ui',
    'web',
  ].map((name) => [name, NO_EQUAL] as const),
]);

/** The other sections of the file. */
export function readGatusSections(root: Row): LostField[] {
  return findLost(root, (field) => !SECTIONS.has(field), Object.fromEntries(SECTIONS));
}

/** The check of an endpoint that only expects that its domain stays registered; null: it expects something else. */
function readRegistration({ url, conditions }: Row): Endpoint | null {
  const host = URL.parse(asText(url) ?? '')?.hostname ?? '';
  const isAbout =
    Array.isArray(conditions) &&
    conditions.length > 0 &&
    conditions.map(String).every((one) => REGISTERED.test(one));
  return isAbout && host !== '' ? { kind: 'domain', host, settings: {} } : null;
}

const REGISTERED = /^\s*\[DOMAIN_EXPIRATION\]\s*>=?\s*(\d+)h\s*$/;

/** A check that is no request of a web page. */
interface Endpoint {
  readonly kind: ProbedKind;
  readonly host: string;
  readonly settings: CheckSettings;
}

/** The check of an address such as `tcp://db.example.com:5432`; null: it is another address. */
function readEndpoint(url: string | null): Endpoint | null {
  const pinged = /^icmp:\/\/([^\s/:]+)\/?$/i.exec(url ?? '')?.[1];
  if (pinged !== undefined) return { kind: 'icmp', host: pinged, settings: {} };
  const [, scheme, host = '', port] =
    /^(tcp|tls|starttls|ssh|grpcs?):\/\/([^\s/:]+):(\d{1,5})\/?$/i.exec(url ?? '') ?? [];
  if (scheme === undefined) {
    const address = readWebSocketAddress(url);
    return address === null ? null : ({ kind: 'websocket', ...address } as const);
  }
  const settings = { port: Number(port) };
  switch (scheme.toLowerCase()) {
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

/** What a connection must fulfil: that it is made, how long the certificate must be valid, and what a message contains. */
function readCheckConditions(value: unknown, kind: ProbedKind) {
  const lost: LostField[] = [];
  const settings: { minDays?: number; contains?: string } = {};
  for (const condition of Array.isArray(value) ? value.map(String) : []) {
    const expiry = /^\s*\[CERTIFICATE_EXPIRATION\]\s*>=?\s*(\d+)h\s*$/.exec(condition);
    const body = /^\s*\[BODY\]\s*==\s*pat\(\*([^*]+)\*\)\s*$/.exec(condition);
    const registered = REGISTERED.exec(condition);
    if (kind === 'domain' && registered !== null) settings.minDays = Math.ceil(Number(registered[1]) / 24);
    else if (expiry !== null && (kind === 'tls' || kind === 'smtp'))
      settings.minDays = Math.ceil(Number(expiry[1]) / 24);
    else if (body?.[1] !== undefined && kind === 'websocket' && settings.contains === undefined)
      settings.contains = body[1];
    else if (
      !CONNECTED.test(condition) &&
      !(kind === 'grpc' && SERVING.test(condition)) &&
      !(kind === 'ssh' && RUN.test(condition))
    ) {
      const placeholder = /\[([A-Z_]+)\]/.exec(condition)?.[1] ?? '';
      lost.push({ field: `condition [${placeholder}]`, reason: reasonFor(placeholder) });
    }
  }
  return { settings, lost };
}

const CONNECTED = /^\s*\[CONNECTED\]\s*==\s*true\s*$/;
/** What a command over SSH has returned. */
const RUN = /^\s*\[STATUS\]\s*==\s*0\s*$/;
/** What a check of gRPC expects anyway. */
const SERVING = /^\s*\[BODY\](?:\.status)?\s*==\s*"?SERVING"?\s*$/;

function reasonFor(placeholder: string): string {
  const known = Object.hasOwn(PLACEHOLDERS, placeholder) ? PLACEHOLDERS[placeholder] : undefined;
  return known ?? 'it has no equal here';
}

function readGroup(value: unknown): { category: { category?: Category }; lost: readonly LostField[] } {
  const group = asText(value);
  if (group === null) return { category: {}, lost: [] };
  const category = group.toLowerCase();
  if (isCategory(category)) return { category: { category }, lost: [] };
  return {
    category: {},
    lost: [{ field: 'group', reason: 'it is no category of ours; "developer" is taken' }],
  };
}

/** The status codes that meet all conditions, and what else is expected of the response. */
function readConditions(value: unknown): {
  accept: readonly AcceptRule[] | null;
  expectations: readonly Expectation[];
  lost: readonly LostField[];
} {
  const expectations: Expectation[] = [];
  if (!Array.isArray(value)) return { accept: null, expectations, lost: [] };
  const lost: LostField[] = [];
  const tests: ((code: number) => boolean)[] = [];
  for (const condition of value.map(String)) {
    const test = readStatusTest(condition);
    const line = readGatusCondition(condition);
    if (test !== null) tests.push(test);
    else if (line !== null && readAssertion(line) !== null)
      expectations.push({ field: `condition ${condition.trim().split(' ')[0]}`, line });
    else if (!CONNECTED.test(condition)) {
      const placeholder = /\[([A-Z_]+)\]/.exec(condition)?.[1] ?? '';
      lost.push({ field: `condition [${placeholder}]`, reason: reasonFor(placeholder) });
    }
  }
  if (tests.length === 0) return { accept: null, expectations, lost };
  const codes = Array.from({ length: 500 }, (_, index) => 100 + index);
  const accept = groupCodes(new Set(codes.filter((code) => tests.every((test) => test(code)))));
  if (accept.length > 0) return { accept, expectations, lost };
  return {
    accept: null,
    expectations,
    lost: [...lost, { field: 'condition [STATUS]', reason: 'no status code meets it' }],
  };
}

const COMPARISONS: ReadonlyMap<string, (a: number, b: number) => boolean> = new Map([
  ['==', (a: number, b: number) => a === b],
  ['!=', (a: number, b: number) => a !== b],
  ['<', (a: number, b: number) => a < b],
  ['<=', (a: number, b: number) => a <= b],
  ['>', (a: number, b: number) => a > b],
  ['>=', (a: number, b: number) => a >= b],
]);

/** The test of a condition such as `[STATUS] == any(200, 429)`; null: the condition is not about the status. */
function readStatusTest(condition: string): ((code: number) => boolean) | null {
  const match = /^\s*\[STATUS\]\s*(==|!=|<=|>=|<|>)\s*(?:(\d+)|any\(([\d,\s]+)\))\s*$/.exec(condition);
  const compare = COMPARISONS.get(match?.[1] ?? '');
  if (match === null || compare === undefined) return null;
  const values = (match[2] ?? match[3] ?? '').split(',').map(Number);
  // `!= any(…)` excludes each of them.
  return match[1] === '!='
    ? (code) => values.every((value) => compare(code, value))
    : (code) => values.some((value) => compare(code, value));
}
