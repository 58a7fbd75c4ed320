/** The documentation of the stored run: `bench/results/baseline.md`, its tables in `docs/performance.md` and `docs/scale.md`, and its curves. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawCosts, drawErrors, drawSizes } from './curves.ts';
import { formatFleets } from './fleet-queues.ts';
import type { BenchRow } from './row.ts';
import { FIGURES, nameOf, SIZES } from './sizes.ts';

/** A row and the section that measured it. */
export interface SectionRow extends BenchRow {
  readonly section: string;
}

/** A row of the table. `subject`: what its name begins with, if following rows may join it. */
interface TableRow extends BenchRow {
  readonly subject: string | null;
  readonly measured: string;
}

/** A run of the benchmarks, as it is stored. */
export interface BenchRun {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly version: string;
  readonly machine: { readonly node: string; readonly processors: number; readonly model: string };
  readonly rows: readonly SectionRow[];
  /** Sections that were measured again after the others, with the time, the version and the machine of that; absent: the same machine. */
  readonly renewed?: Readonly<Record<string, RenewedSection>>;
}

/** When and where a section was measured again. */
type RenewedSection = Pick<BenchRun, 'at' | 'version'> & Partial<Pick<BenchRun, 'machine'>>;

const ROOT = join(import.meta.dirname, '..');
/** The file of the run that the documentation cites. */
export const BASELINE = join(ROOT, 'bench/results/baseline.json');

const ABOVE_RUN = `# The stored run

Written by \`npm run bench -- --draw\`; [performance](../../docs/performance.md#the-figures) says how it is measured.`;
const BEGIN = '<!-- The table of the baseline, written by `npm run bench -- --draw`: begin -->';
const END = '<!-- end of the table -->';
const FLEETS_BEGIN = '<!-- Fleets, written by `npm run bench -- --draw`: begin -->';
const FLEETS_END = '<!-- end of the fleets -->';
const MACHINES_BEGIN = '<!-- What machine, written by `npm run bench -- --draw`: begin -->';
const MACHINES_END = '<!-- end of the machines -->';

/**
 * What an installation of so many services needs, checked every five minutes. `cpu`: the row that measured its CPU time over HTTP. Memory and disk
 * leave room above what was measured.
 */
const MACHINES = [
  {
    services: 1_200,
    cpu: 'whole program with 1,200 services every 5 min: CPU',
    memory: '256 MiB',
    disk: '0.2 GB',
  },
  { services: 10_000, cpu: '10,000 services: CPU of all processes', memory: '512 MiB', disk: '1.1 GB' },
  { services: 100_000, cpu: '100,000 services: CPU of all processes', memory: '1 GiB', disk: '11 GB' },
  {
    services: 1_000_000,
    cpu: '1,000,000 services: CPU of all processes',
    memory: '3 GiB in one process, or a [cluster](scale.md)',
    disk: '106 GB',
  },
] as const;
/** Of these rows, the difference is what TLS adds to a check. */
const TLS_ROWS = [
  'HTTPS: whole engine, beside undici',
  'HTTP: whole engine, beside the slot Client',
] as const;
/** The share of a core, in hundredths, of one second of CPU time in so many seconds. */
const CORE_SHARE: Readonly<Record<string, number>> = { 's a second': 100, 'ms a minute': 1 / 600 };
const CHECK_INTERVAL_S = 300;

/** Rows that `docs/performance.md` shows, beside those whose target was missed. */
const HEADLINES: ReadonlySet<string> = new Set([
  'HTTP: whole engine, beside the slot Client',
  'HTTP: whole engine, checks per core beside blackbox_exporter',
  'HTTPS: whole engine, beside undici',
  'HTTPS: whole engine, checks per core beside blackbox_exporter',
  'truth: mean error at 1,000/s, beside node:net',
  'truth: p99 error at 1,000/s, beside node:net',
  'schedule: start delay, p99, at 1,000 checks/s',
  'whole program with 1,200 services every 5 min: CPU',
  'whole program with 1,200 services every 5 min: wake-ups',
  'whole program with 1,200 services every 5 min: held',
  'whole program at 333 checks/s: CPU a check',
  'start: to ready and stopped, CPU',
  'apply of 10,000 services over SQLite, unchanged',
  'samples: writes, journal included',
  'samples: on disk',
  'samples: 90 days of a service by the day',
  'GET /status/:slug, beside Fastify with @fastify/rate-limit',
  'events: 100 changes a second to 10,000 streams, lag p99',
  'badge: cold',
  'home: largest contentful paint, slow mobile',
  'heartbeats: accepted, durable, over HTTP (sender included)',
  'registry in PostgreSQL: heartbeats, durable, by the record',
  'cluster: results the judge takes in, Redis and PostgreSQL',
  'cluster of 8: node and judge beside the single process',
  'InfluxDB: the adapter, spool and thread included',
]);

/** The section whose rows are the table of `docs/scale.md`. */
const SIZES_SECTION = 'sizes';

/** Titles of sections, in the order of the table; others have their own name and come after them. */
const TITLES: Readonly<Record<string, string>> = {
  'check-cost': 'Cost of a check',
  truth: 'Errors of the reported latency',
  scheduling: 'Schedule',
  idle: 'With little to do',
  rate: 'The whole program',
  start: 'Starts and commands',
  apply: 'Files of services',
  memory: 'Memory',
  samples: 'Samples, embedded',
  api: 'API and badges',
  events: 'Event streams',
  badge: 'New badges',
  pages: 'Pages in a browser',
  heatmap: 'Heat map',
  heartbeats: 'Heartbeats',
  'far-heartbeats': 'Heartbeats through far nodes',
  writes: 'Services by API',
  incidents: 'Incidents',
  alerts: 'Alerts',
  feeds: "Vendors' pages",
  redis: 'Limits in Redis',
  postgres: 'PostgreSQL',
  handout: 'Cluster: shards',
  results: 'Cluster: results',
  following: 'Cluster: statuses',
  cluster: 'Cluster: checks',
  influx: 'InfluxDB',
};

/** A stored run with sections of a later one in place of its own. Ratios hold within a section, so it may be of another machine. */
export function renewSections(stored: BenchRun, later: BenchRun): BenchRun {
  const { at, version, rows } = later;
  const isSame = JSON.stringify(stored.machine) === JSON.stringify(later.machine);
  const machine = isSame ? {} : { machine: later.machine };
  const sections = new Set(rows.map(({ section }) => section));
  const order = [...Object.keys(TITLES), ...sections];
  return withItsMachine({
    ...stored,
    rows: [...stored.rows.filter(({ section }) => !sections.has(section)), ...rows].sort(
      (a, b) => order.indexOf(a.section) - order.indexOf(b.section),
    ),
    renewed: {
      ...stored.renewed,
      ...Object.fromEntries([...sections].map((name) => [name, { at, version, ...machine }])),
    },
  });
}

/** If every section was measured again on one other machine, the run is named after that machine and dated by its oldest section. */
function withItsMachine(run: BenchRun): BenchRun {
  const names = [...new Set(run.rows.map(({ section }) => section))];
  const measured = names.map((name) => ({ name, ...(run.renewed?.[name] ?? {}) }));
  const [first] = measured;
  const machine = first?.machine;
  if (machine === undefined) return run;
  if (!measured.every((one) => JSON.stringify(one.machine) === JSON.stringify(machine))) return run;
  const dated = measured.flatMap(({ name, at, version }) =>
    at === undefined || version === undefined ? [] : [{ name, at, version }],
  );
  const oldest = dated.reduce((a, b) => (a.at <= b.at ? a : b));
  return {
    ...run,
    ...{ at: oldest.at, version: oldest.version, machine },
    renewed: Object.fromEntries(
      dated.filter(({ at }) => at !== oldest.at).map(({ name, at, version }) => [name, { at, version }]),
    ),
  };
}

/** The generated files of the documentation, by their paths in this repository. `read`: the text of a page as it is. */
export function documentRun(run: BenchRun, read: (path: string) => string): Readonly<Record<string, string>> {
  return {
    'docs/performance.md': fillTable(
      'docs/performance.md',
      fillTable('docs/performance.md', read('docs/performance.md'), formatHeadlines(run)),
      formatMachines(run),
      [MACHINES_BEGIN, MACHINES_END],
    ),
    'bench/results/baseline.md': `${ABOVE_RUN}\n\n${formatRun(run)}\n`,
    'docs/scale.md': fillTable(
      'docs/scale.md',
      fillTable('docs/scale.md', read('docs/scale.md'), formatSizes(run)),
      formatFleets(run.rows),
      [FLEETS_BEGIN, FLEETS_END],
    ),
    'docs/pictures/latency-errors.svg': drawErrors(run.rows),
    'docs/pictures/check-costs.svg': drawCosts(run.rows),
    'docs/pictures/fleet-sizes.svg': drawSizes(run.rows),
  };
}

/** A page with the table in its place. */
function fillTable(path: string, page: string, table: string, [begin, end] = [BEGIN, END]): string {
  const [before, rest = ''] = page.split(begin);
  const after = rest.split(end)[1];
  if (after === undefined) throw new Error(`${path} has no place for the table`);
  return `${before}${begin}\n\n${table}\n\n${end}${after}`;
}

/** Writes what {@link documentRun} makes of the baseline. */
export function documentBaseline(): void {
  const run = JSON.parse(readFileSync(BASELINE, 'utf8')) as BenchRun;
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  for (const [path, text] of Object.entries(documentRun(run, read))) writeFileSync(join(ROOT, path), text);
}

/** The rows that matter most, and those whose target was missed. */
function formatHeadlines(run: BenchRun): string {
  const rows = run.rows.filter(({ name, reached }) => HEADLINES.has(name) || reached === false);
  return [...headOf(run), ...joinPlain(rows).map(formatRow)].join('\n');
}

/** The run in words, and the head of a table of its rows. */
function headOf({ at, version, machine }: BenchRun): readonly string[] {
  return [
    `Measured on ${formatTime(at)} with version ${version} and Node ${machine.node} on ${machine.processors} processors (${machine.model}).`,
    '',
    '| what | measured | ratio | wanted |',
    '| --- | --- | --- | --- |',
  ];
}

/** The run in words and all of its rows as a table. */
function formatRun(run: BenchRun): string {
  const { rows, renewed = {} } = run;
  const sections = Map.groupBy(
    rows.filter(({ section }) => section !== SIZES_SECTION),
    ({ section }) => section,
  );
  return [
    ...headOf(run),
    ...[...sections].flatMap(([section, members]) => [
      `| **${TITLES[section] ?? section}** | ${formatRenewed(renewed[section])} |  |  |`,
      ...joinPlain(members).map(formatRow),
    ]),
  ].join('\n');
}

/** What machine an installation needs, with the CPU time that was measured over HTTP and what TLS adds to it. */
function formatMachines({ rows }: BenchRun): string {
  const find = (name: string) => rows.find((row) => row.name === name);
  const [https = 0, http = 0] = TLS_ROWS.map((name) => find(name)?.value ?? 0);
  return [
    '| services | checks | processor | memory | disk |',
    '| --- | --- | --- | --- | --- |',
    ...MACHINES.map(({ services, cpu, memory, disk }) => {
      const checks = services / CHECK_INTERVAL_S;
      const { value = null, unit = '' } = find(cpu) ?? {};
      const share = (value ?? 0) * (CORE_SHARE[unit] ?? 0) + (checks * (https - http)) / 10_000;
      const processor = value === null ? 'not measured' : formatShare(share);
      return `| ${services.toLocaleString('en')} | ${Math.round(checks).toLocaleString('en')} a second | ${processor} | ${memory} | ${disk} |`;
    }),
  ].join('\n');
}

function formatShare(hundredths: number): string {
  return hundredths < 100
    ? `${Math.round(hundredths)} % of a core`
    : `${(hundredths / 100).toFixed(1)} cores`;
}

/** What grows with the fleet: a column for each size. */
function formatSizes({ at, version, machine, rows, renewed = {} }: BenchRun): string {
  const one = { machine, ...(renewed[SIZES_SECTION] ?? { at, version }) };
  return [
    `Measured on ${formatTime(one.at)} with version ${one.version} on ${one.machine.processors} processors (${one.machine.model}).`,
    '',
    `| services | ${SIZES.map((size) => size.toLocaleString('en')).join(' | ')} |`,
    `| --- |${' --- |'.repeat(SIZES.length)}`,
    ...FIGURES.map(({ name, unit }) => {
      const cells = SIZES.map((size) => {
        const value = rows.find((row) => row.name === nameOf(size, name))?.value ?? null;
        return value === null ? '–' : formatValue(value);
      });
      return `| ${name}, ${unit} | ${cells.join(' | ')} |`;
    }),
  ].join('\n');
}

/** When a section was measured, if it was apart from the others. */
function formatRenewed(renewed: RenewedSection | undefined): string {
  if (renewed === undefined) return '';
  const machine = renewed.machine === undefined ? [] : [renewed.machine.model];
  return [formatTime(renewed.at), renewed.version, ...machine].join(', ');
}

function formatTime(at: string): string {
  return `${at.slice(0, 10)} at ${at.slice(11, 16)} UTC`;
}

/** Rows with neither ratio nor target that say several things of one subject are one row; floors and peers stand alone. */
function joinPlain(rows: readonly BenchRow[]): readonly TableRow[] {
  const joined: TableRow[] = [];
  for (const row of rows) {
    const subject = subjectOf(row);
    const last = joined.at(-1);
    if (subject !== null && last?.subject === subject)
      joined[joined.length - 1] = {
        ...last,
        name: `${last.name}; ${row.name.slice(subject.length)}`,
        measured: `${last.unit === row.unit ? last.measured.replace(` ${row.unit}`, '') : last.measured}; ${formatMeasured(row)}`,
        unit: row.unit,
      };
    else joined.push({ ...row, subject, measured: formatMeasured(row) });
  }
  return joined;
}

function subjectOf({ name, ratio, target }: BenchRow): string | null {
  if (ratio !== null || target !== null || /\((?:floor|peer)/.test(name)) return null;
  return /^.*?: /.exec(name)?.[0] ?? null;
}

function formatMeasured({ value, unit }: BenchRow): string {
  return value === null ? unit : `${formatValue(value)} ${unit}`;
}

function formatRow({ name, measured, ratio, target, reached }: TableRow): string {
  const wanted = target === null ? '' : target.replace(/^<= /, '≤ ').replace(/^>= /, '≥ ');
  const verdict = reached === false ? `${wanted}, **missed**` : wanted;
  return `| ${[name, measured, ratio?.toFixed(2) ?? '', verdict].map(escapeCell).join(' | ')} |`;
}

function formatValue(value: number): string {
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 1_000 ? 1 : 0;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
