/** Recorded files of other programs, and what an import makes of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportReading } from '../../../src/cli/import/listed-content.ts';
import { readImport } from '../../../src/cli/import/read-import.ts';

export const NOW = Date.parse('2026-11-28T12:00:00Z');

export function fixture(name: string, env: Readonly<Record<string, string>> = {}): ImportReading {
  return readImport(readFileSync(join(import.meta.dirname, '../fixtures', name), 'utf8'), name, NOW, env);
}

/** The documents of all other lists, if all services keep their names. */
export function documentsOf(reading: ImportReading): object[] {
  const names = { service: ({ name }: { readonly name: string }) => name, has: () => true };
  return reading.items.map(({ list, document }) => ({ list, ...document(names) }));
}
