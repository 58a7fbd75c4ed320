/** Examines PostgreSQL for `upbeat doctor`, and sets it up for `doctor --setup`. */
import type pg from 'pg';
import type { Clock } from '../../../clock.ts';
import { describePostgres, type PostgresAddress, urlOfDatabase } from '../../../domain/store-address.ts';
import { errorCodeOf } from '../../../error.ts';
import { POSTGRES_STEPS } from '../migrations.ts';
import { addressOf, openPostgresDatabase, requireSession } from './postgres-database.ts';
import { createDatabase, explainPostgresError } from './postgres-error.ts';
import { type Connection, findPrimary } from './postgres-servers.ts';

/** A finding; `advice` is null if nothing needs to be fixed. */
export interface PostgresFinding {
  /** The examined part; empty: the server as a whole. */
  readonly what: string;
  readonly found: string;
  readonly advice: string | null;
}

export interface SetUpStep extends PostgresFinding {
  /** True: it was created just now. */
  readonly made: boolean;
}

const MAINTENANCE_DATABASE = 'postgres';

/** Number of connections of one process (docs/cluster.md). */
const CONNECTIONS = 5;

/** From this age on a transaction holds up the removal of old rows, seconds. */
const LONG_TRANSACTION_S = 300;

const LOOK = `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
  current_setting('synchronous_commit') AS commit, current_setting('synchronous_standby_names') AS names,
  current_setting('default_transaction_read_only') AS readonly, current_setting('data_checksums') AS checksums, pg_is_in_recovery() AS standby,
  (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS tls,
  current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint AS most,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
  oldest.pid, coalesce(oldest.seconds, 0) AS seconds
  FROM (SELECT) AS one LEFT JOIN (
    SELECT pid, extract(epoch FROM clock_timestamp() - xact_start)::bigint AS seconds FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND xact_start IS NOT NULL
    ORDER BY xact_start LIMIT 1) AS oldest ON true`;

interface Look {
  readonly version: string;
  readonly fsync: string;
  readonly commit: string;
  readonly names: string;
  readonly readonly: string;
  readonly checksums: string;
  readonly standby: boolean;
  readonly tls: boolean | null;
  readonly most: number;
  readonly used: number;
  /** The process of the oldest transaction that its user may see; null: none. */
  readonly pid: number | null;
  /** Its age. */
  readonly seconds: number;
}

/**
 * Queries the version and role of the server, whether confirmed commits are on its disk and on its standbys, and how
 * many connections are left.
 */
export async function examinePostgres(url: string, clock: Clock): Promise<PostgresFinding[]> {
  const address = addressOf(url);
  const where = describePostgres(address);
  try {
    return await withConnection(url, async (connection) => {
      const { client } = connection;
      await requireSession(connection, address);
      const startedMs = clock.monotonic();
      const { rows } = await client.query<Look>(LOOK);
      const tookMs = clock.monotonic() - startedMs;
      const [look] = rows;
      if (look === undefined) throw new Error('the server returned no row');
      const { version, tls } = look;
      const found = `PostgreSQL ${version.split(' ')[0]} at ${where} answers in ${tookMs.toFixed(1)} ms, ${tls === true ? 'over TLS' : 'without TLS'}`;
      return [
        { what: '', found: look.standby ? `${found}; it is a standby` : found, advice: adviseOn(look) },
        { what: 'fail-over', found: describeFailOver(look, address.servers.length), advice: null },
        describeConnections(look),
        describeTransactions(look),
        { what: 'checksums', found: describeChecksums(look), advice: null },
      ];
    });
  } catch (error) {
    const advice = explainPostgresError(error, address).message;
    return [{ what: '', found: `${where} cannot be used`, advice }];
  }
}

function adviseOn({ standby, readonly, fsync, commit }: Look): string | null {
  if (standby) return 'promote it, or name the primary';
  if (readonly === 'on') return 'set default_transaction_read_only = off: nothing can be written';
  const loose = fsync === 'off' ? 'fsync' : commit === 'off' ? 'synchronous_commit' : null;
  return loose === null ? null : `set ${loose} = on: a power cut loses what was confirmed to clients`;
}

/** The loss of a failover, by the settings of the primary (PostgreSQL, 27.2.8). */
function describeFailOver({ names, commit }: Look, servers: number): string {
  const several = servers === 1 ? 'one server is named' : `the primary of ${servers} servers is used`;
  const isSynchronous = names !== '' && ['on', 'remote_write', 'remote_apply'].includes(commit);
  return isSynchronous
    ? `${several}; commits wait for ${names}: a fail-over to it loses nothing`
    : `${several}; commits wait for no standby: a fail-over to one loses what it had not copied yet, also of what was confirmed`;
}

function describeChecksums({ checksums }: Look): string {
  return checksums === 'on'
    ? 'damage of the files is noticed'
    : 'data_checksums is off: changed bytes in the files are read as data; "pg_checksums --enable" while it is stopped';
}

function describeConnections({ most, used }: Look): PostgresFinding {
  const advice = most - used < CONNECTIONS ? `raise max_connections: a process uses ${CONNECTIONS}` : null;
  return { what: 'connections', found: `${used} of ${most} are in use`, advice };
}

function describeTransactions({ pid, seconds }: Look): PostgresFinding {
  const isLong = pid !== null && seconds >= LONG_TRANSACTION_S;
  return {
    what: 'transactions',
    found: isLong ? `that of process ${pid} is ${Math.floor(seconds / 60)} min old` : 'none is long',
    advice: isLong
      ? `end it, such as by SELECT pg_terminate_backend(${pid}): old versions of rows are kept for it, and every statement reads them`
      : null,
  };
}

/** Creates the database and the tables if they are missing. Never changes existing ones. */
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

/** True: it was created; false: it exists. */
async function makeDatabase(url: string, address: PostgresAddress): Promise<boolean> {
  try {
    await withClient(url, async () => {});
    return false;
  } catch (error) {
    if (errorCodeOf(error) !== '3D000') throw error;
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

function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withConnection(url, ({ client }) => work(client));
}

async function withConnection<T>(url: string, work: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await findPrimary(url, addressOf(url));
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}
