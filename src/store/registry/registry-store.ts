/** What every part of the registry's thread works on: one connection, its queries and its feed of changes. */
import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { Queries } from './kysely-sqlite.ts';
import type { RegistrySchema } from './schema.ts';

/** The open registry, inside its thread. Functions over it that write run inside a transaction of the caller's. */
export interface RegistryStore {
  readonly database: DatabaseSync;
  readonly kysely: Kysely<RegistrySchema>;
  readonly queries: Queries;
}
