/**
 * A year of the demonstration's fleet through the decisions of alerts, with random rules, with an engine that is killed between
 * its steps or away for hours, and with people who acknowledge; and what the oracle expects of it.
 */

import type { AlertContext, AlertService } from '../../../../src/domain/alert/alert-draft.ts';
import { NO_ALERTS, readAlertState, writeAlertState } from '../../../../src/domain/alert/alert-state.ts';
import { decide } from '../../../../src/domain/alert/decide.ts';
import type { AlertEvent } from '../../../../src/domain/alert/event.ts';
import { indexRules, rulesOf } from '../../../../src/domain/alert/match.ts';
import type { AlertMessage } from '../../../../src/domain/alert/message.ts';
import { serviceOf, statusChange } from '../alert-world.ts';
import { FLEET, type FleetChange, fleetChanges } from './fleet-year.ts';
import { CHANGE_MS, type Said, sayingsOf } from './oracle.ts';
import { categoryOf, type SimulatedRule, simulatedRules } from './simulated-rules.ts';

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 0, 1);

/** How the engine is disturbed. */
export interface YearOptions {
  readonly days: number;
  readonly seed: number;
  readonly rules: number;
  /** Chances for each step of the engine: that it is killed before its commit, and that it is away for up to three hours. */
  readonly killed: number;
  readonly away: number;
  /** The chance for each alert that somebody acknowledges it. */
  readonly acknowledged: number;
}

/** What happened, and what is wrong with it. */
export interface YearReport {
  readonly changes: number;
  /** Failures that an outage of the prober made. */
  readonly unseen: number;
  readonly steps: number;
  readonly kills: number;
  readonly absences: number;
  readonly messages: number;
  readonly sayings: number;
  readonly reminders: number;
  readonly acknowledgements: number;
  /** Size of the largest state, bytes of JSON. */
  readonly maxStateBytes: number;
  /** Sentences; empty: every promise was kept. */
  readonly faults: readonly string[];
}

interface Sent {
  readonly at: number;
  readonly channel: number;
  readonly message: AlertMessage;
}

/** Lets the time pass. */
export function runAlertYear(options: YearOptions): YearReport {
  const random = randomOf(options.seed);
  const { changes, unseen } = fleetChanges(options.days, random);
  const rules = simulatedRules(options.rules, random);
  const endMinute = options.days * 1440;
  const run = runEngine(
    changes.filter(({ minute }) => minute < endMinute),
    rules,
    options,
    random,
  );
  const faults = [
    ...compareSayings(run.sent, changes, rules, options),
    ...judgeThreads(run.sent, rules, options.away === 0),
  ];
  const items = run.sent.flatMap(({ message }) =>
    ['alert', 'update', 'recovery'].includes(message.type)
      ? message.items.filter(({ told }) => told === undefined)
      : [],
  );
  return {
    changes: changes.length,
    unseen,
    steps: run.steps,
    kills: run.kills,
    absences: run.absences,
    messages: run.sent.length,
    sayings: items.length,
    reminders: run.sent.filter(({ message }) => message.type === 'reminder').length,
    acknowledgements: run.acknowledgements,
    maxStateBytes: run.maxStateBytes,
    faults,
  };
}

function runEngine(
  changes: readonly FleetChange[],
  rules: readonly SimulatedRule[],
  options: YearOptions,
  random: () => number,
) {
  const services = new Map(FLEET.map((demo, index) => [index + 1, serviceFor(demo.slug, index)] as const));
  const context = contextOf(services, rules);
  const events = changes.map(({ minute, service, from, to }, index): AlertEvent => {
    const at = START + minute * MINUTE_MS + CHANGE_MS;
    return {
      position: index + 1,
      serviceId: service + 1,
      at,
      recordedAt: at,
      change: statusChange(from, to),
    };
  });
  const endAt = START + options.days * 1440 * MINUTE_MS;
  // What the store keeps.
  let [stored, position] = [writeAlertState(NO_ALERTS), 0];
  const sent: Sent[] = [];
  let waiting: { readonly at: number; readonly thread: string }[] = [];
  // What a process has in memory.
  let state = NO_ALERTS;
  let dueAt: number | null = null;
  let [steps, kills, absences, acknowledgements, maxStateBytes] = [0, 0, 0, 0, 0];
  for (;;) {
    const next = events[position];
    const first = waiting.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
    const wakeAt = Math.min(next?.recordedAt ?? endAt, dueAt ?? endAt, first);
    if (wakeAt >= endAt) break;
    const isAway = random() < options.away;
    if (isAway) absences += 1;
    const now = isAway ? wakeAt + Math.floor(random() * 180) * MINUTE_MS : wakeAt;
    let end = position;
    while (end < events.length && (events[end]?.recordedAt ?? 0) <= now) end += 1;
    const said = waiting.filter(({ at }) => at <= now);
    const outcome = decide(
      state,
      {
        events: events.slice(position, end),
        acknowledgements: said.map(({ at, thread }) => ({ thread, by: 'Ada', at })),
        now,
      },
      context,
    );
    steps += 1;
    const isKilled = random() < options.killed;
    if (isKilled && random() < 0.5) {
      // Before the commit: another process decides again from what is stored.
      kills += 1;
      state = readAlertState(stored);
      continue;
    }
    ({ state, dueAt } = outcome);
    position = end;
    acknowledgements += said.length;
    waiting = waiting.filter((one) => !said.includes(one));
    for (const { channelId, message } of outcome.messages) {
      sent.push({ at: now, channel: channelId, message });
      if (message.acknowledgeUrl !== null && random() < options.acknowledged) {
        waiting.push({ at: now + Math.floor(random() * 120) * MINUTE_MS + 1, thread: message.thread });
      }
    }
    if (isKilled || steps % 500 === 0) {
      stored = writeAlertState(outcome.state);
      maxStateBytes = Math.max(maxStateBytes, stored.length);
      if (!isKilled) continue;
      kills += 1;
      state = readAlertState(stored);
    } else if (options.killed > 0) stored = writeAlertState(outcome.state);
  }
  return { sent, steps, kills, absences, acknowledgements, maxStateBytes };
}

/** For each rule and service: what was said is what the oracle says, in order, at the time. */
function compareSayings(
  sent: readonly Sent[],
  changes: readonly FleetChange[],
  rules: readonly SimulatedRule[],
  { days, away }: YearOptions,
): string[] {
  const faults: string[] = [];
  const heard = hearSayings(sent);
  // What is said in the last hours of the time may be cut off in either.
  const lastAt = START + (days * 1440 - 24 * 60) * MINUTE_MS;
  for (const rule of rules) {
    for (const [index, demo] of FLEET.entries()) {
      if (!rule.services.has(index + 1)) continue;
      const own = changes.filter(({ service }) => service === index);
      const { said, untilAt } = sayingsOf(rule, own, START, days * 1440);
      const wanted = said.filter(([, at]) => at < lastAt);
      const found = (heard.get(`${rule.id} ${index + 1}`) ?? []).slice(0, wanted.length);
      const wrong = wanted.findIndex(
        ([saying, at], n) =>
          found[n]?.[0] !== saying || found[n][1] < at || (away === 0 && found[n][1] > at + CHANGE_MS),
      );
      const extra = (heard.get(`${rule.id} ${index + 1}`) ?? []).slice(wanted.length);
      const [more] = extra.filter(([, at]) => at < Math.min(lastAt, untilAt));
      if (wrong === -1 && more === undefined) continue;
      const show = (said: Said | undefined) =>
        said === undefined ? 'nothing' : `${said[0]} ${new Date(said[1]).toISOString()}`;
      faults.push(
        `rule ${JSON.stringify(rule.events)} after ${rule.afterMs} quiet ${JSON.stringify(rule.quiet)}, ${demo.slug}: ` +
          (wrong === -1
            ? `beyond what was due: ${show(more)}`
            : `saying ${wrong} is ${show(found[wrong])}, not ${show(wanted[wrong])}`),
      );
    }
  }
  return faults;
}

/** What each channel heard of each service, by `<channel> <service>`. */
function hearSayings(sent: readonly Sent[]): Map<string, Said[]> {
  const heard = new Map<string, Said[]>();
  const open = new Set<string>();
  for (const { at, channel, message } of sent) {
    if (!['alert', 'update', 'recovery'].includes(message.type)) continue;
    for (const item of message.items) {
      if (item.told) continue;
      const key = `${channel} ${item.service.id}`;
      const inThread = `${key} ${message.thread}`;
      const said: Said = [
        item.flapping !== null
          ? 'flap'
          : item.lastedMs !== null
            ? open.has(inThread)
              ? 'end'
              : 'past'
            : open.has(inThread)
              ? 'change'
              : 'begin',
        at,
      ];
      if (item.lastedMs === null || item.flapping !== null) open.add(inThread);
      else open.delete(inThread);
      const those = heard.get(key);
      if (those === undefined) heard.set(key, [said]);
      else those.push(said);
    }
  }
  return heard;
}

/** Promises about messages and threads of each channel. */
function judgeThreads(
  sent: readonly Sent[],
  rules: readonly SimulatedRule[],
  isAlwaysThere: boolean,
): string[] {
  const faults: string[] = [];
  const threads = new Map<
    string,
    { begunAt: number; remindedAt: number; isOver: boolean; isTaken: boolean }
  >();
  const newThreads = new Map<string, string>();
  for (const { at, channel, message } of sent) {
    const { type, thread } = message;
    const where = `${type} to ${channel} in ${thread} at ${new Date(at).toISOString()}`;
    const key = `${channel} ${thread}`;
    const known = threads.get(key);
    const rule = rules[channel - 1];
    if (message.total !== message.items.length) faults.push(`${where}: total ${message.total}`);
    if (known === undefined) {
      if (type !== 'alert' && !thread.endsWith('-r')) faults.push(`${where}: nothing began there`);
      const other = newThreads.get(`${channel} ${at} ${type}`);
      if (isAlwaysThere && other !== undefined) faults.push(`${where}: ${other} began at the same time`);
      newThreads.set(`${channel} ${at} ${type}`, thread);
      threads.set(key, { begunAt: at, remindedAt: at, isOver: thread.endsWith('-r'), isTaken: false });
      continue;
    }
    if (known.isOver) faults.push(`${where}: it is over`);
    if (type === 'recovery') known.isOver = true;
    if (type === 'alert') {
      // It got worse: the thread has to be taken anew.
      known.remindedAt = at;
      for (const [other, one] of threads) {
        if (!other.endsWith(` ${thread}`)) continue;
        // A channel that is not told of it may be reminded at once, of what it knows.
        if (one.isTaken && one !== known) one.remindedAt = Number.NaN;
        one.isTaken = false;
      }
    }
    if (type === 'acknowledged') {
      if (known.isTaken) faults.push(`${where}: it was taken before`);
      known.isTaken = true;
    }
    if (type === 'reminder') {
      if (known.isTaken) faults.push(`${where}: it is taken`);
      if (rule?.repeatMs == null || (isAlwaysThere && at - known.remindedAt < rule.repeatMs)) {
        faults.push(`${where}: too soon`);
      } else if (isAlwaysThere && rule.quiet === null && at - known.remindedAt > rule.repeatMs) {
        // While the service flaps nothing is said; the next reminder comes a whole number of times later.
        if ((at - known.remindedAt) % rule.repeatMs !== 0) faults.push(`${where}: too late`);
      }
      known.remindedAt = at;
    }
  }
  return faults;
}

function contextOf(
  services: ReadonlyMap<number, AlertService>,
  rules: readonly SimulatedRule[],
): AlertContext {
  const index = indexRules(rules, () => []);
  const ofService = new Map([...services].map(([id, service]) => [id, rulesOf(index, 1, service)]));
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  return {
    accountId: 1,
    service: (id) => services.get(id) ?? null,
    rulesOf: (id) => ofService.get(id) ?? [],
    rule: (id) => byId.get(id) ?? null,
    hasThreads: () => true,
    hasChannel: () => true,
    countBehind: () => 0,
    causeFacts: () => [],
    overviewUrl: 'https://up.example/dashboard',
    acknowledgeUrl: (thread) => `https://up.example/alerts/acknowledge/${thread}`,
  };
}

function serviceFor(slug: string, index: number): AlertService {
  return serviceOf(index + 1, { slug, category: categoryOf(index) });
}

/** Numbers in [0, 1) that a seed determines (mulberry32). */
function randomOf(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
