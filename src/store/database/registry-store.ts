/**
 * The database interface of all row functions of the registry. Row functions are written once for every database
 * (docs/adr/0018-one-set-of-queries-for-two-databases.md).
 */
import { createRequire } from 'node:module';
import type { Compilable } from 'kysely';
import { getOrInsert } from '../../async/bounded-map.ts';
import type { RegistrySchema } from './schema.ts';

/**
 * Kysely's values, from its CommonJS build: Node.js loads its 262 files in two thirds of the CPU time that those for
 * `import` take, and in 2 MB less. Types are imported from `kysely` itself.
 */
const kysely: typeof import('kysely') = createRequire(import.meta.url)('kysely');

/** A database with its query builder. */
export const { Kysely } = kysely;
export type Kysely<Tables> = import('kysely').Kysely<Tables>;
/** Runs the migrations that a database lacks. */
export const { Migrator } = kysely;
/** A piece of SQL as a tagged template. */
export const { sql } = kysely;
export const { CompiledQuery } = kysely;
/** The parts of the dialect of SQLite. */
export const { SqliteAdapter, SqliteDriver, SqliteIntrospector, SqliteQueryCompiler } = kysely;
export const { PostgresDialect } = kysely;

/** Runs queries, either built by Kysely or as a {@link statement}. */
export interface Queries {
  all<Row>(query: Compilable<Row>): Promise<Row[]>;
  /** The same, each row as the list of its values in the order of the columns, which costs half as much where there are many rows. */
  lists(query: Compilable<unknown>): Promise<unknown[][]>;
  /** The first row; undefined: none. */
  first<Row>(query: Compilable<Row>): Promise<Row | undefined>;
  /** Runs a query for its effect; resolves with the number of rows changed. */
  run(query: Compilable<unknown>): Promise<number>;
  /** The first row for each list of parameters, in their order; undefined: none. */
  firstEach<Row>(batch: Batch<Row>, lists: readonly Parameters[]): Promise<(Row | undefined)[]>;
  /** All rows for each list of parameters, in their order. */
  allEach<Row>(batch: Batch<Row>, lists: readonly Parameters[]): Promise<Row[][]>;
  /** Runs the query for each list of parameters; returns whether each has changed a row. No two lists may concern the same row. */
  runEach(batch: Batch<unknown>, lists: readonly Parameters[]): Promise<boolean[]>;
}

export type Parameters = readonly (string | number | null)[];

/** A statement that runs for many lists of parameters in one round trip to a server. */
export interface Batch<Row> {
  /**
   * A `SELECT`, an `UPDATE … WHERE`, a `DELETE … WHERE`, an `INSERT … VALUES (?, …)` with all its parameters in `VALUES`, or an
   * `INSERT … SELECT ?, … WHERE`.
   */
  readonly sql: string;
  /** The type of each parameter. */
  readonly types: readonly ('bigint' | 'text')[];
  /** The type of the returned rows; never set. */
  readonly row?: Row;
}

/** An open database. Row functions that write run inside a transaction of the caller. */
export interface RegistryStore {
  /** Builds queries in the database's dialect. */
  readonly kysely: Kysely<RegistrySchema>;
  readonly queries: Queries;
  /** Runs `work`. If it rejects, its changes are rolled back and the transaction continues. */
  nested<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` for each item; the results are in the order of the items. The statements of one item run in order;
   * those of different items may interleave if that is faster.
   */
  each<Item, T>(items: readonly Item[], work: (item: Item) => Promise<T>): Promise<T[]>;
}

/**
 * Runs work that does not need each other's results, in as many round trips to a server as the longest of it. Ends when all of it
 * has ended, so that nothing is sent behind a rollback.
 */
export function together<T>(store: RegistryStore, work: readonly (() => Promise<T>)[]): Promise<T[]> {
  return store.each(work, (one) => one());
}

/** `service_id` is `serviceId`. */
type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
type Properties<Row> = { readonly [Name in keyof Row as CamelCase<Name>]: Row[Name] };

const propertyNames = new Map<string, string>();

/** The values of a row under the names of properties: `service_id` is `serviceId`. */
export function fromRow<Row extends object>(row: Row): Properties<Row> {
  const object: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    const toProperty = () => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    object[getOrInsert(propertyNames, name, toProperty)] = value;
  }
  return object as Properties<Row>;
}

/**
 * A statement as text, for hot paths, where building a query costs more than running it. `?` marks a parameter. The
 * text must mean the same in all databases.
 */
export function statement<Row = unknown>(
  sql: string,
): (...parameters: readonly unknown[]) => Compilable<Row> {
  return (...parameters) => ({ compile: () => CompiledQuery.raw(sql, [...parameters]) });
}

/** Rows in a page of {@link eachPage}. */
export const ROWS_PER_PAGE = 10_000;

/**
 * Calls `visit` with pages of rows in the order of their ids. `read`: the first {@link ROWS_PER_PAGE} rows with an id above this one.
 */
export async function eachPage<Row extends { readonly id: number }>(
  read: (afterId: number) => Promise<readonly Row[]>,
  visit: (page: readonly Row[]) => void | Promise<void>,
): Promise<void> {
  let page: readonly Row[];
  let afterId = 0;
  do {
    page = await read(afterId);
    await visit(page);
    afterId = page.at(-1)?.id ?? afterId;
  } while (page.length === ROWS_PER_PAGE);
}
