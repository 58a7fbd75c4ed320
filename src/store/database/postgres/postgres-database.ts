/**
 * Opens the registry in a PostgreSQL database: migrates its tables, and refuses a database of another program or a
 * newer version.
 */
import pg from 'pg';
import {
  describePostgres,
  type PostgresAddress,
  readPostgresAddress,
} from '../../../domain/postgres-address.ts';
import { POSTGRES_STEPS } from '../migrations.ts';
import { RegistryError } from '../registry-error.ts';
import { Kysely, PostgresDialect } from '../registry-store.ts';
import type { RegistrySchema } from '../schema.ts';
import { createDatabase, explainPostgresError } from './postgres-error.ts';
import { findPrimary } from './postgres-servers.ts';
import { connectionSettings, setUpSession } from './postgres-store.ts';
import { requireSession } from './session-pooling.ts';

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
