/** The address of a PostgreSQL database, `storage.postgres.url`, as settings and messages need it. */

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
