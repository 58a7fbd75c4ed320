/** Reads monitors of an Uptime Kuma backup (JSON, version 1). */
import {
  asText,
  type EntryReading,
  findLost,
  groupCodes,
  isEmpty,
  type LostField,
  listAddress,
  listKind,
  listService,
  quote,
  type Row,
  readMethod,
  readWebSocketAddress,
} from './listed-service.ts';

/** Types of monitors that check a URL. */
const WEB_TYPES = new Set(['http', 'keyword', 'json-query']);

/** Fields that are imported, or that only number and order monitors. */
const KNOWN = new Set([
  ...['type', 'name', 'url', 'method', 'accepted_statuscodes', 'active'],
  ...['id', 'pathName', 'childrenIDs', 'weight', 'forceInactive', 'maintenance', 'includeSensitiveData'],
  ...['pushToken', 'screenshot'],
]);

/** Fields of other types of monitors, which every monitor has. */
const OF_OTHER_TYPES =
  /^(?:dns_|mqtt|grpc|ws[A-Z]|radius|kafka|docker_|game|database|snmp|rabbitmq|packetSize$|hostname$|port$)/;

/** Defaults of new monitors that have the same effect here. */
const DEFAULTS: Row = {
  maxredirects: 10,
  httpBodyEncoding: 'json',
  oauth_auth_method: 'client_secret_basic',
};

/** What to use instead of a field. */
const REASONS: Readonly<Record<string, string>> = {
  interval: 'the interval is one for all: checks.interval',
  retryInterval: 'failures are confirmed after checks.confirmAfter',
  maxretries: 'failures are confirmed after checks.confirmAfter',
  timeout: 'the time-out is one for all: checks.timeout',
  resendInterval: 'webhooks are sent once for each change',
  keyword: 'bodies are not searched',
  invertKeyword: 'bodies are not searched',
  jsonPath: 'bodies are not searched',
  expectedValue: 'bodies are not searched',
  jsonPathOperator: 'bodies are not searched',
  ignoreTls: 'certificates are always judged',
  expiryNotification: 'the end of a certificate is shown, and no alert is sent',
  maxredirects: 'at most 5 redirects are followed',
  headers: 'checks send no headers of their own',
  body: 'checks send no body',
  proxyId: 'checks use no proxy',
  notificationIDList: 'set webhooks on the dashboard',
  parent: 'there are no groups of monitors; status pages have some',
  tags: 'there are no tags',
  description: 'there are no descriptions',
};
const AUTHENTICATION = /^(?:auth|basic_auth|oauth|tls(?:Ca|Cert|Key)$)/;

/** A monitor; an inactive one becomes a paused service. */
export function readKumaMonitor(row: Row): EntryReading {
  const type = asText(row.type) ?? '';
  if (row.upsideDown === true) return { problem: 'a monitor that is upside down has no equal here' };
  const paused = row.active === false || row.active === 0;
  const name = asText(row.name);
  if (type === 'push') {
    // A push monitor has no address, so its name must be a domain.
    const seconds = Number(row.interval);
    const periodMs = Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1_000 : null;
    const lost = findLostFields(row, new Set(['interval', 'url']));
    return listService(name, name, { kind: 'heartbeat', paused, periodMs }, lost);
  }
  if (type === 'port') {
    const settings = { port: Number(row.port) };
    const lost = findLostFields(row, new Set(['url']));
    return listKind(
      'tcp',
      settings,
      asText(row.hostname),
      { ...(name === null ? {} : { name }), paused },
      lost,
    );
  }
  if (type === 'grpc-keyword') return readGrpcMonitor(row, { ...(name === null ? {} : { name }), paused });
  if (type === 'websocket-upgrade') {
    const { host = null, settings = {} } = readWebSocketAddress(asText(row.url)) ?? {};
    const subprotocol = asText(row.wsSubprotocol);
    const lost = findLostFields(row, new Set(['accepted_statuscodes']));
    return listKind(
      'websocket',
      { ...settings, ...(subprotocol === null ? {} : { subprotocol }) },
      host,
      { ...(name === null ? {} : { name }), paused },
      [
        ...lost,
        ...(isEmpty(row.wsIgnoreSecWebsocketAcceptHeader)
          ? []
          : [{ field: 'wsIgnoreSecWebsocketAcceptHeader', reason: 'the handshake is always judged' }]),
      ],
    );
  }
  if (!WEB_TYPES.has(type)) return { problem: `monitors of type ${type.slice(0, 40)} have no equal here` };
  const { accept, lost: lostCodes } = readCodes(row.accepted_statuscodes);
  const { method, lost: lostMethod } = readMethod(row.method);
  return listAddress(asText(row.url), name, { method, accept, paused }, [
    ...lostMethod,
    ...lostCodes,
    ...findLostFields(row),
  ]);
}

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
  return listKind('grpc', settings, host, more, isEmpty(row.grpcMetadata) ? lost : [...lost, metadata]);
}

function findLostFields(row: Row, imported: ReadonlySet<string> = new Set()): LostField[] {
  const isImported = (field: string, value: unknown) =>
    KNOWN.has(field) ||
    imported.has(field) ||
    OF_OTHER_TYPES.test(field) ||
    DEFAULTS[field] === value ||
    (typeof value === 'object' && value !== null && Object.values(value).every(isEmpty));
  const credentials = Object.keys(row).filter((field) => AUTHENTICATION.test(field));
  const reasons = Object.fromEntries(credentials.map((field) => [field, 'checks sign in nowhere']));
  return findLost(row, isImported, { ...reasons, ...REASONS });
}

/** Ranges such as `200-299`, and single codes. */
function readCodes(value: unknown): {
  accept: ReturnType<typeof groupCodes> | null;
  lost: readonly LostField[];
} {
  if (!Array.isArray(value)) return { accept: null, lost: [] };
  const codes = new Set<number>();
  const lost: LostField[] = [];
  for (const range of value) {
    const match = /^\s*(\d{3})(?:\s*-\s*(\d{3}))?\s*$/.exec(String(range));
    const from = Number(match?.[1] ?? 0);
    const to = Number(match?.[2] ?? from);
    if (from < 100 || to > 599 || from > to)
      lost.push({
        field: 'accepted_statuscodes',
        reason: `${quote(String(range))} is no range of status codes`,
      });
    else for (let code = from; code <= to; code++) codes.add(code);
  }
  return { accept: codes.size === 0 ? null : groupCodes(codes), lost };
}
