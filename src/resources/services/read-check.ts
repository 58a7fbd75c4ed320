/**
 * Reads how a service is checked. Forms, commands, files and the API enter a check in forms of their own; what it may be, and what
 * becomes of it, is decided here for all of them.
 */
import { type AllowedDestinations, refuseUrl } from '../../domain/allowed-destinations.ts';
import type { CheckChoice } from '../../domain/check-timing.ts';
import { DAY_MS, parseDuration } from '../../domain/durations.ts';
import { type HeartbeatSchedule, readSchedule } from '../../domain/heartbeat/heartbeat-schedule.ts';
import { readHostName } from '../../domain/host-name.ts';
import { refusalOfSchedule } from '../../domain/refusal.ts';
import type { AcceptRule, CheckDefinition, CheckKind, CheckSettings } from '../../domain/service.ts';
import type { WrongSetting } from '../../kinds/check-kind.ts';
import { type MemberLimits, refuseMembers, type WrongMember } from '../../kinds/check-members.ts';
import { hostSettings, portOf, type SettingsReading, validateSettings } from '../../kinds/settings.ts';
import { accept, type Outcome, type Refused, refuse } from '../kit/change.ts';
import { DOCUMENT_FORMATS } from '../kit/read-document.ts';
import { readAll, readKind } from '../kit/read-input.ts';
import { membersOutcome } from './check-choice.ts';

/** A check as entered. Members that the input does not name have the values that they keep. */
export interface EnteredCheck {
  readonly kind: string;
  readonly url: string | null;
  /** Method of root checks. */
  readonly method: string | null;
  /** The input asks for that method, rather than that a document of a service contains it. */
  readonly choosesMethod: boolean;
  readonly accept: Outcome<readonly AcceptRule[] | null>;
  /** Null: those of the check before, or the kind is refused. */
  readonly settings: SettingsReading | null;
  readonly choice: CheckChoice;
  /** Members of `choice` that could not be read. */
  readonly wrong: readonly WrongMember[];
  readonly period: Outcome<number | undefined>;
  readonly grace: Outcome<number | undefined>;
  readonly schedule: Outcome<HeartbeatSchedule | undefined>;
  /** Which of the two is refused if there are both. */
  readonly clashesAt: 'period' | 'schedule';
}

/** What a check may be. */
export interface CheckRules {
  readonly destinations: AllowedDestinations;
  readonly limits: MemberLimits;
  /** The domain of the service, at which an owner's check is. */
  readonly domain: string;
  /** The check that is changed, of which what was permitted once may stay; absent: there is none. */
  readonly before?: CheckDefinition | undefined;
}

/** A check whose credentials are in clear text. */
export interface OpenedCheck {
  readonly check: CheckDefinition;
  /** Absent: there are no new ones. */
  readonly secrets?: CheckSettings;
}

/** Minimum period of heartbeats, milliseconds. */
const MIN_PERIOD_MS = 1_000;
/** Maximum period of heartbeats, a year, milliseconds. */
const MAX_PERIOD_MS = 365 * DAY_MS;

/**
 * Reads a check. Members of `base` that nobody enters stay, such as the heartbeat address. A method is dropped from other checks
 * than root ones. Refused with `kind_invalid`, `kind_unavailable`, `member_invalid`, `url_elsewhere`, `method_invalid`, `method_of_root`,
 * `url_refused`, `setting_invalid`, `check_member_invalid`, `period_and_schedule`, and as the readings of `entered`; the fields are `kind`, `url`,
 * `method`, `accept`, `settings.NAME`, the names of times and regions, `period`, `grace`, `schedule` and `timezone`.
 */
export function readCheck(
  entered: EnteredCheck,
  base: CheckDefinition,
  { destinations, limits, domain, before }: CheckRules,
): Outcome<OpenedCheck> {
  const { choice, wrong } = entered;
  const kind = readKind(entered.kind, before?.kind);
  const reading = readAll({
    kind,
    url: readUrl(entered.url, domain, { destinations, limits, before }),
    method: readMethod(entered),
    settings: readSettings(entered.settings, base, kind, { destinations, before }),
    members: membersOutcome(choice, [...wrong, ...refuseMembers(choice, limits, before)]),
    accept: entered.accept,
    ...{ period: entered.period, grace: entered.grace, schedule: entered.schedule },
  });
  if (!reading.ok) return reading;
  const { settings: read, members, period, grace, schedule, ...rest } = reading.value;
  if (period !== undefined && schedule !== undefined)
    return refuse({ code: 'period_and_schedule' }, entered.clashesAt);
  const check: CheckDefinition = {
    ...withoutEntered(base),
    ...rest,
    ...members,
    ...(read.settings === undefined ? {} : { settings: read.settings }),
    ...(read.sealed === undefined ? {} : { sealed: read.sealed }),
    ...(period === undefined ? {} : { periodMs: period }),
    ...(grace === undefined ? {} : { graceMs: grace }),
    ...(schedule === undefined ? {} : { schedule }),
  };
  return accept({ check, ...(read.secrets === undefined ? {} : { secrets: read.secrets }) });
}

/** A check without what is entered and may be absent. */
function withoutEntered(base: CheckDefinition): CheckDefinition {
  const {
    periodMs: _period,
    graceMs: _grace,
    schedule: _schedule,
    settings: _set,
    sealed: _sealed,
    ...kept
  } = base;
  const { intervalMs: _i, timeoutMs: _t, slowOverMs: _s, confirmAfterMs: _c, regions: _r, ...rest } = kept;
  return rest;
}

const MAX_URL_LENGTH = 2_000;

/** The address of a check, which an owner may only give at the domain. That of the check before may stay. */
function readUrl(
  url: string | null,
  domain: string,
  { destinations, limits: { anyHost }, before }: Omit<CheckRules, 'domain'>,
): Outcome<string | null> {
  if (url === null || url === before?.url) return accept(url);
  const { accepts, example } = DOCUMENT_FORMATS['http-url'];
  if (!accepts(url) || url.length > MAX_URL_LENGTH)
    return refuse({ code: 'member_invalid', member: 'url', problem: { code: 'format', example } });
  if (anyHost) return acceptUrl(url, destinations);
  const reading = readHostName(domain);
  // A domain that is not valid is refused itself.
  if (!reading.ok) return accept(url);
  const host = URL.parse(url)?.hostname ?? '';
  const isOwn = host === reading.domain || host.endsWith(`.${reading.domain}`);
  return isOwn ? accept(url) : refuse({ code: 'url_elsewhere', domain: reading.domain }, 'url');
}

/** The address of a check at any host, which the operator may give. Refused with `url_refused`. */
export function acceptUrl<Url extends string | null>(
  url: Url,
  destinations: AllowedDestinations,
): Outcome<Url> {
  const problem = url === null ? null : refuseUrl(destinations, url);
  return problem === null ? accept(url) : refuse({ code: 'url_refused', problem }, 'url');
}

function readMethod({ kind, method, choosesMethod }: EnteredCheck): Outcome<CheckDefinition['method']> {
  if (method === null || method === '') return accept(null);
  if (kind !== 'root') return choosesMethod ? refuse({ code: 'method_of_root' }) : accept(null);
  return method === 'HEAD' || method === 'GET' ? accept(method) : refuse({ code: 'method_invalid' });
}

/** Settings of a check: those that are shown, new credentials, and credentials that stay. */
type EnteredSettings = Omit<Extract<SettingsReading, { readonly ok: true }>, 'ok'>;

function readSettings(
  entered: SettingsReading | null,
  { settings, sealed }: CheckDefinition,
  kind: Outcome<CheckKind>,
  { destinations, before }: Pick<CheckRules, 'destinations' | 'before'>,
): Outcome<EnteredSettings> {
  if (entered !== null && kind.ok)
    return settingsOutcome(entered, kind.value, destinations, before?.settings);
  return accept({ settings, ...(sealed === undefined ? {} : { sealed }) });
}

/** Reads the settings of a kind with their types, credentials among them. Refused with `setting_invalid`. */
export function readTypedSettings(
  kind: CheckKind,
  settings: unknown,
  destinations: AllowedDestinations,
): Outcome<EnteredSettings> {
  return settingsOutcome(validateSettings(kind, settings), kind, destinations);
}

/** Refuses each wrong setting under the name of its field, `settings.` and its name. `before`: a server among these may stay. */
function settingsOutcome(
  reading: SettingsReading,
  kind: CheckKind,
  { ports, refuseHost }: AllowedDestinations,
  before: CheckSettings = {},
): Outcome<EnteredSettings> {
  if (!reading.ok) return refuseSettings(reading.wrong);
  const { ok: _ok, ...settings } = reading;
  const wrong = hostSettings(kind, settings.settings).flatMap(([setting, host]): WrongSetting[] => {
    const problem = before[setting] === host ? null : refuseHost(host);
    return problem === null ? [] : [{ setting, problem }];
  });
  const port = portOf(kind, settings.settings);
  if (port !== null && ports !== null && !ports.includes(port))
    wrong.push({ setting: 'port', problem: { code: 'port_closed', port } });
  return wrong.length === 0 ? accept(settings) : refuseSettings(wrong);
}

function refuseSettings(wrong: readonly WrongSetting[]): Refused {
  const refusals = wrong.map(({ setting, problem }) => ({
    field: `settings.${setting}`,
    refusal: { code: 'setting_invalid', setting, problem } as const,
  }));
  return { ok: false, refusals };
}

/**
 * Reads a cron expression and its time zone; undefined: no schedule. Refused with `schedule_invalid`, `timezone_invalid`
 * or `timezone_alone`.
 */
export function readScheduleFields(
  cron: string | null | undefined,
  timezone: string | null | undefined,
  before: HeartbeatSchedule | undefined,
): Outcome<HeartbeatSchedule | undefined> {
  const expression = cron === undefined ? before?.cron : (cron ?? undefined);
  if (expression === undefined)
    return cron === undefined && typeof timezone === 'string'
      ? refuse({ code: 'timezone_alone' }, 'timezone')
      : accept(undefined);
  const zone = timezone === undefined ? before?.timezone : timezone;
  const reading = readSchedule(expression, zone ?? 'UTC');
  if (reading.ok) return accept(reading.schedule);
  return refuse(refusalOfSchedule(reading.problem), reading.problem === 'timezone' ? 'timezone' : 'schedule');
}

/** Reads the time between two heartbeats, as {@link readGrace}; at least a second. */
export function readPeriod(
  text: string | null | undefined,
  before: number | undefined,
): Outcome<number | undefined> {
  return readLength(text, before, MIN_PERIOD_MS);
}

/**
 * Reads how late a heartbeat may be, milliseconds; null: the default, undefined in the result. Refused with `duration_invalid` if
 * it is malformed or out of range.
 */
export function readGrace(
  text: string | null | undefined,
  before: number | undefined,
): Outcome<number | undefined> {
  return readLength(text, before, 0);
}

function readLength(
  text: string | null | undefined,
  before: number | undefined,
  minMs: number,
): Outcome<number | undefined> {
  if (text === undefined) return accept(before);
  if (text === null) return accept(undefined);
  const ms = parseDuration(text);
  return ms === null || ms < minMs || ms > MAX_PERIOD_MS ? refuse({ code: 'duration_invalid' }) : accept(ms);
}
