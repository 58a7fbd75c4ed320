/** The registry's file as an earlier version leaves it. */
import { DatabaseSync } from 'node:sqlite';
import { SQLITE_STEPS } from '../../src/store/database/migrations.ts';
import { NOON } from './registry-fixtures.ts';

/** Makes a database with the tables of the version whose last step was `last`. */
export async function openEarlier(last: string, file = ':memory:'): Promise<DatabaseSync> {
  const database = new DatabaseSync(file);
  // As Kysely's migrator and the opening of a registry leave them.
  database.exec(`PRAGMA application_id = ${0x55504254};
    CREATE TABLE kysely_migration (name varchar(255) NOT NULL PRIMARY KEY, timestamp varchar(255) NOT NULL);
    CREATE TABLE kysely_migration_lock (id varchar(255) NOT NULL PRIMARY KEY, is_locked integer DEFAULT 0 NOT NULL);
    INSERT INTO kysely_migration_lock VALUES ('migration_lock', 0)`);
  const note = database.prepare('INSERT INTO kysely_migration VALUES (?, ?)');
  for (const name of SQLITE_STEPS.names) {
    if (name > last) break;
    for (const statement of SQLITE_STEPS.statementsOf(name)) database.exec(statement);
    note.run(name, new Date(NOON).toISOString());
  }
  return database;
}
