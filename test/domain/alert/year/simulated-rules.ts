/** Random rules, each with a channel of its own, whose number is the rule's. */
import type { AlertEventName, AlertRule, QuietHours } from '../../../../src/domain/alert/rule.ts';
import type { Category } from '../../../../src/domain/service.ts';
import { ruleOf } from '../alert-world.ts';
import { FLEET } from './fleet-year.ts';

/** A rule, and the IDs of the services that it names. */
export interface SimulatedRule extends AlertRule {
  readonly services: ReadonlySet<number>;
}

const MINUTE_MS = 60_000;

const EVENTS: readonly (readonly AlertEventName[])[] = [
  ['down', 'up'],
  ['down', 'up'],
  ['down'],
  ['down', 'slow', 'up'],
  ['down', 'slow'],
  ['slow'],
];

const QUIET: readonly (QuietHours | null)[] = [
  null,
  null,
  { from: 22 * 60, to: 7 * 60, timeZone: 'Europe/Berlin', except: [] },
  { from: 22 * 60, to: 7 * 60, timeZone: 'Europe/Berlin', except: ['down'] },
  { from: 90, to: 150, timeZone: 'Europe/Berlin', except: [] },
  { from: 12 * 60, to: 13 * 60, timeZone: 'America/New_York', except: ['up'] },
];

/** The category of a service of the fleet. */
export function categoryOf(index: number): Category {
  return FLEET[index]?.category ?? 'cloud';
}

/** Makes rules. */
export function simulatedRules(count: number, random: () => number): SimulatedRule[] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  return Array.from({ length: count }, (_, index) => {
    const id = index + 1;
    const category = categoryOf(Math.floor(random() * FLEET.length));
    const all = FLEET.map((_, n) => n + 1);
    const few = all.filter(() => random() < 0.3);
    const [services, of] = pick([
      [all, { own: true }],
      [few, { services: few }],
      [all.filter((n) => categoryOf(n - 1) === category), { categories: [category] }],
    ] as const);
    const none = { own: false, services: [], categories: [], publicCategories: [], pages: [] };
    return {
      ...ruleOf({
        id,
        of: { ...none, ...of },
        channels: [id],
        events: pick(EVENTS),
        afterMs: pick([0, 0, 5, 15, 60]) * MINUTE_MS,
        repeatMs: pick([null, 30 * MINUTE_MS, 180 * MINUTE_MS]),
        quiet: pick(QUIET),
      }),
      services: new Set(services),
    };
  });
}
