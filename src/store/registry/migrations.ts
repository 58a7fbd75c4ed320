/**
 * The steps that bring the registry's tables up to date: the files of `migrations/`, in the order of their names. A
 * released file is never changed; a change of the tables is another file.
 */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import type { Migration } from 'kysely';
import { sql } from './kysely.ts';

const FOLDER = new URL('./migrations/', import.meta.url);

/** The names of all steps, in order. */
export const MIGRATION_NAMES: readonly string[] = readdirSync(FOLDER)
  .filter((file) => /^\d{4}-[a-z-]+\.ts$/.test(file))
  .map((file) => basename(file, '.ts'))
  .sort();

/** Reads all steps, by name. */
export async function readMigrations(): Promise<Record<string, Migration>> {
  const steps = MIGRATION_NAMES.map(async (name) => {
    const step: { readonly statements: readonly string[] } = await import(new URL(`${name}.ts`, FOLDER).href);
    return [name, { up: (db) => run(db, step.statements) }] satisfies [string, Migration];
  });
  return Object.fromEntries(await Promise.all(steps));
}

async function run(db: Parameters<Migration['up']>[0], statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
