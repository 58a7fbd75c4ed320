/** Errors of the registry, each with a description of the problem and its remedy. */
import { describeRefusal, type Refusal } from '../../domain/refusal.ts';
import { toError } from '../../error.ts';
import type { RegistryErrorCode } from '../ports/services.ts';
import type { StorageRefusal } from '../ports/storage-health.ts';
import type { LogDamage } from '../sqlite/log-damage.ts';
import { isDiskRefusal, resultCodeOf } from '../sqlite/open-full.ts';

/** Codes of faults that only an operator can fix. They are stable, like those of {@link RegistryErrorCode}. */
export type RegistryFaultCode =
  /** The file is not a database, its pages are inconsistent, or its log is damaged; or PostgreSQL says so of its own. */
  | 'registry_damaged'
  /** A newer version of the program has changed the tables. */
  | 'registry_newer'
  /** The file belongs to another program. */
  | 'registry_foreign'
  /** The key of the secrets in the database is missing or wrong. */
  | 'secrets_key'
  /** There are stores of an earlier installation, but no registry. */
  | 'registry_missing'
  /** The file or its directory cannot be opened or written. */
  | 'registry_unusable'
  /** The disk refuses writes, or another process held the lock for too long. */
  | StorageRefusal
  /** Another process is the monitor of this data directory. */
  | 'lease_held'
  /** Another process has taken the lease, so this one must stop. */
  | 'lease_lost';

/** An error with a stable `code`. Calls between threads preserve the code and the refusal. */
export class RegistryError extends Error {
  readonly code: RegistryErrorCode | RegistryFaultCode;
  /** The refusal of a person's change; undefined: the error is for the operator, who reads its message. */
  readonly refusal: Refusal | undefined;

  constructor(
    code: RegistryErrorCode | RegistryFaultCode,
    problem: Refusal | string,
    options?: ErrorOptions,
  ) {
    super(typeof problem === 'string' ? problem : describeRefusal(problem), options);
    this.name = 'RegistryError';
    this.code = code;
    this.refusal = typeof problem === 'string' ? undefined : problem;
  }
}

/**
 * Returns a row that its owner may change. Throws `not_found` where there is none, and `stale` unless `revisions` contain the one that it
 * has; absent: any may be changed.
 */
export function requireRevision<Row extends { readonly revision: number }>(
  row: Row | undefined,
  revisions: readonly number[] | undefined,
  refusals: { readonly missing: Refusal; readonly stale: Refusal },
): Row {
  if (row === undefined) throw new RegistryError('not_found', refusals.missing);
  if (revisions !== undefined && !revisions.includes(row.revision))
    throw new RegistryError('stale', refusals.stale);
  return row;
}

/** The error for a damaged file. `detail` is SQLite's message. */
export function damagedRegistry(file: string, detail: string, cause?: unknown): RegistryError {
  return new RegistryError(
    'registry_damaged',
    `${file} is damaged (${detail}). Stop Upbeat, then put a backup in its place, or save what can be read with ` +
      `"sqlite3 ${file} .recover", or move ${file} with its -wal and -shm files away to begin with an empty registry.`,
    { cause },
  );
}

/** The error for a damaged write-ahead log of `file`. */
export function damagedLog(file: string, { keptBytes, lostCommits }: LogDamage): RegistryError {
  const log = `${file}-wal`;
  return new RegistryError(
    'registry_damaged',
    `${log} is damaged after ${keptBytes} bytes: what was committed behind them, at least ${lostCommits} ` +
      `${lostCommits === 1 ? 'transaction' : 'transactions'}, cannot be read. Stop Upbeat, copy the data directory, and ` +
      `restore a backup. To go on with what was committed before instead: "truncate -s ${keptBytes} ${log}; rm -f ${file}-shm".`,
  );
}

/** The error for a registry that is missing or empty while other stores of the installation exist. */
export function missingRegistry(file: string, remains: readonly string[]): RegistryError {
  return new RegistryError(
    'registry_missing',
    `${file} is missing or empty, but ${remains.join(', ')} of an earlier installation ${remains.length === 1 ? 'is' : 'are'} there: services, accounts, keys and incidents would be lost without a word. Put a backup of ${file} back. To begin a new installation instead, move those files away too, or set storage.dataDir to another folder.`,
  );
}

export function fullDisk(file: string, cause?: Error): RegistryError {
  const detail = cause === undefined ? '' : ` (${cause.message})`;
  return new RegistryError(
    'storage_full',
    `The disk of ${file} takes no writes${detail}. Make room on it, or mount it for writing; Upbeat then goes on by itself.`,
    { cause },
  );
}

/** Converts an error of SQLite to one that says what to do; other errors are returned unchanged. */
export function explainSqliteError(thrown: unknown, file: string): Error {
  const error = toError(thrown);
  if (isDiskRefusal(thrown, file)) return fullDisk(file, error);
  switch (resultCodeOf(error)?.primary) {
    case 11: // SQLITE_CORRUPT
    case 26: // SQLITE_NOTADB
      return damagedRegistry(file, error.message, error);
    case 5: // SQLITE_BUSY
      return new RegistryError(
        'storage_busy',
        `${file} is locked by another process (${error.message}). End the program that holds it, such as a backup or a database browser, and try again.`,
        { cause: error },
      );
    case 8: // SQLITE_READONLY
    case 14: // SQLITE_CANTOPEN
      return new RegistryError(
        'registry_unusable',
        `${file} cannot be opened for writing (${error.message}). Give this user read and write access to the file and its folder, or set storage.dataDir to another folder.`,
        { cause: error },
      );
    default:
      return error;
  }
}
