/**
 * The manifest of a backup, `backup.json`: which files it has, with their sizes and digests. It is written last, so a folder
 * without one is not a whole backup.
 */
import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from '../../error.ts';

/** A backup cannot be made or restored. The message says what to do. */
export class BackupError extends Error {
  readonly code = 'backup_failed';
}

/** Names of files that a backup can contain, in the order in which they are restored. */
export const BACKUP_FILES = [
  'registry.sqlite',
  'samples.sqlite',
  'influx-spool.sqlite',
  'secret.key',
] as const;

/** A file of a data directory that a backup can contain. */
export type BackupFileName = (typeof BACKUP_FILES)[number];

export interface BackupFile {
  readonly name: BackupFileName;
  readonly bytes: number;
  /** Hexadecimal digits. */
  readonly sha256: string;
}

/** The content of `backup.json`. */
export interface BackupManifest {
  /** Version of this form. */
  readonly format: 1;
  /** Version of Upbeat that made the backup. */
  readonly upbeat: string;
  /** The time at which the backup was begun, RFC 3339. */
  readonly madeAt: string;
  readonly files: readonly BackupFile[];
}

/** Reports the number of bytes done so far. */
export type NoteBytes = (done: number, total: number) => void;

export function manifestFile(folder: string): string {
  return join(folder, 'backup.json');
}

/** Reads the manifest of a backup. Throws {@link BackupError} if the folder is not a whole backup. */
export function readManifest(folder: string): BackupManifest {
  refuseLink(manifestFile(folder));
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(manifestFile(folder), 'utf8'));
  } catch (error) {
    const isMissing = errorCodeOf(error) === 'ENOENT';
    throw new BackupError(
      isMissing
        ? `${folder} has no backup.json: it is not a backup, or one that was interrupted. Name a folder that "upbeat backup" made.`
        : `${manifestFile(folder)} cannot be read. Name another backup.`,
      { cause: error },
    );
  }
  if (!isManifest(value))
    throw new BackupError(
      `${manifestFile(folder)} has a form that this version does not know. Restore it by the version that made it, or a newer one.`,
    );
  return value;
}

/** Throws {@link BackupError} for a link, folder or device in the place of a file: a link leads to what was never backed up. */
export function refuseLink(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new BackupError(`${file} is a link or no file at all. Name the folder that "upbeat backup" made.`);
}

function isManifest(value: unknown): value is BackupManifest {
  if (typeof value !== 'object' || value === null) return false;
  const { format, upbeat, madeAt, files } = value as Partial<Record<keyof BackupManifest, unknown>>;
  if (format !== 1 || typeof upbeat !== 'string' || typeof madeAt !== 'string' || !Array.isArray(files))
    return false;
  return files.every(isFile) && files.some(({ name }) => name === 'registry.sqlite');
}

function isFile(value: unknown): value is BackupFile {
  if (typeof value !== 'object' || value === null) return false;
  const { name, bytes, sha256 } = value as Partial<Record<keyof BackupFile, unknown>>;
  // Names are compared with the known ones, so none leads out of the folder.
  const isKnown = BACKUP_FILES.some((known) => known === name);
  return (
    isKnown && Number.isSafeInteger(bytes) && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)
  );
}

/** Size and digest of a file. `note` gets the number of bytes read so far. */
export async function digestFile(
  folder: string,
  name: BackupFileName,
  note: (bytes: number) => void,
): Promise<BackupFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(join(folder, name), { highWaterMark: 1_048_576 })) {
    hash.update(chunk);
    bytes += chunk.length;
    note(bytes);
  }
  return { name, bytes, sha256: hash.digest('hex') };
}

/** Size of a file in bytes; null: there is none. */
export function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}
