/**
 * Decides what the channels of one account are told: a pure function from what was remembered and what happened to messages
 * and what is remembered next. Decisions follow the times at which events were recorded, so they are the same whether the
 * engine decides at once or catches up after an outage; only reminders are not repeated for the time in between.
 *
 * - What begins is told at once, as a new thread. What begins within 30 s afterwards, or has its cause in common with what goes on in
 *   a thread, joins that thread, in one message for each 30 s. Changes and ends are told where the beginning was, and only there:
 *   at once, and what follows within 30 s as one message. Maintenance has threads of its own.
 * - `after`: what is over sooner is not told. Without it, what is over before it was told is told as a recovery.
 * - What quiet hours or an owner's maintenance held is told when they end, if it still is so.
 * - A service that has changed five times in 30 minutes is said to flap, once; what it is then is said when it has been steady
 *   for 30 minutes.
 * - What is down behind a service that it depends on is not told where that one is (`common-cause.ts`).
 * - A change of a rule counts for what begins afterwards. What a removed rule was about to tell is not told; what it has told is
 *   told to its end. A service that is paused or removed ends what was told of it, in words.
 * - After the clock was set back, what waits goes on from there ({@link setBack}).
 */
import { lookAtOf, waitEndOf } from '../status/reach.ts';
import { applyEvent, endFlapping } from './alert-changes.ts';
import {
  type AlertContext,
  type AlertDraft,
  type DecidedAlert,
  draftOf,
  firstReadyAt,
  isHeld,
  readyAt,
} from './alert-draft.ts';
import { canAcknowledge, makeMessage } from './alert-messages.ts';
import {
  type AlertState,
  type Condition,
  FLAP_WINDOW_MS,
  MAX_FOLLOWED_INCIDENTS,
  type Telling,
  type Want,
} from './alert-state.ts';
import { endWaits, followReaches } from './common-cause.ts';
import type { AlertEvent } from './event.ts';
import { followHolds } from './hold.ts';
import { endRemoved, openTellings, repeatingRules, tellDue } from './tell.ts';
import { steadyAtOf, tellAtOf, wordsToPass } from './telling-times.ts';

/** While something is open, services, rules and channels that were removed are looked for so often. */
const LOOK_EVERY_MS = 10 * 60_000;

/** A certificate is remembered so long after its end. */
const KEEP_CERTIFICATE_MS = 7 * 86_400_000;

export interface AlertInput {
  /** Events of services that the account has a rule for, or that its state remembers (`rememberedServices`), in order. */
  readonly events: readonly AlertEvent[];
  /** In order. Those for threads that are not open count for nothing. */
  readonly acknowledgements: readonly { readonly thread: string; readonly by: string; readonly at: number }[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A decision. */
export interface AlertOutcome {
  readonly state: AlertState;
  /** In the order in which each channel has to get them. */
  readonly messages: readonly DecidedAlert[];
  /** The time to decide again although nothing happens, epoch milliseconds; null: never. */
  readonly dueAt: number | null;
  /** IDs of services that have to be checked at once: what is told depends on how they are. */
  readonly asks: readonly number[];
}

/** Decides. The same arguments give the same outcome; the state that was given stays as it is. */
export function decide(state: AlertState, input: AlertInput, context: AlertContext): AlertOutcome {
  const draft = draftOf(state, context, input.now);
  let { decidedAt: time, lookAt } = state;
  if (input.now < time) {
    const byMs = time - input.now;
    setBack(draft, byMs);
    time -= byMs;
    if (lookAt !== null) lookAt -= byMs;
  }
  for (const event of input.events) {
    time = Math.max(time, Math.min(event.recordedAt, input.now));
    // What happens in one moment is told together.
    advance(draft, time - 1);
    draft.now = time;
    applyEvent(draft, event);
  }
  time = Math.max(time, input.now);
  draft.now = time;
  followReaches(draft);
  for (const { thread, by, at } of input.acknowledgements) acknowledge(draft, thread, by, at);
  advance(draft, time);
  draft.now = time;
  if (lookAt !== null && lookAt <= time) {
    lookAround(draft);
    lookAt = null;
  }
  remind(draft);
  const isOpen =
    draft.conditions.size + draft.certificates.size + draft.maintenances.size + draft.reaches.size > 0;
  lookAt = isOpen ? (lookAt ?? time + LOOK_EVERY_MS) : null;
  const { conditions, threads, certificates, maintenances, reaches, lanes, threadCount } = draft;
  const next: AlertState = {
    conditions,
    threads,
    certificates,
    maintenances,
    reaches,
    lanes,
    threadCount,
    decidedAt: time,
    lookAt,
    unknown: state.unknown,
  };
  const looks = [...reaches.values()].map((reach) => lookAtOf(reach, time)).filter(Number.isFinite);
  const times = [nextTimer(draft), nextReminder(draft), lookAt, ...looks].filter((at) => at !== null);
  const dueAt = times.length === 0 ? null : Math.min(...times);
  return { state: next, messages: draft.messages, dueAt, asks: [...draft.asks] };
}

/** Does what is due up to `to`, in order. */
function advance(draft: AlertDraft, to: number): void {
  while (draft.timerAt <= to) {
    const next = nextTimer(draft) ?? Number.POSITIVE_INFINITY;
    draft.timerAt = next;
    if (next > to) return;
    draft.now = next;
    calmDown(draft);
    endWaits(draft);
    if (isAnyDue(draft)) tellDue(draft);
  }
}

/** The time at which something is due, epoch milliseconds; null: nothing is. */
function nextTimer(draft: AlertDraft): number | null {
  let next = Number.POSITIVE_INFINITY;
  for (const [condition, telling] of tellingsOf(draft)) {
    const tellAt = tellAtOf(draft, condition, telling);
    const steadyAt = steadyAtOf(telling);
    if (tellAt !== null) next = Math.min(next, tellAt);
    if (steadyAt !== null) next = Math.min(next, steadyAt);
  }
  for (const reach of draft.reaches.values()) next = Math.min(next, waitEndOf(reach));
  return Number.isFinite(next) ? next : null;
}

function isAnyDue(draft: AlertDraft): boolean {
  for (const [condition, telling] of tellingsOf(draft))
    if ((tellAtOf(draft, condition, telling) ?? Number.POSITIVE_INFINITY) <= draft.now) return true;
  return false;
}

function* tellingsOf({ conditions }: AlertDraft): Iterable<readonly [Condition, Telling]> {
  for (const condition of conditions.values())
    for (const telling of Object.values(condition.tellings)) yield [condition, telling];
}

/** Services that have been steady for long enough flap no more. */
function calmDown(draft: AlertDraft): void {
  changeTellings(draft, (telling, condition) => {
    const steadyAt = steadyAtOf(telling);
    return steadyAt !== null && steadyAt <= draft.now ? endFlapping(draft, condition, telling) : telling;
  });
}

/** A person has taken a thread: reminders end, and the channels that were told of it learn who has it. */
function acknowledge(draft: AlertDraft, id: string, by: string, at: number): void {
  const thread = draft.threads.get(id);
  if (thread === undefined || thread.acknowledged !== null) return;
  draft.threads.set(id, { ...thread, acknowledged: { by, at } });
  const open = openTellings(draft);
  for (const channel of Object.keys(thread.channels)) {
    const words = open.get(`${id} ${channel}`)?.filter(canAcknowledge) ?? [];
    if (words.length === 0 || !draft.context.hasChannel(Number(channel))) continue;
    const message = makeMessage(draft, { type: 'acknowledged', thread: id, words, note: { by } });
    draft.messages.push({ channelId: Number(channel), message });
  }
}

/** Sends the reminders that are due. */
function remind(draft: AlertDraft): void {
  const { now } = draft;
  if ((nextReminder(draft) ?? Number.POSITIVE_INFINITY) > now) return;
  const open = openTellings(draft);
  for (const [id, thread] of draft.threads) {
    if (thread.acknowledged !== null) continue;
    const channels = { ...thread.channels };
    for (const [channel, { remindAt }] of Object.entries(channels)) {
      if (remindAt === null || remindAt > now) continue;
      const words = open.get(`${id} ${channel}`)?.filter(canAcknowledge) ?? [];
      const rules = repeatingRules(draft, Number(channel), words);
      const repeatMs = Math.min(...rules.map((rule) => rule.repeatMs ?? Number.POSITIVE_INFINITY));
      const names = words.flatMap(({ condition }) => condition.words);
      const readyTime = Math.min(...rules.map((rule) => readyAt(rule, names, now)));
      const told = words.filter(
        ({ condition, telling }) => telling.flapping === 'no' && !isHeld(draft, condition, Number(channel)),
      );
      if (rules.length > 0 && readyTime <= now && told.length > 0) {
        const message = makeMessage(draft, { type: 'reminder', thread: id, words: told });
        draft.messages.push({ channelId: Number(channel), message });
      }
      const next = readyTime > now ? readyTime : now + repeatMs;
      channels[channel] = { remindAt: Number.isFinite(next) ? next : null };
    }
    draft.threads.set(id, { ...thread, channels });
  }
}

function nextReminder({ threads }: AlertDraft): number | null {
  let next = Number.POSITIVE_INFINITY;
  for (const { acknowledged, channels } of threads.values()) {
    if (acknowledged !== null) continue;
    for (const { remindAt } of Object.values(channels)) next = Math.min(next, remindAt ?? next);
  }
  return Number.isFinite(next) ? next : null;
}

/** Sees which services and channels are gone, and forgets what is past. */
function lookAround(draft: AlertDraft): void {
  const { now } = draft;
  endRemoved(draft);
  followHolds(draft);
  for (const [service, { endsAt }] of draft.certificates) {
    if (endsAt + KEEP_CERTIFICATE_MS < now) draft.certificates.delete(service);
  }
  for (const service of draft.maintenances.keys()) {
    if (draft.context.service(service) === null) draft.maintenances.delete(service);
  }
  for (const key of oldIncidents(draft)) draft.conditions.delete(key);
  const isPast = ({ thread, wants, flapping, weight, changes }: Telling) =>
    thread === null &&
    wants.length === 0 &&
    flapping === 'no' &&
    weight === 0 &&
    (changes.at(-1) ?? 0) < now - FLAP_WINDOW_MS;
  changeTellings(draft, (telling) => (isPast(telling) ? null : telling));
}

/** Incidents beyond those that are followed of a service, the oldest first. */
function oldIncidents({ conditions }: AlertDraft): string[] {
  const counts = new Map<number, number>();
  const newest = [...conditions].filter(([, { kind }]) => kind === 'incident').reverse();
  return newest
    .filter(([, { service }]) => {
      const count = (counts.get(service.id) ?? 0) + 1;
      counts.set(service.id, count);
      return count > MAX_FOLLOWED_INCIDENTS;
    })
    .map(([key]) => key);
}

/** Replaces tellings; null removes one. */
function changeTellings(
  { conditions }: AlertDraft,
  change: (telling: Telling, condition: Condition) => Telling | null,
): void {
  for (const [key, condition] of conditions) {
    const before = Object.entries(condition.tellings);
    const after = before.flatMap(([channel, telling]) => {
      const next = change(telling, condition);
      return next === null ? [] : [[channel, next] as const];
    });
    if (after.length === 0) conditions.delete(key);
    else if (after.length < before.length || after.some(([, telling], i) => telling !== before[i]?.[1])) {
      conditions.set(key, { ...condition, tellings: Object.fromEntries(after) });
    }
  }
}

/**
 * Moves the times of the draft back by `byMs`, so that what waited for 20 s more still waits for 20 s, and not until the clock has
 * caught up, which takes a year after a clock that was wrong by a year. The end of quiet hours is a time of the day, and is found
 * anew. The time of the draft is that of the clock as it is. What passed between the last decision and the change of the clock is
 * unknown and counts as nothing: something may wait longer by as much, and while anything is open that is ten minutes at the most.
 */
function setBack(draft: AlertDraft, byMs: number): void {
  const { now } = draft;
  for (const [key, condition] of draft.conditions) {
    const tellings = Object.entries(condition.tellings).map(
      ([channel, telling]) => [channel, setTellingBack(draft, condition, telling, byMs)] as const,
    );
    draft.conditions.set(key, { ...condition, tellings: Object.fromEntries(tellings) });
  }
  for (const [id, { settlesSince, ...reach }] of draft.reaches)
    draft.reaches.set(id, {
      ...reach,
      since: reach.since - byMs,
      ...(settlesSince === undefined ? {} : { settlesSince: settlesSince - byMs }),
    });
  for (const lane of Object.keys(draft.lanes) as (keyof typeof draft.lanes)[])
    draft.lanes[lane] = (draft.lanes[lane] ?? now) - byMs;
  for (const [id, thread] of draft.threads) {
    const channels = Object.entries(thread.channels).map(
      ([channel, { remindAt }]) =>
        [channel, { remindAt: remindAt === null ? null : remindAt - byMs }] as const,
    );
    draft.threads.set(id, {
      ...thread,
      startedAt: Math.min(thread.startedAt, now),
      joinedAt: (thread.joinedAt ?? thread.startedAt) - byMs,
      channels: Object.fromEntries(channels),
    });
  }
}

function setTellingBack(draft: AlertDraft, condition: Condition, telling: Telling, byMs: number): Telling {
  const moved: Telling = {
    ...telling,
    beganAt: telling.beganAt - byMs,
    since: telling.since - byMs,
    toldSince: telling.toldSince - byMs,
    changes: telling.changes.map((at) => at - byMs),
  };
  const wants = telling.wants.map((want) =>
    want.dueAt === null ? want : holdAnew(draft, condition, moved, { ...want, dueAt: want.dueAt - byMs }),
  );
  if (telling.dueAt === null) return { ...moved, wants };
  const ready = Math.min(draft.now, telling.dueAt - byMs);
  return {
    ...moved,
    wants,
    dueAt: firstReadyAt(draft, telling.rules, wordsToPass(condition, telling), ready),
  };
}

/** Finds the end of quiet hours anew for what they hold. The wish of a rule that is gone tells nothing, whenever it is due. */
function holdAnew(
  { context, now }: AlertDraft,
  condition: Condition,
  { since }: Telling,
  want: Want & { readonly dueAt: number },
): Want {
  const rule = context.rule(want.rule);
  if (!want.held || rule === null) return want;
  // What quiet hours hold was ready before their end; when, was not kept.
  const ready = Math.min(want.dueAt, Math.max(now, since + rule.afterMs));
  const outAt = readyAt(rule, condition.words, ready);
  return { ...want, dueAt: outAt, held: outAt !== ready };
}
