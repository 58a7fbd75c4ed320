/**
 * Reads the database of Uptime Kuma, `kuma.db` of 1.x and 2.x. The file is never changed: without a log beside it, it is opened
 * as one that nobody writes; with one, a copy of both is opened. What is in it is untrusted.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../error.ts';
import type { KumaBackup } from './kuma-backup.ts';
import { asText, type Row } from './listed-service.ts';

/** Thrown where a file of an import cannot be read at all. */
export class ImportError extends Error {
  readonly code = 'bad_import';
}

/** The first bytes of a database of SQLite. */
const MAGIC = 'SQLite format 3\0';
/** Files with changes that are not in the database yet. */
const LOGS = ['-wal', '-journal'];
/** Maximum number of rows of a table that are read. */
const MAX_ROWS = 50_000;
/** Maximum size of a value, bytes. */
const MAX_VALUE_BYTES = 1_048_576;
/** Maximum size of all values of a table, bytes. */
const MAX_TABLE_BYTES = 256 * 1_048_576;
/** Maximum number of copies of a database that is written meanwhile. */
const MAX_COPIES = 3;

/** Returns true if the file begins as a database of SQLite does. */
export function isDatabase(file: string): boolean {
  const handle = openSync(file, 'r');
  try {
    const start = Buffer.alloc(MAGIC.length);
    return readSync(handle, start, 0, start.length, 0) === start.length && start.toString('latin1') === MAGIC;
  } finally {
    closeSync(handle);
  }
}

/** Reads a database. Throws {@link ImportError} if it is damaged, too large, or of another program. */
export async function readKumaDatabase(file: string): Promise<KumaBackup> {
  const logs = LOGS.filter((log) => existsSync(file + log) && statSync(file + log).size > 0);
  if (logs.length === 0) {
    const url = pathToFileURL(file);
    url.searchParams.set('immutable', '1');
    return await readTables(url, file);
  }
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-import-'));
  try {
    const copy = join(folder, basename(file));
    copyTogether(['', ...logs].map((log) => [file + log, copy + log] as const));
    return await readTables(copy, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies files that belong together, none of which has changed meanwhile. Throws {@link ImportError} if they always have. */
function copyTogether(pairs: readonly (readonly [from: string, to: string])[]): void {
  const stateOf = () =>
    pairs.map(([from]) => (existsSync(from) ? [statSync(from).size, statSync(from).mtimeMs] : [])).join();
  for (let tries = 0; tries < MAX_COPIES; tries++) {
    const before = stateOf();
    for (const [from, to] of pairs) if (existsSync(from)) copyFileSync(from, to);
    if (stateOf() === before) return;
  }
  throw new ImportError(
    `${pairs[0]?.[0]} is being written: stop Uptime Kuma, or import a copy of its folder`,
  );
}

async function readTables(location: string | URL, file: string): Promise<KumaBackup> {
  const { DatabaseSync } = await import('node:sqlite');
  const fail = (error: unknown): never => {
    if (error instanceof ImportError) throw error;
    throw new ImportError(`${file} cannot be read as a database: ${messageOf(error)}`);
  };
  try {
    const database = new DatabaseSync(location, { readOnly: typeof location !== 'string' });
    try {
      database.enableDefensive(true);
      database.exec('PRAGMA trusted_schema = OFF');
      return collectBackup(createTableReader(database, file), file);
    } finally {
      database.close();
    }
  } catch (error) {
    return fail(error);
  }
}

type TableReader = (table: string) => Row[];

/** Reads whole tables. One that does not exist is empty; a view or a computed column is no table of Uptime Kuma. */
function createTableReader(database: import('node:sqlite').DatabaseSync, file: string): TableReader {
  const kinds = new Map(
    database
      .prepare('SELECT name, type, sql FROM sqlite_master')
      .all()
      .map(({ name, type, sql }) => [
        String(name),
        type === 'table' && !/^\s*CREATE\s+VIRTUAL/i.test(String(sql)),
      ]),
  );
  return (table) => {
    const isTable = kinds.get(table);
    if (isTable === undefined) return [];
    const columns = database.prepare('SELECT name, hidden FROM pragma_table_xinfo(?)').all(table);
    if (!isTable || columns.some(({ hidden }) => hidden !== 0))
      throw new ImportError(`${file} is not a database of Uptime Kuma: ${table} is not a plain table`);
    const rows = database
      .prepare(`SELECT count(*) AS rows FROM (SELECT 1 FROM ${quoted(table)} LIMIT ${MAX_ROWS + 1})`)
      .get();
    if (Number(rows?.rows) > MAX_ROWS)
      throw new ImportError(
        `${file} has more than ${MAX_ROWS.toLocaleString('en')} rows in the table ${table}`,
      );
    let bytes = 0;
    for (const { name } of columns) {
      const column = quoted(String(name));
      const size = database
        .prepare(
          `SELECT max(octet_length(${column})) AS most, total(octet_length(${column})) AS sum FROM ${quoted(table)}`,
        )
        .get();
      bytes += Number(size?.sum);
      if (Number(size?.most) > MAX_VALUE_BYTES || bytes > MAX_TABLE_BYTES)
        throw new ImportError(
          `${file} has values in the table ${table} that are too long to be those of Uptime Kuma`,
        );
    }
    const all = database.prepare(`SELECT * FROM ${quoted(table)}`);
    all.setReadBigInts(true);
    return all
      .all()
      .map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [nameInBackup(name), valueInBackup(value)]),
        ),
      );
  };
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Columns that the backups of version 1 name as the database does. */
const AS_IN_DATABASE =
  /^(?:dns_|docker_|basic_auth_|oauth_|ping_|remote_browser$|bearer_token$|system_service_name$|screenshot_delay$|manual_status$)/;
const RENAMED: ReadonlyMap<string, string> = new Map([['accepted_statuscodes_json', 'accepted_statuscodes']]);

/** The name of a column in a backup of version 1. */
function nameInBackup(column: string): string {
  if (AS_IN_DATABASE.test(column)) return column;
  return RENAMED.get(column) ?? column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function valueInBackup(value: unknown): unknown {
  if (typeof value === 'bigint')
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
      ? Number(value)
      : String(value);
  return value instanceof Uint8Array ? null : value;
}

const JSON_COLUMNS = [
  'accepted_statuscodes',
  'conditions',
  'kafkaProducerBrokers',
  'kafkaProducerSaslOptions',
  'rabbitmqNodes',
];

/** The rows of all tables, in the form of a backup. */
function collectBackup(read: TableReader, file: string): KumaBackup {
  const rows = read('monitor');
  const settings = read('setting');
  if (
    rows.length === 0 &&
    settings.length === 0 &&
    read('user').length === 0 &&
    read('notification').length === 0
  )
    throw new ImportError(`${file} has no monitors of Uptime Kuma`);
  const tags = new Map(read('tag').map((tag) => [tag.id, tag]));
  const tagsOf = groupBy(read('monitor_tag'), 'monitorId');
  const notificationsOf = groupBy(read('monitor_notification'), 'monitorId');
  const daemons = new Map(read('docker_host').map((host) => [host.id, host.docker_daemon]));
  const monitors = rows.map((row) => ({
    ...row,
    docker_daemon: daemons.get(row.docker_host),
    ...Object.fromEntries(
      JSON_COLUMNS.flatMap((name) => (name in row ? [[name, parseJson(row[name])]] : [])),
    ),
    notificationIDList: Object.fromEntries(
      (notificationsOf.get(row.id) ?? []).map(({ notificationId }) => [String(notificationId), true]),
    ),
    tags: (tagsOf.get(row.id) ?? []).map(({ tagId, value }) => ({ name: tags.get(tagId)?.name, value })),
  }));
  const groupsOf = groupBy(
    read('group')
      .filter((group) => group.public === 1)
      .toSorted(byWeight),
    'statusPageId',
  );
  const monitorsOf = groupBy(read('monitor_group').toSorted(byWeight), 'groupId');
  const domainsOf = groupBy(read('status_page_cname'), 'statusPageId');
  const incidentsOf = groupBy(
    read('incident').filter(({ active, pin }) => active === 1 && pin === 1),
    'statusPageId',
  );
  const pages = read('status_page');
  const slugs = new Map(pages.map(({ id, slug }) => [id, slug]));
  const subjectsOf = groupBy(read('monitor_maintenance'), 'maintenanceId');
  const pagesOf = groupBy(read('maintenance_status_page'), 'maintenanceId');
  return {
    monitors,
    notifications: read('notification'),
    pages: pages.map((page) => ({
      ...page,
      ...readLogo(page.icon, file),
      domains: (domainsOf.get(page.id) ?? []).map(({ domain }) => domain),
      incidents: (incidentsOf.get(page.id) ?? []).map(({ title }) => title),
      groups: (groupsOf.get(page.id) ?? []).map((group) => ({
        name: group.name,
        monitors: (monitorsOf.get(group.id) ?? []).map(({ monitorId }) => monitorId),
      })),
      links: (groupsOf.get(page.id) ?? [])
        .flatMap((group) => monitorsOf.get(group.id) ?? [])
        .filter(({ sendUrl, customUrl }) => sendUrl === 1 || asText(customUrl) !== null),
    })),
    maintenances: read('maintenance').map((one) => ({
      ...one,
      monitors: (subjectsOf.get(one.id) ?? []).map(({ monitorId }) => monitorId),
      pages: (pagesOf.get(one.id) ?? []).map(({ statusPageId }) => slugs.get(statusPageId)),
    })),
    timeZone: asText(parseJson(settings.find(({ key }) => key === 'serverTimezone')?.value)),
    left: [
      ['heartbeat', rows.length],
      ['proxy', read('proxy').length],
      ['api_key', read('api_key').length],
      ['remote_browser', read('remote_browser').length],
      // The first one is the account of the import.
      ['user', Math.max(0, read('user').length - 1)],
    ],
  };
}

/** The logo of a page, which stands in a folder beside the database; nothing, if it is not there. */
function readLogo(icon: unknown, file: string): { readonly logo?: string } {
  const [, name, type = ''] =
    /\/upload\/([\w.-]+\.(png|jpe?g|gif|webp))(?:\?|$)/i.exec(asText(icon) ?? '') ?? [];
  const path = join(dirname(file), 'upload', name ?? '');
  if (name === undefined || !existsSync(path) || statSync(path).size > MAX_VALUE_BYTES) return {};
  const media = type.toLowerCase().replace('jpg', 'jpeg');
  return { logo: `data:image/${media};base64,${readFileSync(path).toString('base64')}` };
}

function byWeight(a: Row, b: Row): number {
  return Number(a.weight ?? 0) - Number(b.weight ?? 0) || Number(a.id) - Number(b.id);
}

function groupBy(rows: readonly Row[], column: string): ReadonlyMap<unknown, Row[]> {
  return Map.groupBy(rows, (row) => row[column]);
}

/** The value of a text of JSON; any other text as it is. */
function parseJson(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
