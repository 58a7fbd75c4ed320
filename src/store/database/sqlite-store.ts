/** SQLite: queries and transactions over one connection, and Kysely's dialect over `node:sqlite`. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Compilable, DatabaseConnection, Dialect, Kysely } from 'kysely';
import { BoundedMap, getOrInsert } from '../../async/bounded-map.ts';
import { resultCodeOf } from '../sqlite/open-full.ts';
import type { Transactions } from './group-commit.ts';
import {
  type Batch,
  CompiledQuery,
  type Parameters,
  type Queries,
  type RegistryStore,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from './registry-store.ts';
import type { RegistrySchema } from './schema.ts';

/** The connection, which changes when the file is reopened. */
export interface SqliteConnection {
  readonly database: DatabaseSync;
  readonly kysely: Kysely<RegistrySchema>;
}

/** Settings of {@link createSqliteStore}. */
export interface SqliteStoreOptions {
  /** Monotonic time in milliseconds. */
  readonly monotonic: () => number;
  /** Maximum time that a transaction waits for the lock of another process, milliseconds. Reads continue meanwhile. */
  readonly busyTimeoutMs: () => number;
}

/** Pause between two attempts to get the lock, milliseconds. */
const LOCK_RETRY_MS = 5;
const SQLITE_BUSY = 5;
/** Maximum number of prepared statements; lists of varying length make new ones. */
const MAX_STATEMENTS = 200;

/**
 * Creates the store over the current connection, which `current` returns. The connection's own busy timeout should be
 * short, since the thread is blocked for that time.
 */
export function createSqliteStore(
  current: () => SqliteConnection,
  { monotonic, busyTimeoutMs }: SqliteStoreOptions,
) {
  const mutex = createMutex();
  let release = (): void => {};

  const nested = async <T>(work: () => Promise<T>): Promise<T> => {
    const { database } = current();
    database.exec('SAVEPOINT one');
    try {
      const value = await work();
      database.exec('RELEASE one');
      return value;
    } catch (error) {
      // A full disk or an I/O error has ended the transaction already.
      if (database.isTransaction) database.exec('ROLLBACK TO one; RELEASE one');
      throw error;
    }
  };

  const transactions: Transactions = {
    async begin(first) {
      const since = monotonic();
      for (;;) {
        const unlock = await mutex.lock();
        try {
          current().database.exec('BEGIN IMMEDIATE');
          release = unlock;
          break;
        } catch (error) {
          unlock();
          if (!isBusy(error) || monotonic() - since >= busyTimeoutMs()) throw error;
        }
        await sleep(LOCK_RETRY_MS);
      }
      return await first();
    },
    async commit() {
      current().database.exec('COMMIT');
      release();
    },
    async rollback() {
      const { database } = current();
      if (database.isTransaction) database.exec('ROLLBACK');
      release();
    },
    nested,
    get isOpen() {
      return current().database.isTransaction;
    },
  };

  const store: RegistryStore = {
    get kysely() {
      return current().kysely;
    },
    queries: createQueries(() => current().database),
    nested,
    async each(items, work) {
      const results: Awaited<ReturnType<typeof work>>[] = [];
      for (const item of items) results.push(await work(item));
      return results;
    },
  };
  return {
    store,
    transactions,
    /** Runs `work` between two transactions. */
    async read<T>(work: () => Promise<T>): Promise<T> {
      const unlock = await mutex.lock();
      try {
        return await work();
      } finally {
        unlock();
      }
    },
  };
}

/** Creates {@link Queries} over the database that `current` returns. They resolve within the same iteration of the event loop. */
export function createQueries(current: () => DatabaseSync): Queries {
  let database: DatabaseSync | null = null;
  let kept = new BoundedMap<string, StatementSync>(MAX_STATEMENTS);
  let keptLists = new BoundedMap<string, StatementSync>(MAX_STATEMENTS);
  const renew = (): void => {
    if (database === current()) return;
    database = current();
    kept = new BoundedMap(MAX_STATEMENTS);
    keptLists = new BoundedMap(MAX_STATEMENTS);
  };
  const prepare = (sql: string): StatementSync => {
    renew();
    return getOrInsert(kept, sql, () => current().prepare(sql));
  };
  const prepareLists = (sql: string): StatementSync => {
    renew();
    return getOrInsert(keptLists, sql, () => {
      const statement = current().prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    });
  };
  return {
    async all<Row>(query: Compilable<Row>) {
      const { sql, parameters } = query.compile();
      return prepare(sql).all(...toInputs(parameters)) as Row[];
    },
    async lists(query) {
      const { sql, parameters } = query.compile();
      return prepareLists(sql).all(...toInputs(parameters)) as unknown as unknown[][];
    },
    async first<Row>(query: Compilable<Row>) {
      const { sql, parameters } = query.compile();
      return prepare(sql).get(...toInputs(parameters)) as Row | undefined;
    },
    async run(query) {
      const { sql, parameters } = query.compile();
      return Number(prepare(sql).run(...toInputs(parameters)).changes);
    },
    async firstEach<Row>({ sql }: Batch<Row>, lists: readonly Parameters[]) {
      const statement = prepare(sql);
      return lists.map((list) => statement.get(...list) as Row | undefined);
    },
    async allEach<Row>({ sql }: Batch<Row>, lists: readonly Parameters[]) {
      const statement = prepare(sql);
      return lists.map((list) => statement.all(...list) as Row[]);
    },
    async runEach({ sql }, lists) {
      const statement = prepare(sql);
      return lists.map((list) => Number(statement.run(...list).changes) > 0);
    },
  };
}

function isBusy(error: unknown): boolean {
  return resultCodeOf(error)?.primary === SQLITE_BUSY;
}

/** The dialect over an open database. Transactions acquire the write lock when they begin. */
export function createSqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () =>
      new ImmediateDriver({
        database: {
          close: () => database.close(),
          prepare: (sql) => asKyselyStatement(database.prepare(sql)),
        },
      }),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** SQLite can roll back schema changes, which Kysely does not assume by default. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** If two processes open a new database at the same time, they migrate one after the other. */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

function asKyselyStatement(statement: StatementSync) {
  return {
    reader: statement.columns().length > 0,
    all: (parameters: readonly unknown[]) => statement.all(...toInputs(parameters)),
    run: (parameters: readonly unknown[]) => statement.run(...toInputs(parameters)),
    iterate: (parameters: readonly unknown[]) => statement.iterate(...toInputs(parameters)),
  };
}

/** Converts parameters for `node:sqlite`. Throws for values that SQLite has no type for. */
export function toInputs(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
      return value;
    if (ArrayBuffer.isView(value)) return value as Uint8Array;
    throw new TypeError(`SQLite takes no ${typeof value}`);
  });
}

function createMutex() {
  let last: Promise<void> = Promise.resolve();
  return {
    /** Waits for the lock and resolves with the function that releases it. Only its first call has an effect. */
    async lock(): Promise<() => void> {
      const before = last;
      let unlock = (): void => {};
      last = new Promise((resolve) => {
        unlock = resolve;
      });
      await before;
      return unlock;
    },
  };
}
