/** A decision in the making: copies of the maps of a state, and the messages so far. Conditions in it are replaced, not changed. */

import type { Scope } from '../status/current.ts';
import { type Ancestor, isReached, type Reach } from '../status/reach.ts';
import type { ServiceStatus } from '../status.ts';
import type { AlertState, Condition, Lane, NamedService, Thread } from './alert-state.ts';
import { asksFor, type MatchedService } from './match.ts';
import type { AlertMessage } from './message.ts';
import { type AlertEventName, type AlertRule, quietUntil } from './rule.ts';

/** A service as decisions see it now. */
export interface AlertService extends MatchedService, Ancestor {
  readonly slug: string;
  readonly name: string;
  readonly domain: string;
  /** Page of the service. */
  readonly url: string;
  /** Null: it fails nowhere, or at most one region checks it. */
  readonly scope: Scope | null;
  /** The open incident of its vendor; null: none. */
  readonly vendor: { readonly title: string; readonly url: string } | null;
  /** End of its certificate, epoch milliseconds; null: not known. */
  readonly certificateEndsAt: number | null;
  /** IDs of the services that it cannot be reached without, the nearest first. */
  readonly ancestors: readonly number[];
  /** The time at which its status began, epoch milliseconds; null: not known. */
  readonly since: number | null;
  /** A maintenance of its owner runs: alerts are held. Needed for maintenances that began before a rule was made. */
  readonly isInMaintenance: boolean;
}

/** Facts that may explain why several services fail. Absent members are not known. */
export interface CauseFacts {
  readonly serviceId: number;
  /** Now. Services that are `unknown` are no evidence. */
  readonly status: ServiceStatus;
  /**
   * The time at which its newest check began, epoch milliseconds. A service is known to be well if it was checked since the
   * others fail.
   */
  readonly checkedAt: number;
  /** IP addresses of its domain. */
  readonly addresses?: readonly string[];
  /** Dependencies that it reports, and whether they fail. */
  readonly dependencies?: readonly { readonly name: string; readonly fails: boolean }[];
  /** Vendors that run it, by the hosts of their status pages, and whether they report an incident of it. */
  readonly vendors?: readonly { readonly name: string; readonly hasIncident: boolean }[];
  /** The regions that check it, and whether it fails there. */
  readonly regions?: readonly { readonly name: string; readonly fails: boolean }[];
  /** Its certificate by the end of it, as text, which services with the same one share; and whether the check failed for it. */
  readonly certificate?: { readonly validUntil: string; readonly fails: boolean };
}

/** The world of one account at the time of a decision. */
export interface AlertContext {
  readonly accountId: number;
  /** Null: there is no such service any more. */
  service(id: number): AlertService | null;
  /** The account's enabled rules for a service, by `rulesOf` of `match.ts`; empty if there is no such service. */
  rulesOf(serviceId: number): readonly AlertRule[];
  /** An enabled rule of the account; null: there is none. */
  rule(id: number): AlertRule | null;
  /** Number of services that cannot be reached without one. */
  countBehind(serviceId: number): number;
  /** Returns true if the account has the channel. */
  hasChannel(id: number): boolean;
  /** Returns true if the channel shows the end of an alert where it showed the alert. */
  hasThreads(channel: number): boolean;
  /** The services to look for a common cause among: those of the account's rules. Asked for only where two or more fail. */
  causeFacts(): Iterable<CauseFacts>;
  /** Absolute URL of a page that shows all open alerts of the account. */
  readonly overviewUrl: string;
  /** Absolute URL of the page to acknowledge a thread without signing in. */
  acknowledgeUrl(thread: string): string;
}

export interface DecidedAlert {
  readonly channelId: number;
  readonly message: AlertMessage;
}

/** A decision in the making. */
export interface AlertDraft {
  /** The time for which it is decided at present, epoch milliseconds. */
  now: number;
  readonly context: AlertContext;
  readonly conditions: Map<string, Condition>;
  readonly threads: Map<string, Thread>;
  readonly certificates: Map<number, { readonly endsAt: number; readonly days: number }>;
  readonly maintenances: Map<number, readonly string[]>;
  readonly reaches: Map<number, Reach>;
  /** IDs of the services that have to be checked at once. */
  readonly asks: Set<number>;
  readonly lanes: Partial<Record<Lane, number>>;
  readonly messages: DecidedAlert[];
  threadCount: number;
  /** No timer is due before it, epoch milliseconds. */
  timerAt: number;
}

export function draftOf(state: AlertState, context: AlertContext, now: number): AlertDraft {
  return {
    now,
    context,
    conditions: new Map(state.conditions),
    threads: new Map(state.threads),
    certificates: new Map(state.certificates),
    maintenances: new Map(state.maintenances),
    reaches: new Map(state.reaches),
    asks: new Set(),
    lanes: { ...state.lanes },
    messages: [],
    threadCount: state.threadCount,
    timerAt: 0,
  };
}

/** Keeps the bound for the next timer. */
export function touch(draft: AlertDraft, at: number): void {
  draft.timerAt = Math.min(draft.timerAt, at);
}

/**
 * Returns true if alerts to a channel wait: for the end of a maintenance of the service or of what it depends on, or because
 * it is known, or may turn out, to be down behind a service of which the channel is told.
 */
export function isHeld(draft: AlertDraft, condition: Condition, channel: number): boolean {
  const { kind, service } = condition;
  return isBehind(draft, condition, channel) || (ofState(kind) && isMaintained(draft, service.id));
}

/** Returns true if a condition is one of the state of the service. */
function ofState(kind: Condition['kind']): boolean {
  return kind === 'status' || kind === 'scope' || kind === 'recovered';
}

function isMaintained({ context, maintenances }: AlertDraft, serviceId: number): boolean {
  const { ancestors = [] } = context.service(serviceId) ?? {};
  return [serviceId, ...ancestors].some(
    (id) => maintenances.has(id) || context.service(id)?.isInMaintenance === true,
  );
}

/** Words of rules that are told where a service is down. */
const WORDS_OF_DOWN: readonly AlertEventName[] = ['down', 'heartbeat_missed', 'run_failed', 'incident'];

/** The event of an outage that began no longer than this before one behind it may not have been decided yet, milliseconds. */
const MAX_EVENT_DELAY_MS = 300_000;

/** Returns true if the service is down behind another one of which the channel is told, or that may turn out. */
export function isBehind(
  draft: AlertDraft,
  { kind, service: { id }, last }: Condition,
  channel: number,
): boolean {
  if (kind !== 'status' && kind !== 'scope' && (last.type !== 'incident' || last.incident.source !== 'own'))
    return false;
  const reach = draft.reaches.get(id);
  if (reach === undefined || reach.phase === 'open') return false;
  if (reach.phase === 'over') return kind === 'incident';
  return reach.phase !== 'behind' || toldCausesOf(draft, id, channel, reach.since).length > 0;
}

/** The services that one is down behind and of which a channel is told. `since`: since when it is behind them, epoch milliseconds. */
function toldCausesOf(
  draft: AlertDraft,
  id: number,
  channel: number,
  since: number,
): readonly AlertService[] {
  const { context } = draft;
  const { ancestors = [] } = context.service(id) ?? {};
  return ancestors.flatMap((one) => {
    const service = context.service(one);
    // Of two that depend on each other by mistake, none may wait for the other.
    if (service === null || isReached(service) !== false || service.ancestors.includes(id)) return [];
    return isToldOf(draft, service, channel, { id, since }) ? [service] : [];
  });
}

/** The conditions by which a channel is told of the services that one is down behind, with their keys. */
export function causesToTell(
  draft: AlertDraft,
  id: number,
  channel: number,
): readonly (readonly [key: string, condition: Condition])[] {
  const reach = draft.reaches.get(id);
  if (reach?.phase !== 'behind') return [];
  return toldCausesOf(draft, id, channel, reach.since).flatMap((cause) =>
    downConditionsOf(
      draft,
      cause.id,
      channel,
      draft.context.rulesOf(cause.id).filter((rule) => rule.channels.includes(channel)),
    ),
  );
}

/**
 * Returns true if a channel was or will be told that a service is down. `behind`: one behind it, and since when that is so,
 * epoch milliseconds. What quiet hours let through sooner does not wait for it.
 */
function isToldOf(
  draft: AlertDraft,
  { id, since: beganAt, isProbed }: AlertService,
  channel: number,
  behind: { readonly id: number; readonly since: number },
): boolean {
  const rulesOn = (one: number) =>
    draft.context.rulesOf(one).filter((rule) => rule.channels.includes(channel));
  const words: readonly AlertEventName[] = isProbed ? ['down', 'incident'] : WORDS_OF_DOWN;
  const asking = rulesOn(id).filter((rule) => asksFor(rule, words));
  const tellings = downConditionsOf(draft, id, channel, asking).flatMap(
    ([, condition]) => condition.tellings[channel] ?? [],
  );
  // Of an outage before the rule or the channel was made, nobody is told.
  const isComing = asking.length > 0 && (beganAt ?? 0) + MAX_EVENT_DELAY_MS > behind.since;
  if (tellings.length === 0 && !isComing) return false;
  /** The time at which the channel is told of it, if it can be as soon as what is behind it, `at`. */
  const toldAt = (at: number): number => {
    const times = asking.map((rule) => readyAt(rule, ['down'], at));
    if (tellings.length === 0) return Math.min(...times);
    const waits = tellings.map(({ thread, flapping, wants }) =>
      thread === null && flapping === 'no'
        ? Math.min(...wants.map(({ dueAt }) => dueAt ?? draft.now))
        : draft.now,
    );
    const first = Math.min(...waits);
    return Number.isFinite(first) ? Math.min(first, ...times) : first;
  };
  return !rulesOn(behind.id)
    .filter((rule) => asksFor(rule, WORDS_OF_DOWN))
    .map((rule) => readyAt(rule, ['down'], Math.max(draft.now, behind.since + rule.afterMs)))
    .some((at) => at < toldAt(at));
}

/** The conditions by which a channel is told of an outage: the status, or where no rule asks for that, incidents of our own checks. */
function downConditionsOf(
  { conditions }: AlertDraft,
  id: number,
  channel: number,
  rules: readonly AlertRule[],
): readonly (readonly [key: string, condition: Condition])[] {
  const key = `status-${id}`;
  const status = conditions.get(key);
  if (status !== undefined && (status.tellings[channel]?.weight ?? 0) > 1) return [[key, status]];
  if (!rules.some((rule) => asksFor(rule, ['incident']))) return [];
  return [...conditions].filter(([, { kind, service, last, tellings }]) => {
    const isOwn = kind === 'incident' && last.type === 'incident' && last.incident.source === 'own';
    return isOwn && service.id === id && (tellings[channel]?.weight ?? 0) > 0;
  });
}

/** The first of what a service depends on that is down and not itself behind another one; null: none is. */
export function causeOfDown(
  ancestors: readonly number[],
  service: AlertContext['service'],
): AlertService | null {
  const down = ancestors.filter((id) => {
    const one = service(id);
    return one !== null && isReached(one) === false;
  });
  const first = down.find((id) => !service(id)?.ancestors.some((other) => down.includes(other)));
  return service(first ?? 0);
}

/** The time at which a rule lets words out that are ready at `at`, epoch milliseconds. */
export function readyAt(rule: AlertRule, words: readonly AlertEventName[], at: number): number {
  const { quiet } = rule;
  return quiet === null || words.some((word) => quiet.except.includes(word)) ? at : quietUntil(quiet, at);
}

/** The time at which the first of the rules lets words out. Rules that are gone hold nothing back. */
export function firstReadyAt(
  { context }: AlertDraft,
  rules: readonly number[],
  words: readonly AlertEventName[],
  at: number,
): number {
  const known = rules.map((id) => context.rule(id)).filter((rule) => rule !== null);
  return known.length === 0 ? at : Math.min(...known.map((rule) => readyAt(rule, words, at)));
}

/** The names of a service that words about it need. */
export function nameService({ id, slug, name, domain, url }: AlertService): NamedService {
  return { id, slug, name, domain, url };
}
