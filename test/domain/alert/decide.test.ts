/** What the channels of an account are told: one table for each rule of `decide`. */
import t, { type Test } from 'tap';
import type { AlertEventName, AlertRule } from '../../../src/domain/alert/rule.ts';
import { AlertWorld, HOUR, type Line, MINUTE, NOON, ruleOf, SECOND, serviceOf } from './alert-world.ts';

/** A name, the rules, what happens, and what is sent. */
type Row = readonly [
  name: string,
  rules: readonly AlertRule[],
  act: (world: AlertWorld) => void,
  sent: readonly Line[],
];

function tryRows(t: Test, rows: readonly Row[]): void {
  for (const [name, rules, act, sent] of rows) {
    const world = new AlertWorld(rules);
    act(world);
    t.same(world.lines(), sent, name);
  }
}

const S30 = 30 * SECOND;

t.test('it tells what begins and what ends, where it told the beginning', async (t) => {
  tryRows(t, [
    [
      'an outage and its end',
      [ruleOf()],
      (world) => {
        world.down(0, 1);
        world.up(5 * MINUTE, 1);
        world.pass(HOUR);
      },
      [
        [S30, 1, 'alert', 'down s1'],
        [5 * MINUTE + S30, 1, 'recovery', 'up s1'],
      ],
    ],
    [
      'what is over before it is told is told once',
      [ruleOf({ events: ['down'] })],
      (world) => {
        world.down(0, 1);
        world.up(20 * SECOND, 1);
        world.pass(HOUR);
      },
      [[S30, 1, 'recovery', 'up s1']],
    ],
    [
      'a rule without `up` is told of no end',
      [ruleOf({ events: ['down'] }), ruleOf({ id: 2, channels: [2] })],
      (world) => {
        world.down(0, 1);
        world.up(5 * MINUTE, 1);
        world.pass(HOUR);
      },
      [
        [S30, 1, 'alert', 'down s1'],
        [S30, 2, 'alert', 'down s1'],
        [5 * MINUTE + S30, 2, 'recovery', 'up s1'],
      ],
    ],
    [
      'a rule with `up` alone is told of every recovery',
      [ruleOf({ events: ['up'] })],
      (world) => {
        world.down(0, 1);
        world.up(5 * MINUTE, 1);
        world.slow(6 * MINUTE, 1);
        world.up(7 * MINUTE, 1, 'slow');
        world.up(8 * MINUTE, 2, 'unknown');
        world.pass(HOUR);
      },
      [[5 * MINUTE + S30, 1, 'recovery', 'up s1']],
    ],
    [
      'an end is told to no channel that a rule names only afterwards',
      [ruleOf()],
      (world) => {
        world.down(0, 1);
        world.pass(MINUTE);
        world.rules = [ruleOf({ channels: [1, 2] })];
        world.up(5 * MINUTE, 1);
        world.pass(HOUR);
      },
      [
        [S30, 1, 'alert', 'down s1'],
        [5 * MINUTE + S30, 1, 'recovery', 'up s1'],
      ],
    ],
    [
      'two rules tell a channel once',
      [ruleOf(), ruleOf({ id: 2, afterMs: 5 * MINUTE, channels: [1, 2] })],
      (world) => {
        world.down(0, 1);
        world.up(10 * MINUTE, 1);
        world.pass(HOUR);
      },
      [
        [S30, 1, 'alert', 'down s1'],
        [5 * MINUTE + S30, 2, 'alert', 'down s1'],
        [10 * MINUTE + S30, 1, 'recovery', 'up s1'],
        [10 * MINUTE + S30, 2, 'recovery', 'up s1'],
      ],
    ],
  ]);
});

t.test('what changes within 30 s is one message for each channel', async (t) => {
  tryRows(t, [
    [
      'three services, and one later',
      [ruleOf({ channels: [1, 2] })],
      (world) => {
        world.services.set(4, serviceOf(4));
        world.down(0, 1);
        world.down(10 * SECOND, 2);
        world.down(29_999, 3);
        world.down(S30, 4);
        world.pass(HOUR);
      },
      [
        [S30, 1, 'alert', 'down s1, down s2, down s3'],
        [S30, 2, 'alert', 'down s1, down s2, down s3'],
        [2 * S30, 1, 'alert', 'down s4'],
        [2 * S30, 2, 'alert', 'down s4'],
      ],
    ],
    [
      'services of a thread recover one by one',
      [ruleOf()],
      (world) => {
        for (const id of [1, 2, 3]) world.down(0, id);
        world.up(MINUTE, 2);
        world.up(2 * MINUTE, 1);
        world.up(2 * MINUTE + SECOND, 3);
        world.pass(HOUR);
      },
      [
        [S30, 1, 'alert', 'down s1, down s2, down s3'],
        [MINUTE + S30, 1, 'update', 'up s2'],
        [2 * MINUTE + S30, 1, 'recovery', 'up s1, up s3'],
      ],
    ],
  ]);
  const world = new AlertWorld(undefined, 40);
  for (let id = 1; id <= 30; id += 1) world.down(id * 10, id);
  world.pass(MINUTE);
  const [first] = world.sent;
  t.same(
    [first?.message.total, first?.message.items.length, first?.message.at, first?.message.url],
    [30, 20, NOON + 10, 'https://up.example/dashboard'],
  );
  t.equal(first?.message.items[0]?.service.slug, 's1');
});

t.test('it tells only what lasts as long as `after` says', async (t) => {
  const rules = [ruleOf({ afterMs: 5 * MINUTE })];
  tryRows(t, [
    [
      'sooner over',
      rules,
      (world) => {
        world.down(0, 1);
        world.up(5 * MINUTE - 1, 1);
        world.pass(HOUR);
      },
      [],
    ],
    [
      'later over',
      rules,
      (world) => {
        world.down(0, 1);
        world.up(5 * MINUTE, 1);
        world.pass(HOUR);
      },
      [[5 * MINUTE + S30, 1, 'recovery', 'up s1']],
    ],
    [
      'it counts from the first failed attempt',
      rules,
      (world) => {
        world.change(0, 1, { ...downChange }, { at: NOON - 4 * MINUTE });
        world.pass(HOUR);
      },
      [[MINUTE + S30, 1, 'alert', 'down s1']],
    ],
    [
      'each outage counts by itself',
      rules,
      (world) => {
        for (const start of [0, 5, 10, 15]) {
          world.down(start * MINUTE, 1);
          world.up((start + 4) * MINUTE, 1);
        }
        world.pass(HOUR);
      },
      [],
    ],
  ]);
});

const downChange = {
  type: 'status',
  from: 'up',
  to: 'down',
  source: 'silence',
  reason: { code: 'run_failed', exitCode: 1 },
  phase: null,
  lastGoodAt: NOON - HOUR,
  regions: ['eu'],
} as const;

t.test('a message says what is known', async (t) => {
  const world = new AlertWorld([ruleOf({ events: ['heartbeat_missed' satisfies AlertEventName, 'up'] })]);
  world.services.set(
    1,
    serviceOf(1, { scope: 'global', vendor: { title: 'We look', url: 'https://v.example/' } }),
  );
  world.change(5000, 1, downChange, { at: NOON });
  world.pass(5 * MINUTE);
  const expected = {
    type: 'alert',
    thread: world.thread,
    urgency: 'high',
    at: NOON,
    items: [
      {
        service: {
          id: 1,
          slug: 's1',
          name: 'Service 1',
          domain: 's1.example.com',
          url: 'https://up.example/status/s1',
        },
        event: 'heartbeat_missed',
        status: 'down',
        since: NOON,
        lastedMs: null,
        reason: { code: 'run_failed', exitCode: 1 },
        phase: null,
        lastGoodAt: NOON - HOUR,
        scope: 'global',
        regions: ['eu'],
        vendor: { title: 'We look', url: 'https://v.example/' },
        flapping: null,
        incident: null,
        maintenance: null,
        certificate: null,
      },
    ],
    total: 1,
    cause: null,
    rule: 'rule 1',
    url: 'https://up.example/status/s1',
    acknowledgeUrl: `https://up.example/alerts/acknowledge/${world.thread}`,
    note: null,
  };
  t.same(world.sent.splice(0), [{ at: NOON + 5000 + S30, channel: 1, message: expected }]);
  t.match(expected.thread, /^[A-Za-z0-9-]{1,62}$/);
  world.up(10 * MINUTE, 1);
  world.pass(HOUR);
  t.match(world.sent, [
    {
      message: {
        type: 'recovery',
        thread: expected.thread,
        urgency: 'low',
        at: NOON,
        items: [{ event: 'up', status: 'up', since: NOON, lastedMs: 10 * MINUTE, reason: null }],
        acknowledgeUrl: null,
      },
    },
  ]);
  t.same([world.state.conditions.size, world.state.threads.size], [0, 0], 'nothing is left');
});
