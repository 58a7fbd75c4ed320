/** Opens the registry in a PostgreSQL database: migrates its tables, and refuses a database of another program or a newer version. */
import pg from 'pg';
import {
  describePostgres,
  type PostgresAddress,
  readPostgresAddress,
} from '../../../domain/store-address.ts';
import { messageOf } from '../../../error.ts';
import { POSTGRES_STEPS } from '../migrations.ts';
import { RegistryError } from '../registry-error.ts';
import { Kysely, PostgresDialect } from '../registry-store.ts';
import type { RegistrySchema } from '../schema.ts';
import { createDatabase, explainPostgresError } from './postgres-error.ts';
import { type Connection, connectTo, findPrimary } from './postgres-servers.ts';
import { connectionSettings, setUpSession } from './postgres-store.ts';

/** PostgreSQL 13, as `server_version_num` says it. */
const MIN_VERSION = 130_000;

/** Parses `url`. Throws `registry_unusable` if it is not the URL of a database. */
export function addressOf(url: string): PostgresAddress {
  const address = readPostgresAddress(url);
  if (address === null)
    throw new RegistryError(
      'registry_unusable',
      'The URL of PostgreSQL cannot be read. Write it as postgres://user:password@host:5432/database, with characters such as @ and / percent-encoded in the password.',
    );
  return address;
}

/**
 * Creates or migrates the tables. Resolves with a query builder for PostgreSQL, which does not run queries. Throws a
 * RegistryError with a code of RegistryFaultCode.
 */
export async function openPostgresDatabase(url: string): Promise<Kysely<RegistrySchema>> {
  const target = addressOf(url);
  let pool: pg.Pool | null = null;
  try {
    const primary = await findPrimary(url, target);
    await requireSession(primary, target).finally(primary.end);
    // The migrator needs a pool. It runs once, so its speed does not matter.
    pool = new pg.Pool({ ...connectionSettings(primary.url), max: 1, onConnect: setUpSession });
    // The query of a lost connection fails, so the event needs no handling.
    pool.on('error', () => {});
    await checkServer(pool, target);
    const done = await executedMigrations(pool, target);
    const kysely = new Kysely<RegistrySchema>({ dialect: new PostgresDialect({ pool }) });
    const place = `The registry in ${describePostgres(target)}`;
    await POSTGRES_STEPS.migrate(kysely, done, place, 'restore the database');
    return new Kysely<RegistrySchema>({ dialect: new PostgresDialect({ pool: refusePool }) });
  } catch (error) {
    throw explainPostgresError(error, target);
  } finally {
    await pool?.end();
  }
}

/** A query builder has no connections. */
async function refusePool(): Promise<never> {
  throw new Error('queries of the registry run over its link');
}

async function checkServer(pool: pg.Pool, target: PostgresAddress): Promise<void> {
  const { rows } = await pool.query<{ version: string; encoding: string; schema: string | null }>(
    `SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding,
       current_schema() AS schema`,
  );
  const { version = '0', encoding = '', schema = null } = rows[0] ?? {};
  const where = describePostgres(target);
  if (Number(version) < MIN_VERSION)
    throw new RegistryError(
      'registry_unusable',
      `PostgreSQL at ${where} is version ${Math.floor(Number(version) / 10_000)}. Upbeat needs 13 or newer.`,
    );
  if (encoding !== 'UTF8')
    throw new RegistryError(
      'registry_unusable',
      `The database ${where} has the encoding ${encoding}, which cannot hold every name. Make it with ${createDatabase(target)}; its locale does not matter.`,
    );
  if (schema === null)
    throw new RegistryError(
      'registry_unusable',
      `The user ${target.user} has no schema in ${where}. Make one, such as with CREATE SCHEMA AUTHORIZATION "${target.user}".`,
    );
}

async function executedMigrations(pool: pg.Pool, target: PostgresAddress): Promise<string[]> {
  const { rows } = await pool.query<{ table_name: string }>(
    "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'",
  );
  const tables = rows.map((row) => row.table_name);
  if (!tables.includes('kysely_migration')) {
    if (tables.length === 0) return [];
    throw new RegistryError(
      'registry_foreign',
      `The database ${describePostgres(target)} holds tables of another program (${tables.slice(0, 3).join(', ')}). Give Upbeat a database of its own in storage.postgres.url.`,
    );
  }
  const executed = await pool.query<{ name: string }>('SELECT name FROM kysely_migration ORDER BY name');
  return executed.rows.map(({ name }) => name);
}

// Refuses a pooler that gives each transaction another session of PostgreSQL, such as PgBouncer with `pool_mode = transaction`:
// `LISTEN`, prepared statements and settings of the session would be those of any client, or of none.

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
