/**
 * `upbeat backup` and `upbeat restore`: copies of the stores, made while the program runs, and their way back. `upbeat registry copy`: moves
 * the registry between the data directory and PostgreSQL.
 */
import { resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { backUp } from '../store/backup/back-up.ts';
import {
  type CopyEnd,
  copyRegistry,
  openSqliteSource,
  openSqliteTarget,
} from '../store/backup/copy-registry.ts';
import { restore } from '../store/backup/restore.ts';
import { makeFilesPrivate } from '../store/sqlite/private-files.ts';
import { VERSION } from '../version.ts';
import { type CommonOptions, UsageError } from './command.ts';
import { readConfig } from './open-stores.ts';
import { printJson, printNote, printRows, startProgress } from './output.ts';

export interface BackupOptions extends CommonOptions {
  /** Copy `secret.key` too. */
  readonly withKey?: boolean;
}

export interface RestoreOptions extends CommonOptions {
  /** Move an installation that is there aside. */
  readonly replace?: boolean;
}

const MEGABYTE = 1_000_000;

/** Makes a backup in a folder and prints its files. */
export async function makeBackup(
  folder: string,
  { config: file, json = false, withKey = false }: BackupOptions,
): Promise<void> {
  const { storage } = readConfig(file);
  makeFilesPrivate();
  const { dataDir, postgres, influx } = storage;
  const target = resolve(folder);
  const { files } = await withProgress((note) =>
    backUp({
      dataDir,
      postgresUrl: postgres.url,
      folder: target,
      withKey,
      version: VERSION,
      clock: systemClock,
      note,
    }),
  );
  printRows(
    files.map(({ name, bytes, sha256 }) => ({ file: name, bytes, sha256 })),
    json,
    '',
  );
  if (influx.url !== null)
    printNote('The samples are in InfluxDB, which has its own backup: "influx backup".');
  if (!withKey)
    printNote(
      'The key of secrets is not in it. Keep secret.key, or the setting secrets.key, in another place: without it, webhooks, channels and credentials of checks are lost.',
    );
}

/** Restores the backup of a folder and says what to do next. */
export async function restoreBackup(
  folder: string,
  { config: file, json = false, replace = false }: RestoreOptions,
): Promise<void> {
  const { dataDir, postgres } = readConfig(file).storage;
  makeFilesPrivate();
  const { manifest, copied, outcome } = await withProgress((note) =>
    restore({
      folder: resolve(folder),
      dataDir,
      postgresUrl: postgres.url,
      replace,
      clock: systemClock,
      note,
    }),
  );
  printRows(
    manifest.files.map(({ name, bytes, sha256 }) => ({ file: name, bytes, sha256 })),
    json,
    '',
  );
  if (copied !== null) printNote(`${copied.rows.toLocaleString('en')} rows were copied into PostgreSQL.`);
  if (outcome.kind === 'pending')
    printNote(
      `The backup of ${manifest.madeAt} is verified and waits in ${dataDir}. Stop all processes that use the data directory, then start one: it puts the files into their places.`,
    );
  if (outcome.kind !== 'applied') return;
  printNote(`The backup of ${manifest.madeAt} is in place. Start the program.`);
  if (outcome.replaced !== null)
    printNote(
      `What was there before is in ${outcome.replaced}; remove it once the restored installation runs.`,
    );
}

async function withProgress<T>(
  work: (note: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const shown: ReturnType<typeof startProgress>[] = [];
  try {
    return await work((done, total) => {
      if (shown.length === 0) shown.push(startProgress(Math.ceil(total / MEGABYTE), 'MB', systemClock));
      shown[0]?.note(Math.floor(done / MEGABYTE));
    });
  } finally {
    shown[0]?.end();
  }
}

/** Options of the command: one of the two. */
export interface CopyOptions extends CommonOptions {
  /** Copy from the data directory to this database. */
  readonly to?: string;
  /** Copy from this database to the data directory. */
  readonly from?: string;
}

/** Copies the whole registry and says what was copied. */
export async function copy({ config: file, to, from, json = false }: CopyOptions): Promise<void> {
  if ((to === undefined) === (from === undefined)) throw new UsageError('Name one of --to and --from.');
  const { dataDir } = readConfig(file).storage;
  makeFilesPrivate();
  const { openPostgresSource, openPostgresTarget } = await import('../store/backup/copy-end.ts');
  const source = from === undefined ? await openSqliteSource(dataDir) : await openPostgresSource(from);
  let target: CopyEnd | null = null;
  const shown: ReturnType<typeof startProgress>[] = [];
  try {
    target = to === undefined ? await openSqliteTarget(dataDir) : await openPostgresTarget(to);
    const report = await copyRegistry(source, target, systemClock.now(), (done, total) => {
      if (shown.length === 0) shown.push(startProgress(total, 'rows', systemClock));
      shown[0]?.note(done);
    });
    shown[0]?.end();
    const { rows, tables, digest } = report;
    if (json) return printJson({ from: source.place, to: target.place, rows, tables, digest });
    console.log(
      `${rows.toLocaleString('en')} rows of ${tables} tables copied from ${source.place} to ${target.place}, SHA-256 ${digest}`,
    );
  } finally {
    shown[0]?.end();
    await target?.close();
    await source.close();
  }
}
