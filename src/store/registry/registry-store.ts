/** The connection that all rows of the registry work on. */
import type { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import type { Queries } from './kysely-sqlite.ts';
import type { RegistrySchema } from './schema.ts';

/** The open database and its queries. Functions over it that write run inside a transaction of the caller. */
export interface RegistryStore {
  readonly database: DatabaseSync;
  readonly kysely: Kysely<RegistrySchema>;
  readonly queries: Queries;
}
