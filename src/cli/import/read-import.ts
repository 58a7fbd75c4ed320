/** Reads import files: Upbeat's own CSV, YAML and JSON, and files of Uptime Kuma and Gatus. */
import { readFileSync } from 'node:fs';
import { parse as parseCsv } from 'csv-parse/sync';
import { messageOf } from '../../error.ts';
import { decodeText } from '../../feeds/decode-text.ts';
import { readYaml, readYamlTexts } from '../../yaml-file.ts';

import { readGatusEndpoint, readGatusExternal, readGatusSections } from './gatus.ts';
import { type ListedEndpoint, readGatusAlerts, readGatusMaintenances } from './gatus-alerts.ts';
import { isFolder, joinContents, readYamlFiles } from './gatus-folder.ts';
import { expandVariables, splitEndpoint, unsetIn, withTexts } from './gatus-rows.ts';
import { readKumaBackup } from './kuma-backup.ts';
import { ImportError, isDatabase, readKumaDatabase } from './kuma-database.ts';
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
  withOwnName,
} from './listed-service.ts';
import { readCell, readOwnRow } from './own-form.ts';

/** The entry of fields outside of entries. */
const WHOLE_FILE = 'the file';

/** Reads a file, a database or text, or the folder of a configuration of Gatus. Throws {@link ImportError}. */
export async function readImportFile(file: string, now: number): Promise<ImportReading> {
  if (isFolder(file)) return readGatusFolder(file, now);
  if (isDatabase(file)) return readKumaBackup(await readKumaDatabase(file), now);
  return readImport(decodeText(readFileSync(file)), file, now);
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
  if (isGatus(root)) {
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

function isGatus(root: Row): boolean {
  return ['endpoints', 'external-endpoints', 'suites'].some((section) => listOf(root[section]) !== null);
}

/** Reads all YAML files of a folder as one configuration, as Gatus does. */
function readGatusFolder(folder: string, now: number): ImportReading {
  const parts = readYamlFiles(folder).map(({ file, text }) => {
    const expanded = expandVariables(text, process.env);
    return { content: parseDocument(expanded, file), texts: readYamlTexts(expanded) };
  });
  const { root, lost } = joinContents(parts.map(({ content }) => content));
  if (!isGatus(root))
    throw new ImportError(`${folder} holds no configuration of Gatus: expected "endpoints"`);
  const reading = readGatusFile(root, joinContents(parts.map(({ texts }) => texts)).root, now);
  const doubled = lost.map((one) => ({ entry: WHOLE_FILE, ...one }));
  return { ...reading, notCarried: [...doubled, ...reading.notCarried] };
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
  // Spreadsheets of many countries separate by semicolons.
  const [titles = ''] = content.split('\n', 1);
  const delimiter = [',', ';', '\t'].find((mark) => titles.includes(mark)) ?? ',';
  const form = { delimiter, bom: true, relax_column_count: true, skip_empty_lines: true, trim: true };
  let lines: string[][];
  try {
    lines = parseCsv(content, form);
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

/** Reads a configuration. `texts`: the same with all of its values as texts. */
function readGatusFile(root: Row, texts: Row, now: number): ImportReading {
  const endpoints: ListedEndpoint[] = [];
  const skipped: SkippedEntry[] = [];
  const notCarried: NotCarried[] = readGatusSections(root).map((lost) => ({ entry: 'the file', ...lost }));
  const names = new Set<string>();
  const add = (row: Row, index: number, read: (row: Row) => EntryReading) => {
    const entry = asText(row.name) ?? asText(row.url) ?? `entry ${index + 1}`;
    const unset = unsetIn(row);
    const reading: EntryReading = unset.length > 0 ? { problem: describeUnset(unset) } : read(row);
    if ('problem' in reading) skipped.push({ entry, reason: reading.problem });
    else {
      endpoints.push({ row, service: withOwnName(reading.service, names) });
      for (const lost of reading.lost) notCarried.push({ entry, ...lost });
    }
  };
  const rowsOf = (section: string) => {
    const sectionTexts = listOf(texts[section]);
    return (listOf(root[section]) ?? []).map((row, index) =>
      withTexts(asRow(row), asRow(sectionTexts?.[index])),
    );
  };
  for (const [index, row] of rowsOf('endpoints').entries())
    for (const part of splitEndpoint(row)) add(part, index, readGatusEndpoint);
  for (const [index, row] of rowsOf('external-endpoints').entries()) add(row, index, readGatusExternal);
  for (const [index, suite] of (listOf(root.suites) ?? []).entries())
    skipped.push({
      entry: asText(asRow(suite).name) ?? `suite ${index + 1}`,
      reason: 'it is a suite of requests, and a check makes one',
    });
  const losses = {
    skip: (entry: string, reason: string) => void skipped.push({ entry, reason }),
    lose: (entry: string, field: string, reason: string) => void notCarried.push({ entry, field, reason }),
  };
  const items = [
    ...readGatusAlerts(asRow(root.alerting), endpoints, losses),
    ...readGatusMaintenances(root, endpoints, now, losses),
  ];
  return { format: 'gatus', services: endpoints.map(({ service }) => service), items, skipped, notCarried };
}

function describeUnset(variables: readonly string[]): string {
  return `it needs the environment variable ${variables.join(', ')}, which is not set`;
}
