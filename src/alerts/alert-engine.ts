/**
 * Decides what accounts are told. Events, acknowledgements and times that have come are handed to the pure function `decide`,
 * account by account, and what it decides is written in one transaction: after a kill at any moment nothing is decided twice,
 * and nothing is missed.
 */
import { createCoalescingLoop, createPollGate } from '../async/coalescing-loop.ts';
import { inParts, runInParts } from '../async/in-parts.ts';
import type { Clock } from '../clock.ts';
import {
  type AlertState,
  NO_ALERTS,
  readAlertState,
  rememberedServices,
  writeAlertState,
} from '../domain/alert/alert-state.ts';
import { type AlertInput, type AlertOutcome, decide } from '../domain/alert/decide.ts';
import type { AlertEvent } from '../domain/alert/event.ts';
import { accountsOf } from '../domain/alert/match.ts';
import type { AlertMessage } from '../domain/alert/message.ts';
import { quietUntil } from '../domain/alert/rule.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/durations.ts';
import type { Service } from '../domain/service.ts';
import type { Log } from '../log.ts';
import type {
  Acknowledgement,
  AlertStore,
  DecidedMessage,
  RuleStore,
  StoredAlertState,
} from '../store/ports/alerts.ts';
import type { WriteCounter } from '../store/ports/storage-health.ts';
import {
  type AlertRules,
  type AlertSources,
  loadAlertRules,
  matchedService,
  openAlertContext,
} from './alert-world.ts';
import { createRelatedChecks } from './related-checks.ts';

export interface AlertEngineOptions extends AlertSources {
  readonly registry: AlertSources['registry'] & AlertStore & RuleStore & Partial<WriteCounter>;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns true if this process is the monitor, and online; if not, decisions wait. */
  readonly isOurs: () => boolean;
  /** Checks services as soon as slots are free. */
  readonly recheck: (serviceIds: readonly number[]) => void;
  /** Called when messages were written. */
  readonly onMessages: () => void;
}

const POLL_INTERVAL_MS = SECOND_MS;
/** Maximum number of events in one decision. */
const MAX_EVENTS = 1_000;
/** Maximum number of accounts in one decision whose time has come. */
const MAX_DUE_ACCOUNTS = 200;
/** An account whose decision has failed is looked at again after this time. */
const AFTER_FAULT_MS = 10 * MINUTE_MS;

/** The engine's state of an account. */
interface Account {
  readonly state: AlertState;
  readonly dueAt: number | null;
}

interface Loaded {
  readonly rules: AlertRules;
  position: number;
  readonly accounts: Map<number, Account>;
  /** Accounts by the services that their states remember. */
  readonly remembering: Map<number, Set<number>>;
}

/** The events and acknowledgements of an account. */
interface Happened {
  readonly events: AlertEvent[];
  readonly acknowledgements: Acknowledgement[];
}

export function startAlertEngine(options: AlertEngineOptions) {
  const { registry, clock, log, isOurs, onMessages } = options;
  const certificates = createCertificateScan(options, clock);
  const related = createRelatedChecks(options);
  const gate = createPollGate(registry.writes, clock.monotonic);
  let loaded: Loaded | null = null;
  let stopped = false;
  let failing = false;

  const load = async (): Promise<Loaded> => {
    const rules = await loadAlertRules(options);
    const { position, states } = await registry.loadAlertStates();
    const fresh: Loaded = { rules, position, accounts: new Map(), remembering: new Map() };
    for (const { accountId, state, dueAt } of states)
      remember(fresh, accountId, { state: read(accountId, state), dueAt });
    return fresh;
  };

  const read = (accountId: number, text: string): AlertState => {
    try {
      return readAlertState(text);
    } catch (error) {
      log.error({ error, accountId }, 'what was remembered of the alerts of an account cannot be read');
      return NO_ALERTS;
    }
  };

  /** Makes one decision; true: there may be more to decide. */
  const step = async (): Promise<boolean> => {
    gate.begin();
    if (loaded === null || loaded.rules.version !== (await registry.rulesVersion())) loaded = await load();
    const known = loaded;
    const now = clock.now();
    const events = await registry.alertEventsAfter(known.position, MAX_EVENTS);
    const acknowledgements = await registry.newAcknowledgements();
    const isScan = certificates.isDue();
    const found = isScan ? await certificates.find(known.rules, now) : [];
    const happened = sortOut(known, options, [...events, ...found], acknowledgements);
    for (const accountId of dueAccounts(known, now)) happenedTo(happened, accountId);
    if (events.length === 0 && acknowledgements.length === 0 && happened.size === 0) {
      if (isScan) certificates.done();
      gate.close();
      return false;
    }

    const states: StoredAlertState[] = [];
    const messages: DecidedMessage[] = [];
    const asks: { readonly accountId: number; readonly asks: readonly number[] }[] = [];
    const decided = new Map<number, Account>();
    for (const [accountId, { events: own, acknowledgements: taken }] of happened) {
      const before = known.accounts.get(accountId)?.state ?? NO_ALERTS;
      const after = await decideOne(known, accountId, before, { events: own, acknowledgements: taken, now });
      decided.set(accountId, after);
      states.push({ accountId, state: writeAlertState(after.state), dueAt: after.dueAt });
      messages.push(...after.messages);
      asks.push({ accountId, asks: after.asks });
    }
    const position = events.at(-1)?.position ?? known.position;
    const isWritten = await registry.commitAlerts({
      position,
      states,
      messages,
      acknowledgements: acknowledgements.map(({ id }) => id),
      rulesVersion: known.rules.version,
      now,
    });
    if (!isWritten) {
      loaded = null;
      return true;
    }
    known.position = position;
    if (isScan) certificates.done();
    for (const [accountId, account] of decided) remember(known, accountId, account);
    if (messages.length > 0) onMessages();
    for (const one of asks) related.ask(one.accountId, one.asks);
    for (const [accountId, { events: own }] of happened) await related.note(known.rules, accountId, own);
    return events.length === MAX_EVENTS || happened.size >= MAX_DUE_ACCOUNTS;
  };

  /** A decision that fails is a fault of the program: what happened to the account is dropped, and other accounts go on. */
  const decideOne = async (
    { rules }: Loaded,
    accountId: number,
    state: AlertState,
    input: AlertInput,
  ): Promise<Account & Pick<AlertOutcome, 'asks'> & { readonly messages: readonly DecidedMessage[] }> => {
    const concerned = rememberedServices(state);
    for (const { serviceId } of input.events) concerned.add(serviceId);
    const context = await openAlertContext(options, rules, accountId, concerned);
    try {
      const outcome = decide(state, input, context);
      const messages = outcome.messages.map((decided) =>
        isDelayed(rules, accountId, decided.message) ? { ...decided, isDelayed: true } : decided,
      );
      return { state: outcome.state, dueAt: outcome.dueAt, asks: outcome.asks, messages };
    } catch (error) {
      log.error(
        { error, accountId, events: input.events.length },
        'alerts of an account could not be decided',
      );
      const decidedAt = Math.min(state.decidedAt, input.now);
      return { state: { ...state, decidedAt }, dueAt: input.now + AFTER_FAULT_MS, asks: [], messages: [] };
    }
  };

  const looking = createCoalescingLoop(async () => {
    try {
      while (!stopped && isOurs() && (await step()));
      failing = false;
    } catch (error) {
      // What was loaded may differ from what is stored.
      loaded = null;
      if (!failing) log.error({ error }, 'alerts could not be decided');
      failing = true;
    }
  });
  const look = (): void => {
    if (!stopped && isOurs()) void looking.run();
  };
  /** Returns true if the time of an account or of the certificates has come. */
  const isDue = (): boolean =>
    loaded === null || certificates.isDue() || dueAccounts(loaded, clock.now()).length > 0;
  const cancel = clock.every(POLL_INTERVAL_MS, () => {
    if (gate.isOpen() || isDue()) look();
  });
  look();

  return {
    /** Decides about what has happened. */
    look,
    /** Resolves when the decision in progress is written. */
    async stop(): Promise<void> {
      stopped = true;
      cancel();
      await looking.idle();
    },
  };
}

function remember({ accounts, remembering }: Loaded, accountId: number, account: Account): void {
  const before = accounts.get(accountId);
  const services = rememberedServices(account.state);
  if (before !== undefined)
    for (const id of rememberedServices(before.state))
      if (!services.has(id)) remembering.get(id)?.delete(accountId);
  for (const id of services) {
    const known = remembering.get(id);
    if (known === undefined) remembering.set(id, new Set([accountId]));
    else known.add(accountId);
  }
  accounts.set(accountId, { state: account.state, dueAt: account.dueAt });
}

/** Groups events and acknowledgements by account. */
function sortOut(
  { rules, remembering }: Loaded,
  sources: AlertSources,
  events: readonly AlertEvent[],
  acknowledgements: readonly Acknowledgement[],
): Map<number, Happened> {
  const happened = new Map<number, Happened>();
  for (const event of events) {
    const service = matchedService(sources.services, event.serviceId);
    const accounts = new Set(remembering.get(event.serviceId));
    if (service !== null) for (const id of accountsOf(rules.index, service)) accounts.add(id);
    for (const id of accounts) happenedTo(happened, id).events.push(event);
  }
  for (const one of acknowledgements) happenedTo(happened, one.accountId).acknowledgements.push(one);
  return happened;
}

function happenedTo(happened: Map<number, Happened>, accountId: number): Happened {
  const known = happened.get(accountId);
  if (known !== undefined) return known;
  const made: Happened = { events: [], acknowledgements: [] };
  happened.set(accountId, made);
  return made;
}

/**
 * The accounts that have to be looked at, the first {@link MAX_DUE_ACCOUNTS}: their time has come, or the clock was set back
 * since they were decided, which moves all they wait for.
 */
function dueAccounts({ accounts }: Loaded, now: number): number[] {
  const due: number[] = [];
  for (const [accountId, { state, dueAt }] of accounts) {
    if (dueAt === null || (dueAt > now && state.decidedAt <= now)) continue;
    due.push(accountId);
    if (due.length >= MAX_DUE_ACCOUNTS) break;
  }
  return due;
}

/** Returns true if the rule of a message let it wait, so that the time to its delivery says nothing about this program. */
function isDelayed({ rules }: AlertRules, accountId: number, { rule: name, at }: AlertMessage): boolean {
  const rule = rules.find((one) => one.accountId === accountId && one.name === name);
  return rule !== undefined && (rule.afterMs > 0 || (rule.quiet !== null && quietUntil(rule.quiet, at) > at));
}

/** Days before the end of a certificate at which it is told of, the least first. */
const THRESHOLDS = [1, 7, 21] as const;

function createCertificateScan(sources: AlertSources, clock: Clock) {
  let scannedAt = Number.NEGATIVE_INFINITY;
  return {
    isDue: (): boolean => clock.monotonic() - scannedAt >= HOUR_MS,
    /** An event for each certificate that has reached a threshold; which of them are news is decided for each account. */
    async find(rules: AlertRules, now: number): Promise<AlertEvent[]> {
      if (!rules.rules.some(({ events }) => events.includes('certificate'))) return [];
      const found: AlertEvent[] = [];
      const look = (service: Service): void => {
        const change = changeOf(service, sources, now);
        const matched = change === null ? null : matchedService(sources.services, service.id);
        if (change !== null && matched !== null && accountsOf(rules.index, matched).size > 0)
          found.push({ position: 0, serviceId: service.id, at: now, recordedAt: now, change });
      };
      await runInParts(inParts(sources.services.all(), look));
      return found;
    },
    /** Notes that the found changes are decided. */
    done(): void {
      scannedAt = clock.monotonic();
    },
  };
}

/** The change of a service's certificate that is to tell; null: none. */
function changeOf(
  { id, paused }: Service,
  { status }: AlertSources,
  now: number,
): AlertEvent['change'] | null {
  const endsAt = paused ? null : (status.get(id)?.latest?.certificateExpiresAt ?? null);
  if (endsAt === null) return null;
  const days = THRESHOLDS.find((threshold) => endsAt - now <= threshold * DAY_MS);
  return days === undefined ? null : { type: 'certificate', endsAt, days };
}
