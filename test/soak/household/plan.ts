/** The household: sixty things behind two routers, and when which of them fails. */

/** A thing: its slug, and what it depends on. */
export interface Thing {
  readonly name: string;
  readonly behind: readonly string[];
}

/** Something fails, minutes after the start of a round. */
export interface PlannedOutage {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** It has an alert and an incident of its own. */
  readonly isCause: boolean;
  /** What is tried. */
  readonly about: string;
}

const THINGS = 58;

/** Two routers, a NAS behind the first one with a camera behind that, and things behind each router. */
export function planHousehold(): readonly Thing[] {
  const things = Array.from({ length: THINGS - 2 }, (_, index) => ({
    name: `thing-${index + 1}`,
    behind: [index % 2 === 0 ? 'router-a' : 'router-b'],
  }));
  return [
    { name: 'router-a', behind: [] },
    { name: 'router-b', behind: [] },
    { name: 'nas', behind: ['router-a'] },
    { name: 'camera', behind: ['nas'] },
    ...things,
  ];
}

/** Minutes of a round. No service changes five times within 30 minutes, over the end of a round too: it would be said to flap. */
export const ROUND_MINUTES = 40;

/** The outages of a round. Odd things are behind the first router, even ones behind the second. `round`: from 0. */
export function planRound(round: number): readonly PlannedOutage[] {
  const thing = (number: number) => `thing-${number + round * 10}`;
  const cause = { isCause: true };
  return [
    { ...cause, name: 'router-a', from: 0.5, to: 2, about: 'a router' },
    { ...cause, name: thing(2), from: 3.5, to: 5, about: 'a thing alone' },
    { ...cause, name: 'router-b', from: 6.5, to: 8, about: 'the other router' },
    { ...cause, name: thing(1), from: 6.6, to: 8, about: 'a thing behind the router that works, meanwhile' },
    { ...cause, name: 'router-a', from: 10, to: 11.5, about: 'a router' },
    { ...cause, name: thing(3), from: 10.2, to: 15, about: 'a thing that stays down after it' },
    { ...cause, name: 'nas', from: 18, to: 19.5, about: 'what is behind a router, with a camera behind it' },
    { ...cause, name: 'router-b', from: 21.5, to: 23.5, about: 'a router' },
    { name: thing(4), from: 22, to: 23, isCause: false, about: 'a thing behind it, meanwhile' },
    { ...cause, name: thing(5), from: 25.5, to: 26.5, about: 'a thing alone' },
  ];
}
