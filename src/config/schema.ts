/**
 * Every setting, once: its type, default, meaning, and whether a running program takes a change of it.
 * Durations and blocks are written as text in files; `formats.ts` reads them into what the program uses.
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox';

/** Extra members of a setting's schema, beside those of JSON Schema. */
export interface SettingNotes {
  /** A running program takes the new value at SIGHUP. */
  readonly reloadable?: boolean;
  /** Milliseconds; for durations. */
  readonly minMs?: number;
  /** Never printed. */
  readonly secret?: boolean;
}

declare const durationMark: unique symbol;
/** A duration as files write it, `5m`; kept apart from other text so that the type `Config` can follow from the schema. */
export type DurationText = string & { readonly [durationMark]: true };

const durationType = (notes: object) =>
  Type.Unsafe<DurationText>({ type: 'string', format: 'duration', ...notes });
const duration = (byDefault: string, description: string, minMs = 0) =>
  durationType({ default: byDefault, description, minMs });
const count = (byDefault: number, description: string, notes: SettingNotes = {}) =>
  Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: byDefault, description, ...notes });
const optionalText = (description: string, more: object = {}) =>
  Type.Union([Type.Null(), Type.String({ minLength: 1, ...more })], { default: null, description });
const list = <T extends TSchema>(
  item: T,
  byDefault: readonly unknown[],
  description: string,
  more: object = {},
) => Type.Array(item, { default: byDefault, description, ...more });
const section = <T extends Record<string, TSchema>>(members: T, description: string) =>
  Type.Object(members, { additionalProperties: false, default: {}, description });
const choice = <const T extends string>(
  words: readonly T[],
  byDefault: T,
  description: string,
  notes: SettingNotes = {},
) => Type.Unsafe<T>({ type: 'string', enum: [...words], default: byDefault, description, ...notes });

const Provider = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9-]{1,32}$' }),
    kind: Type.Unsafe<'oidc' | 'github'>({ type: 'string', enum: ['oidc', 'github'] }),
    issuer: Type.Optional(Type.String({ format: 'http-url' })),
    clientId: Type.String({ minLength: 1 }),
    clientSecret: Type.String({ minLength: 1, secret: true }),
  },
  // A provider that is not of this form may hold its secret anywhere, so it is never printed whole.
  { additionalProperties: false, secret: true },
);

/** The whole configuration file. */
export const CONFIG_SCHEMA = section(
  {
    http: section(
      {
        host: Type.String({ minLength: 1, default: '0.0.0.0', description: 'Address to listen on.' }),
        port: Type.Integer({
          minimum: 0,
          maximum: 65_535,
          default: 8080,
          description: 'Port to listen on; 0: any free one.',
        }),
        siteUrl: Type.String({
          format: 'site-url',
          default: 'http://localhost:8080',
          description: 'The address under which people reach the site. The API is this plus /api/v1.',
        }),
        trustedProxies: list(
          Type.String({ format: 'block' }),
          [],
          'Addresses or CIDR blocks of proxies whose X-Forwarded-For is believed.',
        ),
      },
      'Where the API and the pages are served.',
    ),
    catalogue: section(
      {
        file: Type.String({
          minLength: 1,
          default: 'config/catalogue.yaml',
          description: 'The public services. Read again when it changes.',
        }),
      },
      'The public list.',
    ),
    checks: section(
      {
        interval: duration('5m', 'Time from one check of a service to the next.', 1_000),
        timeout: duration('10s', 'Time-out of one attempt, redirects included.', 10),
        slowOver: duration('3s', 'A response over this is slow; exactly this is up.', 1),
        confirmAfter: list(
          durationType({ minMs: 1 }),
          ['2s', '4s'],
          'A failure is checked again, each time this long after the failure before. An empty list: not at all.',
          { maxItems: 10 },
        ),
        firstSpread: duration('60s', 'The first checks of all services are spread over this.'),
        threads: Type.Union([Type.Literal('auto'), Type.Integer({ minimum: 1, maximum: 64 })], {
          default: 'auto',
          description: 'Probe threads; auto: one for each processor beyond the first, at least one.',
        }),
        concurrency: Type.Integer({
          minimum: 1,
          maximum: 10_000,
          default: 256,
          description: 'Open checks for each thread.',
        }),
        controlTargets: list(
          Type.String({ format: 'http-url' }),
          [
            'https://www.google.com/generate_204',
            'https://www.cloudflare.com/cdn-cgi/trace',
            'https://www.apple.com/library/test/success.html',
          ],
          'Is the prober itself online? Any HTTP answer from one of these counts, from any address.',
          { maxItems: 20 },
        ),
        allowPrivate: list(
          Type.String({ format: 'block' }),
          [],
          "CIDR blocks of private addresses that the catalogue and its feeds may name; never owners' domains.",
        ),
        ports: list(
          Type.Integer({ minimum: 1, maximum: 65_535 }),
          [80, 443],
          "Ports that may be probed. A port in a catalogue entry's check.url is allowed too.",
        ),
        nameservers: list(
          Type.String({ format: 'ip-port' }),
          [],
          "Name servers (ip:port) instead of the system's.",
        ),
        ownersMayProbePrivate: Type.Boolean({
          default: false,
          description: 'For tests only: lets the services of owners reach the blocks of allowPrivate.',
        }),
      },
      'How services are checked.',
    ),
    heartbeats: section(
      {
        silence: duration('10m', 'A service that pushes heartbeats is down after this much silence.', 1_000),
      },
      'Services that report by themselves.',
    ),
    limits: section(
      {
        anonymousPerMinute: count(15, 'Requests a minute for each address without a key.', {
          reloadable: true,
        }),
        authenticatedPerMinute: count(60, 'Requests a minute for each key.', { reloadable: true }),
        domainsPerAccount: count(100, 'Domains that one account may register.'),
      },
      'What clients may ask for.',
    ),
    incidents: section(
      { feedInterval: duration('5m', "How often a vendor's status page is read.", 1_000) },
      "Vendors' status pages.",
    ),
    auth: section(
      {
        providers: list(
          Provider,
          [],
          'Sign-in: entries of {id, kind: oidc|github, issuer, clientId, clientSecret}.',
          { secret: true },
        ),
      },
      'Who may sign in.',
    ),
    storage: section(
      {
        dataDir: Type.String({
          minLength: 1,
          default: './data',
          description: 'Folder of the embedded stores.',
        }),
        rawRetention: duration('90d', 'How long single samples are kept.', 86_400_000),
        rollupRetention: duration('2y', 'How long their hourly and daily summaries are kept.', 86_400_000),
        redis: section(
          {
            url: optionalText(
              'redis://host:6379, rediss:// with TLS, redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379; null: the current status lives in the process.',
              {
                format: 'redis-url',
                secret: true,
              },
            ),
          },
          'Current status, limits and events for other processes (docs/redis.md).',
        ),
        influx: section(
          {
            url: optionalText('http:// or https:// address; null: samples live in dataDir.', {
              format: 'http-url',
            }),
            token: optionalText('Token; for v1 user:password.', { secret: true }),
            org: optionalText('Organisation (name or id), for v2; InfluxDB 2 needs it.'),
            bucket: optionalText('Bucket, or database for v1; null: upbeat.'),
            api: choice(['v2', 'v1'], 'v2', 'v2 for InfluxDB 1.8 and newer, v1 for 1.6 and 1.7.'),
          },
          'Time series outside the process.',
        ),
      },
      'Where data lives.',
    ),
    secrets: section(
      {
        key: optionalText(
          '32 bytes as 64 hexadecimal digits or base64; null: secret.key in storage.dataDir, made at the first start.',
          { format: 'secret-key', secret: true },
        ),
      },
      'Encrypts the secrets of webhooks in the database (docs/operating.md).',
    ),
    log: section(
      {
        level: choice(
          ['silent', 'error', 'warn', 'info', 'debug'],
          'info',
          'How much is said: silent, error, warn, info or debug.',
        ),
        format: choice(['auto', 'pretty', 'json'], 'auto', 'pretty on a terminal, json elsewhere.'),
      },
      'The log on standard output.',
    ),
  },
  'Upbeat',
);

/** The configuration as files write it, with every default filled in. */
export type ConfigText = Static<typeof CONFIG_SCHEMA>;
