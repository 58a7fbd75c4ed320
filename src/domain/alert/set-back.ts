/** What the alerts of an account remember is moved to the time of a clock that was set back. */
import { type AlertDraft, firstReadyAt, readyAt } from './alert-draft.ts';
import type { Condition, Telling, Want } from './alert-state.ts';
import { wordsToPass } from './telling-times.ts';

/**
 * Moves the times of the draft back by `byMs`, so that what waited for 20 s more still waits for 20 s, and not until the clock
 * has caught up, which takes a year after a clock that was wrong by a year. The end of quiet hours is a time of the day, and is
 * found anew. `now`: epoch milliseconds, by the clock as it is. What passed between the last decision and the change of the
 * clock is unknown and counts as nothing: something may wait longer by as much, and while anything is open that is ten
 * minutes at the most.
 */
export function setBack(draft: AlertDraft, now: number, byMs: number): void {
  for (const [key, condition] of draft.conditions) {
    const tellings = Object.entries(condition.tellings).map(
      ([channel, telling]) => [channel, setTellingBack(draft, condition, telling, now, byMs)] as const,
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

function setTellingBack(
  draft: AlertDraft,
  condition: Condition,
  telling: Telling,
  now: number,
  byMs: number,
): Telling {
  const moved: Telling = {
    ...telling,
    beganAt: telling.beganAt - byMs,
    since: telling.since - byMs,
    toldSince: telling.toldSince - byMs,
    changes: telling.changes.map((at) => at - byMs),
  };
  const wants = telling.wants.map((want) => setWantBack(draft, condition, moved, want, now, byMs));
  if (telling.dueAt === null) return { ...moved, wants };
  const ready = Math.min(now, telling.dueAt - byMs);
  return {
    ...moved,
    wants,
    dueAt: firstReadyAt(draft, telling.rules, wordsToPass(condition, telling), ready),
  };
}

/** The wish of a rule that is gone tells nothing, whenever it is due. */
function setWantBack(
  { context }: AlertDraft,
  condition: Condition,
  { since }: Telling,
  want: Want,
  now: number,
  byMs: number,
): Want {
  if (want.dueAt === null) return want;
  const rule = context.rule(want.rule);
  const dueAt = want.dueAt - byMs;
  if (!want.held || rule === null) return { ...want, dueAt };
  // What quiet hours hold was ready before their end; when, was not kept.
  const ready = Math.min(dueAt, Math.max(now, since + rule.afterMs));
  const outAt = readyAt(rule, condition.words, ready);
  return { ...want, dueAt: outAt, held: outAt !== ready };
}
