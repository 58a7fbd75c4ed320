/** The check of a service as a document: the one form in which the API, files, forms and commands enter a check. */

import { isDeepStrictEqual } from 'node:util';
import { type AllowedDestinations, refuseUrl } from '../../domain/allowed-destinations.ts';
import type { CheckTiming, RegionChoice } from '../../domain/check-target.ts';
import { DAY_MS, formatDuration, parseDuration } from '../../domain/durations.ts';
import { type HeartbeatSchedule, readSchedule } from '../../domain/heartbeat/heartbeat-schedule.ts';
import { readHostName } from '../../domain/host-name.ts';
import { refusalOfSchedule } from '../../domain/refusal.ts';
import {
  type AcceptRule,
  type CheckDefinition,
  type CheckKind,
  type CheckSettings,
  MONITORING_KINDS,
  STATUS_CLASSES,
} from '../../domain/service.ts';
import { isPublicHost } from '../../domain/special-address.ts';
import { type Static, strictObject, Type } from '../../json-schema.ts';
import type { WrongSetting } from '../../kinds/check-kind.ts';
import {
  CHECK_MEMBERS,
  type MemberLimits,
  operatorLimits,
  ownerLimits,
  parseMembers,
  refuseMembers,
  writeMembers,
} from '../../kinds/check-members.ts';
import {
  hostSettings,
  obstacleOf,
  portOf,
  type SettingsReading,
  validateSettings,
} from '../../kinds/settings.ts';
import { accept, type Outcome, type Principal, type Refused, readAll, refuse } from '../kit/change.ts';

const text = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ maxLength, description }));

const StatusRule = Type.Union([
  Type.Integer({ minimum: 100, maximum: 999 }),
  Type.String({ format: 'status-rule', pattern: '^[1-9](?:xx|[0-9]{2})$' }),
]);

/** The check of a service. The settings depend on the kind. */
const CheckDocumentSchema = strictObject({
  kind: Type.Optional(
    Type.Unsafe<CheckKind>({
      type: 'string',
      enum: [...MONITORING_KINDS],
      description: 'How the service is monitored; default: root.',
    }),
  ),
  url: Type.Optional(
    Type.String({
      format: 'http-url',
      maxLength: 2_000,
      description: 'Address of the check, in place of https://DOMAIN/.',
    }),
  ),
  method: Type.Optional(
    Type.Unsafe<'HEAD' | 'GET'>({
      type: 'string',
      enum: ['HEAD', 'GET'],
      description: 'Method of root checks; default: HEAD until the service has shown that it needs GET.',
    }),
  ),
  accept: Type.Optional(
    Type.Array(StatusRule, {
      maxItems: 50,
      description: 'HTTP statuses that count as good, such as 401 or 2xx; default: the rule of the kind.',
    }),
  ),
  settings: Type.Optional(
    Type.Unsafe<CheckSettings>({ type: 'object', description: 'Settings of the kind.' }),
  ),
  ...CHECK_MEMBERS,
});

/** The members of a service's document that say how it is monitored. */
export const MONITORING_MEMBERS = {
  check: Type.Optional(CheckDocumentSchema),
  period: text(100, 'Time from one heartbeat to the next, such as 1h; default: heartbeats.silence.'),
  grace: text(100, 'How late a heartbeat may be, such as 5m; default: 0s.'),
  schedule: text(1_000, 'When heartbeats are expected, a cron expression such as "30 3 * * 1-5".'),
  timezone: text(100, 'Time zone of the schedule, such as Europe/Berlin; default: UTC.'),
};

const MonitoringSchema = Type.Object(MONITORING_MEMBERS);

export type MonitoringDocument = Static<typeof MonitoringSchema>;

/** The bounds of times and regions in checks of owners' services. */
export interface CheckBounds {
  /** The settings `checks.*`, which count for times that a check does not have. */
  readonly usual: CheckTiming;
  /** Minimum interval that an owner may choose, milliseconds (`limits.minInterval`). */
  readonly minIntervalMs: number;
  /** The regions that have nodes now, by name; owners may choose among them. */
  readonly regions: () => readonly string[];
  /** The region of this process. Absent: it has none. */
  readonly ownRegion?: string;
}

/** The bounds for a principal. */
export function limitsFor(
  { role }: Pick<Principal, 'role'>,
  { usual, minIntervalMs, regions, ownRegion }: CheckBounds,
): MemberLimits {
  return role === 'operator'
    ? operatorLimits(usual)
    : ownerLimits(usual, minIntervalMs, regions(), ownRegion);
}

export interface CheckRules {
  readonly destinations: AllowedDestinations;
  readonly limits: MemberLimits;
  /** The domain of the service, at which an owner's check is. */
  readonly domain: string;
  /** The check that is changed, of which what was permitted once may stay; absent: there is none. */
  readonly before?: CheckDefinition | undefined;
  /** Names of its credentials that stay. */
  readonly kept?: readonly string[];
  /** The change names the method. Absent: documents may contain one for any kind, as those that were exported before do. */
  readonly choosesMethod?: boolean;
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
 * Reads a check. A method is dropped from other checks than root ones. Refused with `kind_unavailable`, `url_elsewhere`,
 * `url_refused`, `method_of_root`, `setting_invalid`, `check_member_invalid`, `duration_invalid`, `schedule_invalid`, `timezone_invalid`,
 * `timezone_alone` and `period_and_schedule`; the fields are paths such as `check.settings.port`.
 */
export function readCheck(document: MonitoringDocument, rules: CheckRules): Outcome<OpenedCheck> {
  const { kind = 'root', url = null, accept: statuses = [], settings, ...given } = document.check ?? {};
  const { destinations, limits, before } = rules;
  const choice = parseMembers(given);
  const wrong = refuseMembers(choice, limits, before).map(({ member, problem }) => ({
    field: member,
    refusal: { code: 'check_member_invalid', member, problem } as const,
  }));
  const checked = inCheck(
    readAll({
      kind: readKind(kind, before?.kind, rules),
      url: readUrl(url, rules),
      method: readMethod(kind, given.method ?? null, rules.choosesMethod === true),
      settings: judgeSettings(readSettings(kind, settings, rules), kind, destinations, before),
      choice: wrong.length === 0 ? accept(choice) : { ok: false, refusals: wrong },
    }),
  );
  const reading = readAll({
    checked,
    period: readLength(document.period, MIN_PERIOD_MS),
    grace: readLength(document.grace, 0),
    schedule: readScheduleFields(document.schedule, document.timezone),
  });
  if (!reading.ok) return reading;
  const { period, grace, schedule, checked: read } = reading.value;
  if (period !== undefined && schedule !== undefined)
    return refuse({ code: 'period_and_schedule' }, 'schedule');
  const { settings: shown, secrets } = read.settings;
  const check: CheckDefinition = {
    ...{ kind: read.kind, url: read.url, method: read.method },
    accept: statuses.length === 0 ? null : statuses.map(toAcceptRule),
    caFile: null,
    ...usualRegions(rules, read.url, read.kind),
    ...read.choice,
    ...(shown === undefined ? {} : { settings: shown }),
    ...(period === undefined ? {} : { periodMs: period }),
    ...(grace === undefined ? {} : { graceMs: grace }),
    ...(schedule === undefined ? {} : { schedule }),
  };
  return accept({ check, ...(secrets === undefined ? {} : { secrets }) });
}

/**
 * The regions of a check whose owner names none. A host that is not public is inside one network, and to nodes of other regions it would
 * be down: it is checked from the region of this process.
 */
function usualRegions(
  { domain, destinations, limits: { regions, ownRegion } }: CheckRules,
  url: string | null,
  kind: CheckKind,
): RegionChoice {
  if (!destinations.anyHost || kind === 'heartbeat' || ownRegion === undefined) return {};
  const host = URL.parse(url ?? '')?.hostname ?? domain;
  const isElsewhere = regions?.some((region) => region !== ownRegion) === true;
  return isElsewhere && !isPublicHost(host) ? { regions: [ownRegion] } : {};
}

/** A check as a document, without defaults and without secrets. */
export function checkDocumentOf(definition: CheckDefinition): MonitoringDocument {
  const { kind, url, method, accept: rules, settings, periodMs, graceMs, schedule } = definition;
  const check = {
    ...(kind === 'root' ? {} : { kind }),
    ...(url === null ? {} : { url }),
    ...(method === null ? {} : { method }),
    ...(rules === null ? {} : { accept: [...rules] }),
    ...(settings === undefined ? {} : { settings }),
    ...writeMembers(definition),
  };
  return {
    ...(Object.keys(check).length === 0 ? {} : { check }),
    ...(periodMs === undefined ? {} : { period: formatDuration(periodMs) }),
    ...(graceMs === undefined ? {} : { grace: formatDuration(graceMs) }),
    ...(schedule === undefined ? {} : { schedule: schedule.cron, timezone: schedule.timezone }),
  };
}

function toAcceptRule(rule: string | number): AcceptRule {
  return STATUS_CLASSES.find((one) => one === rule) ?? Number(rule);
}

/** The address of a check, which an owner who is not trusted may only give at the domain. That of the check before may stay. */
function readUrl(
  url: string | null,
  { domain, destinations, limits: { anyHost }, before }: CheckRules,
): Outcome<string | null> {
  if (url === null || url === before?.url) return accept(url);
  if (anyHost || destinations.anyHost) {
    const problem = refuseUrl(destinations, url);
    return problem === null ? accept(url) : refuse({ code: 'url_refused', problem }, 'url');
  }
  const reading = readHostName(domain);
  // A new domain that is not valid is refused itself.
  if (!reading.ok && before === undefined) return accept(url);
  const own = reading.ok ? reading.domain : domain;
  const host = URL.parse(url)?.hostname ?? '';
  const isOwn = host === own || host.endsWith(`.${own}`);
  return isOwn ? accept(url) : refuse({ code: 'url_elsewhere', domain: own }, 'url');
}

/**
 * Refused with `kind_unavailable` if this machine cannot make such checks, or the account may not have them, and the service does not
 * have them already.
 */
function readKind(
  kind: CheckKind,
  before: CheckKind | undefined,
  { destinations, limits }: CheckRules,
): Outcome<CheckKind> {
  if (kind === before || kind === 'heartbeat') return accept(kind);
  const mayAsk = kind !== 'docker' || destinations.anyHost || limits.anyHost;
  const cause = mayAsk ? obstacleOf(kind) : ({ code: 'account_untrusted' } as const);
  return cause === null ? accept(kind) : refuse({ code: 'kind_unavailable', kind, cause });
}

function readMethod(
  kind: CheckKind,
  method: 'HEAD' | 'GET' | null,
  isChosen: boolean,
): Outcome<CheckDefinition['method']> {
  if (kind === 'root') return accept(method);
  return method !== null && isChosen ? refuse({ code: 'method_of_root' }) : accept(null);
}

/** Settings of a check: those that are shown, and new credentials. */
type EnteredSettings = Omit<Extract<SettingsReading, { readonly ok: true }>, 'ok'>;

/** Validates settings. Those that stay as they are were accepted once, maybe by an earlier version. */
function readSettings(
  kind: CheckKind,
  given: CheckSettings | undefined,
  { before, kept = [] }: CheckRules,
): SettingsReading {
  const reading = validateSettings(kind, given, kept);
  if (reading.ok || before?.kind !== kind) return reading;
  const { settings, sealed = {} } = before;
  const stay = isDeepStrictEqual(given ?? {}, settings ?? {}) && kept.length === Object.keys(sealed).length;
  return stay ? { ok: true, settings } : reading;
}

/** Refuses each wrong setting under the name of its field, `settings.` and its name. A server or a port of `before` may stay. */
function judgeSettings(
  reading: SettingsReading,
  kind: CheckKind,
  { ports, refuseHost }: AllowedDestinations,
  before: CheckDefinition | undefined,
): Outcome<EnteredSettings> {
  if (!reading.ok) return refuseSettings(reading.wrong);
  const { ok: _ok, ...settings } = reading;
  const wrong = hostSettings(kind, settings.settings).flatMap(([setting, host]): WrongSetting[] => {
    const problem = before?.settings?.[setting] === host ? null : refuseHost(host);
    return problem === null ? [] : [{ setting, problem }];
  });
  const port = portOf(kind, settings.settings);
  const isKept = before?.kind === kind && portOf(kind, before.settings) === port;
  if (port !== null && ports !== null && !ports.includes(port) && !isKept)
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
function readScheduleFields(
  cron: string | undefined,
  timezone: string | undefined,
): Outcome<HeartbeatSchedule | undefined> {
  if (cron === undefined)
    return timezone === undefined ? accept(undefined) : refuse({ code: 'timezone_alone' }, 'timezone');
  const reading = readSchedule(cron, timezone ?? 'UTC');
  if (reading.ok) return accept(reading.schedule);
  return refuse(refusalOfSchedule(reading.problem), reading.problem === 'timezone' ? 'timezone' : 'schedule');
}

/** Reads a duration of heartbeats, milliseconds. Refused with `duration_invalid` if it is malformed or out of range. */
function readLength(duration: string | undefined, minMs: number): Outcome<number | undefined> {
  if (duration === undefined) return accept(undefined);
  const ms = parseDuration(duration);
  return ms === null || ms < minMs || ms > MAX_PERIOD_MS ? refuse({ code: 'duration_invalid' }) : accept(ms);
}

/** Refusals of a check with the paths of their members in the document of its service. */
export function inCheck<T>(outcome: Outcome<T>): Outcome<T> {
  if (outcome.ok) return outcome;
  return { ok: false, refusals: outcome.refusals.map((one) => ({ ...one, field: `check.${one.field}` })) };
}
