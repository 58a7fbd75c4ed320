/** Reads lists of services in the forms that people have: our own CSV, YAML and JSON, Uptime Kuma's and Gatus'. */
import { parse as parseCsv } from 'csv-parse/sync';
import { parse as parseYaml } from 'yaml';
import { type Category, isCategory } from '../domain/category.ts';
import { readHostName } from '../domain/host-name.ts';
import type { AcceptRule, CheckKind } from '../domain/service.ts';

/** A service as a list names it. */
export interface ListedService {
  readonly domain: string;
  readonly name: string;
  readonly category: Category;
  readonly kind: CheckKind;
  /** Address to check instead of the domain's own; null: `https://<domain>/` or its health endpoint. */
  readonly url: string | null;
  readonly method: 'HEAD' | 'GET' | null;
  readonly accept: readonly AcceptRule[] | null;
}

/** What a file held: services, and the entries that were left out, each with its reason. */
export interface ImportReading {
  readonly format: 'csv' | 'upbeat' | 'uptime-kuma' | 'gatus';
  readonly services: readonly ListedService[];
  readonly skipped: readonly { readonly entry: string; readonly reason: string }[];
}

/** An import file that cannot be read at all. */
export class ImportError extends Error {
  readonly code = 'bad_import';
}

type Row = Readonly<Record<string, unknown>>;
type RowReader = (row: Row) => ListedService | string;

/** Reads a file by its content; `fileName` only tells CSV from the others. Throws {@link ImportError}. */
export function readImport(text: string, fileName: string): ImportReading {
  if (/\.csv$/i.test(fileName)) return collect('csv', csvRows(text), readOwnRow);
  let document: unknown;
  try {
    // JSON is YAML; one reader serves both.
    document = parseYaml(text, { maxAliasCount: 100 });
  } catch (error) {
    throw new ImportError(`${fileName} is neither JSON nor YAML: ${(error as Error).message.split('\n')[0]}`);
  }
  const root = asRow(document);
  if (Array.isArray(root.monitorList)) return collect('uptime-kuma', root.monitorList, readKumaRow);
  if (Array.isArray(root.endpoints)) return collect('gatus', root.endpoints, readGatusRow);
  const services = Array.isArray(document) ? document : root.services;
  if (Array.isArray(services)) return collect('upbeat', services, readOwnRow);
  throw new ImportError(
    `${fileName} holds no list: expected "services" (Upbeat), "monitorList" (Uptime Kuma) or "endpoints" (Gatus)`,
  );
}

function collect(format: ImportReading['format'], rows: readonly unknown[], read: RowReader): ImportReading {
  const services: ListedService[] = [];
  const skipped: { entry: string; reason: string }[] = [];
  rows.forEach((given, index) => {
    const row = asRow(given);
    const service = read(row);
    const entry = text(row.name) ?? text(row.domain) ?? text(row.url) ?? `entry ${index + 1}`;
    if (typeof service === 'string') skipped.push({ entry, reason: service });
    else services.push(service);
  });
  return { format, services, skipped };
}

function csvRows(content: string): Row[] {
  let rows: Row[];
  try {
    rows = parseCsv(content, {
      bom: true,
      columns: (header: string[]) => header.map((name) => name.trim().toLowerCase()),
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    });
  } catch (error) {
    throw new ImportError(`not a CSV: ${(error as Error).message}`);
  }
  if (rows[0] !== undefined && !('domain' in rows[0])) {
    throw new ImportError('the first line of the CSV must name a column "domain"');
  }
  return rows;
}

/** A row of our own form: `domain`, and optionally `name`, `category`, `kind`, `url`, or a `check` as in the catalogue. */
function readOwnRow(row: Row): ListedService | string {
  const check = asRow(row.check);
  const kind = text(row.kind) ?? text(check.kind) ?? 'root';
  if (kind !== 'root' && kind !== 'health' && kind !== 'heartbeat') return `unknown kind "${kind}"`;
  const category = text(row.category) ?? 'developer';
  if (!isCategory(category)) return `unknown category "${category}"`;
  const method = text(row.method) ?? text(check.method);
  const accept = readAccept(row.accept ?? check.accept);
  if (accept === 'bad') return 'accept must list status codes or classes such as 2xx';
  return listed(
    text(row.domain),
    text(row.name),
    category,
    kind,
    text(row.url) ?? text(check.url),
    method,
    accept,
  );
}

/** `accept` as a list, or in CSV as words between spaces; null: not given. */
function readAccept(value: unknown): readonly AcceptRule[] | null | 'bad' {
  if (value === undefined || value === null || value === '') return null;
  const words = Array.isArray(value) ? value.map(String) : String(value).split(/[\s,]+/);
  if (!words.every((word) => /^(?:[1-5]xx|[1-5]\d\d)$/.test(word))) return 'bad';
  return words.map((word) => (word.endsWith('xx') ? (word as AcceptRule) : Number(word)));
}

/** A monitor of an Uptime Kuma backup; `active: false` is taken too, as a person may start it again. */
function readKumaRow(row: Row): ListedService | string {
  const type = text(row.type);
  if (type === 'push') {
    // A push monitor has no address; its name is the only thing that can be a domain.
    return listed(text(row.name), text(row.name), 'developer', 'heartbeat', null, null, null);
  }
  if (type !== 'http' && type !== 'keyword' && type !== 'json-query')
    return `monitor type "${type}" has no equal here`;
  const accept = Array.isArray(row.accepted_statuscodes)
    ? row.accepted_statuscodes.flatMap(readCodeRange)
    : null;
  return fromUrl(text(row.url), text(row.name), 'developer', text(row.method), accept);
}

/** An endpoint of a Gatus configuration. Its conditions on the status become `accept`. */
function readGatusRow(row: Row): ListedService | string {
  const group = text(row.group)?.toLowerCase() ?? '';
  const conditions = Array.isArray(row.conditions) ? row.conditions.map(String) : [];
  const codes = conditions.flatMap((condition) => {
    const match = /^\s*\[STATUS\]\s*==\s*(?:any\()?([\d,\s]+)\)?\s*$/.exec(condition);
    return match?.[1]?.split(',').map(Number) ?? [];
  });
  const category = isCategory(group) ? group : 'developer';
  return fromUrl(text(row.url), text(row.name), category, text(row.method), codes.length > 0 ? codes : null);
}

/** `200-299` of Uptime Kuma as our `2xx`; another range as its codes. */
function readCodeRange(range: unknown): AcceptRule[] {
  const [from, to] = String(range).split('-').map(Number);
  if (from === undefined || !Number.isInteger(from)) return [];
  if (to === undefined) return [from];
  if (from % 100 === 0 && to === from + 99) return [`${from / 100}xx` as AcceptRule];
  return Array.from({ length: Math.min(600, Math.max(0, to - from + 1)) }, (_, index) => from + index);
}

function fromUrl(
  url: string | null,
  name: string | null,
  category: Category,
  method: string | null,
  accept: readonly AcceptRule[] | null,
): ListedService | string {
  if (url === null || !URL.canParse(url)) return 'it has no address that can be read';
  const { protocol, hostname, href } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:')
    return `addresses that begin with ${protocol} have no equal here`;
  const isDefault = href === `https://${hostname}/`;
  return listed(hostname, name, category, 'root', isDefault ? null : href, method, accept);
}

function listed(
  domainText: string | null,
  name: string | null,
  category: Category,
  kind: CheckKind,
  url: string | null,
  method: string | null,
  accept: readonly AcceptRule[] | null,
): ListedService | string {
  const reading = readHostName(domainText ?? '');
  if (!reading.ok) return `domain "${domainText ?? ''}" ${reading.problem}`;
  const upper = method?.toUpperCase();
  return {
    domain: reading.domain,
    name: name ?? reading.domain,
    category,
    kind,
    url,
    method: upper === 'HEAD' || upper === 'GET' ? upper : null,
    accept,
  };
}

function asRow(value: unknown): Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {};
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
