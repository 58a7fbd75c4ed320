/** Modules of blackbox_exporter: what of them becomes a check of a target. */
import type { CheckSettings, ProbedKind } from '../../domain/service.ts';
import {
  type Expectation,
  type ListedRequest,
  listRequest,
  matchLine,
  PLAIN_REQUEST,
  plainTextOf,
} from './http-request.ts';
import {
  asRow,
  asText,
  type EntryReading,
  findLost,
  groupCodes,
  isEmpty,
  type LostField,
  listKind,
  listOf,
  lostIf,
  namesIn,
  quote,
  type Row,
} from './listed-service.ts';

/** The modules of the exporter's example by their names, of which files without `modules` make use. */
const EXAMPLES: Readonly<Record<string, Row>> = {
  http_2xx: { prober: 'http' },
  http_post_2xx: { prober: 'http', http: { method: 'POST' } },
  tcp_connect: { prober: 'tcp' },
  pop3s_banner: { prober: 'tcp', tcp: { query_response: [{ expect: '^+OK' }], tls: true } },
  ssh_banner: { prober: 'tcp', tcp: { query_response: [{ expect: '^SSH-2.0-' }] } },
  smtp_starttls: { prober: 'tcp', tcp: { query_response: [{ expect: '^220 ' }, { starttls: true }] } },
  irc_banner: {
    prober: 'tcp',
    tcp: { query_response: [{ send: 'NICK prober' }, { expect: '^:[^ ]+ 001' }] },
  },
  icmp: { prober: 'icmp' },
};

/** A module of the file, or one of the example; null: neither tells what it checks. */
export function findModule(name: string, modules: Row): Row | null {
  if (Object.hasOwn(modules, name)) return asRow(modules[name]);
  return (Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : null) ?? null;
}

interface Named {
  readonly name: string;
}

/** Options that choose among equal ways. */
const SAME = namesIn('preferred_ip_protocol enable_http2 enable_http3 compression source_ip_address');
const REASONS: Readonly<Record<string, string>> = {
  ip_protocol_fallback: 'checks use both families of addresses',
  valid_http_versions: 'checks speak HTTP/1.1',
  proxy_url: 'checks use no proxy',
  proxy_from_environment: 'checks use no proxy',
  query_response: 'a check reads a greeting, and sends nothing',
  transport_protocol: 'a query is sent by UDP, and by TCP if the reply is truncated',
  payload_size: 'a ping has 56 bytes',
  validate_answer_rrs: 'set the values of the records (docs/checks.md)',
};

export function readProbe(target: string, module: Row, { name }: Named): EntryReading {
  const prober = asText(module.prober) ?? '';
  const options = asRow(module[prober]);
  switch (prober) {
    case 'http':
      return readWeb(target, options, name);
    case 'tcp':
      return readConnection(target, options, name);
    case 'icmp':
      return listKind('icmp', {}, { name, domain: placeOf(target).host }, lostOf(options, []));
    case 'dns':
      return readQuery(target, options, name);
    case 'grpc':
      return readHealth(target, options, name);
    default:
      return { problem: `modules with the prober ${quote(prober)} have no equal here` };
  }
}

function lostOf(options: Row, known: readonly string[]): LostField[] {
  return findLost(
    // A default that is switched off says something.
    {
      ...options,
      ...(options.ip_protocol_fallback === false
        ? { ip_protocol_fallback: 'false' }
        : { ip_protocol_fallback: null }),
    },
    (field) => SAME.has(field) || known.includes(field),
    REASONS,
  );
}

/** Fields of web pages that become settings. */
const OF_WEB = [
  ...[
    'method',
    'headers',
    'body',
    'valid_status_codes',
    'no_follow_redirects',
    'follow_redirects',
    'basic_auth',
  ],
  ...['bearer_token', 'authorization', 'fail_if_body_matches_regexp', 'fail_if_body_not_matches_regexp'],
  ...['fail_if_header_matches', 'fail_if_header_not_matches', 'tls_config', 'fail_if_not_ssl'],
];

function readWeb(target: string, options: Row, name: string): EntryReading {
  const url = /^https?:\/\//.test(target) ? target : `http://${target}`;
  const method = (asText(options.method) ?? 'GET').toUpperCase();
  const codes = (listOf(options.valid_status_codes) ?? []).map(Number);
  const { insecure_skip_verify: insecure, ...tls } = asRow(options.tls_config);
  const basic = asRow(options.basic_auth);
  const authorization = asRow(options.authorization);
  const scheme = asText(authorization.type) ?? 'Bearer';
  const credentials = asText(authorization.credentials);
  const token = asText(options.bearer_token) ?? (scheme === 'Bearer' ? credentials : null);
  const other =
    credentials === null || scheme === 'Bearer'
      ? []
      : [['Authorization', `${scheme} ${credentials}`] as const];
  const { expectations, lost } = expectationsOf(options);
  const follows = options.no_follow_redirects !== true && options.follow_redirects !== false;
  const isUsual = ['GET', 'HEAD', 'OPTIONS'].includes(method);
  const missing = missingFiles(options);
  const request: ListedRequest = {
    ...PLAIN_REQUEST,
    url,
    method,
    headers: [
      ...Object.entries(asRow(options.headers)).map(([field, value]) => [field, String(value)] as const),
      ...other,
    ],
    body: typeof options.body === 'string' && options.body !== '' ? options.body : null,
    username: asText(basic.username),
    password: typeof basic.password === 'string' ? basic.password : null,
    signIn: token === null ? [] : [['bearer_token', { token }]],
    expectations,
    ignoresCertificate: insecure === true,
    followRedirects: follows === isUsual ? null : follows,
  };
  const more = {
    accept: codes.length === 0 ? (['2xx'] as const) : groupCodes(new Set(codes)),
    paused: missing.length > 0,
  };
  return listRequest(request, name, more, [
    ...lost,
    ...missing.map((field) => ({
      field,
      reason: 'the check is paused: set the text of the file here (docs/checks.md)',
    })),
    ...lostIf(
      options.fail_if_not_ssl === true && url.startsWith('http:'),
      'fail_if_not_ssl',
      'the scheme at the end of redirects is not judged',
    ),
    ...lostOf({ ...options, ...prefixed('tls_config', tls) }, [...OF_WEB, ...missing]),
  ]);
}

function prefixed(prefix: string, row: Row): Row {
  return Object.fromEntries(Object.entries(row).map(([field, value]) => [`${prefix}.${field}`, value]));
}

/** Fields that name files with what the target asks for, without which the check would fail. */
function missingFiles(options: Row): string[] {
  const { basic_auth: basic, authorization, tls_config: tls } = options;
  const all: Row = {
    ...options,
    ...prefixed('basic_auth', asRow(basic)),
    ...prefixed('authorization', asRow(authorization)),
    ...prefixed('tls_config', asRow(tls)),
  };
  return [
    ...['bearer_token_file', 'body_file', 'oauth2', 'basic_auth.password_file', 'basic_auth.username_file'],
    ...[
      'authorization.credentials_file',
      'tls_config.ca_file',
      'tls_config.cert_file',
      'tls_config.key_file',
    ],
  ].filter((field) => !isEmpty(all[field]));
}

/** Expressions about the body and headers as assertions. */
function expectationsOf(options: Row): { readonly expectations: Expectation[]; readonly lost: LostField[] } {
  const expectations: Expectation[] = [];
  const lost: LostField[] = [];
  const add = (field: string, subject: string, expression: string, isWanted: boolean) => {
    const text = plainTextOf(expression);
    if (isWanted) {
      const line = matchLine(subject, expression);
      expectations.push({ field, line });
      if (line.startsWith('body matches'))
        lost.push({ field, reason: 'an expression is matched within the first 4096 characters of the body' });
    } else if (subject !== 'body' && /^\.[*+]$/.test(expression))
      expectations.push({ field, line: `${subject} missing` });
    else if (text !== null) expectations.push({ field, line: `${subject} lacks ${text}` });
    else lost.push({ field, reason: 'an expression that must not match has no equal here' });
  };
  for (const [field, isWanted] of [
    ['fail_if_body_matches_regexp', false],
    ['fail_if_body_not_matches_regexp', true],
  ] as const)
    for (const expression of listOf(options[field]) ?? []) add(field, 'body', String(expression), isWanted);
  for (const [field, isWanted] of [
    ['fail_if_header_matches', false],
    ['fail_if_header_not_matches', true],
  ] as const)
    for (const rule of (listOf(options[field]) ?? []).map(asRow)) {
      const mayMiss = rule.allow_missing === true;
      if (mayMiss === isWanted)
        lost.push({
          field,
          reason: 'a header that may be missing, or must be there, is no part of one expectation',
        });
      if (!(mayMiss && isWanted)) add(field, `header ${rule.header}`, String(rule.regexp ?? ''), isWanted);
    }
  return { expectations, lost };
}

/** The host and port of `host:port`, `[2001:db8::1]:443` or a host alone. */
function placeOf(target: string) {
  const [, inBrackets, host = inBrackets ?? target, port] =
    /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(target.trim()) ?? [];
  return { host, port: port === undefined ? null : Number(port) };
}

function readConnection(target: string, options: Row, name: string): EntryReading {
  const { host, port } = placeOf(target);
  if (port === null) return { problem: `target ${quote(target)} has no port` };
  const dialogue = (listOf(options.query_response) ?? []).map(asRow);
  const [first = ''] = dialogue.map(({ expect }) => asText(expect) ?? '');
  const sends = dialogue.some(({ send }) => asText(send) !== null);
  const upgrades = dialogue.some(({ starttls }) => starttls === true);
  const { insecure_skip_verify: insecure, ...tls } = asRow(options.tls_config);
  const isInsecure = insecure === true || !isEmpty(tls);
  const list = (kind: ProbedKind, settings: CheckSettings, known: readonly string[]) =>
    listKind(kind, { port, ...settings }, { name, domain: host }, lostOf(options, known));
  if (options.tls === true) return isInsecure ? list('tcp', {}, []) : list('tls', {}, ['tls', 'tls_config']);
  if (/^\^?220/.test(first)) {
    if (!upgrades) return list('smtp', { security: 'plain' }, ['query_response']);
    if (!isInsecure) return list('smtp', { security: 'starttls' }, ['query_response', 'tls_config']);
    return list('smtp', { security: 'plain' }, []);
  }
  if (/^\^?SSH-/.test(first)) return list('ssh', {}, ['query_response']);
  const banner = plainTextOf(first.replace(/^\^/, ''));
  if (dialogue.length === 1 && !sends && !upgrades && banner !== null)
    return list('tcp', { banner }, ['query_response']);
  return list('tcp', {}, []);
}

/** A query to the target, which is a name server. */
function readQuery(target: string, options: Row, name: string): EntryReading {
  const { host, port } = placeOf(target);
  const codes = (listOf(options.valid_rcodes) ?? []).map(String);
  if (codes.length > 0 && !codes.includes('NOERROR'))
    return { problem: 'it is healthy only where the name has no records, which has no equal here' };
  if (options.dns_over_tls === true || /^https:/.test(target))
    return { problem: 'queries by TLS and HTTPS have no equal here' };
  const record = asText(options.query_type) ?? 'ANY';
  const settings = { record, server: host, ...(port === null || port === 53 ? {} : { port }) };
  const known = ['query_name', 'query_type', 'valid_rcodes', 'recursion_desired'];
  if (options.transport_protocol === 'udp') known.push('transport_protocol');
  const domain = asText(options.query_name)?.replace(/\.$/, '') ?? null;
  if (record === 'ANY') return { problem: 'queries for any record have no equal here' };
  return listKind('dns', settings, { name, domain }, lostOf(options, known));
}

function readHealth(target: string, options: Row, name: string): EntryReading {
  const { host, port } = placeOf(target);
  if (port === null) return { problem: `target ${quote(target)} has no port` };
  const service = asText(options.service);
  if (options.tls === true && !isEmpty(asRow(options.tls_config)))
    return listKind('tcp', { port }, { name, domain: host }, lostOf(options, []));
  const settings = {
    port,
    ...(service === null ? {} : { service }),
    ...(options.tls === true ? {} : { plain: true }),
  };
  return listKind(
    'grpc',
    settings,
    { name, domain: host },
    lostOf(options, ['service', 'tls', 'tls_config']),
  );
}
