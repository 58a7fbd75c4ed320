/**
 * `upbeat backup`: copies the stores of an installation while it runs. Each file is one snapshot. Samples are copied before
 * the registry, so that no sample belongs to a service that the copied registry does not know; after a restore, that number
 * would be given to another service.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../clock.ts';
import { messageOf } from '../../error.ts';
import { findLogDamage } from '../sqlite/log-damage.ts';
import { findDamage } from '../sqlite/open-full.ts';
import { registryFile } from '../sqlite/private-files.ts';
import { syncFile, syncFolder } from '../sqlite/sync-files.ts';
import { copySnapshot, openSqliteTarget } from './copy-registry.ts';
import {
  BACKUP_FILES,
  BackupError,
  type BackupFile,
  type BackupFileName,
  type BackupManifest,
  digestFile,
  manifestFile,
  type NoteBytes,
  sizeOf,
} from './manifest.ts';

export interface BackupOptions {
  readonly dataDir: string;
  /** `storage.postgres.url`; null: the registry is in the data directory. */
  readonly postgresUrl: string | null;
  /** A folder that is empty or does not exist. */
  readonly folder: string;
  /** True to copy `secret.key`, which reads the secrets in the copied registry. */
  readonly withKey: boolean;
  /** Version of Upbeat, for the manifest. */
  readonly version: string;
  readonly clock: Clock;
  readonly note: NoteBytes;
}

/** Pages that are copied at a time; other threads of the process run in between. */
const PAGES = 4_096;
/** Maximum time to wait for a lock of the running program, which holds it for milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/** Makes a backup and verifies it. Throws {@link BackupError}, and errors of the stores. */
export async function backUp(options: BackupOptions): Promise<BackupManifest> {
  const { dataDir, postgresUrl, folder, withKey, version, clock, note } = options;
  const madeAt = new Date(clock.now()).toISOString();
  if (postgresUrl === null && !existsSync(registryFile(dataDir)))
    throw new BackupError(
      `There is no registry at ${registryFile(dataDir)}. Start the program once, or set storage.dataDir.`,
    );
  prepareFolder(folder);
  // Samples come first; see above.
  const stores = (['samples.sqlite', 'influx-spool.sqlite', 'registry.sqlite'] as const).filter(
    (name) => (name !== 'registry.sqlite' || postgresUrl === null) && existsSync(join(dataDir, name)),
  );
  const total = 2 * stores.reduce((sum, name) => sum + (sizeOf(join(dataDir, name)) ?? 0), 0);
  let done = 0;
  for (const name of stores) {
    await copyDatabase(join(dataDir, name), join(folder, name), (bytes) => note(done + bytes, total));
    done += sizeOf(join(folder, name)) ?? 0;
  }
  if (postgresUrl === null) releaseLease(registryFile(folder));
  else await copyPostgres(postgresUrl, folder);
  if (withKey) copyKey(dataDir, folder);

  const files: BackupFile[] = [];
  for (const name of BACKUP_FILES.filter((known) => existsSync(join(folder, known)))) {
    if (name !== 'secret.key') verify(join(folder, name));
    syncFile(join(folder, name));
    files.push(await digestFile(folder, name, (bytes) => note(done + bytes, total)));
    done += files.at(-1)?.bytes ?? 0;
  }
  const manifest: BackupManifest = { format: 1, upbeat: version, madeAt, files };
  writeFileSync(`${manifestFile(folder)}.new`, `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  });
  renameSync(`${manifestFile(folder)}.new`, manifestFile(folder));
  syncFolder(folder);
  syncFolder(dirname(folder));
  return manifest;
}

function prepareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (readdirSync(folder).length === 0) return;
  } catch (error) {
    throw new BackupError(`${folder} cannot be made (${messageOf(error)}). Name another folder.`, {
      cause: error,
    });
  }
  throw new BackupError(
    `${folder} is not empty. Name a folder of its own for each backup; it is made if it does not exist.`,
  );
}

/** Copies a database as it is now. Its program reads and writes on meanwhile. */
async function copyDatabase(from: string, to: string, note: (bytes: number) => void): Promise<void> {
  if (findLogDamage(from) !== null)
    throw new BackupError(`${from}-wal is damaged. "upbeat doctor" says what to do.`);
  const source = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    // A transaction that has read keeps its snapshot, so what others write does not begin the copy anew.
    source.exec('BEGIN');
    source.prepare('SELECT count(*) FROM sqlite_schema').get();
    const pageBytes = Number(source.prepare('PRAGMA page_size').get()?.page_size);
    await backup(source, to, {
      rate: PAGES,
      progress: ({ totalPages, remainingPages }) => note((totalPages - remainingPages) * pageBytes),
    });
  } catch (error) {
    throw new BackupError(`${from} cannot be copied (${messageOf(error)}). "upbeat doctor" examines it.`, {
      cause: error,
    });
  } finally {
    source.close();
  }
  // One file without a log beside it.
  useDatabase(to, (copy) => copy.exec('PRAGMA journal_mode = DELETE'));
}

/** The copy has no monitor, and an earlier one cannot write to it. */
function releaseLease(file: string): void {
  useDatabase(file, (copy) =>
    copy.exec('UPDATE lease SET fence = fence + 1, pid = NULL, host = NULL, process = NULL, renewed_at = 0'),
  );
}

/** Copies the registry from PostgreSQL to a file, in a folder of its own: a registry is not made beside other stores. */
async function copyPostgres(url: string, folder: string): Promise<void> {
  const { openPostgresSource } = await import('./copy-end.ts');
  const own = join(folder, 'registry');
  const source = await openPostgresSource(url);
  try {
    const target = await openSqliteTarget(own);
    try {
      await copySnapshot(source, target, () => {});
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
  useDatabase(registryFile(own), (copy) => copy.exec('PRAGMA journal_mode = DELETE'));
  renameSync(registryFile(own), registryFile(folder));
  rmSync(own, { recursive: true });
}

function copyKey(dataDir: string, folder: string): void {
  const name: BackupFileName = 'secret.key';
  if (!existsSync(join(dataDir, name)))
    throw new BackupError(
      `There is no ${join(dataDir, name)} to copy: the key is in the setting secrets.key. Leave out --with-key.`,
    );
  copyFileSync(join(dataDir, name), join(folder, name));
}

function verify(file: string): void {
  const damage = useDatabase(file, findDamage);
  if (damage === null) return;
  throw new BackupError(
    `The copy ${file} is damaged (${damage}), and so may be the store. "upbeat doctor" examines it.`,
  );
}

function useDatabase<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}
