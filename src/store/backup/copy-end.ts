/** PostgreSQL as one side of a copy of the registry. */
import { describePostgres } from '../../domain/store-address.ts';
import { errorCodeOf } from '../../error.ts';
import { POSTGRES_STEPS } from '../database/migrations.ts';
import { addressOf, openPostgresDatabase } from '../database/postgres/postgres-database.ts';
import { explainPostgresError } from '../database/postgres/postgres-error.ts';
import { findPrimary } from '../database/postgres/postgres-servers.ts';
import { createPostgresQueries, WRITE_LOCK } from '../database/postgres/postgres-store.ts';
import { statement } from '../database/registry-store.ts';
import { type CopyEnd, refuseOtherVersion } from './copy-registry.ts';

const COLUMNS = statement<{ readonly name: string }>(
  'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ?',
);
/** Tables whose IDs come from a sequence. */
const NUMBERED = statement<{ readonly name: string; readonly sequence: string }>(
  `SELECT table_name AS name, pg_get_serial_sequence(quote_ident(table_name), column_name) AS sequence
   FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES'`,
);
const SET_NUMBER = statement('SELECT setval(CAST(? AS text)::regclass, ?)');

/** Opens a registry for reading one snapshot. Throws if there is none, or if its version differs. */
export async function openPostgresSource(url: string): Promise<CopyEnd> {
  return await openEnd(url, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
}

/** Opens or creates a registry for writing, as the only writer. */
export async function openPostgresTarget(url: string): Promise<CopyEnd> {
  await openPostgresDatabase(url);
  return await openEnd(url, `BEGIN; ${WRITE_LOCK}`);
}

async function openEnd(url: string, begin: string): Promise<CopyEnd> {
  const address = addressOf(url);
  const place = describePostgres(address);
  const connection = await findPrimary(url, address, {
    settings: { maxIdleInTransactionMs: 0 },
  }).catch((error: unknown) => {
    throw explainPostgresError(error, address);
  });
  const { client } = connection;
  const queries = createPostgresQueries(() => client);
  try {
    await client.query(begin);
    await refuseOtherVersion({ queries, place }, POSTGRES_STEPS);
  } catch (error) {
    await connection.end();
    const isMissing = errorCodeOf(error) === '42P01';
    throw isMissing ? new Error(`There is no registry in ${place}.`) : explainPostgresError(error, address);
  }
  return {
    place,
    queries,
    async columnsOf(table) {
      return (await queries.all(COLUMNS(table))).map(({ name }) => name);
    },
    async readNumbers() {
      const numbers = new Map<string, number>();
      for (const { name, sequence } of await queries.all(NUMBERED())) {
        const read = statement<{ value: number }>(
          `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS value FROM ${sequence}`,
        );
        const number = (await queries.first(read()))?.value ?? 0;
        if (number > 0) numbers.set(name, number);
      }
      return numbers;
    },
    async writeNumbers(numbers) {
      for (const { name, sequence } of await queries.all(NUMBERED())) {
        const number = numbers.get(name) ?? 0;
        if (number > 0) await queries.all(SET_NUMBER(sequence, number));
      }
    },
    async commit() {
      await client.query('COMMIT');
    },
    close: connection.end,
  };
}
