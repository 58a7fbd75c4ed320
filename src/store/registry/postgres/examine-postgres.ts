/** A look at PostgreSQL for `upbeat doctor`, and what `doctor --setup` makes in it. */
import type pg from 'pg';
import type { Clock } from '../../../clock.ts';
import { describePostgres, type PostgresAddress, urlOfDatabase } from '../../../domain/postgres-address.ts';
import { addressOf, openPostgresDatabase, POSTGRES_STEPS } from './postgres-database.ts';
import { createDatabase, explainPostgresError } from './postgres-error.ts';
import { findPrimary } from './postgres-servers.ts';

/** A finding; `advice` is null if nothing needs to be fixed. */
export interface PostgresFinding {
  readonly found: string;
  readonly advice: string | null;
}

/** A step of the set-up. */
export interface SetUpStep extends PostgresFinding {
  readonly what: string;
  /** True: it was made just now. */
  readonly made: boolean;
}

/** The database that every server has. */
const MAINTENANCE_DATABASE = 'postgres';

/** Asks the server who it is, and whether what it has confirmed is on its disk. */
export async function examinePostgres(
  url: string,
  clock: Pick<Clock, 'monotonic'>,
): Promise<PostgresFinding> {
  const address = addressOf(url);
  const where = describePostgres(address);
  try {
    return await withClient(url, async (client) => {
      const startedMs = clock.monotonic();
      const { rows } = await client.query<{
        version: string;
        fsync: string;
        commit: string;
        standby: boolean;
      }>(
        `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
           current_setting('synchronous_commit') AS commit, pg_is_in_recovery() AS standby`,
      );
      const { version = '', fsync = '', commit = '', standby = false } = rows[0] ?? {};
      const tookMs = clock.monotonic() - startedMs;
      const found = `PostgreSQL ${version.split(' ')[0]} at ${where} answers in ${tookMs.toFixed(1)} ms`;
      if (standby) return { found: `${found}; it is a standby`, advice: 'promote it, or name the primary' };
      const loose = fsync === 'off' ? 'fsync' : commit === 'off' ? 'synchronous_commit' : null;
      return {
        found,
        advice: loose === null ? null : `set ${loose} = on: a power cut loses what was confirmed to clients`,
      };
    });
  } catch (error) {
    return { found: `${where} cannot be used`, advice: explainPostgresError(error, address).message };
  }
}

/** Makes the database and the tables, where they are missing; changes nothing that is there. */
export async function setUpPostgres(url: string): Promise<SetUpStep[]> {
  const address = addressOf(url);
  const where = describePostgres(address);
  const steps: SetUpStep[] = [];
  try {
    const isNew = await makeDatabase(url, address);
    steps.push({ what: 'database', found: `${where}${isNew ? '' : ' is there'}`, advice: null, made: isNew });
    const before = isNew ? 0 : await countTables(url);
    await openPostgresDatabase(url);
    const found = `${POSTGRES_STEPS.names.length} of ${POSTGRES_STEPS.names.length} steps are done`;
    steps.push({ what: 'tables', found, advice: null, made: before === 0 });
  } catch (error) {
    const { message } = explainPostgresError(error, address);
    steps.push({ what: 'set-up', found: `${where} is not ready`, advice: message, made: false });
  }
  return steps;
}

/** True: it was made; false: it is there. */
async function makeDatabase(url: string, address: PostgresAddress): Promise<boolean> {
  try {
    await withClient(url, async () => {});
    return false;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === '3D000')) throw error;
  }
  const other = urlOfDatabase(url, MAINTENANCE_DATABASE);
  await withClient(other, (client) => client.query(createDatabase(address)));
  return true;
}

function countTables(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rowCount } = await client.query(
      'SELECT FROM information_schema.tables WHERE table_schema = current_schema()',
    );
    return rowCount ?? 0;
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const connection = await findPrimary(url, addressOf(url));
  try {
    return await work(connection.client);
  } finally {
    await connection.end();
  }
}
