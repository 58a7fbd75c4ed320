/** `upbeat registry copy`: moves the registry between the data directory and PostgreSQL. */
import { systemClock } from '../clock.ts';
import {
  type CopyEnd,
  copyRegistry,
  openSqliteSource,
  openSqliteTarget,
} from '../store/backup/copy-registry.ts';
import { makeFilesPrivate } from '../store/sqlite/private-files.ts';
import { type CommonOptions, UsageError } from './command.ts';
import { readConfig } from './open-stores.ts';
import { printJson } from './output.ts';
import { startProgress } from './progress.ts';

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
