/** A household in virtual time: things behind routers, all of which are checked, and what its owner is told. */
import type { AlertEvent } from '../../../src/domain/alert/event.ts';
import type { AlertRule } from '../../../src/domain/alert/rule.ts';
import { AlertWorld, NOON, ruleOf, SECOND, serviceOf, statusChange } from './alert-world.ts';

/** When something does not work, seconds after noon. */
export interface Outage {
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

/** What was told of a service: when, in seconds after noon. */
export interface Told {
  readonly id: number;
  readonly type: 'alert' | 'recovery';
  readonly at: number;
}

/** The services: their IDs and what they depend on directly. */
export type Plan = ReadonlyMap<number, readonly number[]>;

/** Two routers, 1 and 2, and as many things behind each of them. */
export function houseOf(things: number): Plan {
  const plan = new Map<number, readonly number[]>([
    [1, []],
    [2, []],
  ]);
  for (let id = 3; id < 3 + things; id += 1) plan.set(id, [1 + (id % 2)]);
  return plan;
}

const INTERVAL_S = 60;
/** Re-checks of a failure, after its first attempt. */
const CONFIRM_S = [2, 6];

interface Checked {
  nextAt: number;
  isDown: boolean;
  /** The first attempt of a failure that is not confirmed. */
  failing: { readonly at: number; confirmed: number } | null;
}

/** Plays the outages for so many seconds. Between all decisions the state of the alerts is text, as after a restart. */
export function playHousehold(
  plan: Plan,
  outages: readonly Outage[],
  seconds: number,
  rules: readonly AlertRule[] = [ruleOf()],
): Told[] {
  const world = new AlertWorld(rules, 0);
  const checked = new Map<number, Checked>();
  for (const id of plan.keys()) {
    world.services.set(id, serviceOf(id, { ancestors: ancestorsOf(plan, id), since: NOON, checkedAt: NOON }));
    checked.set(id, { nextAt: 1 + ((id * 17) % INTERVAL_S), isDown: false, failing: null });
  }
  const works = (id: number, at: number): boolean =>
    [id, ...ancestorsOf(plan, id)].every((one) =>
      outages.every((outage) => outage.id !== one || at < outage.from || at >= outage.to),
    );
  let position = 0;
  for (let at = 0; at <= seconds; at += 1) {
    const now = NOON + at * SECOND;
    const events: AlertEvent[] = [];
    for (const [id, one] of checked) {
      if (one.nextAt > at) continue;
      const turn = check(one, at, works(id, at));
      if (turn === null) continue;
      const service = world.services.get(id) ?? serviceOf(id);
      const { status, beganAt } = turn;
      const isNew = service.status !== status;
      const since = isNew ? NOON + beganAt * SECOND : service.since;
      const lastOutage =
        isNew && status === 'up' ? { from: service.since ?? 0, to: since ?? 0 } : service.lastOutage;
      world.services.set(id, { ...service, status, since, checkedAt: now, lastOutage });
      if (!isNew) continue;
      position += 1;
      const change = statusChange(service.status, status);
      events.push({ position, serviceId: id, at: NOON + beganAt * SECOND, recordedAt: now, change });
    }
    if (events.length > 0 || (world.dueAt !== null && world.dueAt <= now)) world.decide(now, events);
    for (const id of world.asked) {
      const one = checked.get(id);
      if (one !== undefined && one.failing === null) one.nextAt = at + 1;
    }
    world.asked.clear();
  }
  return world.sent.flatMap(({ at, message }) =>
    message.items.flatMap(({ service, told, event }): Told[] =>
      told === undefined && (event === 'down' || event === 'up')
        ? [{ id: service.id, type: event === 'down' ? 'alert' : 'recovery', at: (at - NOON) / SECOND }]
        : [],
    ),
  );
}

/** An attempt. Null: it shows nothing yet. */
function check(one: Checked, at: number, isGood: boolean): { status: 'up' | 'down'; beganAt: number } | null {
  const { failing } = one;
  one.nextAt = at + INTERVAL_S;
  if (isGood) {
    one.failing = null;
    one.isDown = false;
    return { status: 'up', beganAt: at };
  }
  if (one.isDown) return { status: 'down', beganAt: at };
  if (failing !== null && failing.confirmed === CONFIRM_S.length - 1) {
    one.failing = null;
    one.isDown = true;
    return { status: 'down', beganAt: failing.at };
  }
  const confirmed = failing === null ? -1 : failing.confirmed;
  const began = failing?.at ?? at;
  one.failing = { at: began, confirmed: confirmed + (failing === null ? 0 : 1) };
  if (failing === null) one.failing = { at, confirmed: 0 };
  one.nextAt = began + (CONFIRM_S[one.failing.confirmed] ?? 0);
  return null;
}

function ancestorsOf(plan: Plan, id: number): number[] {
  const found = new Set<number>();
  const waiting = [id];
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift())
    for (const parent of plan.get(one) ?? [])
      if (!found.has(parent)) waiting.push(found.add(parent) && parent);
  return [...found];
}
