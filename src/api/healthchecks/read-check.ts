/** Reads what clients of Healthchecks say of a check (https://healthchecks.io/docs/api/), and writes it as members of a service. */

import { readSchedule, readTimezone } from '../../domain/heartbeat/heartbeat-schedule.ts';
import type { Service } from '../../domain/service.ts';
import { decodeText } from '../../http/body.ts';
import { HttpError } from '../../http/problem.ts';
import { DEFAULT_TIMES } from './checks.ts';

/** A check as a client wants it; absent members stay as they are. Times in seconds. */
export interface WantedCheck {
  readonly name?: string;
  readonly slug?: string;
  readonly tags?: string;
  readonly desc?: string;
  readonly timeout?: number;
  readonly grace?: number;
  readonly schedule?: string;
  readonly tz?: string;
  /** Identifiers or names with commas between them; `*`: all. */
  readonly channels?: string;
  /** Members by which a check is found in place of a new one. */
  readonly unique?: readonly (typeof UNIQUE)[number][];
}

const UNIQUE = ['name', 'slug', 'tags', 'timeout', 'grace'] as const;
const MIN_SECONDS = 60;
const MAX_SECONDS = 31_536_000;
/** Maximum number of characters of a note, which holds description and tags. */
const MAX_NOTE_LENGTH = 500;

/** The problem of a value; null: none. */
type Rule = (value: unknown) => string | null;

const text =
  (most = Number.POSITIVE_INFINITY): Rule =>
  (value) => {
    if (typeof value !== 'string') return 'is not a string';
    return value.length > most ? 'is too long' : null;
  };
const flag: Rule = (value) => (typeof value === 'boolean' ? null : 'is not a boolean');
const seconds: Rule = (value) => {
  if (typeof value !== 'number' || !Number.isInteger(value)) return 'is not a number';
  if (value < MIN_SECONDS) return 'is too small';
  return value > MAX_SECONDS ? 'is too large' : null;
};
/** Only the value that means nothing: for all others there is no equal here. */
const only =
  (rule: Rule, usual: unknown): Rule =>
  (value) =>
    rule(value) ?? (value === usual ? null : `has no equal here: only ${JSON.stringify(usual)} is possible`);

const RULES: Readonly<Record<string, Rule>> = {
  name: text(100),
  slug: (value) =>
    text(100)(value) ?? (/^[a-z0-9_-]*$/.test(String(value)) ? null : 'does not match pattern'),
  tags: text(),
  desc: text(),
  timeout: seconds,
  grace: seconds,
  schedule: (value) =>
    text(100)(value) ??
    (readSchedule(String(value), 'UTC').ok ? null : 'is not a valid cron expression with five fields'),
  tz: (value) => text()(value) ?? (readTimezone(String(value)) === null ? 'is not a valid timezone' : null),
  channels: text(),
  unique(value) {
    if (!Array.isArray(value)) return 'is not an array';
    return value.every((one) => UNIQUE.some((name) => name === one)) ? null : 'has unexpected value';
  },
  manual_resume: only(flag, false),
  methods: only(text(), ''),
  ...Object.fromEntries(
    ['subject', 'subject_fail', 'start_kw', 'success_kw', 'failure_kw'].map((name) => [
      name,
      only(text(), ''),
    ]),
  ),
  ...Object.fromEntries(
    ['filter_subject', 'filter_body', 'filter_http_body', 'filter_default_fail'].map((name) => [
      name,
      only(flag, false),
    ]),
  ),
};

/** Reads the body of a request. Unknown members are ignored, as Healthchecks does. Throws `invalid_body`. */
export function readWantedCheck(body: Uint8Array): WantedCheck {
  const given = body.length === 0 ? {} : parse(decodeText(body));
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid('json validation error: value is not an object');
  for (const [name, value] of Object.entries(given)) {
    const problem = Object.hasOwn(RULES, name) ? RULES[name]?.(value) : null;
    if (typeof problem === 'string') throw invalid(`json validation error: ${name} ${problem}`);
  }
  return given;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw invalid('could not parse request body');
  }
}

/** The error of a body that Healthchecks would refuse. */
export function invalid(problem: string): HttpError {
  return new HttpError('invalid_body', problem);
}

const TAGS = /(?:^|\n)Tags: ([^\n]+)$/;

/** Description and tags of a service, which its note has as an import of a check writes them. Tags have blanks between them. */
export function readNote(note = ''): { readonly desc: string; readonly tags: string } {
  const tags = TAGS.exec(note)?.[1]?.split(', ').join(' ') ?? '';
  return { desc: note.replace(TAGS, ''), tags };
}

/** The tags of a text. */
export function wordsOf(tags: string): readonly string[] {
  return tags.split(/\s+/).filter((tag) => tag !== '');
}

function noteOf({ desc, tags }: ReturnType<typeof readNote>): string {
  const words = wordsOf(tags);
  const lines = [desc.replaceAll('\r\n', '\n').trim(), words.length === 0 ? '' : `Tags: ${words.join(', ')}`];
  const note = lines.filter((line) => line !== '').join('\n');
  if (note.length > MAX_NOTE_LENGTH)
    throw invalid(
      `desc and tags are too long: together they have at most ${MAX_NOTE_LENGTH} characters here`,
    );
  return note;
}

/** The members of a service that a check changes, as a merge patch. Throws `invalid_body`. `before` null: the service is new. */
export function patchOfCheck(wanted: WantedCheck, before: Service | null) {
  const { name, desc, tags, timeout, grace, schedule, tz } = wanted;
  const known = readNote(before?.note);
  const zone = tz ?? before?.check.schedule?.timezone ?? 'UTC';
  const isSimple = schedule === undefined && timeout !== undefined;
  return {
    ...(name === undefined || name === '' ? {} : { name }),
    ...(desc === undefined && tags === undefined
      ? {}
      : { note: noteOf({ desc: desc ?? known.desc, tags: tags ?? known.tags }) }),
    ...(schedule === undefined ? {} : { schedule, timezone: zone, period: null }),
    ...(isSimple ? { period: `${timeout}s`, schedule: null, timezone: null } : {}),
    ...(schedule === undefined && !isSimple && tz !== undefined && before?.check.schedule !== undefined
      ? { timezone: tz }
      : {}),
    ...(grace === undefined ? {} : { grace: `${grace}s` }),
  };
}

/** The same as members of a new service. */
export function membersOfCheck(wanted: WantedCheck) {
  const patch = patchOfCheck(wanted, null);
  const { period } = DEFAULT_TIMES;
  const members = {
    grace: DEFAULT_TIMES.grace,
    ...(wanted.schedule === undefined ? { period } : {}),
    ...patch,
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}
