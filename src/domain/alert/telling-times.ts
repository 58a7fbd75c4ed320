/** The times at which channels are told what is pending, and the words by which that passes quiet hours. */
import { type AlertDraft, touch } from './alert-draft.ts';
import { type Condition, FLAP_WINDOW_MS, GROUP_WINDOW_MS, type Lane, type Telling } from './alert-state.ts';
import type { AlertEventName } from './rule.ts';

/** The words for a status that was told, and for its end, by its weight. */
const TOLD_WORDS: readonly (readonly AlertEventName[])[] = [[], ['slow'], ['down', 'up']];

/** The time at which a service that flaps is steady if nothing changes until then, epoch milliseconds; null: it does not flap. */
export function steadyAtOf({ flapping, changes }: Telling): number | null {
  return flapping === 'due' || flapping === 'told' ? (changes.at(-1) ?? 0) + FLAP_WINDOW_MS : null;
}

/** The time at which the channel may be told something, epoch milliseconds; null: there is nothing, or it waits for a maintenance. */
export function pendingAtOf({ thread, flapping, wants, dueAt }: Telling): number | null {
  if (thread !== null || flapping !== 'no') return dueAt;
  const times = wants.map((want) => want.dueAt).filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * The time at which the channel is told, epoch milliseconds; null: there is nothing to tell. The first news goes at once, and
 * what follows in its lane within {@link GROUP_WINDOW_MS} is one message.
 */
export function tellAtOf({ lanes }: AlertDraft, condition: Condition, telling: Telling): number | null {
  const pendingAt = pendingAtOf(telling);
  const lastAt = lanes[laneOf(condition, telling)];
  return pendingAt === null || lastAt === undefined
    ? pendingAt
    : Math.max(pendingAt, lastAt + GROUP_WINDOW_MS);
}

export function laneOf({ kind }: Condition, { thread, weight, toldWeight }: Telling): Lane {
  if (kind === 'maintenance') return 'maintenance';
  if (thread !== null && weight <= toldWeight) return 'change';
  return kind === 'status' && weight > 1 ? 'down' : 'begin';
}

/**
 * The words by which a telling passes quiet hours as it is now. What begins, gets worse or has news passes by the words for that alone:
 * `except: [up]` lets no outage through. What ends or gets better also passes by the words for its end, and for what was told
 * before: who is told of an outage at night is told of its end.
 */
export function wordsToPass(
  { kind, words, endWords }: Condition,
  { weight, toldWeight }: Telling,
): readonly AlertEventName[] {
  if (weight > 0 && weight >= toldWeight) return words;
  return [...words, ...endWords, ...(kind === 'status' ? (TOLD_WORDS[toldWeight] ?? []) : [])];
}

/** Keeps the draft's bound for the next timer. */
export function note(draft: AlertDraft, condition: Condition, telling: Telling): Telling {
  const tellAt = tellAtOf(draft, condition, telling) ?? Number.POSITIVE_INFINITY;
  const steadyAt = steadyAtOf(telling) ?? Number.POSITIVE_INFINITY;
  touch(draft, Math.min(tellAt, steadyAt));
  return telling;
}
