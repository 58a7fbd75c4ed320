/** Services of an account: its owners, its editors or the operator change and remove them (decisions, Ownership). */
import { type Category, isCategory } from '../domain/category.ts';
import { DAY_MS, parseDuration } from '../domain/durations.ts';
import { type HeartbeatSchedule, readSchedule } from '../domain/heartbeat-schedule.ts';
import { refusalOfSchedule } from '../domain/refusal.ts';
import {
  type CheckDefinition,
  type CheckKind,
  type CheckSettings,
  MONITORING_KINDS,
  type Service,
} from '../domain/service.ts';
import type { WrongSetting } from '../kinds/check-kind.ts';
import { MEMBER_NAMES, type MemberLimits, type MemberTexts } from '../kinds/check-members.ts';
import { changeSettings, portOf, type SettingsReading, validateSettings } from '../kinds/settings.ts';
import type { CredentialStore } from '../store/ports/credentials.ts';
import type { OwnershipStore } from '../store/ports/ownership.ts';
import type { ServiceEdit, ServiceStore } from '../store/ports/services.ts';
import {
  accept,
  attempt,
  mayChange,
  type Outcome,
  type Principal,
  type Refused,
  refuse,
  refuseRole,
} from './change.ts';
import { type CheckBounds, limitsFor, readMemberTexts, readMethod } from './check-choice.ts';
import { readAcceptRules, readAll, readKind, readNameField } from './read-input.ts';
import { sealSettings } from './seal-settings.ts';

/** The dependencies of changes of services. */
export interface ServiceContext {
  readonly registry: Pick<ServiceStore, 'findService' | 'changeService' | 'removeService'> &
    Pick<OwnershipStore, 'claimAddresses'> &
    CredentialStore;
  /** The live service of an owner or the catalogue with that slug; null: there is none. */
  readonly findService: (slug: string) => Service | null;
  /** The addresses to which a domain resolves now. */
  readonly resolve: (domain: string) => Promise<readonly string[]>;
  readonly ports: AllowedPorts;
  readonly bounds: CheckBounds;
}

/** Ports to which checks of owners' services may connect (`checks.ports`); null: any. */
export type AllowedPorts = readonly number[] | null;

/**
 * Changes of a service as entered. Absent properties stay unchanged. Times and regions of its checks are `interval`,
 * `timeout`, `slowOver`, `confirmAfter` and `regions`; null: the setting counts.
 */
export interface ServiceChanges extends MemberTexts {
  readonly name?: string | undefined;
  readonly category?: string | undefined;
  readonly kind?: string | undefined;
  /**
   * Settings of the kind as texts; null removes a setting, and an empty text removes it unless it is a credential. Those of
   * another kind are dropped.
   */
  readonly settings?: Readonly<Record<string, string | null>> | undefined;
  /** Expected statuses such as `2xx 401`; empty: the rule of the kind. */
  readonly accept?: string | undefined;
  /** Method of the first request of kind `root`, `HEAD` or `GET`; null: HEAD until the service has shown that it needs GET. */
  readonly method?: string | null | undefined;
  /** Time from one heartbeat to the next, a duration such as `1h`; null: the default. */
  readonly period?: string | null | undefined;
  /** Tolerated delay of a heartbeat, a duration; null: the default. */
  readonly grace?: string | null | undefined;
  /** When heartbeats are expected, a cron expression; null: every period. */
  readonly schedule?: string | null | undefined;
  /** Time zone of the schedule; null: UTC. */
  readonly timezone?: string | null | undefined;
  readonly paused?: boolean | undefined;
  readonly publicDependencies?: boolean | undefined;
}

/** An edit as entered: its credentials are in clear text until {@link changeService} encrypts them. */
export type EnteredEdit = ServiceEdit & { readonly secrets?: CheckSettings };

/** Minimum period of heartbeats, milliseconds. */
export const MIN_PERIOD_MS = 1_000;
/** Maximum period of heartbeats, a year, milliseconds. */
const MAX_PERIOD_MS = 365 * DAY_MS;

/**
 * Changes a service. Refused with `role_required`, `no_owned_service`, `service_name_missing`, `name_invalid`,
 * `category_invalid`, `kind_invalid`, `setting_invalid`, `check_member_invalid`, `method_invalid`, `method_of_root`, `accept_invalid`, `duration_invalid`, `schedule_invalid`,
 * `timezone_invalid`, `timezone_alone`, `period_and_schedule`, `name_taken`, and, if a member changes the check, with
 * `shared_address`.
 */
export async function changeService(
  context: ServiceContext,
  principal: Principal,
  slug: string,
  changes: ServiceChanges,
): Promise<Outcome<Service>> {
  const found = findOwned(context, principal, slug);
  if (!found.ok) return found;
  const { domain, check, slug: known } = found.value;
  const limits = limitsFor(principal, context.bounds);
  const reading = readServiceEdit(check, changes, context.ports, limits);
  if (!reading.ok) return reading;
  const kind = reading.value.check?.kind ?? check.kind;
  if (kind !== check.kind && principal.role !== 'operator') {
    const place = await claimPlace(context, domain, kind);
    if (!place.ok) return place;
  }
  const { secrets, ...edit } = reading.value;
  if (edit.check === undefined || secrets === undefined)
    return await attempt(() => context.registry.changeService(known, edit), 'name');
  const [sealed = edit.check] = await sealSettings(context.registry, [
    { domain, check: edit.check, secrets },
  ]);
  return await attempt(() => context.registry.changeService(known, { ...edit, check: sealed }), 'name');
}

/** Removes a service. Refused with `role_required` or `no_owned_service`. */
export async function removeService(
  context: ServiceContext,
  principal: Principal,
  slug: string,
): Promise<Outcome<void>> {
  const found = findOwned(context, principal, slug);
  return found.ok ? await attempt(() => context.registry.removeService(found.value.slug)) : found;
}

/**
 * Permits checks of an owner's domain. Refused with `shared_address` if too many services of owners resolve to the same
 * address (decisions, Ownership). Heartbeat services need no permission, because they are not requested.
 */
export async function claimPlace(
  {
    registry,
    resolve,
  }: Pick<ServiceContext, 'resolve'> & { readonly registry: Pick<OwnershipStore, 'claimAddresses'> },
  domain: string,
  kind: CheckKind,
): Promise<Outcome<void>> {
  if (kind === 'heartbeat') return accept(undefined);
  return await attempt(async () => registry.claimAddresses(domain, await resolve(domain)), 'kind');
}

/** Reads changes of a service whose check is `before`: the resulting edit, or the refusal of each invalid field. */
export function readServiceEdit(
  before: CheckDefinition,
  changes: ServiceChanges,
  ports: AllowedPorts,
  limits: MemberLimits,
): Outcome<EnteredEdit> {
  const { name, category, kind, period, grace, schedule, timezone, paused, publicDependencies } = changes;
  const hasSettings = kind !== undefined || changes.settings !== undefined;
  const reading = readAll({
    name: name === undefined ? accept(undefined) : readNameField(name, 'service_name_missing'),
    category: category === undefined ? accept(undefined) : readCategory(category),
    kind: kind === undefined ? accept(before.kind) : readKind(kind, before.kind),
    period: readLength(period, before.periodMs, MIN_PERIOD_MS),
    grace: readLength(grace, before.graceMs, 0),
    schedule: readScheduleFields(schedule, timezone, before.schedule),
    accept: changes.accept === undefined ? accept(before.accept) : readAcceptRules(changes.accept),
    method: readMethod(changes.method, kind ?? before.kind, before.method),
    members: readMemberTexts(before, changes, limits),
    ...(hasSettings ? { settings: readSettings(before, kind, changes.settings, ports) } : {}),
  });
  if (!reading.ok) return reading;
  const read = reading.value;
  const field = schedule === undefined ? 'period' : 'schedule';
  const refused = refusePeriodAndSchedule(read.period, read.schedule, field);
  if (refused !== null) return refused;
  const ofCheck = [...MEMBER_NAMES.map((member) => changes[member]), changes.accept, changes.method];
  const hasCheck =
    hasSettings || [...ofCheck, period, grace, schedule, timezone].some((given) => given !== undefined);
  return accept({
    ...(read.name === undefined ? {} : { name: read.name }),
    ...(read.category === undefined ? {} : { category: read.category }),
    ...(paused === undefined ? {} : { paused }),
    ...(publicDependencies === undefined ? {} : { publicDependencies }),
    ...(hasCheck
      ? {
          check: {
            ...checkOf(before, read),
            accept: read.accept,
            method: read.method,
            ...read.members,
            ...settingsOf(read.settings ?? before),
          },
        }
      : {}),
    ...(read.settings?.secrets === undefined ? {} : { secrets: read.settings.secrets }),
  });
}

/** Settings of a check: those that are shown, new credentials, and credentials that stay. */
type EnteredSettings = Omit<Extract<SettingsReading, { readonly ok: true }>, 'ok'>;

/** Settings of the kind, from those before if the kind is the same. Refused with `setting_invalid`. */
function readSettings(
  before: CheckDefinition,
  kindText: string | undefined,
  texts: Readonly<Record<string, string | null>> = {},
  ports: AllowedPorts,
): Outcome<EnteredSettings> {
  const kind = MONITORING_KINDS.find((one) => one === (kindText ?? before.kind));
  // The kind itself is refused.
  if (kind === undefined) return accept({ settings: undefined });
  return settingsOutcome(changeSettings(kind, before, texts), kind, ports);
}

/** Reads the settings of a kind with their types, credentials among them; `kept`: credentials that are stored. Refused with `setting_invalid`. */
export function readTypedSettings(
  kind: CheckKind,
  settings: unknown,
  ports: AllowedPorts,
  kept: readonly string[] = [],
): Outcome<EnteredSettings> {
  return settingsOutcome(validateSettings(kind, settings, kept), kind, ports);
}

/** Refuses each wrong setting under the name of its field, `settings.` and its name. */
function settingsOutcome(
  reading: SettingsReading,
  kind: CheckKind,
  ports: AllowedPorts,
): Outcome<EnteredSettings> {
  if (!reading.ok) return refuseSettings(reading.wrong);
  const { ok: _ok, ...settings } = reading;
  const port = portOf(kind, settings.settings);
  if (port === null || ports === null || ports.includes(port)) return accept(settings);
  return refuseSettings([{ setting: 'port', problem: { code: 'port_closed', port } }]);
}

function refuseSettings(wrong: readonly WrongSetting[]): Refused {
  const refusals = wrong.map(({ setting, problem }) => ({
    field: `settings.${setting}`,
    refusal: { code: 'setting_invalid', setting, problem } as const,
  }));
  return { ok: false, refusals };
}

/** Members of a check. */
function settingsOf({
  settings,
  sealed,
}: Pick<EnteredSettings, 'settings' | 'sealed'> | CheckDefinition): Pick<
  CheckDefinition,
  'settings' | 'sealed'
> {
  return { ...(settings === undefined ? {} : { settings }), ...(sealed === undefined ? {} : { sealed }) };
}

function readCategory(word: string): Outcome<Category> {
  return isCategory(word) ? accept(word) : refuse({ code: 'category_invalid' });
}

/**
 * The live service that the principal may change. Services of other accounts count as missing. Refused with
 * `role_required` or `no_owned_service`.
 */
export function findOwned(
  { findService }: Pick<ServiceContext, 'findService'>,
  principal: Principal,
  slug: string,
): Outcome<Service> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const service = findService(slug.toLowerCase());
  return service !== null && mayChange(principal, service.accountId)
    ? accept(service)
    : refuse({ code: 'no_owned_service', slug });
}

interface CheckFields {
  readonly kind: CheckKind;
  /** Milliseconds. */
  readonly period: number | undefined;
  /** Milliseconds. */
  readonly grace: number | undefined;
  readonly schedule: HeartbeatSchedule | undefined;
}

function checkOf(before: CheckDefinition, { kind, period, grace, schedule }: CheckFields): CheckDefinition {
  const {
    periodMs: _period,
    graceMs: _grace,
    schedule: _schedule,
    settings: _settings,
    sealed: _sealed,
    ...kept
  } = before;
  const { intervalMs: _i, timeoutMs: _t, slowOverMs: _s, confirmAfterMs: _c, regions: _r, ...rest } = kept;
  return {
    ...rest,
    kind,
    ...(period === undefined ? {} : { periodMs: period }),
    ...(grace === undefined ? {} : { graceMs: grace }),
    ...(schedule === undefined ? {} : { schedule }),
  };
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

/** Heartbeats have a period or a schedule, not both; null: that is so. */
export function refusePeriodAndSchedule(
  periodMs: number | undefined,
  schedule: HeartbeatSchedule | undefined,
  field: string,
): Refused | null {
  return periodMs !== undefined && schedule !== undefined
    ? refuse({ code: 'period_and_schedule' }, field)
    : null;
}

/**
 * Reads a duration, milliseconds; undefined: the default. Refused with `duration_invalid` if it is malformed or out of
 * range.
 */
export function readLength(
  text: string | null | undefined,
  before: number | undefined,
  minMs: number,
): Outcome<number | undefined> {
  if (text === undefined) return accept(before);
  if (text === null) return accept(undefined);
  const ms = parseDuration(text);
  return ms === null || ms < minMs || ms > MAX_PERIOD_MS ? refuse({ code: 'duration_invalid' }) : accept(ms);
}
