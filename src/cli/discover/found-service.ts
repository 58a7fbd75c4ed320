/**
 * A service that was discovered: what its place suggests, and what its labels say. A label `upbeat.<member>` is a member of a service in a
 * file of `apply`, such as `upbeat.name` or `upbeat.check.interval`; `upbeat.services.<name>.<member>` is one of several.
 */
import { slugWord } from '../../domain/service.ts';
import { escapeVariables } from '../apply/read-files.ts';

/** A service as a file of `apply` has it. */
export interface FoundService {
  readonly slug: string;
  readonly domain: string;
  readonly [member: string]: unknown;
}

/** The origin of a found service, such as `docker://web`. It is the last line of the note, by which it is known again. */
type Origin = string;

/** The suggestion of a place for a service that its labels do not describe. */
export interface Suggestion {
  readonly origin: Origin;
  /** Made a slug. */
  readonly name: string;
  readonly domain: string;
  /** Absent: the labels say what is checked. */
  readonly check?: object;
}

const PREFIX = 'upbeat.';
const SEVERAL = /^services\.([\w-]+)\.(.+)$/;
const MEMBERS = new Set([
  ...['slug', 'domain', 'name', 'category', 'paused', 'note', 'visibility', 'url', 'publicDependencies'],
  ...['period', 'grace', 'schedule', 'timezone', 'dependsOn'],
]);
const CHECK_MEMBERS = new Set([
  ...['kind', 'url', 'method', 'accept', 'interval', 'timeout', 'slowOver', 'confirmAfter', 'regions'],
]);
const LISTS = new Set(['accept', 'confirmAfter', 'regions', 'dependsOn']);
const MAX_LABEL_LENGTH = 4_000;

/** The labels of a thing that are for Upbeat, without their prefix. */
export function ownLabels(labels: unknown): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(Object(labels)).flatMap(([name, value]) =>
      name.startsWith(PREFIX) && typeof value === 'string' && value.length <= MAX_LABEL_LENGTH
        ? [[name.slice(PREFIX.length), value.trim()]]
        : [],
    ),
  );
}

/** Returns true if labels ask for checks of the thing; null: they say nothing of it. */
export function isEnabled(labels: ReadonlyMap<string, string>): boolean | null {
  const word = labels.get('enable')?.toLowerCase();
  if (word === undefined) return labels.size > 0 ? true : null;
  return !['false', 'no', 'off', '0'].includes(word);
}

/** The services of a thing. `note` receives each label that is not understood. */
export function servicesOf(
  suggestion: Suggestion,
  labels: ReadonlyMap<string, string>,
  note: (text: string) => void,
): FoundService[] {
  const several = new Map<string, Map<string, string>>();
  const own = new Map<string, string>();
  for (const [label, value] of labels) {
    const [, name, member] = SEVERAL.exec(label) ?? [];
    if (name === undefined || member === undefined) own.set(label, value);
    else several.set(name, (several.get(name) ?? new Map<string, string>()).set(member, value));
  }
  own.delete('enable');
  if (several.size === 0) return [serviceOf(suggestion, own, note)];
  return [...several].map(([name, members]) => {
    const named = {
      ...suggestion,
      origin: `${suggestion.origin}#${name}`,
      name: `${suggestion.name} ${name}`,
    };
    return serviceOf(named, new Map([...own, ...members]), note);
  });
}

function serviceOf(
  { origin, name, domain, check: suggested }: Suggestion,
  labels: ReadonlyMap<string, string>,
  note: (text: string) => void,
): FoundService {
  const members: Record<string, unknown> = {};
  const check: Record<string, unknown> = {};
  const settings: Record<string, unknown> = {};
  for (const [label, value] of labels) {
    const [, below, setting] =
      /^check\.(?:settings\.(\w+)|\w+)$/.exec(label) === null ? [] : label.split('.');
    if (setting !== undefined) settings[setting] = readValue(value);
    else if (below !== undefined && CHECK_MEMBERS.has(below)) check[below] = readMember(below, value);
    else if (MEMBERS.has(label)) members[label] = readMember(label, value);
    else note(`${origin}: the label ${PREFIX}${label} is not known`);
  }
  const { url, note: text, ...rest } = members;
  const address = typeof url === 'string' ? checkOf(url) : null;
  if (url !== undefined && address === null)
    note(`${origin}: the label ${PREFIX}url is no http or https URL`);
  const base = address?.check ?? suggestedFor(check.kind, suggested);
  const whole = { ...base, ...check, ...withSettings(base, settings) };
  const service: FoundService = {
    slug: slugWord(name) || 'service',
    domain: address?.domain ?? domain,
    name,
    ...rest,
    note: [...(typeof text === 'string' ? [text] : []), origin].join('\n'),
    ...(Object.keys(whole).length === 0 ? {} : { check: whole }),
  };
  // A label of somebody else's container must not read variables of the process that applies it.
  return escapeVariables(service) as FoundService;
}

/** The suggestion of a place for a check; nothing where the labels name another kind. */
function suggestedFor(kind: unknown, suggested: object | undefined): object {
  return suggested === undefined || (kind !== undefined && kind !== Reflect.get(suggested, 'kind'))
    ? {}
    : suggested;
}

function withSettings(base: object, settings: Readonly<Record<string, unknown>>) {
  const before: unknown = Reflect.get(base, 'settings');
  const all = { ...Object(before), ...settings };
  return Object.keys(all).length === 0 ? {} : { settings: all };
}

/** Host and check of an address. Null: it is no http or https URL. */
export function checkOf(address: string): { readonly domain: string; readonly check: object } | null {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  return {
    domain: url.hostname.replace(/^\[|\]$/g, ''),
    check: {
      kind: 'http',
      settings: {
        ...(url.protocol === 'http:' ? { plain: true } : {}),
        ...(url.port === '' ? {} : { port: Number(url.port) }),
        ...(url.pathname + url.search === '/' ? {} : { path: url.pathname + url.search }),
      },
    },
  };
}

function readMember(name: string, value: string): unknown {
  if (LISTS.has(name))
    return value
      .split(/[\s,]+/)
      .filter((one) => one !== '')
      .map((one) => (name === 'accept' && /^\d{3}$/.test(one) ? Number(one) : one));
  if (name === 'paused' || name === 'publicDependencies') return readValue(value);
  return value;
}

/** `true`, `false`, a whole number, a list in JSON, or a text. */
function readValue(value: string): unknown {
  if (value === 'true' || value === 'false') return value === 'true';
  if (/^\d{1,9}$/.test(value)) return Number(value);
  if (!value.startsWith('[')) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
