/** Kysely over `node:sqlite`: its SQLite dialect for migrations. */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { DatabaseConnection, Dialect } from 'kysely';
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

/** Parameters as `node:sqlite` takes them. Throws for values that SQLite has no type for. */
export function toInputs(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
      return value;
    if (ArrayBuffer.isView(value)) return value as Uint8Array;
    throw new TypeError(`SQLite takes no ${typeof value}`);
  });
}
