/** Reads import files: Upbeat's own CSV, YAML and JSON, and files of Uptime Kuma and Gatus. */
import { readFileSync } from 'node:fs';
import { parse as parseCsv } from 'csv-parse/sync';
import { messageOf } from '../../error.ts';
import { readYaml, readYamlTexts } from '../../yaml-file.ts';
import { readGatusFile } from './gatus-file.ts';
import { expandVariables } from './gatus-rows.ts';
import { ImportError } from './import-error.ts';
import { readKumaBackup } from './kuma-backup.ts';
import { isDatabase, readKumaDatabase } from './kuma-database.ts';
import type { ImportReading, NotCarried } from './listed-content.ts';
import {
  asRow,
  asText,
  type EntryReading,
  isEmpty,
  type ListedService,
  type LostField,
  listOf,
  type Row,
  type SkippedEntry,
} from './listed-service.ts';
import { readCell, readOwnRow } from './own-form.ts';

/** The entry of fields outside of entries. */
const WHOLE_FILE = 'the file';

/** Reads a file: a database, or text. Throws {@link ImportError}. */
export async function readImportFile(file: string, now: number): Promise<ImportReading> {
  if (isDatabase(file)) return readKumaBackup(await readKumaDatabase(file), now);
  return readImport(readFileSync(file, 'utf8'), file, now);
}

/**
 * Parses a text by its content into services, entries that cannot be imported, and fields of others that cannot; only CSV is
 * detected by `fileName`. `env`: variables of a configuration of Gatus. Throws {@link ImportError}.
 */
export function readImport(
  text: string,
  fileName: string,
  now = 0,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ImportReading {
  if (/\.csv$/i.test(fileName))
    return collect(
      'csv',
      readCsvRows(text).map((row) => readEntry(row, readOwnRow)),
    );
  const document = parseDocument(text, fileName);
  const root = asRow(document);
  const monitors = listOf(root.monitorList);
  if (monitors !== null)
    return readKumaBackup(
      {
        monitors: monitors.map(asRow),
        notifications: (listOf(root.notificationList) ?? []).map(asRow),
        pages: [],
        maintenances: [],
        timeZone: null,
        left: [['proxy', listOf(root.proxyList)?.length ?? 0]],
      },
      now,
    );
  if (['endpoints', 'external-endpoints', 'suites'].some((section) => listOf(root[section]) !== null)) {
    const expanded = expandVariables(text, env);
    const configuration = expanded === text ? document : parseDocument(expanded, fileName);
    return readGatusFile(asRow(configuration), asRow(readYamlTexts(expanded)), now);
  }
  const services = listOf(Array.isArray(document) ? document : root.services);
  if (services !== null)
    return collect(
      'upbeat',
      services.map((row) => readEntry(row, readOwnRow)),
      Object.keys(root)
        .filter((field) => !['services', '$schema'].includes(field) && !isEmpty(root[field]))
        .map((field) => ({ field, reason: 'an import reads services only; "upbeat apply" reads pages too' })),
    );
  throw new ImportError(
    `${fileName} holds no list: expected "services" (Upbeat), "monitorList" (Uptime Kuma) or "endpoints" (Gatus)`,
  );
}

function readEntry(given: unknown, read: (row: Row) => EntryReading): { row: Row; reading: EntryReading } {
  const row = asRow(given);
  return { row, reading: read(row) };
}

function collect(
  format: 'csv' | 'upbeat',
  entries: readonly { readonly row: Row; readonly reading: EntryReading }[],
  lostOfFile: readonly LostField[] = [],
): ImportReading {
  const services: ListedService[] = [];
  const skipped: SkippedEntry[] = [];
  const notCarried: NotCarried[] = lostOfFile.map((lost) => ({ entry: WHOLE_FILE, ...lost }));
  entries.forEach(({ row, reading }, index) => {
    const entry = asText(row.name) ?? asText(row.domain) ?? asText(row.url) ?? `entry ${index + 1}`;
    if ('problem' in reading) skipped.push({ entry, reason: reading.problem });
    else {
      services.push(reading.service);
      for (const lost of reading.lost) notCarried.push({ entry, ...lost });
    }
  });
  return { format, services, items: [], skipped, notCarried };
}

function parseDocument(text: string, fileName: string): unknown {
  // JSON is YAML, but its parser is a hundred times as fast.
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // It may be YAML.
  }
  const { content, problems } = readYaml(text, fileName);
  const [problem] = problems;
  if (problem === undefined) return content;
  throw new ImportError(`${fileName} is neither JSON nor YAML: ${problem.place}: ${problem.message}`);
}

function readCsvRows(content: string): Row[] {
  let lines: string[][];
  try {
    lines = parseCsv(content, { bom: true, relax_column_count: true, skip_empty_lines: true, trim: true });
  } catch (error) {
    throw new ImportError(`not a CSV: ${messageOf(error)}`);
  }
  const [header = [], ...cells] = lines;
  const names = header.map((name) => name.trim().toLowerCase());
  if (!names.includes('domain'))
    throw new ImportError('the first line of the CSV must name a column "domain"');
  return cells.map((line) =>
    Object.fromEntries(line.map((cell, index) => [names[index] ?? `column ${index + 1}`, readCell(cell)])),
  );
}
