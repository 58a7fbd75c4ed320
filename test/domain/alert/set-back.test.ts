/** What waits for an alert after the clock was set back: one table of what is sent, by the clock as it is. */
import t from 'tap';
import type { AlertRule } from '../../../src/domain/alert/rule.ts';
import { AlertWorld, HOUR, type Line, MINUTE, NOON, ruleOf, SECOND, statusChange } from './alert-world.ts';

const YEAR = 365 * 24 * HOUR;

/** A name, the rules, what happens, and what is sent. */
type Row = readonly [
  name: string,
  rules: readonly AlertRule[],
  act: (world: AlertWorld) => void,
  sent: readonly Line[],
];

const rows: readonly Row[] = [
  [
    'what begins after it is told within 30 s, not when the clock has caught up',
    [ruleOf()],
    (world) => {
      world.down(YEAR, 1);
      world.pass(YEAR + MINUTE);
      world.lines();
      world.down(0, 2);
      world.up(5 * MINUTE, 1);
      world.pass(HOUR);
    },
    [
      [0, 1, 'alert', 'down s2'],
      [5 * MINUTE, 1, 'recovery', 'up s1'],
    ],
  ],
  [
    'what waited for its group goes on to wait for as long as was left',
    [ruleOf()],
    (world) => {
      world.down(HOUR, 3);
      world.down(HOUR + SECOND, 1);
      world.pass(HOUR + 20 * SECOND);
      world.lines();
      world.pass(0);
      world.pass(MINUTE);
    },
    [[10 * SECOND, 1, 'alert', 'down s1']],
  ],
  [
    'so does what waits for `after`',
    [ruleOf({ afterMs: 10 * MINUTE })],
    (world) => {
      world.down(HOUR, 1);
      world.pass(HOUR + 4 * MINUTE);
      world.pass(0);
      world.pass(HOUR);
    },
    [[6 * MINUTE, 1, 'alert', 'down s1']],
  ],
  [
    'and the change of what was told',
    [ruleOf()],
    (world) => {
      world.down(HOUR, 1);
      world.down(HOUR, 2);
      world.up(HOUR + 2 * MINUTE, 2);
      world.up(HOUR + 2 * MINUTE + SECOND, 1);
      world.pass(HOUR + 2 * MINUTE + 20 * SECOND);
      world.lines();
      world.pass(0);
      world.pass(HOUR);
    },
    [[10 * SECOND, 1, 'recovery', 'up s1']],
  ],
  [
    'and reminders',
    [ruleOf({ repeatMs: HOUR })],
    (world) => {
      world.down(YEAR, 1);
      world.pass(YEAR + 20 * MINUTE);
      world.lines();
      world.pass(0);
      world.pass(HOUR);
    },
    [[40 * MINUTE, 1, 'reminder', 'down s1']],
  ],
  [
    'and a service that flaps, until it is steady',
    [ruleOf()],
    (world) => {
      for (const minute of [0, 2, 4]) {
        world.down(HOUR + minute * MINUTE, 1);
        world.up(HOUR + (minute + 1) * MINUTE, 1);
      }
      world.pass(HOUR + 15 * MINUTE);
      world.lines();
      world.pass(0);
      world.pass(HOUR);
    },
    [[20 * MINUTE, 1, 'recovery', 'up s1']],
  ],
  [
    'quiet hours end by the clock as it is',
    [ruleOf({ quiet: { timeZone: 'UTC', except: [], from: 12 * 60, to: 14 * 60 } })],
    (world) => {
      world.down(HOUR + 30 * MINUTE, 1);
      world.pass(30 * MINUTE);
      world.pass(3 * HOUR);
    },
    [[2 * HOUR, 1, 'alert', 'down s1']],
  ],
  [
    'what quiet hours of a time that never was have held is told at once',
    [ruleOf({ quiet: { timeZone: 'UTC', except: [], from: 14 * 60, to: 16 * 60 } })],
    (world) => {
      world.down(2 * HOUR, 1);
      world.pass(0);
      world.pass(HOUR);
    },
    [[0, 1, 'alert', 'down s1']],
  ],
  [
    'an event from before it, decided after it, waits for `after` from now on',
    [ruleOf({ afterMs: 10 * MINUTE })],
    (world) => {
      const [at, recordedAt] = [NOON + YEAR, NOON + YEAR];
      world.change(0, 1, statusChange('up', 'down'), { at, recordedAt });
      world.pass(HOUR);
    },
    [[10 * MINUTE, 1, 'alert', 'down s1']],
  ],
  [
    'it may be set back again and again',
    [ruleOf()],
    (world) => {
      world.down(3 * HOUR, 3);
      world.down(3 * HOUR + SECOND, 1);
      world.pass(3 * HOUR + 10 * SECOND);
      world.lines();
      world.pass(2 * HOUR);
      world.pass(2 * HOUR + 10 * SECOND);
      world.pass(0);
      world.pass(MINUTE);
    },
    [[10 * SECOND, 1, 'alert', 'down s1']],
  ],
];

t.test('after the clock was set back, what waits goes on from there', async (t) => {
  for (const [name, rules, act, sent] of rows) {
    const world = new AlertWorld(rules);
    act(world);
    t.same(world.lines(), sent, name);
  }
});
