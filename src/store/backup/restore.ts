/**
 * `upbeat restore`: verifies a backup, and places its files in the data directory in two steps. First they are put into the
 * folder `restored` beside the stores, complete and on disk. Then each takes the place of the present one, which is moved to
 * `replaced-TIME`. The second step waits until no monitor runs: the next start does it, and goes on with it after a crash.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { openRegistryDatabase } from '../database/registry-database.ts';
import { registryFile } from '../sqlite/private-files.ts';
import { stagingFolder, syncFile, syncFolder } from '../sqlite/sync-files.ts';
import { applyRestore, finishMove, type RestoreOutcome } from './apply-restore.ts';
import { type CopyReport, copyRegistry, openSqliteSource } from './copy-registry.ts';
import {
  BACKUP_FILES,
  BackupError,
  type BackupManifest,
  digestFile,
  type NoteBytes,
  readManifest,
  refuseLink,
} from './manifest.ts';

export interface RestoreOptions {
  /** The folder of the backup. */
  readonly folder: string;
  readonly dataDir: string;
  /** `storage.postgres.url`, an empty database; null: the registry is restored into the data directory. */
  readonly postgresUrl: string | null;
  /** True if an installation in the data directory is replaced. */
  readonly replace: boolean;
  readonly clock: Clock;
  readonly note: NoteBytes;
}

export interface RestoreReport {
  readonly manifest: BackupManifest;
  /** The copy into PostgreSQL; null: the registry is in the data directory. */
  readonly copied: CopyReport | null;
  /** The outcome for the files; see {@link applyRestore}. */
  readonly outcome: RestoreOutcome;
}

/** Restores a backup. Throws {@link BackupError}, and errors of the stores; what is in use is then unchanged. */
export async function restore(options: RestoreOptions): Promise<RestoreReport> {
  const { folder, dataDir, postgresUrl, replace, clock, note } = options;
  const manifest = readManifest(folder);
  const staged = stagingFolder(dataDir);
  // An earlier restore that was interrupted comes to its end first.
  finishMove(dataDir);
  const hasStores = BACKUP_FILES.some((name) => name !== 'secret.key' && existsSync(join(dataDir, name)));
  if (hasStores && !replace)
    throw new BackupError(
      `${dataDir} has an installation. With --replace it is moved to a folder beside it, and the backup takes its place.`,
    );
  const partial = `${staged}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  try {
    await stage(folder, partial, manifest, note);
    const copied = postgresUrl === null ? null : await copyToPostgres(partial, postgresUrl, clock.now());
    rmSync(staged, { recursive: true, force: true });
    renameSync(partial, staged);
    syncFolder(dataDir);
    // Who uses the other files beside a registry in PostgreSQL cannot be seen here.
    const mustWait = postgresUrl !== null && hasStores;
    return { manifest, copied, outcome: mustWait ? { kind: 'pending' } : await applyRestore(dataDir, clock) };
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Copies the files of a backup, compares their digests, and brings the registry to the tables of this version. */
async function stage(from: string, to: string, manifest: BackupManifest, note: NoteBytes): Promise<void> {
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  // The registry comes first: one is not opened beside other stores unless it is theirs.
  for (const expected of BACKUP_FILES.flatMap((name) =>
    manifest.files.filter((file) => file.name === name),
  )) {
    const { name, bytes, sha256 } = expected;
    if (!existsSync(join(from, name)))
      throw new BackupError(`The backup lacks ${name}, which its backup.json lists.`);
    refuseLink(join(from, name));
    await cp(join(from, name), join(to, name));
    const found = await digestFile(to, name, (read) => note(done + read, total));
    if (found.sha256 !== sha256 || found.bytes !== bytes)
      throw new BackupError(
        `${join(from, name)} is not the file that was backed up: its digest differs. Use another backup.`,
      );
    if (name === 'registry.sqlite') (await openRegistryDatabase(to)).database.close();
    syncFile(join(to, name));
    done += bytes;
  }
  syncFolder(to);
}

/** Moves the staged registry into an empty database. */
async function copyToPostgres(folder: string, url: string, now: number): Promise<CopyReport> {
  const { openPostgresTarget } = await import('./copy-end.ts');
  const source = await openSqliteSource(folder);
  try {
    const target = await openPostgresTarget(url);
    try {
      return await copyRegistry(source, target, now, () => {});
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
    rmSync(registryFile(folder));
  }
}
