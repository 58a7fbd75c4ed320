/**
 * Queries and transactions over PostgreSQL: a pool of connections that read, and one that writes. One transaction writes
 * at a time, over all processes: positions of feeds are then without gaps and in the order of the commits.
 */
import type { Compilable, Kysely } from 'kysely';
import pg from 'pg';
import { BoundedMap } from '../../../async/bounded-map.ts';
import type { Transactions } from '../group-commit.ts';
import {
  type Batch,
  type Parameters,
  type Queries,
  type RegistryStore,
  statement,
} from '../registry-store.ts';
import type { RegistrySchema } from '../schema.ts';
import { isSessionEnd } from './postgres-error.ts';

/** What runs a query: a connection, or a pool of them. */
export interface Runner {
  query(query: pg.QueryConfig): Promise<pg.QueryResult>;
}

/** Maximum number of prepared statements of a connection; lists of varying length make new ones. */
const MAX_PREPARED = 200;

/** Items whose statements are sent without waiting: the last one must be answered before a write counts as lost. */
const SENT_TOGETHER = 500;

const ESCAPE = '\u0010';
const UNESCAPED: Readonly<Record<string, string>> = { D: ESCAPE, N: '\0' };

/** Numbers are exact up to 2^53: times are milliseconds, ids and positions far below. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.NUMERIC]: Number,
  [pg.types.builtins.TEXT]: fromText,
};
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: string) =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text'),
};

/** The settings of every connection. `lock_timeout`: how long a transaction waits for the one of another process. */
export function connectionSettings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'upbeat',
    connectionTimeoutMillis: 3_000,
    keepAlive: true,
    lock_timeout: 5_000,
    // A process that stops inside a transaction holds up the others no longer than this.
    idle_in_transaction_session_timeout: 5_000,
    types: TYPES,
  };
}

/** Makes {@link Queries} over what `runner` returns at the time. */
export function createPostgresQueries(runner: () => Runner): Queries {
  const prepared = new BoundedMap<string, pg.QueryConfig>(MAX_PREPARED);
  let made = 0;
  const send = <Row>(query: Compilable<Row>): Promise<pg.QueryResult> => {
    const { sql, parameters } = query.compile();
    let config = prepared.get(sql);
    if (config === undefined) {
      made += 1;
      const text = numberParameters(sql);
      // A connection keeps what it has prepared until it ends: after the first ones, the rest is sent as it is.
      config = made <= MAX_PREPARED ? { name: `upbeat-${made}`, text } : { text };
      prepared.set(sql, config);
    }
    return runner().query({ ...config, values: parameters.map(toValue) });
  };
  return {
    all: async <Row>(query: Compilable<Row>) => (await send(query)).rows as Row[],
    first: async <Row>(query: Compilable<Row>) => (await send(query)).rows[0] as Row | undefined,
    run: async (query) => (await send(query)).rowCount ?? 0,
    async firstEach<Row>(batch: Batch<Row>, lists: readonly Parameters[]) {
      if (lists.length === 0) return [];
      const { rows } = await send(compileBatch(batch, lists));
      const found = new Map<number, Row>();
      for (const { n, ...row } of rows) if (!found.has(n)) found.set(n, row as Row);
      return lists.map((_, index) => found.get(index + 1));
    },
    async runEach(batch, lists) {
      if (lists.length === 0) return [];
      const { rows } = await send(compileBatch(batch, lists));
      const changed = new Set(rows.map(({ n }) => n));
      return lists.map((_, index) => batch.sql.startsWith('INSERT') || changed.has(index + 1));
    },
  };
}

/** A store that reads, on any connection. */
export function createReadStore(kysely: Kysely<RegistrySchema>, readers: Runner): RegistryStore {
  return {
    kysely,
    queries: createPostgresQueries(() => readers),
    nested: (work) => work(),
    each: (items, work) => Promise.all(items.map(work)),
  };
}

/** The one connection that writes. */
export interface WriteConnection {
  /** The connection, made anew where it was lost. Rejects with the driver's error. */
  open(): Promise<pg.Client>;
  /** Null: it is lost, or was never made. */
  readonly client: pg.Client | null;
}

/** Settings of {@link createWriteStore}. */
export interface WriteStoreOptions {
  readonly kysely: Kysely<RegistrySchema>;
  readonly connection: WriteConnection;
  /** Receives how long the server's log was after a commit, bytes. */
  readonly onCommitted: (position: number) => void;
  /** Sent with each commit to the other processes; they listen on {@link CHANNEL}. */
  readonly notice: string;
}

/** The channel on which other processes are notified of each commit. */
export const CHANNEL = 'upbeat';
/** One lock for each schema: registries of one database do not wait for each other. `UPBT` in ASCII. */
export const WRITE_LOCK = "SELECT pg_advisory_xact_lock(x'55504254'::int, hashtext(current_schema()))";

/** How much of the write-ahead log is on the server's disk, bytes. */
const LOG_LENGTH = "SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') AS length";

/** Makes the store that writes, and its transactions. */
export function createWriteStore({ kysely, connection, onCommitted, notice }: WriteStoreOptions): {
  readonly store: RegistryStore;
  readonly transactions: Transactions;
} {
  /** The connection of the open transaction; null: none is open. */
  let writing: pg.Client | null = null;
  const current = (): pg.Client => {
    if (writing === null || writing !== connection.client) throw new Error('Connection terminated');
    return writing;
  };
  /** For statements whose failure shows in the next one: the connection runs them in their order. */
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
          // Sent together: where the beginning fails, its error comes first.
          const [, value] = await Promise.all([client.query(`BEGIN; ${WRITE_LOCK}`), first()]);
          return value;
        } catch (error) {
          // A session that was ended since the last transaction; nothing was written in this one.
          if (attempt > 1 || !isSessionEnd(error)) throw error;
        }
      }
    },
    async commit() {
      const answer = await current().query<{ readonly length: number }>(
        `SELECT pg_notify('${CHANNEL}', '${notice}'); COMMIT; ${LOG_LENGTH}`,
      );
      writing = null;
      // Of several statements, the driver returns a list.
      const [last] = [answer].flat().at(-1)?.rows ?? [];
      if (last !== undefined) onCommitted(last.length);
    },
    async rollback() {
      const client = writing;
      writing = null;
      if (client !== null && client === connection.client) await client.query('ROLLBACK').catch(() => {});
    },
    nested,
    get isOpen() {
      return writing !== null && writing === connection.client;
    },
  };

  const store: RegistryStore = {
    kysely,
    queries: createPostgresQueries(current),
    nested,
    /** Many at once: the connection sends them without waiting for answers. */
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

/** The statements of batches: their texts are the same for any number of lists. */
const COMPILED = new WeakMap<Batch<unknown>, ReturnType<typeof statement>>();

/** A statement over all lists at once: `p1`, `p2` and so on are columns of arrays, and `n` counts their rows from 1. */
function compileBatch(batch: Batch<unknown>, lists: readonly Parameters[]) {
  let compiled = COMPILED.get(batch);
  if (compiled === undefined) {
    const arrays = batch.types.map((type, index) => `$${index + 1}::${type}[]`);
    const columns = batch.types.map((_, index) => `p${index + 1}`);
    const source = `unnest(${arrays.join(', ')}) WITH ORDINALITY AS v(${columns.join(', ')}, n)`;
    let number = 0;
    const body = batch.sql.replaceAll('?', () => {
      number += 1;
      return `v.p${number}`;
    });
    compiled = statement(overRows(body, source));
    COMPILED.set(batch, compiled);
  }
  return compiled(...batch.types.map((_, index) => lists.map((list) => toValue(list[index]))));
}

function overRows(body: string, source: string): string {
  if (body.startsWith('SELECT')) return `SELECT v.n, q.* FROM ${source} CROSS JOIN LATERAL (${body}) AS q`;
  if (body.startsWith('UPDATE'))
    return `${body.replace(/\bWHERE\b/, () => `FROM ${source} WHERE`)} RETURNING v.n`;
  return body.replace(
    /\bVALUES \(([^)]*)\)/,
    (_, values: string) => `SELECT ${values} FROM ${source} WHERE true`,
  );
}

/** `?` as `$1`, `$2` and so on. */
function numberParameters(sql: string): string {
  let number = 0;
  return sql.replaceAll('?', () => {
    number += 1;
    return `$${number}`;
  });
}

/** PostgreSQL stores no NUL in a text: an escape of our own, which begins with DLE, stands for it and for DLE itself. */
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
