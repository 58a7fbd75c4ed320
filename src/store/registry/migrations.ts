/**
 * The steps that bring the registry's tables up to date: the files of `migrations/`, in the order of their names. A
 * released file is never changed; a change of the tables is another file.
 */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import type { Migration } from 'kysely';
import { sql } from './registry-store.ts';

/** The steps of one database. */
export interface MigrationSteps {
  /** The names of all steps, in order. */
  readonly names: readonly string[];
  /** Reads all steps, by name. */
  read(): Promise<Record<string, Migration>>;
}

/** Finds the steps in a folder. */
export function createMigrationSteps(folder: URL): MigrationSteps {
  const names = readdirSync(folder)
    .filter((file) => /^\d{4}-[a-z-]+\.ts$/.test(file))
    .map((file) => basename(file, '.ts'))
    .sort();
  return {
    names,
    async read() {
      const steps = names.map(async (name) => {
        const step: { readonly statements: readonly string[] } = await import(
          new URL(`${name}.ts`, folder).href
        );
        return [name, { up: (db) => run(db, step.statements) }] satisfies [string, Migration];
      });
      return Object.fromEntries(await Promise.all(steps));
    },
  };
}

async function run(db: Parameters<Migration['up']>[0], statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
