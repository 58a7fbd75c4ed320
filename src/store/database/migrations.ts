/**
 * The steps that bring the registry's tables up to date: the files of `migrations/`, in the order of their names. A
 * released file is never changed; a change of the tables is another file. A step whose name ends with `-compatible` only
 * adds what earlier versions can ignore, so that they still open the registry (docs/adr/0022).
 */
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import type { Migration } from 'kysely';
import { RegistryError } from './registry-error.ts';
import { type Kysely, Migrator, sql } from './registry-store.ts';
import type { RegistrySchema } from './schema.ts';

/** The end of the name of a step that earlier versions can ignore. */
const COMPATIBLE = '-compatible';

/** The steps of one database. */
export type MigrationSteps = ReturnType<typeof createMigrationSteps>;

/** Finds the steps in a folder. */
export function createMigrationSteps(folder: URL) {
  const names = readdirSync(folder)
    .filter((file) => /^\d{4}-[a-z-]+\.ts$/.test(file))
    .map((file) => basename(file, '.ts'))
    .sort();
  const getMigrations = async (): Promise<Record<string, Migration>> => {
    const steps = names.map(async (name) => {
      const step: { readonly statements: readonly string[] } = await import(
        new URL(`${name}.ts`, folder).href
      );
      return [name, { up: (db) => run(db, step.statements) }] satisfies [string, Migration];
    });
    return Object.fromEntries(await Promise.all(steps));
  };
  /** Whether the steps that were done are these, and no others. */
  const areAll = (done: readonly string[]): boolean =>
    done.length === names.length && done.every((name) => names.includes(name));
  return {
    /** The names of all steps, in order. */
    names,
    areAll,
    /**
     * Does the steps that were not done yet. Throws `registry_newer` where others were done, unless a later version did
     * them after all of these and they are compatible. `place` and `remedy` are for its message.
     */
    async migrate(
      kysely: Kysely<RegistrySchema>,
      done: readonly string[],
      place: string,
      remedy: string,
    ): Promise<void> {
      const unknown = done.filter((name) => !names.includes(name));
      const isCompatible = unknown.every((name) => name.endsWith(COMPATIBLE));
      if (isCompatible && names.every((name) => done.includes(name))) return;
      if (unknown.length > 0)
        throw new RegistryError(
          'registry_newer',
          `${place} was written by a newer version of Upbeat (it has ${unknown.join(', ')}). Start that version or a newer one, or ${remedy} from before the upgrade.`,
        );
      const { error } = await new Migrator({ db: kysely, provider: { getMigrations } }).migrateToLatest();
      if (error !== undefined) throw error;
    },
  };
}

async function run(db: Parameters<Migration['up']>[0], statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
