/** The configuration as the program uses it: durations in milliseconds, lists with the names of their units. */
import { parseDuration } from '../domain/durations.ts';
import { SETTINGS } from './environment.ts';
import type { ConfigText } from './schema.ts';

/** Sign-in provider. */
export type AuthProvider = ConfigText['auth']['providers'][number];

/** All settings, resolved. Blocks stay text: each part hands them to its own matcher. */
export interface Config {
  readonly http: {
    readonly host: string;
    readonly port: number;
    /** Without a slash at its end. */
    readonly siteUrl: string;
    readonly trustedProxies: readonly string[];
  };
  readonly catalogue: { readonly file: string };
  readonly checks: {
    readonly intervalMs: number;
    readonly timeoutMs: number;
    readonly slowOverMs: number;
    readonly confirmAfterMs: readonly number[];
    readonly firstSpreadMs: number;
    readonly threads: 'auto' | number;
    readonly concurrency: number;
    readonly controlTargets: readonly string[];
    readonly allowPrivate: readonly string[];
    readonly ports: readonly number[];
    readonly nameservers: readonly string[];
    readonly ownersMayProbePrivate: boolean;
  };
  readonly heartbeats: { readonly silenceMs: number };
  readonly limits: {
    readonly anonymousPerMinute: number;
    readonly authenticatedPerMinute: number;
    readonly domainsPerAccount: number;
  };
  readonly incidents: { readonly feedIntervalMs: number };
  readonly auth: { readonly providers: readonly AuthProvider[] };
  readonly storage: {
    readonly dataDir: string;
    readonly rawRetentionMs: number;
    readonly rollupRetentionMs: number;
    readonly redis: { readonly url: string | null };
    readonly influx: {
      readonly url: string | null;
      readonly token: string | null;
      readonly org: string | null;
      readonly bucket: string | null;
      readonly api: 'v1' | 'v2';
    };
  };
  readonly log: {
    readonly level: 'silent' | 'error' | 'warn' | 'info' | 'debug';
    readonly format: 'auto' | 'pretty' | 'json';
  };
}

/** Turns a checked configuration into the form that the program uses. */
export function resolveConfig({ http, checks, heartbeats, incidents, storage, ...rest }: ConfigText): Config {
  return {
    http: { ...http, siteUrl: http.siteUrl.replace(/\/+$/, '') },
    checks: {
      intervalMs: toMs(checks.interval),
      timeoutMs: toMs(checks.timeout),
      slowOverMs: toMs(checks.slowOver),
      confirmAfterMs: checks.confirmAfter.map(toMs),
      firstSpreadMs: toMs(checks.firstSpread),
      threads: checks.threads,
      concurrency: checks.concurrency,
      controlTargets: checks.controlTargets,
      allowPrivate: checks.allowPrivate,
      ports: checks.ports,
      nameservers: checks.nameservers,
      ownersMayProbePrivate: checks.ownersMayProbePrivate,
    },
    heartbeats: { silenceMs: toMs(heartbeats.silence) },
    incidents: { feedIntervalMs: toMs(incidents.feedInterval) },
    storage: {
      dataDir: storage.dataDir,
      rawRetentionMs: toMs(storage.rawRetention),
      rollupRetentionMs: toMs(storage.rollupRetention),
      redis: storage.redis,
      influx: storage.influx,
    },
    ...rest,
  };
}

function toMs(text: string): number {
  return parseDuration(text) ?? Number.NaN;
}

/** Settings whose values differ, by path, and whether a running program takes the new one. */
export interface ConfigChange {
  readonly path: string;
  readonly reloadable: boolean;
}

/** Compares two configurations, setting by setting. */
export function changedSettings(before: Config, after: Config): ConfigChange[] {
  const reloadable = new Set(
    SETTINGS.filter(({ schema }) => schema.reloadable === true).map(({ path }) => path.join('.')),
  );
  return compare(before, after, '').map((path) => ({ path, reloadable: reloadable.has(path) }));
}

function compare(before: unknown, after: unknown, path: string): string[] {
  const isGroup = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isGroup(before) || !isGroup(after))
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [path];
  const below = path === '' ? '' : `${path}.`;
  return Object.keys(after).flatMap((name) =>
    compare(before[name], after[name], below + name.replace(/Ms$/, '')),
  );
}
