/** The address of a PostgreSQL database, `storage.postgres.url`, as settings and messages need it. */

/** Where a database is, without the password. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** Empty: the name of the system's user. */
  readonly user: string;
}

const DEFAULT_PORT = 5432;

/** Reads `postgres://user:password@host:5432/database`; null: it is none, or has no host or no database. */
export function readPostgresAddress(text: string): PostgresAddress | null {
  try {
    const { protocol, hostname, port, pathname, username, searchParams } = new URL(text);
    if (protocol !== 'postgres:' && protocol !== 'postgresql:') return null;
    const host = decodeURIComponent(hostname) || searchParams.get('host') || '';
    const database = decodeURIComponent(pathname.slice(1));
    if (host === '' || database === '' || database.includes('/')) return null;
    return {
      host: host.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? DEFAULT_PORT : Number(port),
      database,
      user: decodeURIComponent(username),
    };
  } catch {
    return null;
  }
}

/** `host:port/database`, for messages. */
export function describePostgres({ host, port, database }: PostgresAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}
