/**
 * Queries and transactions over PostgreSQL: a pool of connections that read, and one that writes. Only one transaction
 * of all processes writes at a time, so that positions of feeds have no gaps and follow the order of the commits. What no feed
 * orders is written beside it.
 */
import type { Compilable, Kysely } from 'kysely';
import pg from 'pg';
import { BoundedMap } from '../../../async/bounded-map.ts';
import { errorCodeOf } from '../../../error.ts';
import type { Transactions } from '../group-commit.ts';
import type { Batch, Parameters, Queries, RegistryStore } from '../registry-store.ts';
import type { RegistrySchema } from '../schema.ts';
import { isSessionEnd, READ_ONLY } from './postgres-error.ts';

/** Runs queries: a connection or a pool. */
export interface Runner {
  query(query: pg.QueryConfig): Promise<pg.QueryResult>;
}

/** Maximum number of prepared statements of a connection; lists of varying length make new ones. */
const MAX_PREPARED = 200;

/** Maximum number of items whose statements are sent without waiting, so that the last response arrives before the write times out. */
const SENT_TOGETHER = 500;

const ESCAPE = '\u0010';
const UNESCAPED: Readonly<Record<string, string>> = { D: ESCAPE, N: '\0' };

/** Numbers are exact up to 2^53. Times in milliseconds, IDs and positions are far below. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.NUMERIC]: Number,
  [pg.types.builtins.TEXT]: fromText,
};
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: string) =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text'),
};

export function connectionSettings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'upbeat',
    connectionTimeoutMillis: 3_000,
    keepAlive: true,
    types: TYPES,
  };
}

/** Maximum time that a transaction waits for that of another process, milliseconds. */
const LOCK_TIMEOUT_MS = 5_000;
/** A process that is suspended inside a transaction blocks the others no longer than this, milliseconds. */
export const MAX_IDLE_IN_TRANSACTION_MS = 5_000;

/**
 * Sets the timeouts of a new session, before its first query, and switches JIT off, which takes longer than any statement of the
 * registry. They are no parameters of the connection, which PgBouncer would refuse. `maxIdleMs`: maximum pause within a
 * transaction, milliseconds; `maxStatementMs`: that of a statement, after which the server gives it up; 0: no limit.
 */
export async function setUpSession(
  client: pg.ClientBase,
  maxIdleMs = MAX_IDLE_IN_TRANSACTION_MS,
  maxStatementMs = 0,
): Promise<void> {
  await client.query(
    `SELECT set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', false),
       set_config('idle_in_transaction_session_timeout', '${maxIdleMs}', false), set_config('jit', 'off', false),
       set_config('statement_timeout', '${maxStatementMs}', false)`,
  );
}

/** Creates {@link Queries} over the current value of `runner`. `name`: of its prepared statements, unique on a connection. */
export function createPostgresQueries(runner: () => Runner, name = 'upbeat'): Queries {
  const prepared = new BoundedMap<string, pg.QueryConfig>(MAX_PREPARED);
  let made = 0;
  const send = <Row>(query: Compilable<Row>, form = {}): Promise<pg.QueryResult> => {
    const { sql, parameters } = query.compile();
    return sendText(sql, parameters.map(toValue), form);
  };
  const sendText = (sql: string, values: readonly unknown[], form = {}): Promise<pg.QueryResult> => {
    let config = prepared.get(sql);
    if (config === undefined) {
      made += 1;
      const text = numberParameters(sql);
      // Prepared statements stay in a connection until it ends, so only the first ones are prepared.
      config = made <= MAX_PREPARED ? { name: `${name}-${made}`, text } : { text };
      prepared.set(sql, config);
    }
    return runner().query({ ...config, ...form, values: [...values] });
  };
  const sendBatch = (batch: Batch<unknown>, lists: readonly Parameters[]): Promise<pg.QueryResult> =>
    sendText(
      compileBatch(batch),
      batch.types.map((type, index) => toArray(type, lists, index)),
    );
  const allEach = async <Row>(batch: Batch<Row>, lists: readonly Parameters[]): Promise<Row[][]> => {
    const found: Row[][] = lists.map(() => []);
    if (lists.length === 0) return found;
    const { rows } = await sendBatch(batch, lists);
    // Rows that are inserted come back in their order, without a number.
    for (const [index, { n = index + 1, ...row }] of rows.entries()) found[n - 1]?.push(row as Row);
    return found;
  };
  return {
    all: async <Row>(query: Compilable<Row>) => (await send(query)).rows as Row[],
    lists: async (query) => (await send(query, { rowMode: 'array' })).rows,
    first: async <Row>(query: Compilable<Row>) => (await send(query)).rows[0] as Row | undefined,
    run: async (query) => (await send(query)).rowCount ?? 0,
    firstEach: async <Row>(batch: Batch<Row>, lists: readonly Parameters[]) =>
      (await allEach(batch, lists)).map(([first]) => first),
    allEach,
    async runEach(batch, lists) {
      if (lists.length === 0) return [];
      const { rows } = await sendBatch(batch, lists);
      const changed = new Set(rows.map(({ n }) => n));
      return lists.map((_, index) => batch.sql.startsWith('INSERT') || changed.has(index + 1));
    },
  };
}

/** Creates a store without transactions, on any connection. `name` as for {@link createPostgresQueries}. */
export function createReadStore(
  kysely: Kysely<RegistrySchema>,
  readers: Runner,
  name?: string,
): RegistryStore {
  return {
    kysely,
    queries: createPostgresQueries(() => readers, name),
    nested: (work) => work(),
    each: (items, work) => Promise.all(items.map(work)),
  };
}

export interface WriteConnection {
  /** The connection, reopened if it was lost. Rejects with the driver's error. */
  open(): Promise<pg.Client>;
  /** Null: it is lost, or was never made. */
  readonly client: pg.Client | null;
  /** Closes the connection; the next transaction opens another one. */
  drop(): void;
}

/** Settings of {@link createWriteStore}. */
export interface WriteStoreOptions {
  readonly kysely: Kysely<RegistrySchema>;
  readonly connection: WriteConnection;
  /** Receives the position of the server's log after a commit, bytes. */
  readonly onCommitted: (position: number) => void;
  /** Sent with each commit to the other processes; they listen on {@link CHANNEL}. */
  readonly notice: string;
}

/** The channel on which other processes are notified of each commit. */
export const CHANNEL = 'upbeat';
/** One lock for each schema, so that registries in one database do not wait for each other. `UPBT` in ASCII. */
const LOCK_KEY = "x'55504254'::int, hashtext(current_schema())";
export const WRITE_LOCK = `SELECT pg_advisory_xact_lock(${LOCK_KEY})`;
/** The same without waiting: whether it was free. */
export const TRY_WRITE_LOCK = `SELECT pg_try_advisory_xact_lock(${LOCK_KEY})`;

/** Position up to which the write-ahead log is on the server's disk, bytes. */
const LOG_LENGTH = "SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') AS length";

/** Creates the store that writes, and its transactions. */
export function createWriteStore({ kysely, connection, onCommitted, notice }: WriteStoreOptions): {
  readonly store: RegistryStore;
  readonly transactions: Transactions;
} {
  /** The connection of the open transaction; null: there is none. */
  let writing: pg.Client | null = null;
  /** The server has refused a statement of this transaction because it is read-only. */
  let isReadOnly = false;
  const current = (): pg.Client => {
    if (writing === null || writing !== connection.client) throw new Error('Connection terminated');
    return writing;
  };
  const runner: Runner = {
    async query(query) {
      try {
        return await current().query(query);
      } catch (error) {
        isReadOnly ||= errorCodeOf(error) === READ_ONLY;
        throw error;
      }
    },
  };
  /** A session keeps the read-only mode with which it began, also when the server takes writes again. */
  const dropIfReadOnly = (): void => {
    if (isReadOnly) connection.drop();
    isReadOnly = false;
  };
  /** For statements whose failure is reported by the next one, since a connection runs them in order. */
  const sendAhead = (text: string): void => {
    current()
      .query(text)
      .catch(() => {});
  };

  const nested = async <T>(work: () => Promise<T>): Promise<T> => {
    sendAhead('SAVEPOINT one');
    try {
      const value = await work();
      sendAhead('RELEASE one');
      return value;
    } catch (error) {
      if (transactions.isOpen) await current().query('ROLLBACK TO one; RELEASE one');
      throw error;
    }
  };

  const transactions: Transactions = {
    async begin(first) {
      for (let attempt = 1; ; attempt++) {
        const client = await connection.open();
        writing = client;
        try {
          // Both are sent together; if BEGIN fails, its error comes first.
          const [, value] = await Promise.all([client.query(`BEGIN; ${WRITE_LOCK}`), first()]);
          return value;
        } catch (error) {
          // The session was ended since the last transaction, and this one has written nothing.
          if (attempt > 1 || !isSessionEnd(error)) throw error;
        }
      }
    },
    async commit() {
      const answer = await current().query<{ readonly length: number }>(
        `SELECT pg_notify('${CHANNEL}', '${notice}'); COMMIT; ${LOG_LENGTH}`,
      );
      writing = null;
      dropIfReadOnly();
      // The driver returns a list for several statements.
      const [last] = [answer].flat().at(-1)?.rows ?? [];
      if (last !== undefined) onCommitted(last.length);
    },
    async rollback() {
      const client = writing;
      writing = null;
      if (client !== null && client === connection.client) await client.query('ROLLBACK').catch(() => {});
      dropIfReadOnly();
    },
    nested,
    get isOpen() {
      return writing !== null && writing === connection.client;
    },
  };

  const store: RegistryStore = {
    kysely,
    queries: createPostgresQueries(() => runner),
    nested,
    /** The connection sends many statements without waiting for responses. */
    async each<Item, T>(items: readonly Item[], work: (item: Item) => Promise<T>) {
      const values: T[] = [];
      for (let at = 0; at < items.length; at += SENT_TOGETHER) {
        const results = await Promise.allSettled(items.slice(at, at + SENT_TOGETHER).map(work));
        for (const result of results) {
          if (result.status === 'rejected') throw result.reason;
          values.push(result.value);
        }
      }
      return values;
    },
  };
  return { store, transactions };
}

/** Statements of batches, whose texts do not depend on the number of lists. */
const COMPILED = new WeakMap<Batch<unknown>, string>();

/**
 * Converts a statement to one over all lists at once. `p1`, `p2` and so on are columns of arrays, and `n` numbers their rows from 1.
 */
function compileBatch(batch: Batch<unknown>): string {
  let compiled = COMPILED.get(batch);
  if (compiled === undefined) {
    const arrays = batch.types.map((type, index) => arrayOf(type, `$${index + 1}`));
    const columns = batch.types.map((_, index) => `p${index + 1}`);
    const source = `unnest(${arrays.join(', ')}) WITH ORDINALITY AS v(${columns.join(', ')}, n)`;
    let number = 0;
    const body = batch.sql.replaceAll('?', () => {
      number += 1;
      return `v.p${number}`;
    });
    compiled = overRows(body, source);
    COMPILED.set(batch, compiled);
  }
  return compiled;
}

/**
 * The elements of an array of texts are written one after the other, each after this mark. An array literal of PostgreSQL
 * would quote each of them, and escape every quotation mark of a JSON text. {@link toValue} leaves no such mark in a text.
 */
const ELEMENT = `${ESCAPE}S`;
/** Stands for null among them. */
const NULL_ELEMENT = `${ESCAPE}U`;

/** An array of PostgreSQL from a parameter that {@link toArray} made. */
function arrayOf(type: Batch<unknown>['types'][number], parameter: string): string {
  // Before the first mark is an empty text.
  return type === 'bigint'
    ? `${parameter}::bigint[]`
    : `(string_to_array(${parameter}, '${ELEMENT}', '${NULL_ELEMENT}'))[2:]`;
}

function toArray(type: Batch<unknown>['types'][number], lists: readonly Parameters[], index: number): string {
  return type === 'bigint'
    ? `{${lists.map((list) => list[index] ?? 'NULL').join(',')}}`
    : lists.map((list) => ELEMENT + (toValue(list[index] ?? null) ?? NULL_ELEMENT)).join('');
}

function overRows(body: string, source: string): string {
  // OFFSET keeps the planner, which knows nothing of the lists, from joining the whole table instead of using its index.
  if (body.startsWith('SELECT'))
    return `SELECT v.n, q.* FROM ${source} CROSS JOIN LATERAL (${body} OFFSET 0) AS q`;
  if (body.startsWith('UPDATE'))
    return `${body.replace(/\bWHERE\b/, () => `FROM ${source} WHERE`)} RETURNING v.n`;
  if (body.startsWith('DELETE'))
    return `${body.replace(/\bWHERE\b/, () => `USING ${source} WHERE`)} RETURNING v.n`;
  if (!/\bVALUES\b/.test(body)) return body.replace(/\bWHERE\b/, () => `FROM ${source} WHERE`);
  return body.replace(
    /\bVALUES \(([^)]*)\)/,
    (_, values: string) => `SELECT ${values} FROM ${source} WHERE true`,
  );
}

/** Replaces each `?` by `$1`, `$2` and so on. */
function numberParameters(sql: string): string {
  let number = 0;
  return sql.replaceAll('?', () => {
    number += 1;
    return `$${number}`;
  });
}

/** PostgreSQL cannot store NUL in a text. NUL, and DLE itself, are stored as escapes that begin with DLE. */
function toValue(value: unknown): unknown {
  return typeof value === 'string' && (value.includes(ESCAPE) || value.includes('\0'))
    ? value.replaceAll(ESCAPE, `${ESCAPE}D`).replaceAll('\0', `${ESCAPE}N`)
    : value;
}

function fromText(text: string): string {
  const [first = '', ...rest] = text.split(ESCAPE);
  return rest.length === 0
    ? first
    : first + rest.map((part) => (UNESCAPED[part.charAt(0)] ?? '') + part.slice(1)).join('');
}
