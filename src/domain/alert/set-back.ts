/** Moves the memory of an account's alerts to the time of a clock that was set back. */
import { type AlertDraft, firstReadyAt, readyAt } from './alert-draft.ts';
import type { Condition, Telling, Want } from './alert-state.ts';
import { wordsToPass } from './telling-times.ts';

/**
 * Moves the times of the draft back by `byMs`, so that what waited for 20 s more still waits for 20 s, and not until the clock
 * has caught up, which takes a year after a clock that was wrong by a year. The end of quiet hours is a time of the day, and is
 * found anew. The time of the draft is that of the clock as it is. What passed between the last decision and the change of the
 * clock is unknown and counts as nothing: something may wait longer by as much, and while anything is open that is ten
 * minutes at the most.
 */
export function setBack(draft: AlertDraft, byMs: number): void {
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
