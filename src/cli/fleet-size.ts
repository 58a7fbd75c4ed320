/** The number of services that a program will have, estimated before it starts, because its memory is planned by then. */
import { createReadStream, existsSync } from 'node:fs';
import type { Config } from '../config/resolve-config.ts';
import { registryFile } from '../store/sqlite/private-files.ts';

/**
 * Estimates the services of a configuration: those that the catalogue lists, or as many as the registry has ever had, if
 * these are more. Null: it is not known, because another machine has the registry, or a file cannot be read.
 */
export async function estimateServices({
  catalogue,
  storage,
}: {
  readonly catalogue: Config['catalogue'];
  readonly storage: {
    readonly dataDir: string;
    readonly postgres: Config['storage']['postgres'];
  };
}): Promise<number | null> {
  if (storage.postgres.url !== null) return null;
  try {
    const registered = await countRegistered(registryFile(storage.dataDir));
    return Math.max(registered, await countListed(catalogue.file));
  } catch {
    return null;
  }
}

/** The largest number of a service, which is read at once however many there are. */
async function countRegistered(file: string): Promise<number> {
  if (!existsSync(file)) return 0;
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare('SELECT max(id) AS newest FROM services').get()?.newest ?? 0);
  } finally {
    database.close();
  }
}

/** Counts the entries of a catalogue without parsing it: each has one slug. */
async function countListed(file: string): Promise<number> {
  let count = 0;
  let rest = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8', highWaterMark: 1_048_576 })) {
    const text = rest + String(chunk);
    // A file may be a single line.
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf(',')) + 1;
    count += countSlugs(text.slice(0, end));
    rest = text.slice(end);
  }
  return count + countSlugs(rest);
}

/** A slug stands at the beginning of a line, or in an entry that is written in braces. */
function countSlugs(text: string): number {
  return text.match(/(?:^|[\s{,"'])slug["']?\s*:/gm)?.length ?? 0;
}
