/**
 * Every setting, once: its type, default, meaning, and whether a running program takes a change of it.
 * Durations and blocks are written as text in files; `formats.ts` reads them into what the program uses.
 */

import { DAY_MS, MIN_INCIDENT_RETENTION_MS } from '../domain/durations.ts';
import { DEFAULT_REGION, NODE_ROLES, type NodeRole } from '../domain/node.ts';
import { type Static, Type } from '../json-schema.ts';
import {
  choice,
  count,
  duration,
  durationType,
  list,
  OPERATOR_CHANNEL,
  optionalDuration,
  optionalText,
  PROVIDER,
  SITE,
  section,
} from './setting-types.ts';

/** The whole configuration file. */
export const CONFIG_SCHEMA = section('Upbeat', {
  http: section('The HTTP server: API, pages and badges.', {
    host: Type.String({
      minLength: 1,
      format: 'host',
      default: '0.0.0.0',
      description: 'Address to listen on.',
    }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 8080,
      description: 'Port to listen on. 0 picks a free port.',
    }),
    // Never null once it is resolved.
    siteUrl: Type.Unsafe<string>({
      anyOf: [{ type: 'null' }, { type: 'string', minLength: 1, format: 'site-url' }],
      default: null,
      description:
        'Public URL of the site, perhaps with a path. The API is at this URL plus /api/v1. null is http://localhost and the port.',
    }),
    trustedProxies: list(
      Type.String({ format: 'block' }),
      [],
      'Addresses or CIDR blocks of reverse proxies whose X-Forwarded-For header is trusted.',
    ),
    securityContact: optionalText(
      'Where to report vulnerabilities of this site: an https: or mailto: URL for /.well-known/security.txt. null leaves the file out.',
      { pattern: '^(https://|mailto:)[!-~]+$' },
    ),
  }),
  about: section('What pages say of the installation and its operator. null leaves it out.', {
    operator: optionalText('Who runs this installation: a person or an organization.', {
      maxLength: 200,
    }),
    website: optionalText('Website of the operator.', { pattern: '^https?://[!-~]+$' }),
    contact: optionalText('Where to reach the operator: an https: or mailto: URL.', {
      pattern: '^(https://|mailto:)[!-~]+$',
    }),
    notice: optionalText('A line at the top of every page, such as that this is a test.', {
      maxLength: 300,
    }),
  }),
  site: SITE,
  catalogue: section('The public list of services.', {
    file: Type.String({
      minLength: 1,
      default: 'config/catalogue.yaml',
      description:
        'File with the public services, reloaded when it changes; none: there are no public services.',
    }),
  }),
  checks: section('How services are checked.', {
    interval: duration('5m', 'Time between two checks of a service.', 1_000),
    timeout: duration('10s', 'Timeout of one attempt, including redirects.', 10),
    slowOver: duration(
      '3s',
      'Responses slower than this make a service slow. Exactly this long is still up.',
      1,
    ),
    confirmAfter: list(
      durationType({ minMs: 1 }),
      ['2s', '4s'],
      'Delays of the re-checks after a failed attempt, each counted from the failure before. An empty list turns re-checks off.',
      { maxItems: 10 },
    ),
    quorum: Type.Union(
      [
        Type.Literal('majority'),
        Type.Literal('any'),
        Type.Literal('all'),
        Type.Integer({ minimum: 1, maximum: 1_000 }),
      ],
      {
        default: 'majority',
        description:
          'How many regions must have confirmed a failure: majority (more than half), any, all or a number. A number above the regions means all.',
      },
    ),
    firstSpread: duration('60s', 'The first checks of all services after a start are spread over this time.'),
    threads: Type.Union([Type.Literal('auto'), Type.Integer({ minimum: 1, maximum: 64 })], {
      default: 'auto',
      description:
        'Number of probe threads. auto uses one for each processor beyond the first, and at least one.',
    }),
    concurrency: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 256,
      description: 'Maximum number of checks in flight in each thread.',
    }),
    controlTargets: list(
      Type.String({ format: 'http-url' }),
      [
        'https://www.google.com/generate_204',
        'https://www.cloudflare.com/cdn-cgi/trace',
        'https://www.apple.com/library/test/success.html',
      ],
      'URLs that show whether the prober itself is online. Any HTTP response from one of them counts.',
      { maxItems: 20 },
    ),
    allowPrivate: list(
      Type.String({ format: 'block' }),
      [],
      "CIDR blocks of private addresses that the catalogue and its feeds may use. Owners' domains never may.",
    ),
    trustedPrivate: list(
      Type.String({ format: 'private-range' }),
      ['private', 'shared', 'unique-local'],
      'Private addresses that trusted accounts reach: private (RFC 1918), shared (RFC 6598), unique-local (RFC 4193), loopback, link-local, or CIDR blocks within them.',
    ),
    ports: list(
      Type.Integer({ minimum: 1, maximum: 65_535 }),
      [80, 443],
      "Ports that may be checked. A port in a catalogue entry's check.url is allowed too.",
    ),
    nameservers: list(
      Type.String({ format: 'ip-port' }),
      [],
      "Name servers (ip:port) to use instead of the system's.",
    ),
    ownersMayProbePrivate: Type.Boolean({
      default: false,
      description: "For tests only: lets owners' services use the blocks of allowPrivate.",
    }),
  }),
  heartbeats: section('Services that send heartbeats instead of being checked.', {
    silence: duration('10m', 'A service that sends heartbeats is down after this time without one.', 1_000),
  }),
  limits: section('Rate limits and quotas.', {
    anonymousPerMinute: count(15, 'Requests per minute for each address without an API key.', {
      reloadable: true,
    }),
    authenticatedPerMinute: count(60, 'Requests per minute for each API key.', { reloadable: true }),
    changesPerAccount: count(
      300,
      'Changes per minute for each account, by all of its keys and members. Heartbeats are no changes.',
      { reloadable: true },
    ),
    domainsPerAccount: count(100, 'Maximum number of domains that one account may register.'),
    minInterval: duration(
      '30s',
      'Shortest time between two checks that owners may choose for a service.',
      1_000,
    ),
    connectionsPerAddress: count(
      600,
      "Connections per minute that checks of owners' services may make to one address, from each process; half of them for one account.",
    ),
  }),
  incidents: section("Vendors' status pages.", {
    feedInterval: duration('5m', "Time between two reads of a vendor's status page.", 1_000),
    lookForMovedPages: Type.Boolean({
      default: false,
      description:
        'Whether status pages of the public list that cannot be read, or are of kind custom, are tried once a month. The log names those that have moved or are of another kind.',
    }),
  }),
  accounts: section('Accounts of owners.', {
    open: Type.Boolean({
      default: true,
      description:
        'Whether people who sign in by a provider get an account of their own. false: invitations and commands alone let people in.',
    }),
    trusted: list(
      Type.String({ minLength: 1, maxLength: 60 }),
      [],
      'Names of accounts that need no proof of domains and reach the addresses of checks.trustedPrivate. No person who signs in gets an account with such a name.',
      { reloadable: true },
    ),
  }),
  auth: section('Sign-in of owners.', {
    providers: list(
      PROVIDER,
      [],
      'Sign-in providers: entries of {id, kind: oidc|github, issuer, clientId, clientSecret}, and name for the button.',
      { secret: true },
    ),
  }),
  alerts: section('Alerts.', {
    smtp: section(
      'The mail server that sends alerts and the letters to subscribers (docs/alerts/email.md).',
      {
        host: optionalText('Host name or address of the mail server. null: no e-mail is sent.', {
          format: 'host',
        }),
        port: Type.Union([Type.Null(), Type.Integer({ minimum: 1, maximum: 65_535 })], {
          default: null,
          description:
            'Port of the mail server. null is 587, or 465 where tls is implicit, or 25 where it is none.',
        }),
        user: optionalText('Name to sign in with. null: the server needs none.'),
        password: optionalText('Password to sign in with.', { secret: true }),
        from: optionalText('Sender of all letters, such as Upbeat <upbeat@example.org>.', {
          format: 'mailbox',
        }),
        tls: choice(
          ['starttls', 'implicit', 'none'],
          'starttls',
          'starttls requires STARTTLS, implicit begins with TLS at once, none sends letters in clear text. Certificates are verified.',
        ),
      },
    ),
    operator: list(
      OPERATOR_CHANNEL,
      [],
      'Channels that tell the operator when the monitor loses its connection, and when it is back: kind, settings and language (docs/alerts.md).',
      { maxItems: 20, reloadable: true },
    ),
  }),
  storage: section('Where data is stored.', {
    dataDir: Type.String({
      minLength: 1,
      default: './data',
      description: 'Directory of the embedded stores.',
    }),
    rawRetention: duration('90d', 'Retention of single samples.', DAY_MS),
    rollupRetention: duration('2y', 'Retention of hourly and daily summaries.', DAY_MS),
    incidentRetention: optionalDuration(
      'Retention of resolved incidents and of changes of status, at least 30d. null keeps them for ever.',
      MIN_INCIDENT_RETENTION_MS,
    ),
    postgres: section('PostgreSQL: the registry outside of dataDir (docs/cluster.md).', {
      url: optionalText(
        'postgres://user:password@host:5432/database, of PostgreSQL 13 or newer. null keeps the registry in dataDir.',
        { format: 'postgres-url', secret: true },
      ),
    }),
    redis: section(
      'Redis: current status, rate limits and events shared by several processes (docs/redis.md).',
      {
        url: optionalText(
          'redis://host:6379, rediss:// for TLS, redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379. null keeps the current status in the process.',
          {
            format: 'redis-url',
            secret: true,
          },
        ),
      },
    ),
    influx: section('InfluxDB: samples outside the process (docs/influxdb.md).', {
      url: optionalText('http:// or https:// URL of the server. null keeps samples in dataDir.', {
        format: 'server-url',
      }),
      token: optionalText('API token. For v1, user:password.', { secret: true }),
      org: optionalText('Organization (name or ID) for v2. Required by InfluxDB 2.'),
      bucket: optionalText('Bucket, or database for v1. null uses upbeat.'),
      api: choice(['v2', 'v1'], 'v2', 'v2 for InfluxDB 1.8 and newer, v1 for InfluxDB 1.6 and 1.7.'),
    }),
  }),
  node: section('This process as a node of a cluster (docs/cluster.md).', {
    name: optionalText('Name of this process, unique in the cluster. null takes the name of the host.', {
      format: 'node-name',
    }),
    region: Type.String({
      format: 'region-name',
      default: DEFAULT_REGION,
      description: 'Where this process makes checks from: 1 to 32 of a-z, 0-9 and -.',
    }),
    roles: list(
      Type.Unsafe<NodeRole>({ type: 'string', enum: [...NODE_ROLES] }),
      NODE_ROLES,
      'judge evaluates results and writes, probe makes checks, serve answers API and pages. Fewer than all three need storage.postgres.url and storage.redis.url.',
    ),
  }),
  secrets: section('Encryption of secrets in the database (docs/operating.md).', {
    key: optionalText(
      '32 bytes as 64 hexadecimal digits or base64. null uses secret.key in storage.dataDir, which the first start creates.',
      { format: 'secret-key', secret: true },
    ),
    checksKey: optionalText(
      'Key of the credentials of checks, in the same form. null derives it from the other key; "npx upbeat secrets checks-key" prints that. A node with the role probe alone needs only this one.',
      { format: 'secret-key', secret: true },
    ),
  }),
  log: section('The log on standard output.', {
    level: choice(
      ['silent', 'error', 'warn', 'info', 'debug'],
      'info',
      'Log level: silent, error, warn, info or debug.',
    ),
    format: choice(
      ['auto', 'pretty', 'json'],
      'auto',
      'Log format: pretty or json. auto is pretty on a terminal and json elsewhere.',
    ),
  }),
});

/** The configuration as files write it, with every default filled in. */
export type ConfigText = Static<typeof CONFIG_SCHEMA>;
