/** Monitors of Uptime Kuma that talk with a server by its own protocol. */

import { isIP } from 'node:net';
import type { CheckSettings, ProbedKind } from '../../domain/service.ts';
import { conditionsOf, isConnected, lostCondition, parseCondition, wordTest } from './gatus-expectations.ts';
import { asRow, asText, type LostField, lostIf, type Row } from './listed-service.ts';

/** The check of such a monitor. */
interface KumaServer {
  readonly kind: ProbedKind;
  readonly host: string | null;
  readonly settings: CheckSettings;
  readonly lost: readonly LostField[];
  /** Fields that have become settings, or say nothing more. */
  readonly imported: readonly string[];
}

const SMTP_SECURITY: ReadonlyMap<string, string> = new Map([
  ['secure', 'tls'],
  ['starttls', 'starttls'],
  ['nostarttls', 'plain'],
]);

/** The check of a monitor, or why there is none. */
type ServerReading = KumaServer | { readonly problem: string };

const READERS: ReadonlyMap<string, (row: Row) => ServerReading> = new Map<
  string,
  (row: Row) => ServerReading
>([
  ['docker', readContainer],
  [
    'smtp',
    (row: Row) => ({
      kind: 'smtp',
      host: asText(row.hostname),
      settings: {
        ...portOf(row.port),
        // Kuma speaks TLS where the server offers it.
        security: SMTP_SECURITY.get(asText(row.smtpSecurity) ?? '') ?? 'starttls',
      },
      lost: [],
      imported: ['smtpSecurity'],
    }),
  ],
  ['mysql', (row: Row) => readDatabase(row, 'mysql', ['database', 'query'])],
  ['redis', (row: Row) => readDatabase(row, 'redis', [])],
  ['mongodb', readMongo],
  ['mqtt', readBroker],
  ['postgres', (row: Row) => readDatabase(row, 'postgres', ['database', 'query'])],
]);

/**
 * A database by its connection string, such as `postgres://user:password@host:5432/database?sslmode=require`. `taken`: the settings
 * of the kind that it may have beside the sign-in.
 */
function readDatabase(row: Row, kind: ProbedKind, taken: readonly string[]): KumaServer {
  const address = URL.parse(asText(row.databaseConnectionString) ?? '');
  const query = taken.includes('query') ? asText(row.databaseQuery) : null;
  const database = taken.includes('database') ? decode(address?.pathname.slice(1)) : null;
  const [username, password] = [decode(address?.username), decode(address?.password)];
  const isSecure = SECURE_ADDRESS.test(address?.href ?? '');
  return {
    kind,
    host: address?.hostname || null,
    settings: {
      ...portOf(address?.port),
      ...(isSecure ? { security: kind === 'postgres' || kind === 'mysql' ? 'starttls' : 'tls' } : {}),
      ...(username === null ? {} : { username }),
      ...(password === null ? {} : { password }),
      ...(database === null || username === null ? {} : { database }),
      ...(query === null || username === null ? {} : { query }),
    },
    lost: [],
    imported: ['databaseConnectionString', 'databaseQuery'],
  };
}

/** The parameters of an address that ask for TLS. */
const SECURE_ADDRESS = /[?&](?:ssl|tls)=true|[?&]sslmode=(?:require|verify)|^rediss:/i;

function decode(text: string | undefined): string | null {
  try {
    return decodeURIComponent(text ?? '') || null;
  } catch {
    return text ?? null;
  }
}

/** The check of a monitor of one of these types; null: it is of another type. */
export function readKumaServer(type: string, row: Row): ServerReading | null {
  return READERS.get(type)?.(row) ?? null;
}

function portOf(value: unknown): { readonly port?: number } {
  const port = Number(value);
  return Number.isSafeInteger(port) && port > 0 ? { port } : {};
}

/** A broker, whose host may begin with a scheme such as `mqtts://`. */
function readBroker(row: Row): KumaServer {
  const [, scheme = 'mqtt', host = null] =
    /^(?:(mqtts?|wss?):\/\/)?([^/]+)/.exec(asText(row.hostname) ?? '') ?? [];
  const [username, password] = [asText(row.mqttUsername), asText(row.mqttPassword)];
  const topic = asText(row.mqttTopic);
  const expected = asText(row.mqttSuccessMessage);
  const isKeyword = (asText(row.mqttCheckType) ?? 'keyword') === 'keyword';
  return {
    kind: 'mqtt',
    host,
    settings: {
      ...portOf(row.port),
      ...(scheme === 'mqtts' ? { security: 'tls' } : {}),
      ...(username === null ? {} : { username }),
      ...(password === null || username === null ? {} : { password }),
      ...(topic === null ? {} : { topic }),
      // Without a word, any message is good.
      ...(topic === null ? {} : expected !== null && isKeyword ? { contains: expected } : { matches: '^' }),
    },
    lost: [
      ...lostIf(!isKeyword, 'mqttCheckType', 'messages are judged as text'),
      ...lostIf(scheme.startsWith('ws'), 'hostname', 'brokers are not asked over WebSocket'),
    ],
    imported: [],
  };
}

/** A MongoDB server, which is greeted alone. */
function readMongo(row: Row): KumaServer {
  const { settings, ...server } = readDatabase(row, 'mongodb', []);
  const { username, password: _password, ...connection } = settings;
  const reason = 'the server is greeted alone, which needs no sign-in';
  return {
    ...server,
    settings: connection,
    lost: [
      ...lostIf(username !== undefined, 'databaseConnectionString', `its user is not used: ${reason}`),
      ...['databaseQuery', 'jsonPath', 'expectedValue']
        .filter((field) => asText(row[field]) !== null)
        .map((field) => ({ field, reason })),
    ],
    imported: ['databaseConnectionString', 'databaseQuery', 'jsonPath', 'expectedValue'],
  };
}

/** A container, asked of the Docker host with the address `docker_daemon`: a socket, or `tcp://host:port`. */
function readContainer(row: Row): ServerReading {
  const daemon = asText(row.docker_daemon);
  if (daemon === null) return { problem: 'its Docker host is not in the file' };
  const common = { kind: 'docker', lost: [], imported: [] } as const;
  const container = asText(row.docker_container)?.replace(/^\//, '') ?? '';
  const socket = /^(?:unix:\/\/)?(\/.*)$/.exec(daemon)?.[1];
  if (socket !== undefined)
    return {
      ...common,
      host: 'localhost',
      settings: { container, ...(socket === DOCKER_SOCKET ? {} : { socket }) },
    };
  const address = /^(?:tcp|http):\/\//i.test(daemon) ? URL.parse(daemon.replace(/^\w+/, 'http')) : null;
  if (address === null || address.pathname !== '/')
    return { problem: 'a Docker host is asked at a socket, or by HTTP without TLS' };
  return { ...common, host: address.hostname, settings: { container, port: Number(address.port || 80) } };
}

/** The socket that checks use without a setting. */
const DOCKER_SOCKET = '/var/run/docker.sock';

/** A query: the domain that it is about, the settings of the check, and what these cannot express. */
interface ListedQuery {
  readonly domain: string | null;
  readonly settings: CheckSettings;
  readonly lost: readonly LostField[];
}

/** Settings with the name server of a text such as `1.1.1.1`, `[::1]:5353` or `ns.example.com:53`; of several, the first. */
function serverOf(text: string | null): { settings: CheckSettings; isFirst: boolean } {
  const [first = '', ...others] = (text ?? '').split(',').map((one) => one.trim());
  if (first === '') return { settings: {}, isFirst: false };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(first) ?? [];
  const host = isIP(first) !== 0 ? first : (bracketed ?? plain ?? first);
  const isOther = port !== undefined && port !== '53' && isIP(first) === 0;
  return {
    settings: { server: host, ...(isOther ? { port: Number(port) } : {}) },
    isFirst: others.length > 0,
  };
}

export function readKumaQuery(row: Row): ListedQuery {
  const { settings, isFirst } = serverOf(asText(row.dns_resolve_server));
  const port = Number(row.port);
  const value = readKumaValue(row.conditions);
  const lost: LostField[] = [];
  if (isFirst) lost.push({ field: 'dns_resolve_server', reason: 'a check asks one name server' });
  if (value === null) lost.push({ field: 'conditions', reason: 'a check takes the values of records alone' });
  return {
    domain: asText(row.hostname),
    settings: {
      record: asText(row.dns_resolve_type)?.toUpperCase() ?? 'A',
      ...settings,
      ...(settings.server !== undefined && Number.isSafeInteger(port) && port !== 53 && port > 0
        ? { port }
        : {}),
      ...(typeof value === 'string' ? { values: [value] } : {}),
    },
    lost,
  };
}

/** The value of the only condition; undefined: there is no condition. Null: the conditions say something else. */
function readKumaValue(given: unknown): string | null | undefined {
  let conditions: unknown = given;
  if (typeof given === 'string' && given !== '') {
    try {
      conditions = JSON.parse(given);
    } catch {
      return null;
    }
  }
  if (!Array.isArray(conditions) || conditions.length === 0) return undefined;
  const { type, variable, operator, value } = asRow(conditions[0]);
  const isValue = type === 'expression' && variable === 'record' && operator === 'equals';
  return isValue && conditions.length === 1 ? asText(value) : null;
}

/** The query of an endpoint of Gatus, or why it cannot be asked; null: the endpoint is another one. */
export function readGatusQuery(row: Row): ListedQuery | { readonly problem: string } | null {
  const query = asRow(row.dns);
  const name = asText(query['query-name']);
  if (name === null) return null;
  const values: string[] = [];
  const lost: LostField[] = [];
  for (const text of conditionsOf(row.conditions)) {
    const condition = parseCondition(text);
    const { placeholder, operator = '==', value = '', path, wrapper } = condition ?? {};
    const isOfCode = placeholder === 'DNS_RCODE' && wrapper === '';
    const codeTest = isOfCode ? wordTest(operator, value) : null;
    if (codeTest?.('NOERROR') === false)
      return { problem: 'it is healthy only where there is no such name, which has no equal here' };
    const isBody = placeholder === 'BODY' && path === '';
    const isAnything =
      isBody &&
      ((wrapper === 'has' && (value === 'true') === (operator === '==')) ||
        (wrapper === 'len' && ['> 0', '>= 1', '!= 0'].includes(`${operator} ${value}`)));
    if (isBody && wrapper === '' && operator === '==' && !/^(?:pat|any)\(/.test(value)) values.push(value);
    else if (codeTest === null && !isAnything && (condition === null || !isConnected(condition)))
      lost.push(lostCondition(text, 'a check takes the values of records alone'));
  }
  return {
    domain: name.replace(/\.$/, ''),
    settings: {
      record: asText(query['query-type'])?.toUpperCase() ?? 'A',
      ...serverOf(asText(row.url)?.replace(/^dns:\/\//i, '') ?? null).settings,
      ...(values.length === 0 ? {} : { values }),
    },
    lost,
  };
}
