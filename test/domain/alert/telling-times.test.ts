/** When channels are told: at the end of quiet hours, and after the clock was set back. */
import t from 'tap';
import type { AlertRule } from '../../../src/domain/alert/rule.ts';
import { AlertWorld, HOUR, type Line, MINUTE, NOON, ruleOf, SECOND, statusChange } from './alert-world.ts';
import { downChange, tryRows } from './decision-rows.ts';

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

t.test('what quiet hours held is told at their end, if it still is so', async (t) => {
  // 13:00 to 15:00, an hour after the tests begin.
  const quiet = { from: 13 * 60, to: 15 * 60, timeZone: 'UTC', except: [] };
  const rules = [ruleOf({ quiet })];
  tryRows(t, [
    [
      'two that are still down, one that is not',
      rules,
      (world) => {
        world.down(HOUR, 1);
        world.down(HOUR + 10 * MINUTE, 2);
        world.down(2 * HOUR, 3);
        world.up(2 * HOUR + MINUTE, 2);
        world.pass(6 * HOUR);
      },
      [[3 * HOUR, 1, 'alert', 'down s1, down s3']],
    ],
    [
      'one that is over just after they end',
      rules,
      (world) => {
        world.down(HOUR, 1);
        world.up(3 * HOUR + 10 * SECOND, 1);
        world.pass(6 * HOUR);
      },
      [
        [3 * HOUR, 1, 'alert', 'down s1'],
        [3 * HOUR + 10 * SECOND, 1, 'recovery', 'up s1'],
      ],
    ],
    [
      'one that gets worse than what they hold',
      [ruleOf({ quiet: { ...quiet, except: ['down'] }, events: ['down', 'up', 'slow'] })],
      (world) => {
        world.slow(HOUR, 1);
        world.down(2 * HOUR, 1, 'slow');
        world.pass(6 * HOUR);
      },
      [[2 * HOUR, 1, 'alert', 'down s1']],
    ],
    [
      'an end within them',
      rules,
      (world) => {
        world.down(0, 1);
        world.up(2 * HOUR, 1);
        world.pass(6 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [3 * HOUR, 1, 'recovery', 'up s1'],
      ],
    ],
    [
      'an end within them that did not last',
      rules,
      (world) => {
        world.down(0, 1);
        world.up(HOUR, 1);
        world.down(2 * HOUR, 1);
        world.pass(6 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [3 * HOUR, 1, 'update', 'down s1'],
      ],
    ],
    [
      'with exceptions',
      [ruleOf({ quiet: { ...quiet, except: ['down'] }, events: ['down', 'up', 'slow'] })],
      (world) => {
        world.down(HOUR, 1);
        world.slow(HOUR, 2);
        world.up(HOUR + 5 * MINUTE, 1);
        world.pass(6 * HOUR);
      },
      [
        [HOUR, 1, 'alert', 'down s1'],
        [HOUR + 5 * MINUTE, 1, 'recovery', 'up s1'],
        [3 * HOUR, 1, 'alert', 'slow s2'],
      ],
    ],
    [
      'an exception for `up` lets no outage through',
      [ruleOf({ quiet: { ...quiet, except: ['up'] }, events: ['down', 'up', 'slow'] })],
      (world) => {
        world.slow(0, 1);
        world.down(0, 2);
        // It gets worse.
        world.down(HOUR, 1, 'slow');
        world.up(HOUR + MINUTE, 2);
        world.pass(6 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s2, slow s1'],
        [HOUR + MINUTE, 1, 'update', 'up s2'],
        [3 * HOUR, 1, 'alert', 'down s1'],
      ],
    ],
    [
      'what was told by an exception ends by it, also where it got worse meanwhile',
      [ruleOf({ quiet: { ...quiet, except: ['slow'] }, events: ['down', 'up', 'slow'] })],
      (world) => {
        world.slow(HOUR, 1);
        world.down(HOUR + 10 * MINUTE, 1, 'slow');
        world.up(HOUR + 20 * MINUTE, 1);
        world.pass(6 * HOUR);
      },
      [
        [HOUR, 1, 'alert', 'slow s1'],
        [HOUR + 20 * MINUTE, 1, 'recovery', 'slow s1'],
      ],
    ],
    [
      'another rule that is awake tells the channel',
      [ruleOf({ quiet }), ruleOf({ id: 2, afterMs: 5 * MINUTE })],
      (world) => {
        world.down(HOUR, 1);
        world.pass(6 * HOUR);
      },
      [[HOUR + 5 * MINUTE, 1, 'alert', 'down s1']],
    ],
    [
      'reminders wait as well',
      [ruleOf({ quiet, repeatMs: 45 * MINUTE })],
      (world) => {
        world.down(0, 1);
        world.pass(3 * HOUR + 10 * MINUTE);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [45 * MINUTE, 1, 'reminder', 'down s1'],
        [3 * HOUR, 1, 'reminder', 'down s1'],
      ],
    ],
    [
      'what becomes ready within them',
      [ruleOf({ quiet, afterMs: 10 * MINUTE })],
      (world) => {
        world.down(HOUR - MINUTE, 1);
        world.down(HOUR - MINUTE, 2);
        world.up(2 * HOUR, 2);
        world.pass(6 * HOUR);
      },
      [[3 * HOUR, 1, 'alert', 'down s1']],
    ],
    [
      'all day, with a summary once a day',
      [ruleOf({ quiet: { ...quiet, from: 15 * 60 } })],
      (world) => {
        world.down(0, 1);
        world.down(HOUR, 2);
        world.up(2 * HOUR, 2);
        world.up(4 * HOUR, 1);
        world.pass(48 * HOUR);
      },
      [
        [3 * HOUR, 1, 'alert', 'down s1'],
        [27 * HOUR, 1, 'recovery', 'up s1'],
      ],
    ],
    [
      'an engine that was away decides as of then',
      rules,
      (world) => {
        world.decide(NOON + 6 * HOUR, [
          { position: 1, serviceId: 1, at: NOON + HOUR, recordedAt: NOON + HOUR, change: downChange },
          { position: 2, serviceId: 2, at: NOON + HOUR, recordedAt: NOON + HOUR, change: downChange },
          {
            position: 3,
            serviceId: 2,
            at: NOON + 2 * HOUR,
            recordedAt: NOON + 2 * HOUR,
            change: { ...downChange, from: 'down', to: 'up', reason: null },
          },
        ]);
      },
      [[6 * HOUR, 1, 'alert', 'down s1']],
    ],
  ]);
});
