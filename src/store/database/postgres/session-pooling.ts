/**
 * Refuses a pooler that gives each transaction another session of PostgreSQL, such as PgBouncer with `pool_mode = transaction`:
 * `LISTEN`, prepared statements and settings of the session would be those of any client, or of none.
 */
import { describePostgres, type PostgresAddress } from '../../../domain/postgres-address.ts';
import { messageOf } from '../../../error.ts';
import { RegistryError } from '../registry-error.ts';
import { type Connection, connectTo } from './postgres-servers.ts';

/** A pooler lets a client wait for a session; that of a pool which is too small would wait for minutes, milliseconds. */
const SESSION_TIMEOUT_MS = 5_000;

const PID = 'SELECT pg_backend_pid() AS pid';

/** Throws `registry_unusable` if transactions of `connection` do not share a session. */
export async function requireSession(connection: Connection, target: PostgresAddress): Promise<void> {
  const pid = await pidOf(connection);
  // Without a pooler the server names its process when the connection begins.
  if ('processID' in connection.client && connection.client.processID === pid) return;
  if (!(await isShared(connection, pid))) return;
  throw new RegistryError(
    'registry_unusable',
    `The pooler at ${describePostgres(target)} gives each transaction another session, in which LISTEN and prepared statements of Upbeat do not last. Set pool_mode = session for this database in pgbouncer.ini, or name the server itself in storage.postgres.url.`,
  );
}

/** Returns true if another client gets the session of `connection` between its transactions. */
async function isShared(connection: Connection, pid: number): Promise<boolean> {
  const other = await connectTo(connection.url, { query_timeout: SESSION_TIMEOUT_MS }).catch(() => null);
  // The server may have reached its limit of connections.
  if (other === null) return false;
  try {
    await other.client.query('BEGIN');
    if ((await pidOf(other)) === pid) return true;
    return (await pidOf(connection)) !== pid;
  } catch (error) {
    if (/statement pooling/.test(messageOf(error))) return true;
    throw error;
  } finally {
    other.destroy();
  }
}

async function pidOf({ client }: Connection): Promise<number> {
  const { rows } = await client.query<{ readonly pid: number }>(PID);
  return rows[0]?.pid ?? 0;
}
