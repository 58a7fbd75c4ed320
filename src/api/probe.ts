/**
 * `GET /probe`: one check now, as blackbox_exporter makes it for Prometheus. The target is tried like a check that an owner tries before
 * it is saved: with the same guards, limits and trust. Nothing is stored.
 */
import { isIP } from 'node:net';
import { describeRefusal } from '../domain/refusal.ts';
import type { Attempt } from '../domain/result.ts';
import type { ProbedKind } from '../domain/service.ts';
import { enumParameter, refuse } from '../http/parameters.ts';
import { retryLater } from '../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../http/route.ts';
import { bearerOf, principalOf } from '../resources/kit/write-route.ts';
import { type TrialContext, tryService } from '../resources/services/new-service.ts';
import type { ServiceDocument } from '../resources/services/service-document.ts';

interface ProbeSources extends TrialContext {
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
}

/** The check of a target; null: the target is not one for the module. */
type Module = (target: string) => ServiceDocument | null;

/** The modules by their names in the example configuration of the exporter, and others that are usual. */
const MODULES: Readonly<Record<string, Module>> = {
  http_2xx: (target) => webDocument(target, {}),
  http_post_2xx: (target) => webDocument(target, { method: 'POST', followRedirects: true }),
  tcp_connect: (target) => hostDocument(target, 'tcp', { needsPort: true }),
  tls_connect: (target) => hostDocument(target, 'tls'),
  ssh_banner: (target) => hostDocument(target, 'ssh'),
  smtp_starttls: (target) => hostDocument(target, 'smtp', { settings: { security: 'starttls' } }),
  grpc: (target) => hostDocument(target, 'grpc'),
  grpc_plain: (target) => hostDocument(target, 'grpc', { settings: { plain: true } }),
  icmp: (target) => hostDocument(target, 'icmp', { hasPort: false }),
  dns: dnsDocument,
};
const MODULE = enumParameter(Object.keys(MODULES), 'How the target is checked.', 'http_2xx');
/** The name that a name server is asked for (RFC 6761, 6.5). */
const ASKED_NAME = 'example.com';

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;

/** The time that Prometheus needs for the answer, as the exporter has it, milliseconds. */
const SCRAPE_RESERVE_MS = 500;
const MIN_TIMEOUT_MS = 100;

const HEADERS = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' };

/** Creates the route. A key may also be the password of HTTP Basic, as Prometheus can send it. */
export function probeRoute(sources: ProbeSources): Route {
  return {
    path: '/probe',
    bucket: 'api',
    access: { scope: 'write' },
    sameOrigin: true,
    keyIn: ({ headers: { authorization } }) => bearerOfBasic(authorization) ?? authorization,
    handle: (request) => probe(request, sources),
  };
}

async function probe(request: HttpRequest, sources: ProbeSources): Promise<HttpResponse> {
  const query = new URLSearchParams(request.query);
  // Ignored, it would make the check one of another virtual host.
  if (query.get('hostname')) throw refuse('hostname', 'is not possible here; the target names the host');
  const document = readProbe(query.get('target') ?? '', query.get('module') || MODULE.default);
  const limitMs = timeoutOf(request.headers['x-prometheus-scrape-timeout-seconds']);
  let tookMs = 0;
  const tryCheck: TrialContext['tryCheck'] = async (target, timeoutMs) => {
    const startedAt = sources.monotonic();
    const attempt = await sources.tryCheck(target, Math.min(timeoutMs, limitMs));
    tookMs = sources.monotonic() - startedAt;
    return attempt;
  };
  const outcome = await tryService({ ...sources, tryCheck }, principalOf(bearerOf(request)), document);
  if (!outcome.ok) {
    const reasons = outcome.refusals.map(({ refusal }) => describeRefusal(refusal)).join(' ');
    throw refuse('target', `is refused: ${reasons.replace(/\.$/, '')}`);
  }
  const { attempt } = outcome.value;
  // A fault of ours says nothing about the target.
  if (attempt.suspect !== null)
    throw retryLater('unavailable', 5, 'The check could not be made, and the fault may be ours.');
  return {
    status: 200,
    headers: HEADERS,
    body: writeMetrics(document.check?.kind ?? 'http', attempt, tookMs),
  };
}

/** The check that a request asks for. Throws `invalid_parameter`. */
function readProbe(target: string, name: string): ServiceDocument {
  const module = Object.hasOwn(MODULES, name) ? MODULES[name] : undefined;
  if (module === undefined) throw refuse('module', 'is not known', MODULE);
  const document = module(target.trim());
  if (document === null) throw refuse('target', `is missing, or not a target of ${name}`);
  return document;
}

function webDocument(target: string, more: Settings): ServiceDocument | null {
  const url = URL.parse(SCHEME.test(target) ? target : `http://${target}`);
  if (url === null || target === '' || !/^https?:$/.test(url.protocol)) return null;
  const { protocol, hostname, port, pathname, search, username, password } = url;
  const settings = {
    path: pathname + search,
    ...(protocol === 'http:' ? { plain: true } : {}),
    ...(port === '' ? {} : { port: Number(port) }),
    ...(username === '' ? {} : { username: decoded(username) }),
    ...(password === '' ? {} : { password: decoded(password) }),
    ...more,
  };
  return { domain: withoutBrackets(hostname), check: { kind: 'http', accept: ['2xx'], settings } };
}

type Settings = NonNullable<NonNullable<ServiceDocument['check']>['settings']>;

/** A check of `host`, `host:port` or `[2001:db8::1]:port`, with a scheme or without. */
function hostDocument(
  target: string,
  kind: ProbedKind,
  { settings = {}, needsPort = false, hasPort = true }: HostOptions = {},
): ServiceDocument | null {
  const place = readPlace(target);
  if (place === null || (needsPort && place.port === null)) return null;
  const { host, port } = place;
  const all = port === null || !hasPort ? settings : { ...settings, port };
  return { domain: host, check: { kind, settings: all } };
}

interface HostOptions {
  readonly settings?: Settings;
  readonly needsPort?: boolean;
  /** False: a port of the target says nothing. Default true. */
  readonly hasPort?: boolean;
}

/** A name server with an address or a port is asked for {@link ASKED_NAME}; a name alone is what is asked for. */
function dnsDocument(target: string): ServiceDocument | null {
  const place = readPlace(target);
  if (place === null) return null;
  const { host, port } = place;
  if (port === null && isIP(host) === 0) return { domain: host, check: { kind: 'dns' } };
  const settings = { server: host, ...(port === null ? {} : { port }) };
  return { domain: ASKED_NAME, check: { kind: 'dns', settings } };
}

function readPlace(target: string): { readonly host: string; readonly port: number | null } | null {
  const bare = target.replace(SCHEME, '').replace(/\/$/, '');
  if (isIP(bare) !== 0) return { host: bare, port: null };
  const [, host = '', port] = /^(\[[^\]]+\]|[^:/\s]+)(?::(\d{1,5}))?$/.exec(bare) ?? [];
  return host === '' ? null : { host: withoutBrackets(host), port: port === undefined ? null : Number(port) };
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The timeout that a scrape leaves for a check, milliseconds; infinite if the client does not say. */
function timeoutOf(header: string | readonly string[] | undefined): number {
  const seconds = Number(header);
  if (header === undefined || !Number.isFinite(seconds) || seconds <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(MIN_TIMEOUT_MS, seconds * 1_000 - SCRAPE_RESERVE_MS);
}

/** The `Authorization` of a bearer of a key that HTTP Basic has as its password (RFC 7617); undefined: it is another one. */
function bearerOfBasic(authorization = ''): string | undefined {
  const [, encoded] = /^ *basic +([a-z0-9+/=_-]+) *$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return `Bearer ${text.slice(text.indexOf(':') + 1)}`;
}

type Value = number | Readonly<Record<string, number>>;

/** The metrics of an attempt by the names of the exporter. What is not measured is left out. */
function writeMetrics(kind: string, attempt: Attempt, tookMs: number): string {
  const { timing, statusCode, failure, blocked, certificateExpiresAt } = attempt;
  const { dnsMs, connectMs, tlsMs, firstByteMs } = timing;
  const seconds = (ms: number | null) => (ms ?? 0) / 1_000;
  const isWeb = kind === 'http';
  const phases = { resolve: seconds(dnsMs) };
  const metrics: readonly (readonly [name: string, help: string, value: Value | null])[] = [
    ['dns_lookup_time_seconds', 'Time of the resolution of the name', seconds(dnsMs)],
    ['duration_seconds', 'Time of the whole check', seconds(tookMs)],
    ['failed_due_to_regex', '1 if an expression failed the check', isWeb || kind === 'tcp' ? 0 : null],
    [
      'http_duration_seconds',
      'Time of each phase of the request',
      isWeb
        ? { connect: seconds(connectMs), processing: seconds(firstByteMs), ...phases, tls: seconds(tlsMs) }
        : null,
    ],
    [
      'http_ssl',
      '1 if the connection is encrypted',
      isWeb ? Number(tlsMs !== null || certificateExpiresAt !== null) : null,
    ],
    ['http_status_code', 'Status code of the response, 0 without one', isWeb ? statusCode : null],
    [
      'icmp_duration_seconds',
      'Time of each phase of the ping',
      kind === 'icmp' ? { ...phases, rtt: seconds(firstByteMs) } : null,
    ],
    [
      'ssl_earliest_cert_expiry',
      'Time at which the first certificate of the chain expires',
      certificateExpiresAt === null ? null : seconds(certificateExpiresAt),
    ],
    // To the exporter, an answer of a bot wall is like any other.
    ['success', '1 if the check is good', Number(failure === null && !blocked)],
  ];
  return metrics
    .flatMap(([name, help, value]) => (value === null ? [] : [gauge(`probe_${name}`, help, value)]))
    .join('');
}

function gauge(name: string, help: string, value: Value): string {
  const lines =
    typeof value === 'number'
      ? [`${name} ${value}`]
      : Object.entries(value).map(([phase, seconds]) => `${name}{phase="${phase}"} ${seconds}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...lines, ''].join('\n');
}
