/** Kysely over `node:sqlite`: its SQLite dialect for migrations, and its query builder run synchronously. */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Compilable, DatabaseConnection, Dialect } from 'kysely';
import { BoundedMap } from '../../async/bounded-map.ts';
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from './kysely.ts';

/** The dialect over an open database. Transactions take the write lock at their beginning. */
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

/** Runs built queries at once, so that a whole group of them fits into one synchronous transaction. */
export interface Queries {
  /** All rows. */
  all<Row>(query: Compilable<Row>): Row[];
  /** The first row; undefined: none. */
  first<Row>(query: Compilable<Row>): Row | undefined;
  /** Runs a query for its effect; returns the number of rows changed. */
  run(query: Compilable<unknown>): number;
}

/** Statements kept prepared, by their SQL. Lists of varying length make new texts, hence the bound. */
const KEPT_STATEMENTS = 200;

/** Makes {@link Queries} over an open database. */
export function createQueries(database: DatabaseSync): Queries {
  const kept = new BoundedMap<string, StatementSync>(KEPT_STATEMENTS);
  const prepare = (sql: string): StatementSync => {
    const found = kept.get(sql);
    if (found !== undefined) return found;
    const statement = database.prepare(sql);
    kept.set(sql, statement);
    return statement;
  };
  return {
    all<Row>(query: Compilable<Row>) {
      const { sql, parameters } = query.compile();
      return prepare(sql).all(...toInputs(parameters)) as Row[];
    },
    first<Row>(query: Compilable<Row>) {
      const { sql, parameters } = query.compile();
      return prepare(sql).get(...toInputs(parameters)) as Row | undefined;
    },
    run(query) {
      const { sql, parameters } = query.compile();
      return Number(prepare(sql).run(...toInputs(parameters)).changes);
    },
  };
}

/** SQLite rolls back changes of tables like any others, which Kysely does not rely on by itself. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** Two processes that open a new database together migrate one after the other, not into each other. */
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

function toInputs(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
      return value;
    if (ArrayBuffer.isView(value)) return value as Uint8Array;
    throw new TypeError(`SQLite takes no ${typeof value}`);
  });
}
