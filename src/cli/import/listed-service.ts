/** A service in an import file, and the fields that cannot be imported. */

import type { CheckChoice } from '../../domain/check-target.ts';
import { parseDuration } from '../../domain/durations.ts';
import type { HeartbeatSchedule } from '../../domain/heartbeat/heartbeat-schedule.ts';
import { readAnyHost, readHostName } from '../../domain/host-name.ts';
import { describeMemberProblem, describeSettingProblem } from '../../domain/input-problem.ts';
import { percentDecoded } from '../../domain/printable-text.ts';
import {
  type AcceptRule,
  type Category,
  type CheckDefinition,
  type CheckSettings,
  type ProbedKind,
  STATUS_CLASSES,
  type Visibility,
} from '../../domain/service.ts';
import { changeMembers, type MemberTexts, operatorLimits, refuseMembers } from '../../kinds/check-members.ts';
import { validateSettings } from '../../kinds/settings.ts';
import type { ServiceDocument, TextMember } from '../../resources/services/service-document.ts';

export interface ListedService extends Pick<CheckDefinition, 'kind' | 'url' | 'method' | 'accept'> {
  readonly domain: string;
  /** Absent: that of its domain, or of its name or kind. */
  readonly slug?: string;
  readonly name: string;
  readonly category: Category;
  /** Settings of the kind, without credentials; null: its defaults. */
  readonly settings: CheckSettings | null;
  /** Credentials among the settings, in clear text; null: there are none. */
  readonly secrets: CheckSettings | null;
  /** Times and regions of its checks. */
  readonly choice: CheckChoice;
  readonly paused: boolean;
  /** Absent: as its host suggests. */
  readonly visibility?: Visibility;
  /** Heartbeats: time between two, milliseconds; null: the setting `heartbeats.silence` applies. */
  readonly periodMs: number | null;
  /** Heartbeats: how late one may be, milliseconds; null: not at all. */
  readonly graceMs: number | null;
  /** Heartbeats: when they are due; null: every period. */
  readonly schedule: HeartbeatSchedule | null;
  readonly publicDependencies: boolean;
  /** Slugs or domains of services. */
  readonly dependsOn: readonly string[];
  /** Heartbeats: the secret of an address that its senders have already; null: there is none. */
  readonly pushToken: string | null;
  readonly texts: Pick<ServiceDocument, TextMember>;
}

/** Defaults of a service. */
export const PLAIN_SERVICE: Omit<ListedService, 'domain' | 'name'> = {
  category: 'developer',
  kind: 'root',
  url: null,
  method: null,
  accept: null,
  settings: null,
  secrets: null,
  choice: {},
  paused: false,
  periodMs: null,
  graceMs: null,
  schedule: null,
  publicDependencies: false,
  dependsOn: [],
  pushToken: null,
  texts: {},
};

/** A field of an entry that cannot be imported. */
export interface LostField {
  readonly field: string;
  /** Why, or what to use instead. */
  readonly reason: string;
}

/** A lost field as a list, which is empty if nothing is lost. */
export function lostIf(isLost: boolean, field: string, reason: string): readonly LostField[] {
  return isLost ? [{ field, reason }] : [];
}

/** A parsed entry: a service, perhaps without some fields, or why it cannot be imported. */
export type EntryReading =
  | { readonly service: ListedService; readonly lost: readonly LostField[] }
  | { readonly problem: string };

/** An entry of a file. */
export type Row = Readonly<Record<string, unknown>>;

/** The value if it is an object, else an empty object. */
export function asRow(value: unknown): Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {};
}

/** Trimmed text; null: the value is not text, or empty. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/** Trimmed text, or that of a number; null: neither. */
export function textOf(value: unknown): string | null {
  return typeof value === 'number' ? String(value) : asText(value);
}

/** Returns true if a value is absent, null, false, 0 or empty. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** The names in a text, with white space between them. */
export function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/** A text for messages: in quotation marks, and cut if it is long. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

export interface SkippedEntry {
  readonly entry: string;
  readonly reason: string;
}

/** The service of a domain, which is judged when it is registered: what may be named depends on the account. */
export function listService(
  domainText: string | null,
  name: string | null,
  more: Partial<Omit<ListedService, 'domain' | 'name'>>,
  lost: readonly LostField[] = [],
): EntryReading {
  const given = domainText?.trim() ?? '';
  if (given === '') return { problem: 'it has no domain' };
  const reading = readAnyHost(given);
  const domain = reading.ok ? reading.domain : given.toLowerCase();
  return { service: { ...PLAIN_SERVICE, ...more, domain, name: name ?? domain }, lost };
}

/** The service of a domain that is checked by a kind with settings. */
export function listKind(
  kind: ProbedKind,
  settings: CheckSettings,
  { domain, name, ...more }: Partial<Omit<ListedService, 'domain'>> & { readonly domain: string | null },
  lost: readonly LostField[],
): EntryReading {
  const reading = validateSettings(kind, settings);
  if (reading.ok)
    return listService(
      domain,
      name ?? null,
      { ...more, kind, settings: reading.settings ?? null, secrets: reading.secrets ?? null },
      lost,
    );
  const wrong = reading.wrong.map(
    ({ setting, problem }) => `the setting ${setting} ${describeSettingProblem(problem)}`,
  );
  return { problem: wrong.join(', ') };
}

/** Host and settings of an address such as `wss://example.com:8443/live`; null: it is another address. */
export function readWebSocketAddress(
  url: string | null,
): { readonly host: string; readonly settings: CheckSettings } | null {
  const address = URL.parse(url ?? '');
  if (address === null || (address.protocol !== 'ws:' && address.protocol !== 'wss:')) return null;
  const { hostname, port, pathname, search, protocol } = address;
  const path = pathname + search;
  return {
    host: hostname,
    settings: {
      ...(path === '/' ? {} : { path }),
      ...(protocol === 'ws:' ? { plain: true } : {}),
      ...(port === '' ? {} : { port: Number(port) }),
    },
  };
}

/** A web address without user, password and fragment; user and password beside it are null if it has none. */
export type AddressReading =
  | { readonly address: URL; readonly username: string | null; readonly password: string | null }
  | { readonly problem: string };

export function readAddress(url: string | null): AddressReading {
  if (url === null) return { problem: 'it has no address' };
  const address = URL.parse(url);
  if (address === null) return { problem: `address ${quote(url)} cannot be read` };
  if (address.protocol !== 'http:' && address.protocol !== 'https:')
    return { problem: `addresses that begin with ${address.protocol} have no equal here` };
  const [username = '', password = ''] = [address.username, address.password].map((text) =>
    percentDecoded(text, text),
  );
  address.username = '';
  address.password = '';
  address.hash = '';
  return { address, username: username || null, password: password || null };
}

export function listAddress(
  url: string | null,
  name: string | null,
  more: Partial<Omit<ListedService, 'domain' | 'name' | 'url'>>,
  lost: readonly LostField[] = [],
): EntryReading {
  const reading = readAddress(url);
  if ('problem' in reading) return reading;
  const { hostname, href } = reading.address;
  return listService(hostname, name, { ...more, url: href === `https://${hostname}/` ? null : href }, lost);
}

/** `HEAD` or `GET`; another method is lost. */
export function readMethod(value: unknown): { method: 'HEAD' | 'GET' | null; lost: readonly LostField[] } {
  const method = asText(value)?.toUpperCase() ?? null;
  if (method === null || method === 'HEAD' || method === 'GET') return { method, lost: [] };
  return {
    method: null,
    lost: [{ field: 'method', reason: `checks ask by HEAD or GET, not by ${quote(method)}` }],
  };
}

/** The fields of an entry that are not imported, with their `reasons`. */
export function findLost(
  row: Row,
  imported: (field: string, value: unknown) => boolean,
  reasons: Readonly<Record<string, string>>,
): LostField[] {
  return Object.entries(row).flatMap(([field, value]) => {
    if (isEmpty(value) || imported(field, value)) return [];
    const reason = Object.hasOwn(reasons, field) ? reasons[field] : undefined;
    return [{ field, reason: reason ?? 'it has no equal here' }];
  });
}

/** Status codes as rules; 100 codes of a class become the class, such as `2xx`. */
export function groupCodes(codes: ReadonlySet<number>): readonly AcceptRule[] {
  const rules: AcceptRule[] = [];
  for (const family of STATUS_CLASSES) {
    const ofClass = [...codes]
      .filter((code) => family === `${Math.floor(code / 100)}xx`)
      .sort((a, b) => a - b);
    if (ofClass.length === 100) rules.push(family);
    else rules.push(...ofClass);
  }
  return rules;
}

/** Maximum length of a note, characters. */
const MAX_NOTE = 500;

/** A service with lines as its note. Empty ones are left out. */
export function withNote(reading: EntryReading, lines: readonly string[]): EntryReading {
  const note = lines.filter((line) => line !== '').join('\n');
  if ('problem' in reading || note === '') return reading;
  const { service, lost } = reading;
  const isCut = note.length > MAX_NOTE;
  return {
    service: {
      ...service,
      texts: { ...service.texts, note: isCut ? `${note.slice(0, MAX_NOTE - 1)}…` : note },
    },
    lost: isCut
      ? [...lost, { field: 'description', reason: `a note has at most ${MAX_NOTE} characters` }]
      : lost,
  };
}

/** A name as the host of a service that is not on the network. `other`: that of a name without letters. */
export function hostOfName(name: string, other: string): string {
  const label = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const words = label.replaceAll(/[^a-z0-9]+/g, '-').slice(0, 63);
  return words.replaceAll(/^-|-$/g, '') || other;
}

/** A service that sends heartbeats. A name that is no domain becomes one; `other`: that of a name without letters. */
export function listHeartbeat(
  name: string | null,
  other: string,
  more: Partial<Omit<ListedService, 'domain' | 'name' | 'kind'>>,
  lost: readonly LostField[],
): EntryReading {
  const reading = readHostName(name ?? '');
  const host = reading.ok ? reading.domain : hostOfName(name ?? '', other);
  return listService(host, name, { ...more, kind: 'heartbeat' }, lost);
}

export function slugOfTitle(title: string): string {
  const slug = hostOfName(title, '').slice(0, 60).replace(/-$/, '');
  return slug.length < 3 ? 'status-page' : slug;
}

/** The service with a host that no other one of the file has, if it sends heartbeats: its host is a name alone. */
export function withOwnName(service: ListedService, names: Set<string>): ListedService {
  if (service.kind !== 'heartbeat') return service;
  let { domain } = service;
  for (let number = 2; names.has(domain); number++) domain = service.domain.replace(/^[^.]*/, `$&-${number}`);
  names.add(domain);
  return { ...service, domain };
}

/** A list, or the values of an object; null: neither. */
export function listOf(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  return typeof value === 'object' && value !== null ? Object.values(value) : null;
}

/** Maximum number of re-checks that are read; more are refused in any case. */
const MAX_RETRIES = 100;

/** The entry with these times, if its service is checked; times that a check cannot have are lost. */
export function withTimes(reading: EntryReading, texts: MemberTexts): EntryReading {
  if ('problem' in reading || reading.service.kind === 'heartbeat') return reading;
  const lost: LostField[] = [];
  let kept: MemberTexts = texts;
  for (;;) {
    const { choice, wrong: unread } = changeMembers({}, kept);
    const wrong = [...unread, ...refuseMembers(choice, operatorLimits(null))];
    if (wrong.length === 0)
      return { service: { ...reading.service, choice }, lost: [...reading.lost, ...lost] };
    for (const { member, problem } of wrong) {
      lost.push({ field: member, reason: `${member} ${describeMemberProblem(member, problem)}` });
      kept = { ...kept, [member]: null };
    }
  }
}

/** The times of a monitor of Uptime Kuma, in seconds there. Without retries, the re-checks are those of the settings. */
export function readKumaTimes({ interval, timeout, maxretries, retryInterval }: Row): MemberTexts {
  const retries = Math.min(MAX_RETRIES, Number(maxretries));
  return {
    ...(isEmpty(interval) ? {} : { interval: `${Number(interval)}s` }),
    ...(isEmpty(timeout) ? {} : { timeout: `${Number(timeout)}s` }),
    ...(retries > 0 ? { confirmAfter: `${Number(retryInterval)}s `.repeat(retries) } : {}),
  };
}

/** The time between two checks of Gatus where an endpoint names none. */
const GATUS_INTERVAL = '1m';

export function readGatusTimes(row: Row): MemberTexts {
  const interval = readGoDuration(asText(row.interval)) ?? GATUS_INTERVAL;
  const timeout = readGoDuration(asText(asRow(row.client).timeout));
  return { interval, ...(timeout === null ? {} : { timeout }) };
}

/** A duration of Go such as `1m30s` with one unit; other texts stay as they are. */
function readGoDuration(text: string | null): string | null {
  if (text === null || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h)){2,}$/.test(text)) return text;
  return `${goDurationMs(text)}ms`;
}

/** A duration of Go, milliseconds; null: it is none. */
export function goDurationMs(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return null;
  const parts = text.match(/[\d.]+[a-z]+/g) ?? [];
  return parts.reduce((sum, part) => sum + (parseDuration(part) ?? 0), 0);
}
