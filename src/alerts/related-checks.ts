/**
 * Asks for checks of the services that may fail for the same cause as one that has just failed, so that alerts tell of them together
 * although they are checked minutes apart: those at its host or addresses, of its vendor, and the others of its account.
 */
import type { Clock } from '../clock.ts';
import type { AlertEvent } from '../domain/alert/event.ts';
import { MINUTE_MS, SECOND_MS } from '../domain/durations.ts';
import type { Service } from '../domain/service.ts';
import { type AlertRules, type AlertSources, rulesScope, vendorNameOf } from './alert-world.ts';

export interface RelatedCheckOptions extends Pick<AlertSources, 'registry' | 'services' | 'status'> {
  readonly clock: Clock;
  /** Checks services as soon as slots are free. */
  readonly recheck: (serviceIds: readonly number[]) => void;
}

/** Maximum number of services that are asked for an account within {@link BUDGET_MS}. */
export const MAX_RELATED_CHECKS = 50;
/** Maximum number of services that decisions about an account wait for and are asked within {@link BUDGET_MS}. */
const MAX_ASKED_CHECKS = 200;
const BUDGET_MS = MINUTE_MS;
/** A check that began this long before a failure is repeated, milliseconds. */
const MIN_AGE_MS = 5 * SECOND_MS;

/** Maximum number of services of an account whose addresses are compared. */
const MAX_COMPARED = 1_000;

/** The checks that each account may still ask for within {@link BUDGET_MS}. */
function createBudgets({ monotonic }: Clock, max: number) {
  /** Until a time of the monotonic clock. */
  const budgets = new Map<number, { left: number; readonly untilMs: number }>();
  return (accountId: number) => {
    const now = monotonic();
    for (const [id, { untilMs }] of budgets) if (untilMs <= now) budgets.delete(id);
    const budget = budgets.get(accountId) ?? { left: max, untilMs: now + BUDGET_MS };
    budgets.set(accountId, budget);
    return budget;
  };
}

export function createRelatedChecks({ registry, services, status, clock, recheck }: RelatedCheckOptions) {
  const budgetOf = createBudgets(clock, MAX_RELATED_CHECKS);
  const askBudgetOf = createBudgets(clock, MAX_ASKED_CHECKS);
  /** Returns true if a service may fail unnoticed: it counts as well by a check that is some seconds old. */
  const isCandidate = ({ id, paused, check }: Service): boolean => {
    const current = status.get(id);
    const checkedAt = current?.latest?.checkedAt ?? null;
    if (paused || check.kind === 'heartbeat' || checkedAt === null) return false;
    return current?.status !== 'down' && checkedAt <= clock.now() - MIN_AGE_MS;
  };

  return {
    /** Asks for checks that a decision about an account waits for. */
    ask(accountId: number, serviceIds: readonly number[]): void {
      const budget = askBudgetOf(accountId);
      const asked = serviceIds.slice(0, budget.left);
      budget.left -= asked.length;
      if (asked.length > 0) recheck(asked);
    },
    /** Asks for the checks after events that concern an account. */
    async note(rules: AlertRules, accountId: number, events: readonly AlertEvent[]): Promise<void> {
      const failed = events.flatMap(({ serviceId, change }) =>
        change.type === 'status' && change.to === 'down' && change.source === 'check'
          ? (services.byId(serviceId) ?? [])
          : [],
      );
      const budget = failed.length === 0 ? null : budgetOf(accountId);
      if (budget === null || budget.left === 0) return;
      const failing = new Set(failed.map(({ id }) => id));
      const found = [...rulesScope(services, rules, accountId)]
        .filter((id) => !failing.has(id))
        .flatMap((id) => services.byId(id) ?? [])
        .filter(isCandidate)
        .slice(0, MAX_COMPARED);
      if (found.length === 0) return;
      const facts = await registry.alertFacts([...failing, ...found.map(({ id }) => id)]);
      const addresses = new Map(facts.map((fact) => [fact.serviceId, fact.addresses]));
      const placesOf = (service: Service) => [...hostsOf(service), ...(addresses.get(service.id) ?? [])];
      const [places, vendors] = [new Set(failed.flatMap(placesOf)), new Set(failed.flatMap(vendorsOf))];
      const isOwn = failed.some((service) => service.accountId === accountId);
      const isNear = (service: Service) =>
        placesOf(service).some((place) => places.has(place)) ||
        vendorsOf(service).some((vendor) => vendors.has(vendor));
      const [near, others] = [found.filter(isNear), found.filter((service) => !isNear(service))];
      const related = [...near, ...others.filter((service) => isOwn && service.accountId === accountId)];
      const asked = related.slice(0, budget.left).map(({ id }) => id);
      budget.left -= asked.length;
      if (asked.length > 0) recheck(asked);
    },
  };
}

function hostsOf({ domain, check }: Service): string[] {
  const host = check.url === null ? null : (URL.parse(check.url)?.hostname ?? null);
  return host === null || host === domain ? [domain] : [domain, host];
}

function vendorsOf(service: Service): string[] {
  const vendor = vendorNameOf(service);
  return vendor === null ? [] : [vendor];
}
