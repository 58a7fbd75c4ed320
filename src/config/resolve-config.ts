/** The configuration as the program uses it: durations in milliseconds, with names that say so, and canonical blocks. */

import { fileURLToPath } from 'node:url';
import ipaddr from 'ipaddr.js';
import { longestCheckMs } from '../domain/check-target.ts';
import { DAY_MS, formatDuration } from '../domain/durations.ts';
import { NODE_ROLES } from '../domain/node.ts';
import { isPrivateRange, metadataPurposeOf, PRIVATE_RANGES, readAddress } from '../domain/special-address.ts';
import type { TSchema } from '../json-schema.ts';
import type { SchemaProblem } from './describe-errors.ts';
import { SETTINGS, type Setting } from './environment.ts';
import { FORMATS } from './formats.ts';
import { CONFIG_SCHEMA, type ConfigText } from './schema.ts';
import type { DurationText } from './setting-types.ts';

/** The settings `alerts.smtp`. */
export interface SmtpSettings {
  /** Null: no e-mail is sent. */
  readonly host: string | null;
  /** Null: the usual port, see {@link smtpPort}. */
  readonly port: number | null;
  /** Null: the server needs no sign-in. */
  readonly user: string | null;
  readonly password: string | null;
  /** `ops@example.com` or `Upbeat <ops@example.com>`; null only where `host` is. */
  readonly from: string | null;
  readonly tls: 'starttls' | 'implicit' | 'none';
}

/** Ports by the words of `alerts.smtp.tls`: submission (RFC 6409), submissions (RFC 8314) and SMTP (RFC 5321). */
const USUAL_PORTS = { starttls: 587, implicit: 465, none: 25 } as const;

export function smtpPort({ port, tls }: SmtpSettings): number {
  return port ?? USUAL_PORTS[tls];
}

/** Returns true if the host is this machine, to which a password may be sent without TLS. */
function isThisMachine(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);
}

/** Finds settings of the mail server that contradict each other. */
export function findSmtpProblems(smtp: SmtpSettings): SchemaProblem[] {
  const { host, user, password, from, tls } = smtp;
  const problem = (name: string, message: string): SchemaProblem => ({
    parts: ['alerts', 'smtp', name],
    message,
  });
  if (host === null) {
    const given = (['user', 'password', 'from', 'port'] as const).filter((name) => smtp[name] !== null);
    return given.map((name) =>
      problem(name, 'is set without alerts.smtp.host: set the host of the mail server, or remove this'),
    );
  }
  const problems: SchemaProblem[] = [];
  if (from === null)
    problems.push(
      problem(
        'from',
        'is missing; alerts.smtp.host needs it: the sender of all letters, such as Upbeat <upbeat@example.org>',
      ),
    );
  if (user !== null && password === null)
    problems.push(problem('password', 'is missing; alerts.smtp.user needs it'));
  if (user === null && password !== null)
    problems.push(problem('user', 'is missing; alerts.smtp.password needs it'));
  if (tls === 'none' && user !== null && !isThisMachine(host))
    problems.push(
      problem(
        'tls',
        'is none, so that the password would cross the network in clear text: set it to starttls or implicit, or remove user and password',
      ),
    );
  return problems;
}

/** Says which port is unusual for `alerts.smtp.tls`; null: none. */
export function describeUnusualPort({ host, port, tls }: SmtpSettings): string | null {
  if (host === null) return null;
  if (port === USUAL_PORTS.implicit && tls !== 'implicit')
    return `is ${port}, where servers begin with TLS at once; set alerts.smtp.tls to implicit, or the port to ${USUAL_PORTS[tls]}`;
  if (tls === 'implicit' && (port === USUAL_PORTS.starttls || port === USUAL_PORTS.none))
    return `is ${port}, where servers begin without TLS; set alerts.smtp.tls to starttls, or the port to ${USUAL_PORTS.implicit}`;
  return null;
}

/** A resolved part of the configuration: `interval: '5m'` becomes `intervalMs: 300000`; everything is readonly. */
type Resolved<T> = T extends DurationText
  ? number
  : T extends readonly (infer Item)[]
    ? readonly Resolved<Item>[]
    : T extends object
      ? {
          readonly [Name in keyof T as T[Name] extends DurationText | null | DurationText[]
            ? `${Name & string}Ms`
            : Name]: Resolved<T[Name]>;
        }
      : T;

/**
 * All settings. Durations are whole milliseconds, `http.siteUrl` has no slash at its end, and blocks
 * (`http.trustedProxies`, `checks.allowPrivate`) are canonical text with a prefix length. Plain data that crosses threads.
 */
export type Config = Resolved<ConfigText>;

/** Resolves a valid configuration. */
export function resolveConfig(text: ConfigText): Config {
  const { port, siteUrl } = text.http;
  // A port that is free is known later than the URL is needed.
  const byPort = `http://localhost:${port === 0 ? USUAL_PORT : port}`;
  const file = text.catalogue.file === NO_CATALOGUE ? EMPTY_CATALOGUE : text.catalogue.file;
  const known = { ...text, http: { ...text.http, siteUrl: siteUrl ?? byPort }, catalogue: { file } };
  return resolve(known, CONFIG_SCHEMA) as Config;
}

const USUAL_PORT = 8080;
/** The value of `catalogue.file` where there are no public services. */
const NO_CATALOGUE = 'none';
const EMPTY_CATALOGUE = fileURLToPath(new URL('../../config/no-services.yaml', import.meta.url));

function resolve(value: unknown, schema: TSchema): unknown {
  if (value === null) return null;
  if (schema.format !== undefined) return FORMATS[schema.format]?.read(value as string);
  if (isDuration(schema)) return FORMATS.duration?.read(value as string);
  if (hasFormat(schema, 'site-url')) return FORMATS['site-url']?.read(value as string);
  if (schema.type === 'array')
    return (value as unknown[]).map((item) => resolve(item, schema.items as TSchema));
  // The settings of a channel have no properties of their own here: the schema of their kind validates them.
  if (schema.type !== 'object' || schema.properties === undefined) return value;
  const members = schema.properties as Record<string, TSchema>;
  return Object.fromEntries(
    Object.entries(members)
      .filter(([name]) => name in (value as object))
      .map(([name, member]) => [
        resolvedName(name, member),
        resolve((value as Record<string, unknown>)[name], member),
      ]),
  );
}

function resolvedName(name: string, schema: TSchema): string {
  return isDuration(schema) || schema.items?.format === 'duration' ? `${name}Ms` : name;
}

/** Returns true if the values are durations, or null. */
function isDuration(schema: TSchema): boolean {
  return hasFormat(schema, 'duration');
}

function hasFormat({ format, anyOf = [] }: TSchema, name: string): boolean {
  return format === name || anyOf.some((one: TSchema) => one.format === name);
}

/** A setting whose value has changed. */
interface ConfigChange {
  readonly path: string;
  /** True if a running program takes the new value; false: it needs a restart. */
  readonly reloadable: boolean;
}

/** The settings that differ, in the order of the schema. */
export function changedSettings(before: Config, after: Config): ConfigChange[] {
  return SETTINGS.filter(
    (setting) =>
      JSON.stringify(settingValue(before, setting)) !== JSON.stringify(settingValue(after, setting)),
  ).map(({ path, schema }) => ({ path: path.join('.'), reloadable: schema.reloadable === true }));
}

function settingValue(config: Config, { path, schema }: Setting): unknown {
  const names = [...path.slice(0, -1), resolvedName(path.at(-1) ?? '', schema)];
  return names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], config);
}

export function findContradictions(config: Config): SchemaProblem[] {
  const { storage, auth, node, alerts } = config;
  const problems = findCheckProblems(config);
  const rolesProblem = findRolesProblem(node.roles, storage);
  if (rolesProblem !== null) problems.push({ parts: ['node', 'roles'], message: rolesProblem });
  problems.push(...findSmtpProblems(alerts.smtp));
  if (storage.rawRetentionMs > storage.rollupRetentionMs) {
    problems.push({
      parts: ['storage', 'rollupRetention'],
      message: 'must not be shorter than storage.rawRetention',
    });
  }
  const { api, token, url } = storage.influx;
  if (url === null)
    for (const name of ['token', 'org', 'bucket'] as const)
      if (storage.influx[name] !== null)
        problems.push({
          parts: ['storage', 'influx', name],
          message: 'is set without storage.influx.url: set the URL of the server, or remove this',
        });
  if (url !== null && api === 'v1' && token !== null && !token.includes(':')) {
    problems.push({
      parts: ['storage', 'influx', 'token'],
      message: 'must be user:password where api is v1',
    });
  }
  auth.providers.forEach(({ id, kind, issuer }, index, all) => {
    const parts = ['auth', 'providers', String(index)];
    if (kind === 'oidc' && issuer === undefined)
      problems.push({ parts: [...parts, 'issuer'], message: 'is missing; kind oidc needs it' });
    if (issuer !== undefined && (/[?#]/.test(issuer) || new URL(issuer).username !== ''))
      problems.push({ parts: [...parts, 'issuer'], message: 'must have no user, query or fragment' });
    const first = all.findIndex((other) => other.id === id);
    if (first < index)
      problems.push({
        parts: [...parts, 'id'],
        message: `"${id}" is the id of auth.providers[${first}] already`,
      });
  });
  return problems;
}

/**
 * Returns true if a process with these settings is part of a cluster: it shares the registry and the current statuses with
 * processes of other machines.
 */
export function isClustered({ storage }: Pick<Config, 'storage'>): boolean {
  return storage.postgres.url !== null && storage.redis.url !== null;
}

/** The problem of `node.roles`; null: none. */
function findRolesProblem(roles: Config['node']['roles'], storage: Config['storage']): string | null {
  const twice = roles.find((role, index) => roles.indexOf(role) < index);
  if (twice !== undefined) return `has ${twice} twice`;
  if (roles.length === 0) return `must have at least one of ${NODE_ROLES.join(', ')}`;
  const absent = NODE_ROLES.filter((role) => !roles.includes(role));
  if (absent.length === 0 || isClustered({ storage })) return null;
  const unset = [
    ...(storage.postgres.url === null ? ['storage.postgres.url'] : []),
    ...(storage.redis.url === null ? ['storage.redis.url'] : []),
  ];
  return `leaves out ${absent.join(' and ')}; without ${unset.join(' and ')} one process has all roles: ${NODE_ROLES.join(', ')}`;
}

/** Days that the bars of pages show. */
const SHOWN_DAYS = 90;

/** A warning about valid settings, logged at start. */
interface ConfigWarning {
  readonly path: string;
  readonly message: string;
}

/** Finds settings that are valid but probably not intended. */
export function findWarnings({ http, checks, storage, alerts, node }: Config): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  const everyone = http.trustedProxies.find((block) => block.endsWith('/0'));
  if (everyone !== undefined) {
    warnings.push({
      path: 'http.trustedProxies',
      message: `${everyone} trusts every client: any client can choose the address that rate limits count`,
    });
  }
  if (http.trustedProxies.length === 0 && http.siteUrl.startsWith('https:') && node.roles.includes('serve')) {
    warnings.push({
      path: 'http.trustedProxies',
      message:
        'is empty, but a proxy serves the https of http.siteUrl: all visitors count as one client; name the address of the proxy',
    });
  }
  const { timeoutMs, intervalMs } = checks;
  const maxMs = longestCheckMs(checks);
  if (maxMs > intervalMs) {
    warnings.push({
      path: 'checks.interval',
      message: `a check that fails can last ${formatDuration(maxMs)} with its re-checks, longer than the interval of ${formatDuration(intervalMs)}; the service is then checked less often`,
    });
  }
  if (checks.slowOverMs >= timeoutMs) {
    warnings.push({
      path: 'checks.slowOver',
      message: 'is not shorter than checks.timeout; nothing is ever slow',
    });
  }
  const port = describeUnusualPort(alerts.smtp);
  if (port !== null) warnings.push({ path: 'alerts.smtp.port', message: port });
  const { url, api, org } = storage.influx;
  if (url !== null && api === 'v2' && org === null) {
    warnings.push({
      path: 'storage.influx.org',
      message:
        'is not set; InfluxDB 2 takes no samples without it (InfluxDB 1.8 and VictoriaMetrics need none): run upbeat doctor',
    });
  }
  if (storage.rollupRetentionMs < SHOWN_DAYS * DAY_MS)
    warnings.push({
      path: 'storage.rollupRetention',
      message: `is shorter than the ${SHOWN_DAYS} days whose uptime pages show; the days before are missing there`,
    });
  if (checks.ownersMayProbePrivate) {
    warnings.push({
      path: 'checks.ownersMayProbePrivate',
      message: 'lets the services of owners reach private addresses; it is meant for tests only',
    });
  }
  return warnings;
}

/** The settings that matter, of `checks` and of `limits`. */
interface CheckSettings {
  readonly checks: {
    readonly ports: readonly number[];
    readonly allowPrivate: readonly string[];
    readonly trustedPrivate: readonly string[];
    readonly confirmAfterMs: readonly number[];
  };
  readonly limits: { readonly minIntervalMs: number };
}

/** Later a failure is not confirmed any more, milliseconds. */
const MAX_CONFIRM_MS = 3_600_000;

/** Finds settings with which checks cannot work, or mean something else than they say. */
function findCheckProblems({ checks, limits }: CheckSettings): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  if (checks.ports.length === 0)
    problems.push({
      parts: ['checks', 'ports'],
      message: 'is empty, so that nothing could be checked: the defaults are 80 and 443',
    });
  const judge = (name: 'allowPrivate' | 'trustedPrivate', find: (block: string) => string | null) =>
    checks[name].forEach((block, index) => {
      const problem = find(block);
      if (problem !== null)
        problems.push({ parts: ['checks', name, String(index)], message: `${block} ${problem}` });
    });
  judge('allowPrivate', findBlockProblem);
  judge('trustedPrivate', (range) => (isPrivateRange(range) ? null : findRangeProblem(range)));
  const confirmMs = checks.confirmAfterMs.reduce((sum, ms) => sum + ms, 0);
  if (confirmMs > MAX_CONFIRM_MS)
    problems.push({
      parts: ['checks', 'confirmAfter'],
      message: `adds up to ${formatDuration(confirmMs)}, in which an outage stays unreported: at most ${formatDuration(MAX_CONFIRM_MS)}`,
    });
  if (limits.minIntervalMs > DAY_MS)
    problems.push({
      parts: ['limits', 'minInterval'],
      message: 'must not be longer than 24h, the longest interval of a service',
    });
  return problems;
}

/** Why a canonical block cannot be opened; null: it can. */
function findBlockProblem(block: string): string | null {
  const [address = '', bits] = block.split('/');
  const found = bits === '32' || bits === '128' ? readAddress(address) : null;
  if (found !== null && metadataPurposeOf(found) !== null)
    return 'is an address at which clouds hand out secrets, which is never connected to';
  return isPrivateBlock(block)
    ? null
    : 'has public addresses, which need no permission: name the private blocks, such as 10.0.0.0/8';
}

/** Why a canonical block is no part of a private network; null: it is one. */
function findRangeProblem(block: string): string | null {
  const networks: readonly string[] = Object.values(PRIVATE_RANGES).flat();
  if (networks.some((network) => isWithin(block, network))) return findBlockProblem(block);
  return findBlockProblem(block) ?? `is no network of hosts: name a part of ${networks.join(', ')}`;
}

function isWithin(block: string, range: string): boolean {
  const [[first, bits], [base, baseBits]] = [ipaddr.parseCIDR(block), ipaddr.parseCIDR(range)];
  return first.kind() === base.kind() && bits >= baseBits && first.match(base, baseBits);
}

/** Returns true if a canonical block has no address of the public Internet. */
function isPrivateBlock(block: string): boolean {
  const [first] = ipaddr.parseCIDR(block);
  const last =
    first instanceof ipaddr.IPv4
      ? ipaddr.IPv4.broadcastAddressFromCIDR(block)
      : ipaddr.IPv6.broadcastAddressFromCIDR(block);
  return first.range() !== 'unicast' && first.range() === last.range();
}
