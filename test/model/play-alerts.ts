/**
 * The alerts of a world, on the program: the real engine decides over the registry of the world, each time in the process of that
 * time. Notes in the diary when it decides, and keeps what it has told.
 */
import { startAlertEngine } from '../../src/alerts/alert-engine.ts';
import { listOpenAlerts, readAlertState } from '../../src/domain/alert/alert-state.ts';
import type { AlertEvent } from '../../src/domain/alert/event.ts';
import type { AlertMessage, MessageItem } from '../../src/domain/alert/message.ts';
import type { CurrentStatus } from '../../src/domain/status/current.ts';
import type { Log } from '../../src/log.ts';
import type { AlertDecision } from '../../src/store/ports/alerts.ts';
import type { RegistryClient } from '../../src/store/registry/registry-client.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { double } from '../support/double.ts';
import type { RecordedRegistry } from '../support/recorded-registry.ts';
import type { DefinedRule, News, Telling } from './diary.ts';
import { withoutMark } from './read-outcome.ts';
import type { World } from './world.ts';
import { CHANNELS, type RuleScript } from './world-alerts.ts';
import type { WorldClock } from './world-clock.ts';
import { START } from './world-stores.ts';

/** The account that services, rules and channels belong to. */
const ACCOUNT = 1;
/** The engine of the program looks so often whether there is something to decide. */
const POLL_MS = 1_000;

/** Lets a call reach the registry as long as its process lives. */
export type Live = <Args extends readonly unknown[], T>(
  call: (...args: Args) => Promise<T>,
) => (...args: Args) => Promise<T>;

/** The rule that every world has, first. */
const USUAL_RULE: RuleScript = {
  ...{ of: 'own', events: ['down', 'up'], channels: [1], after: 0, repeat: null, quiet: null },
};

/** Adds the channels and rules of a world. */
export async function addRules(client: RegistryClient, { alerts, services }: World): Promise<DefinedRule[]> {
  for (const [index, kind] of CHANNELS.entries())
    await client.addChannel({
      ...{
        accountId: ACCOUNT,
        name: `channel ${index + 1}`,
        kind,
        settings: { url: 'https://hooks.example/' },
      },
      ...{ language: 'en', confirmedAt: START, createdAt: START },
    });
  const defined: DefinedRule[] = [];
  for (const [index, script] of [USUAL_RULE, ...alerts.rules].entries()) {
    const { of, events, channels, after, repeat, quiet } = script;
    const ids = Array.isArray(of) ? of.filter((one) => one < services.length).map((one) => one + 1) : [];
    const timing = { afterMs: after * 1_000, repeatMs: repeat === null ? null : repeat * 1_000, quiet };
    const name = `rule ${index + 1}`;
    const { id } = await client.addRule({
      ...{ accountId: ACCOUNT, name, events, channels, enabled: true, createdAt: START, ...timing },
      of: {
        own: of === 'own',
        services: ids,
        categories: of === 'category' ? ['developer'] : of === 'other-category' ? ['cloud'] : [],
        publicCategories: of === 'public-category' ? ['developer'] : [],
        pages: [],
      },
    });
    const watches = of === 'own' || of === 'category' ? 'all' : ids;
    defined.push({ id, name, watches, events, channels, isOn: true, ...timing });
  }
  return defined;
}

/** Makes the alerts of a world; its services are added to `directory` as they change. */
export function createAlertOffice(parts: {
  readonly registry: RecordedRegistry;
  readonly client: RegistryClient;
  readonly clock: WorldClock;
  readonly rules: readonly DefinedRule[];
  readonly log: Log;
  readonly note: (news: News) => void;
}) {
  const { registry, client, clock, rules, log, note } = parts;
  const directory = createServiceDirectory();
  const events = new Map<number, AlertEvent>();
  const tellings: Telling[] = [];
  const switchedOff = new Set<number>();
  let dueAt: number | null = null;
  let decidedAt = 0;
  let decide = () => {};
  let isOnline = () => true;
  let cancel = () => {};
  /** There may be something to decide, but the prober is offline. */
  let waits = false;
  /** The timer that the next decision is due to; null: none. */
  let timer: Extract<News, { readonly what: 'decide' }>['timer'] = null;
  const nameOf = createThreadNames();

  /** Looks as the engine's own poll would, but only where there may be something to decide: worlds of a day have few such seconds. */
  function look(): void {
    clock.touch();
    decide();
    waits = !isOnline();
    wake();
  }

  function wakeAfter(ms: number): void {
    cancel();
    const setMs = clock.monotonic();
    cancel = clock.after(ms, () => {
      timer = { setMs, dueMs: setMs + ms };
      look();
    });
  }

  function wake(): void {
    cancel();
    if (waits) wakeAfter(POLL_MS);
    else if (dueAt !== null) {
      const isDue = dueAt <= clock.now() || clock.now() < decidedAt;
      wakeAfter(isDue ? POLL_MS : dueAt - clock.now());
    }
  }

  function keep({ states, messages, now }: AlertDecision): void {
    for (const { channelId, message } of messages)
      tellings.push(describe(message, nameOf(message.thread), channelId, now));
    for (const state of states) dueAt = state.dueAt;
    if (states.length > 0) decidedAt = now;
    wake();
  }

  return {
    directory,
    look,
    /** The wall clock has gone on, or was set. */
    wake,
    /** Starts the engine of a process; `online`: whether its prober is online. */
    start(live: Live, online: () => boolean): void {
      isOnline = online;
      const engine = startAlertEngine({
        registry: {
          ...client,
          rulesVersion: live(client.rulesVersion),
          loadRules: live(client.loadRules),
          loadAlertStates: live(client.loadAlertStates),
          newAcknowledgements: live(client.newAcknowledgements),
          alertFacts: live(client.alertFacts),
          alertEventsAfter: live(async (position: number, limit: number) => {
            note({ what: 'decide', timer });
            timer = null;
            const read = await client.alertEventsAfter(position, limit);
            for (const event of read) events.set(event.position, event);
            return read;
          }),
          commitAlerts: live(async (decision: AlertDecision) => {
            const isWritten = await client.commitAlerts(decision);
            if (isWritten) keep(decision);
            return isWritten;
          }),
        },
        services: directory,
        // The reference knows no common causes: without a newest check the program finds none.
        status: double({
          get: (id) => (directory.byId(id) === null ? null : withoutCheck(registry.current(id))),
        }),
        siteUrl: 'http://localhost',
        usual: { intervalMs: 300_000, timeoutMs: 10_000, slowOverMs: 3_000, confirmAfterMs: [] },
        acknowledgeUrl: (_, thread) => `http://localhost/${thread}`,
        clock: { ...clock, every: () => () => {} },
        ...{ log, isOurs: online, onMessages: () => {}, recheck() {} },
      });
      decide = engine.look;
      wake();
    },
    /** Switches a rule. */
    async flip(index: number): Promise<void> {
      // The usual one stays as it is, so that there is always something to make events for.
      const rule = rules[index + 1];
      if (rule === undefined) return;
      const isOn = switchedOff.delete(rule.id);
      if (!isOn) switchedOff.add(rule.id);
      await client.changeRule(ACCOUNT, rule.id, { enabled: isOn });
      note({ what: 'rule', rule: rule.id, isOn });
      look();
    },
    /** Somebody takes one of the alerts that are open. */
    async acknowledge(nth: number): Promise<void> {
      const { state } = await client.alertsOf(ACCOUNT);
      const open = state === null ? [] : listOpenAlerts(readAlertState(state), new Map());
      const thread = open[nth]?.thread;
      if (thread === undefined) return;
      note({ what: 'taken', thread: nameOf(thread) });
      await client.acknowledge({ accountId: ACCOUNT, thread, by: 'Ada', at: clock.now() });
      look();
    },
    /** What was told, and the events that it was decided from, with those that nobody has read yet. */
    async told(): Promise<{ readonly tellings: readonly Telling[]; readonly events: readonly AlertEvent[] }> {
      for (const event of await client.alertEventsAfter(0, 1_000_000)) events.set(event.position, event);
      return { tellings, events: [...events.values()].sort((a, b) => a.position - b.position) };
    },
  };
}

/**
 * Threads are compared by the times at which they began. A clock that was set back comes to a time again: of threads that began at the same one,
 * the second is called `<time> 2`.
 */
function createThreadNames(): (thread: string) => string {
  const names = new Map<string, string>();
  const begun = new Map<number, number>();
  return (thread) => {
    const [account, began = '', count, ...rest] = thread.split('-');
    const id = [account, began, count].join('-');
    let name = names.get(id);
    if (name === undefined) {
      const at = Number.parseInt(began, 36);
      const nth = (begun.get(at) ?? 0) + 1;
      begun.set(at, nth);
      name = nth === 1 ? String(at) : `${at} ${nth}`;
      names.set(id, name);
    }
    return [name, ...rest].join('-');
  };
}

function withoutCheck(current: CurrentStatus | null): CurrentStatus | null {
  return current === null ? null : { ...current, latest: null };
}

function describe(message: AlertMessage, thread: string, channel: number, decidedAt: number): Telling {
  const { type, urgency, at: since, rule, total, acknowledgeUrl, items } = message;
  return {
    ...{ decidedAt, channel, type, thread, urgency, since, hasRule: rule !== null, total },
    canBeTaken: acknowledgeUrl !== null,
    items: items
      .filter(({ told }) => told === undefined)
      .map(describeItem)
      .sort(),
  };
}

function describeItem({
  service,
  event,
  status,
  since,
  lastedMs,
  flapping,
  ended,
  ...item
}: MessageItem): string {
  const { incident, maintenance } = item;
  const name = incident?.source === 'vendor' ? incident.title : withoutMark(incident?.id ?? '');
  return [
    ...[event, `s${service.id}`, status, `since ${since}`],
    ...(lastedMs === null ? [] : [`for ${lastedMs}`]),
    ...(flapping === null ? [] : ['flaps']),
    ...(ended === undefined ? [] : [ended]),
    ...(incident === null ? [] : [`${name} ${incident.severity} ${incident.status}`]),
    // The reference calls work of an owner by another number.
    ...(maintenance === null
      ? []
      : [`${maintenance.title.replace(/^work .*/, 'work')} ${maintenance.phase}`]),
  ].join(' ');
}
