/**
 * What one rule with one channel says of one service, found as plainly as can be: minute by minute, with no thought of other
 * services, windows, threads or storage. Changes happen at second 45 of a minute, so that no window of 30 s has two of a service.
 * A message may go out earlier than it says, together with those of other services. Where a service flaps by such a time or not,
 * it has no opinion, and ends.
 */
import { FLAP_CHANGES, FLAP_WINDOW_MS } from '../../../../src/domain/alert/alert-state.ts';
import type { AlertEventName, AlertRule, QuietHours } from '../../../../src/domain/alert/rule.ts';
import type { FleetChange } from './fleet-year.ts';

const MINUTE_MS = 60_000;

/** Second of a minute at which changes happen. */
export const CHANGE_MS = 45_000;

/** What is said: a beginning, a change of it, its end, what was over before it was told, or that the service flaps. */
export type Saying = 'begin' | 'change' | 'end' | 'past' | 'flap';

/** What is said, and the earliest time at which it may be said, epoch milliseconds. */
export type Said = readonly [saying: Saying, at: number];

const WORDS: Readonly<Record<string, readonly AlertEventName[]>> = { up: [], slow: ['slow'], down: ['down'] };
const END_WORDS: Readonly<Record<string, readonly AlertEventName[]>> = {
  up: [],
  slow: ['slow'],
  down: ['up'],
};

/** By how much a beginning may be told earlier, because others are told at that time, milliseconds. */
const ROUGH_MS = 30_000;

/** What is said before `untilAt`, epoch milliseconds. */
export interface Sayings {
  readonly said: readonly Said[];
  readonly untilAt: number;
}

/** `changes`: those of one service. Nothing is said before the first of them; what is not said by `endMinute` is left out. */
export function sayingsOf(
  rule: AlertRule,
  changes: readonly FleetChange[],
  startAt: number,
  endMinute: number,
): Sayings {
  const said: Said[] = [];
  const asks = (words: readonly AlertEventName[]) => words.some((word) => rule.events.includes(word));
  let level = 'up';
  let trouble = 'up';
  let weight = 0;
  let since = 0;
  /** When the first word about it may be said but for quiet hours. */
  let wishes: { readonly readyAt: number; readonly words: readonly AlertEventName[]; isHeld: boolean }[] = [];
  let told: { readonly weight: number; readonly since: number } | null = null;
  let isDue = false;
  /** What lets the next word pass quiet hours. */
  let passing: readonly AlertEventName[] = [];
  let tellsEnd = false;
  let isCounted = false;
  let flapping: 'no' | 'due' | 'told' | 'over' = 'no';
  let times: number[] = [];
  /** Of these, beginnings that may have been told up to {@link ROUGH_MS} earlier. */
  const rough = new Set<number>();
  let untilAt = startAt + endMinute * MINUTE_MS;

  const mark = () => {
    const before = told?.weight ?? 0;
    const toldWords = before === 2 ? (['down', 'up'] as const) : before === 1 ? (['slow'] as const) : [];
    passing = WORDS[trouble] ?? [];
    // Only what is over or gets better passes by its end, or by what was told before.
    if (weight === 0 || weight < before) passing = [...passing, ...(END_WORDS[trouble] ?? []), ...toldWords];
  };
  const count = (at: number) => {
    const edge = at - FLAP_WINDOW_MS;
    const isUnsure = (time: number) =>
      (rough.has(at) || rough.has(time)) && Math.abs(time - edge) <= ROUGH_MS;
    const known = times.filter((time) => time > edge && !isUnsure(time)).length + 1;
    const most = known + times.filter(isUnsure).length;
    if (known < FLAP_CHANGES && most >= FLAP_CHANGES && (flapping === 'no' || flapping === 'over'))
      untilAt = Math.min(untilAt, at - 2 * ROUGH_MS);
    times = [...times.filter((time) => time > at - FLAP_WINDOW_MS), at].slice(-FLAP_CHANGES);
    if (times.length === FLAP_CHANGES && (flapping === 'no' || flapping === 'over')) {
      flapping = 'due';
      mark();
      wishes = [];
      isDue = false;
    }
  };
  const tell = (saying: Saying, at: number) => {
    said.push([saying, at]);
    told = { weight, since };
    tellsEnd = asks(END_WORDS[trouble] ?? []);
    isDue = false;
    wishes = [];
  };
  const forget = () => {
    told = null;
    isDue = false;
    wishes = [];
    weight = 0;
    isCounted = false;
  };
  /** Says what may be said at `at`. */
  const speak = (at: number) => {
    const isQuiet = quietAt(rule.quiet, passing, at);
    if (flapping === 'due') {
      if (isQuiet) return;
      tell('flap', at);
      flapping = 'told';
    } else if (flapping === 'over') {
      if (isQuiet) return;
      flapping = 'no';
      if (weight > 0) tell('change', at);
      else {
        said.push(['end', at]);
        forget();
      }
    } else if (told !== null) {
      if (!isDue || isQuiet) return;
      if (weight === 0) {
        said.push(['end', at]);
        forget();
      } else if (weight !== told.weight || since !== told.since) tell('change', at);
      else isDue = false;
    } else {
      const ready = wishes.filter(({ readyAt }) => readyAt <= at);
      for (const wish of ready) wish.isHeld = quietAt(rule.quiet, wish.words, at);
      if (ready.every(({ isHeld }) => isHeld)) return;
      if (!asks(WORDS[trouble] ?? [])) {
        forget();
        return;
      }
      tell('begin', at);
      if (!isCounted) {
        isCounted = true;
        rough.add(at + ROUGH_MS);
        count(at + ROUGH_MS);
      }
    }
  };
  const change = ({ to }: FleetChange, at: number) => {
    const before = weight;
    const wasSlowOnly = to === 'down' && !asks(['down']);
    const next =
      to === 'up' || (to === 'slow' && !asks(['slow'])) ? 0 : to === 'slow' ? 1 : wasSlowOnly ? weight : 2;
    const isNews = !(next === before && (wasSlowOnly || next === 0));
    level = to;
    if (level !== 'up') trouble = to;
    if (!isNews) return;
    weight = next;
    since = at;
    if (next > 0 && told === null && flapping === 'no') {
      if (before === 0) wishes = [];
      wishes.push({ readyAt: at + rule.afterMs, words: WORDS[level] ?? [], isHeld: false });
    }
    const isReady = told !== null || rule.afterMs === 0;
    const counts = before !== next && (flapping !== 'no' || (next === 0 ? isCounted : isReady));
    isCounted = next > 0 && (counts || isCounted);
    const wasUntold = told === null && flapping === 'no';
    if (counts) count(at);
    if (flapping !== 'no') return;
    if (wasUntold) {
      if (next > 0) return;
      // Over in the moment in which it became ready.
      if (
        wishes.some(
          ({ readyAt, words, isHeld }) => readyAt <= at && !isHeld && !quietAt(rule.quiet, words, at),
        )
      ) {
        said.push(['past', at]);
      }
      wishes = [];
    } else if (next === 0 && !tellsEnd) forget();
    else {
      isDue = true;
      mark();
    }
  };

  let index = 0;
  let minute = changes[0]?.minute ?? endMinute;
  while (startAt + minute * MINUTE_MS < untilAt) {
    const at = startAt + minute * MINUTE_MS;
    // Quiet hours end at second 0, and what they held is said 30 s later.
    calm(at + 30_000);
    speak(at);
    const next = changes[index];
    if (next?.minute === minute) {
      index += 1;
      calm(at + CHANGE_MS);
      change(next, at + CHANGE_MS);
    }
    calm(at + CHANGE_MS);
    speak(at + CHANGE_MS);
    const isWaiting = wishes.length > 0 || isDue || flapping !== 'no';
    minute = isWaiting ? minute + 1 : Math.max(minute + 1, changes[index]?.minute ?? endMinute);
  }
  return { said: said.filter(([, at]) => at < untilAt), untilAt };

  /** Ends flapping when nothing has changed for long enough. */
  function calm(at: number): void {
    const last = times.at(-1) ?? 0;
    if ((flapping !== 'told' && flapping !== 'due') || last + FLAP_WINDOW_MS > at) return;
    times = [];
    mark();
    if (flapping === 'told') {
      flapping = 'over';
      return;
    }
    flapping = 'no';
    if (told === null) wishes = weight > 0 ? [{ readyAt: at, words: passing, isHeld: false }] : [];
    else isDue = true;
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether a clock of the time zone shows a quiet time. */
function quietAt(quiet: QuietHours | null, words: readonly AlertEventName[], at: number): boolean {
  if (quiet === null || words.some((word) => quiet.except.includes(word))) return false;
  const { timeZone, from, to } = quiet;
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' });
  formats.set(timeZone, format);
  const [hour = 0, minute = 0] = format.format(at).split(':').map(Number);
  const shown = hour * 60 + minute;
  return from < to ? shown >= from && shown < to : shown >= from || shown < to;
}
