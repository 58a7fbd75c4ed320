/** Services of an account: its owners, its editors or the operator change and remove them (decisions, Ownership). */
import type { AllowedDestinations } from '../../domain/allowed-destinations.ts';
import { type Category, isCategory } from '../../domain/category.ts';
import {
  type CheckDefinition,
  type CheckSettings,
  MONITORING_KINDS,
  type Service,
} from '../../domain/service.ts';
import {
  changeMembers,
  MEMBER_NAMES,
  type MemberLimits,
  type MemberTexts,
} from '../../kinds/check-members.ts';
import { changeSettings } from '../../kinds/settings.ts';
import type { CredentialStore } from '../../store/ports/credentials.ts';
import type { OwnershipStore } from '../../store/ports/ownership.ts';
import type { ServiceEdit, ServiceStore } from '../../store/ports/services.ts';
import { accept, atField, attempt, type Outcome, type Principal, refuse } from '../kit/change.ts';
import { readAcceptRules, readAll, readNameField } from '../kit/read-input.ts';
import { type CheckBounds, limitsFor } from './check-choice.ts';
import { changeSeen, type OwnedContext } from './owned-service.ts';
import { type EnteredCheck, readCheck, readGrace, readPeriod, readScheduleFields } from './read-check.ts';
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
  readonly destinations: AllowedDestinations;
  readonly bounds: CheckBounds;
}

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
  /** Address of the check in place of `https://DOMAIN/`; null or empty: that one. */
  readonly url?: string | null | undefined;
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

/**
 * Changes a service. `revisions`: those that the person has seen; null: any. Refused with `role_required`, `service_stale`, `no_owned_service`, `service_name_missing`, `name_invalid`,
 * `category_invalid`, `kind_invalid`, `setting_invalid`, `check_member_invalid`, `method_invalid`, `method_of_root`, `accept_invalid`, `duration_invalid`, `schedule_invalid`,
 * `timezone_invalid`, `timezone_alone`, `period_and_schedule`, `name_taken`, and, if a member changes the check, with
 * `shared_address`.
 */
export async function changeService(
  context: ServiceContext,
  principal: Principal,
  slug: string,
  changes: ServiceChanges,
  revisions: readonly number[] | null,
): Promise<Outcome<Service>> {
  const outcome = await changeSeen(context, principal, slug, revisions, async (service) => {
    const { domain, check, slug: known, revision } = service;
    const limits = limitsFor(principal, context.bounds);
    const reading = readServiceEdit(check, changes, context.destinations, limits, domain);
    if (!reading.ok) return reading;
    const after = reading.value.check ?? check;
    if (hasMoved(check, after) && principal.role !== 'operator') {
      const place = await claimPlace(context, domain, after);
      if (!place.ok) return place;
    }
    const { secrets, ...edit } = reading.value;
    const [sealed = edit.check] =
      edit.check === undefined || secrets === undefined
        ? []
        : await sealSettings(context.registry, [{ domain, check: edit.check, secrets }]);
    const sealedEdit = sealed === undefined ? edit : { ...edit, check: sealed };
    return await attempt(() => context.registry.changeService(known, sealedEdit, [revision]));
  });
  return atField(outcome, 'name_taken', 'name');
}

/** Removes a service. Refused with `no_owned_service` and `service_stale`, for which see {@link changeService}. */
export async function removeService(
  context: OwnedContext & { readonly registry: Pick<ServiceStore, 'removeService'> },
  principal: Principal,
  slug: string,
  revisions: readonly number[] | null,
): Promise<Outcome<void>> {
  return await changeSeen(context, principal, slug, revisions, (service) =>
    attempt(() => context.registry.removeService(service.slug, [service.revision])),
  );
}

/**
 * Permits checks of an owner's domain, and of the host of `check.url`. Refused with `shared_address` if too many services of owners
 * resolve to the same address (decisions, Ownership). Heartbeat services need no permission, because they are not requested.
 */
export async function claimPlace(
  {
    registry,
    resolve,
  }: Pick<ServiceContext, 'resolve'> & { readonly registry: Pick<OwnershipStore, 'claimAddresses'> },
  domain: string,
  { kind, url }: CheckedPlace,
): Promise<Outcome<void>> {
  if (kind === 'heartbeat') return accept(undefined);
  const hosts = new Set([domain, url === null ? domain : (URL.parse(url)?.hostname ?? domain)]);
  return await attempt(async () => {
    const addresses = await Promise.all([...hosts].map((host) => resolve(host)));
    await registry.claimAddresses(domain, [...new Set(addresses.flat())]);
  }, 'kind');
}

/** What decides which addresses a check requests. */
export type CheckedPlace = Pick<CheckDefinition, 'kind' | 'url'>;

/** Whether a check may request other addresses than the one before it. */
export function hasMoved(before: CheckedPlace, after: CheckedPlace): boolean {
  return before.kind !== after.kind || before.url !== after.url;
}

/**
 * Reads changes of a service whose check is `before`: the resulting edit, or the refusal of each invalid field. `domain` is that of
 * the service; it is not needed where any host is allowed.
 */
export function readServiceEdit(
  before: CheckDefinition,
  changes: ServiceChanges,
  destinations: AllowedDestinations,
  limits: MemberLimits,
  domain = '',
): Outcome<EnteredEdit> {
  const { name, category, paused, publicDependencies } = changes;
  const reading = readAll({
    name: name === undefined ? accept(undefined) : readNameField(name, 'service_name_missing'),
    category: category === undefined ? accept(undefined) : readCategory(category),
    check: readCheck(enterCheck(before, changes), before, { destinations, limits, domain, before }),
  });
  if (!reading.ok) return reading;
  const read = reading.value;
  const { check, secrets } = read.check;
  const changesCheck = CHECK_FIELDS.some((field) => changes[field] !== undefined);
  return accept({
    ...(read.name === undefined ? {} : { name: read.name }),
    ...(read.category === undefined ? {} : { category: read.category }),
    ...(paused === undefined ? {} : { paused }),
    ...(publicDependencies === undefined ? {} : { publicDependencies }),
    ...(changesCheck ? { check } : {}),
    ...(secrets === undefined ? {} : { secrets }),
  });
}

/** The changes that concern the check. */
const CHECK_FIELDS = [
  ...MEMBER_NAMES,
  ...(['kind', 'url', 'settings', 'accept', 'method', 'period', 'grace', 'schedule', 'timezone'] as const),
];

/** The check that texts enter in place of `before`. */
function enterCheck(before: CheckDefinition, changes: ServiceChanges): EnteredCheck {
  const { kind = before.kind, url, method, settings, period, grace, schedule, timezone } = changes;
  const address = url === undefined ? before.url : url || null;
  const { choice, wrong } = changeMembers(before, changes);
  const known = MONITORING_KINDS.find((one) => one === kind);
  const changesSettings = changes.kind !== undefined || settings !== undefined || url !== undefined;
  return {
    kind,
    url: address,
    method: method === undefined ? before.method : method,
    choosesMethod: method !== undefined,
    accept: changes.accept === undefined ? accept(before.accept) : readAcceptRules(changes.accept),
    settings:
      changesSettings && known !== undefined ? changeSettings(known, before, settings ?? {}, address) : null,
    ...{ choice, wrong },
    period: readPeriod(period, before.periodMs),
    grace: readGrace(grace, before.graceMs),
    schedule: readScheduleFields(schedule, timezone, before.schedule),
    clashesAt: schedule === undefined ? 'period' : 'schedule',
  };
}

function readCategory(word: string): Outcome<Category> {
  return isCategory(word) ? accept(word) : refuse({ code: 'category_invalid' });
}
