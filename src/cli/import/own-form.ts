/** Reads entries in Upbeat's own format (CSV, YAML or JSON): as `services export` writes them, or as in the catalogue. */

import { parseDuration } from '../../domain/durations.ts';
import { type HeartbeatSchedule, readSchedule } from '../../domain/heartbeat/heartbeat-schedule.ts';
import { describeMemberProblem, describeSettingProblem } from '../../domain/input-problem.ts';
import { describeRefusal, refusalOfSchedule } from '../../domain/refusal.ts';
import {
  type AcceptRule,
  type CheckKind,
  isCategory,
  MONITORING_KINDS,
  VISIBILITIES,
} from '../../domain/service.ts';
import {
  changeMembers,
  MEMBER_NAMES,
  operatorLimits,
  refuseMembers,
  textOfList,
} from '../../kinds/check-members.ts';
import { type SettingsReading, validateSettings } from '../../kinds/settings.ts';
import { MONITORING_MEMBERS } from '../../resources/services/check-document.ts';
import {
  type ServiceDocument,
  serviceDocumentOf,
  TEXT_MEMBERS,
} from '../../resources/services/service-document.ts';
import type { ServiceState } from '../../store/ports/services.ts';
import { formatJson, formatYaml } from '../output.ts';
import {
  asRow,
  asText,
  type EntryReading,
  isEmpty,
  type ListedService,
  type LostField,
  listService,
  quote,
  type Row,
  readMethod,
} from './listed-service.ts';

const EXPORT_COLUMNS = [
  ...['domain', 'slug', 'name', 'category', 'kind', 'url', 'method', 'accept', 'settings', ...MEMBER_NAMES],
  ...['paused', 'visibility', ...TEXT_MEMBERS, 'dependsOn', 'public_dependencies'],
];
// The names of columns of a CSV are read in lower case.
const COLUMNS = new Set([...EXPORT_COLUMNS, ...EXPORT_COLUMNS.map((name) => name.toLowerCase()), 'check']);
const OF_CHECK = new Set(['kind', 'url', 'method', 'accept', 'settings', ...MEMBER_NAMES]);
const YES_OR_NO: ReadonlyMap<string, boolean> = new Map([
  ['', false],
  ['false', false],
  ['no', false],
  ['0', false],
  ['true', true],
  ['yes', true],
  ['1', true],
]);

/** An entry: `domain`, optionally the columns of an export, or a `check` as in the catalogue. */
export function readOwnRow(row: Row): EntryReading {
  const check = asRow(row.check);
  const kindText = asText(row.kind) ?? asText(check.kind) ?? 'root';
  const kind = MONITORING_KINDS.find((one) => one === kindText);
  if (kind === undefined) return { problem: `kind ${quote(kindText)} is not known` };
  const category = asText(row.category) ?? 'developer';
  if (!isCategory(category)) return { problem: `category ${quote(category)} is not known` };
  const accept = readAccept(row.accept ?? check.accept);
  if (accept === 'bad') return { problem: 'accept must list status codes or classes such as 2xx' };
  const url = asText(row.url) ?? asText(check.url);
  if (url !== null && !isWebAddress(url))
    return { problem: `url ${quote(url)} must begin with http:// or https://` };
  const periodMs = readDuration(row.period);
  const graceMs = readDuration(row.grace);
  if (periodMs === 'bad' || graceMs === 'bad')
    return { problem: 'period and grace must be durations such as 90s or 1h' };
  const schedule = readScheduleColumns(row);
  if (typeof schedule === 'string') return { problem: schedule };
  if (schedule !== null && periodMs !== null)
    return { problem: describeRefusal({ code: 'period_and_schedule' }) };
  const paused = readYesOrNo(row.paused);
  const publicDependencies = readYesOrNo(row.public_dependencies ?? row.publicDependencies);
  if (paused === null || publicDependencies === null)
    return { problem: 'paused and public_dependencies must be true or false' };
  const visibility = asText(row.visibility) ?? undefined;
  const seenBy = VISIBILITIES.find((one) => one === visibility);
  if (seenBy !== visibility) return { problem: `visibility must be ${VISIBILITIES.join(', ')}` };
  const settings = readSettings(kind, row.settings ?? check.settings);
  if (!settings.ok)
    return {
      problem: settings.wrong
        .map(({ setting, problem }) => `the setting ${setting} ${describeSettingProblem(problem)}`)
        .join(', '),
    };
  const members = readOwnMembers(row, check);
  if ('problem' in members) return members;
  const { method, lost } = readMethod(row.method ?? check.method);
  const more = {
    category,
    kind,
    url,
    method,
    accept,
    settings: settings.settings ?? null,
    secrets: settings.secrets ?? null,
    choice: members.choice,
    paused,
    ...(seenBy === undefined ? {} : { visibility: seenBy }),
    periodMs,
    graceMs,
    schedule,
    publicDependencies,
    dependsOn: wordsOf(row.dependsOn ?? row.dependson),
    texts: readTexts(row),
    ...readSlug(row),
  } as const;
  return listService(asText(row.domain), asText(row.name), more, [
    ...lost,
    ...findUnknown(row, COLUMNS, ''),
    ...findUnknown(check, OF_CHECK, 'check.'),
  ]);
}

function readSlug({ slug: value }: Row) {
  const slug = asText(value)?.toLowerCase();
  return slug === undefined ? {} : { slug };
}

function readTexts(row: Row): ListedService['texts'] {
  const texts = TEXT_MEMBERS.map((name) => [name, asText(row[name])] as const);
  return Object.fromEntries(
    texts.filter(([name, text]) => text !== null && !Object.hasOwn(MONITORING_MEMBERS, name)),
  );
}

/** A list of words, or in CSV the words separated by spaces. */
function wordsOf(value: unknown): readonly string[] {
  return (textOfValue(value) ?? '').split(/[\s,]+/).filter((word) => word !== '');
}

/** Settings as an object, or in CSV as the text of one in JSON. */
function readSettings(kind: CheckKind, value: unknown): SettingsReading {
  if (typeof value !== 'string') return validateSettings(kind, value ?? undefined);
  if (value.trim() === '') return validateSettings(kind, undefined);
  try {
    return validateSettings(kind, JSON.parse(value));
  } catch {
    return { ok: false, wrong: [{ setting: quote(value), problem: { code: 'type', type: 'object' } }] };
  }
}

/** Times and regions: texts, or lists as in the catalogue. */
function readOwnMembers(row: Row, check: Row): Pick<ListedService, 'choice'> | { readonly problem: string } {
  const texts = MEMBER_NAMES.map(
    (name) => [name, textOfValue(row[name] ?? row[name.toLowerCase()] ?? check[name])] as const,
  );
  const { choice, wrong: unread } = changeMembers({}, Object.fromEntries(texts));
  const wrong = [...unread, ...refuseMembers(choice, operatorLimits(null))];
  if (wrong.length === 0) return { choice };
  const problems = wrong.map(({ member, problem }) => `${member} ${describeMemberProblem(member, problem)}`);
  return { problem: problems.join(', ') };
}

function textOfValue(value: unknown): string | null {
  if (Array.isArray(value)) return textOfList(value);
  return value === undefined || value === null ? null : String(value);
}

function findUnknown(row: Row, known: ReadonlySet<string>, before: string): LostField[] {
  return Object.entries(row)
    .filter(([field, value]) => !known.has(field) && !isEmpty(value))
    .map(([field]) => ({ field: `${before}${field}`, reason: 'it is not known' }));
}

function isWebAddress(text: string): boolean {
  const { protocol, username, password } = URL.parse(text) ?? { protocol: '', username: '', password: '' };
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

/** `accept` as a list, or in CSV separated by spaces; null: absent. */
function readAccept(value: unknown): readonly AcceptRule[] | null | 'bad' {
  if (value === undefined || value === null || value === '') return null;
  const words = Array.isArray(value) ? value.map(String) : String(value).split(/[\s,]+/);
  if (!words.every((word) => /^[1-9](?:xx|\d\d)$/.test(word))) return 'bad';
  return words.map((word) => (word.endsWith('xx') ? (word as AcceptRule) : Number(word)));
}

/** The schedule of an entry; null: it has none. Text: the problem. */
function readScheduleColumns(row: Row): HeartbeatSchedule | string | null {
  const [cron, timezone] = [asText(row.schedule), asText(row.timezone)];
  if (cron === null) return timezone === null ? null : describeRefusal({ code: 'timezone_alone' });
  const reading = readSchedule(cron, timezone ?? 'UTC');
  return reading.ok ? reading.schedule : describeRefusal(refusalOfSchedule(reading.problem));
}

function readDuration(value: unknown): number | null | 'bad' {
  if (isEmpty(value)) return null;
  return parseDuration(String(value)) ?? 'bad';
}

/** Null: neither. */
function readYesOrNo(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  return YES_OR_NO.get(String(value ?? '').toLowerCase()) ?? null;
}

/** Characters with which spreadsheets begin a formula, also in full width, after any number of apostrophes. */
const FORMULA = /^'*[=+\-@\t\r＝＋－＠]/u;
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]|\\(?=u\{)/gu;
const ESCAPED = /\\u\{([0-9A-F]{1,6})\}/g;

/**
 * Writes text as a cell of a CSV. Text that a spreadsheet would take for a formula gets an apostrophe in front, and control
 * characters are written as their codes; {@link readCell} reverses both.
 */
export function writeCell(text: string): string {
  const guarded = FORMULA.test(text) ? `'${text}` : text;
  return guarded.replace(
    UNPRINTABLE,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`,
  );
}

export function readCell(cell: string): string {
  const text = cell.replace(ESCAPED, (written, code: string) => {
    const point = Number.parseInt(code, 16);
    return point > 0x10ffff ? written : String.fromCodePoint(point);
  });
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

/** Writes the owners' services as a file that `services import` reads. */
export async function exportServices(
  states: readonly ServiceState[],
  format: 'csv' | 'yaml' | 'json',
): Promise<string> {
  const services = states
    .filter(({ service }) => service.origin === 'owner')
    .map(({ service }) => listingOf(serviceDocumentOf(service)));
  if (format === 'json') return `${formatJson({ services })}\n`;
  if (format === 'yaml') return formatYaml({ services });
  const columns = EXPORT_COLUMNS.map((key) => ({ key }));
  const rows = services.map((service) =>
    Object.fromEntries(Object.entries(service).map(([member, value]) => [member, writeCell(cellOf(value))])),
  );
  const { stringify } = await import('csv-stringify/sync');
  return stringify(rows, { header: true, columns });
}

/** The text of a cell: lists separated by spaces, settings as JSON. */
function cellOf(value: unknown): string {
  if (typeof value !== 'object') return String(value);
  return Array.isArray(value) ? textOfList(value) : JSON.stringify(value);
}

/** The document of a service as an entry of an export: without members in it, and without defaults but for its kind. */
export function listingOf({
  check = {},
  publicDependencies,
  ...document
}: ServiceDocument): Readonly<Record<string, unknown>> {
  const { domain, category = 'developer' } = document;
  const all: Readonly<Record<string, unknown>> = {
    ...{ name: domain, kind: 'root', ...check, ...document, category },
    ...(publicDependencies === true ? { public_dependencies: true } : {}),
  };
  return Object.fromEntries(EXPORT_COLUMNS.flatMap((name) => (name in all ? [[name, all[name]]] : [])));
}
