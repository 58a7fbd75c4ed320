/** The two sides of a copy of the registry: an SQLite file to read or to write. That of PostgreSQL is in its folder. */
import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { CopyEnd } from './copy-registry.ts';
import { openRegistryDatabase, registryFile, SQLITE_STEPS } from './registry-database.ts';
import { RegistryError } from './registry-error.ts';
import { type Queries, statement } from './registry-store.ts';
import { createQueries } from './sqlite-store.ts';

const COLUMNS = statement<{ readonly name: string }>('SELECT name FROM pragma_table_info(?)');
const NUMBERS = statement<{ readonly name: string; readonly seq: number }>(
  'SELECT name, seq FROM sqlite_sequence',
);
const FORGET_NUMBER = statement('DELETE FROM sqlite_sequence WHERE name = ?');
const SET_NUMBER = statement('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');

/** Opens the registry of a data directory to read it as it is. Throws where there is none, or one of another version. */
export async function openSqliteSource(dataDir: string): Promise<CopyEnd> {
  const file = registryFile(dataDir);
  if (!existsSync(file)) throw new RegistryError('registry_missing', `There is no registry at ${file}.`);
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  database.exec('BEGIN');
  const end = endOf(database, file);
  const steps = await end.queries.all(statement<{ name: string }>('SELECT name FROM kysely_migration')());
  refuseOtherVersion(
    file,
    steps.map(({ name }) => name),
    SQLITE_STEPS.names,
  );
  return end;
}

/** Opens or makes the registry of a data directory to write it. */
export async function openSqliteTarget(dataDir: string): Promise<CopyEnd> {
  const { database, file } = await openRegistryDatabase(dataDir);
  database.exec('BEGIN IMMEDIATE');
  return endOf(database, file);
}

/** Throws where the steps that were done are not all that this version has. */
export function refuseOtherVersion(place: string, done: readonly string[], steps: readonly string[]): void {
  if (steps.every((name) => done.includes(name)) && done.length === steps.length) return;
  throw new RegistryError(
    'registry_newer',
    `${place} is of another version of Upbeat. Start this version on it once, stop it, and copy then.`,
  );
}

function endOf(database: DatabaseSync, place: string): CopyEnd {
  const queries: Queries = createQueries(() => database);
  return {
    place,
    queries,
    async columnsOf(table) {
      return (await queries.all(COLUMNS(table))).map(({ name }) => name);
    },
    async readNumbers() {
      return new Map((await queries.all(NUMBERS())).map(({ name, seq }) => [name, seq]));
    },
    async writeNumbers(numbers) {
      for (const [table, number] of numbers) {
        await queries.run(FORGET_NUMBER(table));
        await queries.run(SET_NUMBER(table, number));
      }
    },
    async commit() {
      database.exec('COMMIT');
    },
    async close() {
      if (database.isTransaction) database.exec('ROLLBACK');
      database.close();
    },
  };
}
