/** An account with services and rules, whose alerts are decided at times that a test names. */
import type { AlertContext, AlertService, CauseFacts } from '../../../src/domain/alert/alert-draft.ts';
import {
  type AlertState,
  NO_ALERTS,
  readAlertState,
  writeAlertState,
} from '../../../src/domain/alert/alert-state.ts';
import { decide } from '../../../src/domain/alert/decide.ts';
import type { AlertChange, AlertEvent } from '../../../src/domain/alert/event.ts';
import { indexRules, rulesOf } from '../../../src/domain/alert/match.ts';
import type { AlertMessage } from '../../../src/domain/alert/message.ts';
import type { AlertRule } from '../../../src/domain/alert/rule.ts';
import type { ServiceStatus, Verdict } from '../../../src/domain/status.ts';

/** 12:00 UTC on a Monday. */
export const NOON = Date.UTC(2026, 0, 5, 12);
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** A rule about all services of account 1, on channel 1. */
export function ruleOf(change: Partial<AlertRule> = {}): AlertRule {
  return {
    id: 1,
    accountId: 1,
    name: `rule ${change.id ?? 1}`,
    of: { own: true, services: [], categories: [], publicCategories: [], pages: [] },
    events: ['down', 'up'],
    channels: [1],
    enabled: true,
    createdAt: 0,
    revision: 1,
    afterMs: 0,
    repeatMs: null,
    quiet: null,
    ...change,
  };
}

/** A service of account 1. */
export function serviceOf(id: number, change: Partial<AlertService> = {}): AlertService {
  return {
    id,
    accountId: 1,
    category: 'cloud',
    isPublic: false,
    slug: `s${id}`,
    name: `Service ${id}`,
    domain: `s${id}.example.com`,
    url: `https://up.example/status/s${id}`,
    isPaused: false,
    status: 'up',
    scope: null,
    vendor: null,
    certificateEndsAt: null,
    isInMaintenance: false,
    ancestors: [],
    since: null,
    checkedAt: null,
    isStale: false,
    isProbed: true,
    lastOutage: null,
    ...change,
  };
}

/** Turns of a status. */
export function statusChange(from: ServiceStatus, to: Verdict, more: Partial<AlertChange> = {}): AlertChange {
  return {
    type: 'status',
    from,
    to,
    source: 'check',
    reason: to === 'down' ? { code: 'reported_down' } : null,
    phase: null,
    lastGoodAt: null,
    regions: [],
    ...more,
  } as AlertChange;
}

/** What was sent to a channel, in few words. */
export type Line = readonly [afterMs: number, channel: number, type: AlertMessage['type'], words: string];

/** An account whose alerts are decided. Between all decisions its state is JSON. */
export class AlertWorld {
  rules: AlertRule[];
  readonly services = new Map<number, AlertService>();
  readonly channels = new Set([1, 2, 3]);
  /** Channels that show no threads. */
  readonly threadless = new Set([3]);
  causes: readonly CauseFacts[] = [];
  pages: Readonly<Record<string, readonly number[]>> = {};
  state: AlertState = NO_ALERTS;
  dueAt: number | null = null;
  /** Services that have to be checked at once, since they were taken last. */
  readonly asked = new Set<number>();
  readonly sent: { readonly at: number; readonly channel: number; readonly message: AlertMessage }[] = [];
  #position = 0;
  #waiting: { readonly at: number; readonly events: AlertEvent[] } = { at: Number.NaN, events: [] };

  constructor(rules: readonly AlertRule[] = [ruleOf()], services = 3) {
    this.rules = [...rules];
    for (let id = 1; id <= services; id += 1) this.services.set(id, serviceOf(id));
  }

  get context(): AlertContext {
    const index = indexRules(this.rules, (_, slug) => this.pages[slug] ?? []);
    return {
      accountId: 1,
      service: (id) => this.services.get(id) ?? null,
      rulesOf: (id) => {
        const service = this.services.get(id);
        return service === undefined ? [] : rulesOf(index, 1, service);
      },
      rule: (id) => this.rules.find((rule) => rule.id === id && rule.enabled) ?? null,
      hasThreads: (id) => !this.threadless.has(id),
      countBehind: (id) =>
        [...this.services.values()].filter(({ ancestors }) => ancestors.includes(id)).length,
      hasChannel: (id) => this.channels.has(id),
      causeFacts: () => this.causes,
      overviewUrl: 'https://up.example/dashboard',
      acknowledgeUrl: (thread) => `https://up.example/alerts/acknowledge/${thread}`,
    };
  }

  /**
   * An event that happens, and is recorded, `afterMs` after noon. Events of one time are decided together, when something else is asked for;
   * timers before them go off at their time.
   */
  change(afterMs: number, serviceId: number, change: AlertChange, more: Partial<AlertEvent> = {}): void {
    const at = NOON + afterMs;
    if (this.#waiting.at !== at) {
      this.#flush();
      this.#passTo(at);
      this.#waiting = { at, events: [] };
    }
    this.#position += 1;
    this.#waiting.events.push({
      position: this.#position,
      serviceId,
      at,
      recordedAt: at,
      change,
      ...more,
    });
  }

  down(afterMs: number, serviceId: number, from: ServiceStatus = 'up'): void {
    this.change(afterMs, serviceId, statusChange(from, 'down'));
  }

  up(afterMs: number, serviceId: number, from: ServiceStatus = 'down'): void {
    this.change(afterMs, serviceId, statusChange(from, 'up'));
  }

  slow(afterMs: number, serviceId: number, from: ServiceStatus = 'up'): void {
    this.change(afterMs, serviceId, statusChange(from, 'slow'));
  }

  acknowledge(afterMs: number, thread: string, by = 'Ada'): void {
    this.pass(afterMs);
    this.decide(NOON + afterMs, [], [{ thread, by, at: NOON + afterMs }]);
  }

  /** Lets time pass. */
  pass(afterMs: number): void {
    this.#flush();
    this.#passTo(NOON + afterMs);
    this.decide(NOON + afterMs);
  }

  #passTo(to: number): void {
    while (this.dueAt !== null && this.dueAt < to) {
      const { dueAt } = this;
      this.decide(dueAt);
      if (this.dueAt === dueAt) throw new Error('it would be decided at this time for ever');
    }
  }

  #flush(): void {
    const { at, events } = this.#waiting;
    this.#waiting = { at: Number.NaN, events: [] };
    if (events.length > 0) this.decide(at, events);
  }

  decide(
    now: number,
    events: readonly AlertEvent[] = [],
    acknowledgements: readonly { thread: string; by: string; at: number }[] = [],
  ): void {
    const outcome = decide(this.state, { events, acknowledgements, now }, this.context);
    this.state = readAlertState(writeAlertState(outcome.state));
    this.dueAt = outcome.dueAt;
    for (const id of outcome.asks) this.asked.add(id);
    for (const { channelId, message } of outcome.messages)
      this.sent.push({ at: now, channel: channelId, message });
  }

  /** What was sent since the last call: `down s1 s2`, grouped by words. */
  lines(): Line[] {
    return this.sent
      .splice(0)
      .map(({ at, channel, message }) => [at - NOON, channel, message.type, wordsOf(message)]);
  }

  /** The thread of the last message. */
  get thread(): string {
    return this.sent.at(-1)?.message.thread ?? '';
  }
}

/** What is news in it. */
function wordsOf({ items }: AlertMessage): string {
  return items
    .filter(({ told }) => told === undefined)
    .map(({ event, service, flapping, ended }) =>
      [
        event,
        service.slug,
        ...(flapping === null ? [] : ['flaps']),
        ...(ended === undefined ? [] : [ended]),
      ].join(' '),
    )
    .join(', ');
}
