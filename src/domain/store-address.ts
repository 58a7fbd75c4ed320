/** The addresses of a Redis installation and of a PostgreSQL database (operating, `storage`). */
import { percentDecoded } from './printable-text.ts';

/** A server by name or address. */
interface RedisNode {
  readonly host: string;
  readonly port: number;
}

export type RedisAddress = NonNullable<ReturnType<typeof readRedisAddress>>;

/** The prefix of every key if the address has none. */
const DEFAULT_REDIS_PREFIX = 'upbeat';

const SHAPE =
  /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^/?#@]*)@)?([^/?#@]+)((?:\/[^?#]*)?)(?:\?([^#]*))?$/;
const DEFAULT_PORTS = { single: 6379, sentinel: 26_379, cluster: 6379 } as const;
const PARAMETERS = ['prefix', 'sentinelUser', 'sentinelPassword'];

/**
 * Parses `redis://[user:password@]host[:port][/database]`, `redis+sentinel://host:port,host:port/name[/database]` and
 * `redis+cluster://host:port,host:port`; `rediss` for TLS; `?prefix=`, `?sentinelUser=` and `?sentinelPassword=`. Null: invalid.
 */
export function readRedisAddress(text: string) {
  const [whole, scheme, form, credentials = '', hosts = '', path = '', query = ''] = SHAPE.exec(text) ?? [];
  if (whole === undefined) return null;
  const kind = form === 'sentinel' || form === 'cluster' ? form : 'single';
  const nodes = hosts.split(',').map((host) => readNode(host, DEFAULT_PORTS[kind]));
  const decode = (part: string) => percentDecoded(part, null);
  const names = path.split('/').slice(1).map(decode);
  const masterName = kind === 'sentinel' ? (names.shift() ?? '') : null;
  const database = readDatabase(names);
  const colon = credentials.indexOf(':');
  const username = decode(colon === -1 ? credentials : credentials.slice(0, colon));
  const password = decode(colon === -1 ? '' : credentials.slice(colon + 1));
  const parameters = new URLSearchParams(query);
  const prefix = parameters.get('prefix') ?? DEFAULT_REDIS_PREFIX;
  const isWrong =
    nodes.includes(null) ||
    (kind === 'single' && nodes.length > 1) ||
    masterName === '' ||
    database === null ||
    (kind === 'cluster' && database !== 0) ||
    username === null ||
    password === null ||
    !/^[\w.:-]{1,64}$/.test(prefix) ||
    [...parameters.keys()].some((name) => !PARAMETERS.includes(name));
  if (isWrong) return null;
  return {
    /** `sentinel`: `nodes` are the Sentinels that know where `masterName` is. `cluster`: some nodes of the cluster. */
    kind,
    /** At least one; exactly one if `kind` is `single`. */
    nodes: nodes.filter((node) => node !== null),
    /** Null: not Sentinel. */
    masterName,
    tls: scheme === 'rediss',
    /** Null: the default user. */
    username: username === '' ? null : username,
    /** Null: none is required. */
    password: password === '' ? null : password,
    /** Null: the default user of the Sentinels. */
    sentinelUser: parameters.get('sentinelUser'),
    /** Password of the Sentinels; null: none is required. */
    sentinelPassword: parameters.get('sentinelPassword'),
    /** Number of the database; 0 if `kind` is `cluster`. */
    database,
    prefix,
  };
}

/** The address for people, without passwords. */
export function describeRedis({ kind, nodes, masterName }: RedisAddress): string {
  const list = nodes.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(', ');
  if (kind === 'sentinel') return `${masterName} by Sentinel at ${list}`;
  return kind === 'cluster' ? `the cluster at ${list}` : list;
}

function readNode(text: string, defaultPort: number): RedisNode | null {
  const [whole, ipv6, name, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const number = port === undefined ? defaultPort : Number(port);
  return whole === undefined || number < 1 || number > 65_535
    ? null
    : { host: ipv6 ?? name ?? '', port: number };
}

/** Parses the path after the name: nothing, or a whole number; null: something else. */
function readDatabase(names: readonly (string | null)[]): number | null {
  const [text = '', ...more] = names;
  if (text === '' && more.length === 0) return 0;
  return text !== null && more.length === 0 && /^\d{1,4}$/.test(text) ? Number(text) : null;
}

/** The address in `storage.redis.url`. Throws where it is not set, or has no known form. */
export function requireRedisAddress(url: string | null): RedisAddress {
  const address = url === null ? null : readRedisAddress(url);
  if (address === null) throw new Error('storage.redis.url is not set, or has no known form');
  return address;
}

// The address of a PostgreSQL database, `storage.postgres.url`, as settings and messages need it.

/** The address of a database, without the password. */
export interface PostgresAddress {
  /** The servers that may be the primary; usually one. */
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  /** Only the primary of {@link servers} is of use: there are several, or `target_session_attrs` says so. */
  readonly needsPrimary: boolean;
  readonly database: string;
  /** Empty: the name of the system's user. */
  readonly user: string;
}

const DEFAULT_PORT = 5432;
/** Up to the servers, the servers, and the rest. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s;
/** The values of `target_session_attrs`, as in libpq; `read-write` and `primary` mean the same here. */
const PRIMARY = new Set(['read-write', 'primary']);

/** `postgres://user:password@one:5432,two:5432/database` as a URL for each server; empty: it is none. */
export function urlsOfServers(text: string): string[] {
  const [, before = '', servers = '', after = ''] = PARTS.exec(text) ?? [];
  return before === '' ? [] : servers.split(',').map((server) => before + server + after);
}

/** The URL of another database on the same servers. */
export function urlOfDatabase(text: string, database: string): string {
  const [, before = '', servers = '', after = ''] = PARTS.exec(text) ?? [];
  return `${before}${servers}/${encodeURIComponent(database)}${after.replace(/^\/[^?#]*/, '')}`;
}

/**
 * Reads `postgres://user:password@host:5432/database`, in which several hosts stand between commas. Null: it is none,
 * has no host or no database, or `target_session_attrs` is neither `read-write` nor `primary`.
 */
export function readPostgresAddress(text: string): PostgresAddress | null {
  try {
    const urls = urlsOfServers(text).map((url) => new URL(url));
    const [first] = urls;
    if (first === undefined) return null;
    const servers = urls.map(({ hostname, port, searchParams }) => ({
      host: (decodeURIComponent(hostname) || searchParams.get('host') || '').replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? DEFAULT_PORT : Number(port),
    }));
    const database = decodeURIComponent(first.pathname.slice(1));
    const session = first.searchParams.get('target_session_attrs');
    if (servers.some(({ host }) => host === '') || database === '' || database.includes('/')) return null;
    if (session !== null && !PRIMARY.has(session)) return null;
    return {
      servers,
      needsPrimary: servers.length > 1 || session !== null,
      database,
      user: decodeURIComponent(first.username),
    };
  } catch {
    return null;
  }
}

/** `host:port/database`, with several servers between commas, for messages. */
export function describePostgres({ servers, database }: PostgresAddress): string {
  const hosts = servers.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`);
  return `${hosts.join(',')}/${database}`;
}
