/** Tables of events, and of what the channels of an account are told. */
import type { Test } from 'tap';
import type { AlertRule } from '../../../src/domain/alert/rule.ts';
import { AlertWorld, HOUR, type Line, NOON } from './alert-world.ts';

/** A name, the rules, what happens, and what is sent. */
export type Row = readonly [
  name: string,
  rules: readonly AlertRule[],
  act: (world: AlertWorld) => void,
  sent: readonly Line[],
];

export function tryRows(t: Test, rows: readonly Row[]): void {
  for (const [name, rules, act, sent] of rows) {
    const world = new AlertWorld(rules);
    act(world);
    t.same(world.lines(), sent, name);
  }
}

export const downChange = {
  type: 'status',
  from: 'up',
  to: 'down',
  source: 'silence',
  reason: { code: 'run_failed', exitCode: 1 },
  phase: null,
  lastGoodAt: NOON - HOUR,
  regions: ['eu'],
} as const;
