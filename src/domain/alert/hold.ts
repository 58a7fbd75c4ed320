/** Holds back tellings during a maintenance, and of services that are down behind another one. */
import { type AlertDraft, causesToTell, isBehind, isHeld, readyAt } from './alert-draft.ts';
import type { Condition, Telling, Want } from './alert-state.ts';
import type { AlertChange } from './event.ts';
import { note, wordsToPass } from './telling-times.ts';

/**
 * An owner's maintenance begins or ends. What began within it is told at its end if it still is so, also what was noted before
 * the beginning of the maintenance was.
 */
export function applyHold(
  draft: AlertDraft,
  serviceId: number,
  { id, phase, startsAt }: Extract<AlertChange, { readonly type: 'maintenance' }>,
): void {
  const others = (draft.maintenances.get(serviceId) ?? []).filter((other) => other !== id);
  const running = phase === 'running' ? [...others, id] : others;
  if (running.length > 0) draft.maintenances.set(serviceId, running);
  else draft.maintenances.delete(serviceId);
  if (phase === 'running')
    changeTellings(draft, serviceId, (_, telling) => (telling.beganAt >= startsAt ? hold(telling) : telling));
  else if (running.length === 0) followHolds(draft);
}

/** Changes what maintenance of a service holds: all about its state. */
function changeTellings(
  draft: AlertDraft,
  serviceId: number,
  change: (condition: Condition, telling: Telling, channel: number) => Telling,
): void {
  for (const kind of ['status', 'recovered', 'scope'] as const)
    changeCondition(draft, `${kind}-${serviceId}`, change);
}

function changeCondition(
  draft: AlertDraft,
  key: string,
  change: (condition: Condition, telling: Telling, channel: number) => Telling,
): void {
  const condition = draft.conditions.get(key);
  if (condition === undefined) return;
  const tellings = Object.entries(condition.tellings).map(
    ([channel, telling]) =>
      [channel, note(draft, condition, change(condition, telling, Number(channel)))] as const,
  );
  draft.conditions.set(key, { ...condition, tellings: Object.fromEntries(tellings) });
}

/**
 * Holds back what turns out to be behind another service, and lets out what nothing holds any more. `services`: whose conditions are
 * looked at; absent: all.
 */
export function followHolds(draft: AlertDraft, services?: ReadonlySet<number>): void {
  for (const [key, { service }] of draft.conditions)
    if (services === undefined || services.has(service.id))
      changeCondition(draft, key, (condition, telling, channel) => {
        if (isBehind(draft, condition, channel)) {
          hastenCauses(draft, condition, telling, channel);
          return hold(telling);
        }
        const waits = telling.isHeld || telling.wants.some(({ dueAt }) => dueAt === null);
        return waits && !isHeld(draft, condition, channel) ? release(draft, condition, telling) : telling;
      });
}

/**
 * Lets the alert about a cause be sent as soon as what waits for it would be: with a longer `after`, an outage that is over before that
 * would be told by neither.
 */
function hastenCauses(draft: AlertDraft, condition: Condition, telling: Telling, channel: number): void {
  if (telling.thread !== null || telling.wants.length === 0) return;
  const words = wordsToPass(condition, telling);
  for (const [key, cause] of causesToTell(draft, condition.service.id, channel)) {
    const told = cause.tellings[channel];
    if (told === undefined || told.thread !== null) continue;
    const beganAt = Math.max(telling.since, told.since);
    const dueAt = Math.min(
      ...telling.wants.map(({ rule: id }) => {
        const rule = draft.context.rule(id);
        return rule === null
          ? Number.POSITIVE_INFINITY
          : readyAt(rule, words, Math.max(draft.now, beganAt + rule.afterMs));
      }),
    );
    const next = note(draft, cause, {
      ...told,
      wants: told.wants.map((want) => hasten(draft, cause, want, dueAt)),
    });
    draft.conditions.set(key, { ...cause, tellings: { ...cause.tellings, [channel]: next } });
  }
}

/** The want of a cause with the time at which it is told if not sooner. The quiet hours of its rule hold it at that time, too. */
function hasten({ context }: AlertDraft, { words }: Condition, want: Want, at: number): Want {
  const rule = context.rule(want.rule);
  if (want.dueAt === null) return want;
  const dueAt = rule === null ? at : readyAt(rule, words, at);
  return want.dueAt <= dueAt ? want : { ...want, dueAt, held: dueAt !== at };
}

/** Forgets what was held of a service that can be reached again. */
export function forgetHeld(draft: AlertDraft, serviceId: number): void {
  for (const kind of ['status', 'scope'] as const)
    changeCondition(draft, `${kind}-${serviceId}`, (_, telling) =>
      telling.thread === null
        ? { ...telling, wants: telling.wants.filter(({ dueAt }) => dueAt !== null) }
        : telling,
    );
}

/** Holds a telling that was not told until the end of the maintenance; it does not count as a change until then. */
function hold(telling: Telling): Telling {
  if (telling.thread !== null || telling.flapping !== 'no') return telling;
  const wants = telling.wants.map(({ rule }) => ({ rule, dueAt: null, held: true }));
  const changes = telling.isCounted ? telling.changes.slice(0, -1) : telling.changes;
  return { ...telling, wants, changes, isCounted: false };
}

function release({ context, now }: AlertDraft, condition: Condition, telling: Telling): Telling {
  const words = wordsToPass(condition, telling);
  const wants = telling.wants.map((want) => {
    const rule = context.rule(want.rule);
    if (want.dueAt !== null || rule === null) return want;
    const ready = Math.max(now, telling.since + rule.afterMs);
    const dueAt = readyAt(rule, words, ready);
    return { ...want, dueAt, held: dueAt !== ready };
  });
  if (!telling.isHeld) return { ...telling, wants };
  const rules = telling.rules.map((id) => context.rule(id)).filter((rule) => rule !== null);
  const dueAt = rules.length === 0 ? now : Math.min(...rules.map((rule) => readyAt(rule, words, now)));
  return { ...telling, wants, isHeld: false, dueAt };
}
