/** Reads import files: Upbeat's own CSV, YAML and JSON, and files of other programs. */
import { readFileSync } from 'node:fs';
import { parse as parseCsv } from 'csv-parse/sync';
import { messageOf } from '../../error.ts';
import { decodeText } from '../../feeds/feed-kind.ts';
import { FOREIGN_SCHEMA, readYamlDocuments, readYamlTexts } from '../../yaml-file.ts';
import { betterStack, betterStackTable } from './better-stack.ts';
import { cstate } from './cstate.ts';
import { readGatusEndpoint, readGatusExternal, readGatusSections } from './gatus.ts';
import { readGatusAlerts, readGatusMaintenances } from './gatus-alerts.ts';
import {
  expandVariables,
  isFolder,
  joinContents,
  readYamlFiles,
  splitEndpoint,
  unsetIn,
  withTexts,
} from './gatus-rows.ts';
import { healthchecks } from './healthchecks.ts';
import { readKumaBackup } from './kuma-backup.ts';
import { ImportError, isDatabase, readKumaDatabase } from './kuma-database.ts';
import {
  Collection,
  type CsvReader,
  type DocumentReader,
  type ImportReading,
  WHOLE_FILE,
} from './listed-content.ts';
import { asRow, asText, type EntryReading, isEmpty, listOf, type Row } from './listed-service.ts';
import { openstatus } from './openstatus.ts';
import { readCell, readOwnRow } from './own-form.ts';
import { pingdom } from './pingdom.ts';
import { findPrometheus, prometheus, prometheusTargets } from './prometheus.ts';
import { statping } from './statping.ts';
import { statuscake } from './statuscake.ts';
import { upptime } from './upptime.ts';
import { uptimerobot, uptimerobotTable } from './uptimerobot.ts';

/** Programs by the content of their YAML or JSON; the first that recognises it reads it. */
const DOCUMENTS: readonly DocumentReader[] = [
  uptimerobot,
  betterStack,
  upptime,
  healthchecks,
  openstatus,
  {
    expected: '"monitorList" (Uptime Kuma)',
    recognises: (root) => listOf(root.monitorList) !== null,
    read: ({ root, now }) =>
      readKumaBackup(
        {
          monitors: (listOf(root.monitorList) ?? []).map(asRow),
          notifications: (listOf(root.notificationList) ?? []).map(asRow),
          pages: [],
          maintenances: [],
          timeZone: null,
          left: [['proxy', listOf(root.proxyList)?.length ?? 0]],
        },
        now,
      ),
  },
  {
    expected: '"endpoints" (Gatus)',
    recognises: isGatus,
    read({ document, text, fileName, now, env }) {
      const expanded = expandVariables(text, env);
      const configuration = expanded === text ? document : parseDocuments(expanded, fileName)[0];
      return readGatusFile(asRow(configuration), asRow(readYamlTexts(expanded)), now);
    },
  },
  prometheus,
  prometheusTargets,
  statping,
  cstate,
  statuscake,
  pingdom,
  {
    expected: '"services" (Upbeat)',
    recognises: (root, document) => Array.isArray(document) || listOf(root.services) !== null,
    read({ root, document }) {
      const found = new Collection({ renames: false });
      for (const field of Object.keys(root))
        if (!['services', '$schema'].includes(field) && !isEmpty(root[field]))
          found.lose(WHOLE_FILE, field, 'an import reads services only; "upbeat apply" reads pages too');
      const rows = listOf(Array.isArray(document) ? document : root.services) ?? [];
      found.addAll(rows.map(asRow), readOwnRow);
      return found.reading('upbeat');
    },
  },
];

/** Programs by the columns of their CSV; the first that recognises them reads it. */
const TABLES: readonly CsvReader[] = [
  uptimerobotTable,
  betterStackTable,
  {
    expected: '"domain" (Upbeat)',
    recognises: (columns) => columns.has('domain'),
    read(rows) {
      const found = new Collection({ renames: false });
      const cells = rows.map((row) => Object.entries(row).map(([column, cell]) => [column, readCell(cell)]));
      found.addAll(
        cells.map((one) => Object.fromEntries(one)),
        readOwnRow,
      );
      return found.reading('csv');
    },
  },
];

/** Reads a file, a database or text, or the folder of a configuration. Throws {@link ImportError}. */
export async function readImportFile(file: string, now: number): Promise<ImportReading> {
  if (isFolder(file)) {
    const configuration = findPrometheus(file);
    return configuration === null ? readGatusFolder(file, now) : readImportFile(configuration, now);
  }
  if (isDatabase(file)) return readKumaBackup(await readKumaDatabase(file), now);
  return readImport(decodeText(readFileSync(file)), file, now);
}

/**
 * Parses a text by its content into services, entries that cannot be imported, and fields of others that cannot; only CSV is
 * detected by `fileName`. `env`: values of the variables of a configuration. Throws {@link ImportError}.
 */
export function readImport(
  text: string,
  fileName: string,
  now = 0,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ImportReading {
  if (/\.csv$/i.test(fileName)) return readCsv(text);
  const [document = null, ...further] = parseDocuments(text, fileName);
  const root = asRow(document);
  const reader = DOCUMENTS.find(({ recognises }) => recognises(root, document));
  if (reader === undefined)
    throw new ImportError(
      `${fileName} holds no list: expected ${DOCUMENTS.map(({ expected }) => expected).join(', ')}`,
    );
  const reading = reader.read({ document, root, text, fileName, now, env });
  if (further.length === 0) return reading;
  if (isGatus(root)) return { ...reading, notCarried: [FURTHER_DOCUMENTS, ...reading.notCarried] };
  throw new ImportError(`${fileName} must be one document, without a line "---" between two`);
}

function isGatus(root: Row): boolean {
  return ['endpoints', 'external-endpoints', 'suites'].some((section) => listOf(root[section]) !== null);
}

/** Reads all YAML files of a folder as one configuration, as Gatus does. */
function readGatusFolder(folder: string, now: number): ImportReading {
  const parts = readYamlFiles(folder).map(({ file, text }) => {
    const expanded = expandVariables(text, process.env);
    const [content, ...further] = parseDocuments(expanded, file);
    return { content, texts: readYamlTexts(expanded), lost: further.length === 0 ? [] : [FURTHER_DOCUMENTS] };
  });
  const { root, lost } = joinContents(parts.map(({ content }) => content));
  if (!isGatus(root))
    throw new ImportError(`${folder} holds no configuration of Gatus: expected "endpoints"`);
  const reading = readGatusFile(root, joinContents(parts.map(({ texts }) => texts)).root, now);
  const doubled = lost.map((one) => ({ entry: WHOLE_FILE, ...one }));
  return {
    ...reading,
    notCarried: [...parts.flatMap((part) => part.lost), ...doubled, ...reading.notCarried],
  };
}

/** The documents of a configuration of Gatus after the first, which is all that Gatus reads of a file. */
const FURTHER_DOCUMENTS = {
  entry: WHOLE_FILE,
  field: '---',
  reason: 'Gatus reads the first document of a file alone',
};

function parseDocuments(text: string, fileName: string): readonly unknown[] {
  // JSON is YAML, but its parser is a hundred times as fast.
  try {
    return [JSON.parse(text.replace(/^\uFEFF/, ''))];
  } catch {
    // It may be YAML.
  }
  const { documents, problem } = readYamlDocuments(text, fileName, FOREIGN_SCHEMA);
  if (problem === null) return documents;
  throw new ImportError(`${fileName} is neither JSON nor YAML: ${problem.place}: ${problem.message}`);
}

function readCsv(content: string): ImportReading {
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
  const columns = new Set(names);
  const reader = TABLES.find(({ recognises }) => recognises(columns));
  if (reader === undefined)
    throw new ImportError(
      `the first line of the CSV must name columns: expected ${TABLES.map(({ expected }) => expected).join(', ')}`,
    );
  return reader.read(
    cells.map((line) =>
      Object.fromEntries(line.map((cell, index) => [names[index] ?? `column ${index + 1}`, cell])),
    ),
  );
}

/** Reads a configuration. `texts`: the same with all of its values as texts. */
function readGatusFile(root: Row, texts: Row, now: number): ImportReading {
  const found = new Collection();
  for (const { field, reason } of readGatusSections(root)) found.lose(WHOLE_FILE, field, reason);
  const add = (row: Row, index: number, read: (row: Row) => EntryReading) => {
    const unset = unsetIn(row);
    found.add(
      asText(row.name) ?? asText(row.url) ?? `entry ${index + 1}`,
      row,
      unset.length > 0 ? { problem: describeUnset(unset) } : read(row),
    );
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
    found.skip(
      asText(asRow(suite).name) ?? `suite ${index + 1}`,
      'it is a suite of requests, and a check makes one',
    );
  return found.reading('gatus', [
    ...readGatusAlerts(asRow(root.alerting), found.entries, found),
    ...readGatusMaintenances(root, found.entries, now, found),
  ]);
}

function describeUnset(variables: readonly string[]): string {
  return `it needs the environment variable ${variables.join(', ')}, which is not set`;
}
