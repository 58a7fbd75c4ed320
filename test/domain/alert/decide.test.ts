/** What the channels of an account are told: one table for each rule of `decide`. */
import t, { type Test } from 'tap';
import { readAlertState, writeAlertState } from '../../../src/domain/alert/alert-state.ts';
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
        [0, 1, 'alert', 'down s1'],
        [5 * MINUTE, 1, 'recovery', 'up s1'],
      ],
    ],
    [
      'what is over before it is told is told once',
      [ruleOf({ events: ['down'] })],
      (world) => {
        world.down(0, 2);
        world.down(5 * SECOND, 1);
        world.up(20 * SECOND, 1);
        world.pass(HOUR);
      },
      [
        [0, 1, 'alert', 'down s2'],
        [20 * SECOND, 1, 'recovery', 'up s1'],
      ],
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
        [0, 1, 'alert', 'down s1'],
        [0, 2, 'alert', 'down s1'],
        [5 * MINUTE, 2, 'recovery', 'up s1'],
      ],
    ],
    [
      'outages of many threads that end at once are one message where a channel shows no threads',
      [ruleOf({ channels: [1, 3] })],
      (world) => {
        for (const id of [1, 2, 3]) world.down(id * MINUTE, id);
        for (const id of [1, 2]) world.up(10 * MINUTE, id);
        world.pass(HOUR);
      },
      [
        ...[1, 2, 3].flatMap((id): Line[] => [
          [id * MINUTE, 1, 'alert', `down s${id}`],
          [id * MINUTE, 3, 'alert', `down s${id}`],
        ]),
        [10 * MINUTE, 1, 'recovery', 'up s1'],
        [10 * MINUTE, 1, 'recovery', 'up s2'],
        [10 * MINUTE, 3, 'recovery', 'up s1, up s2'],
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
      [[5 * MINUTE, 1, 'recovery', 'up s1']],
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
        [0, 1, 'alert', 'down s1'],
        [5 * MINUTE, 1, 'recovery', 'up s1'],
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
        [0, 1, 'alert', 'down s1'],
        [5 * MINUTE, 2, 'alert', 'down s1'],
        [10 * MINUTE, 1, 'recovery', 'up s1'],
        [10 * MINUTE, 2, 'recovery', 'up s1'],
      ],
    ],
  ]);
});

t.test(
  'what changes within 30 s of a message is one more message for each channel, in the same thread',
  async (t) => {
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
          [0, 1, 'alert', 'down s1'],
          [0, 2, 'alert', 'down s1'],
          [S30, 1, 'alert', 'down s2, down s3, down s4'],
          [S30, 2, 'alert', 'down s2, down s3, down s4'],
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
          [0, 1, 'alert', 'down s1, down s2, down s3'],
          [MINUTE, 1, 'update', 'up s2'],
          [2 * MINUTE, 1, 'update', 'up s1'],
          [2 * MINUTE + S30, 1, 'recovery', 'up s3'],
        ],
      ],
    ]);
    const world = new AlertWorld(undefined, 40);
    for (let id = 1; id <= 30; id += 1) world.down(id * 10, id);
    world.pass(MINUTE);
    const [first, second] = world.sent.map(({ message }) => message);
    t.same([first?.total, first?.thread, first?.replaces], [1, second?.thread, undefined]);
    t.same(
      [second?.total, second?.items.length, second?.at, second?.url, second?.replaces],
      [30, 20, NOON + 20, 'https://up.example/dashboard', true],
    );
    t.same(second?.counts, { down: 30 });
    t.equal(second?.items[0]?.service.slug, 's2', 'its news comes first');
  },
);

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
      [[5 * MINUTE, 1, 'recovery', 'up s1']],
    ],
    [
      'it counts from the first failed attempt',
      rules,
      (world) => {
        world.change(0, 1, { ...downChange }, { at: NOON - 4 * MINUTE });
        world.pass(HOUR);
      },
      [[MINUTE, 1, 'alert', 'down s1']],
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
    counts: { down: 1 },
    cause: null,
    rule: 'rule 1',
    url: 'https://up.example/status/s1',
    acknowledgeUrl: `https://up.example/alerts/acknowledge/${world.thread}`,
    note: null,
  };
  t.same(world.sent.splice(0), [{ at: NOON + 5000, channel: 1, message: expected }]);
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

t.test('what is down for the same cause joins the thread of it, however much later', async (t) => {
  const world = new AlertWorld([ruleOf({ repeatMs: HOUR })], 40);
  const address = (id: number, name: string) => ({
    ...{ serviceId: id, status: 'down' as const, checkedAt: NOON, addresses: [name] },
  });
  world.causes = Array.from({ length: 40 }, (_, n) => address(n + 1, n < 30 ? '192.0.2.1' : '192.0.2.2'));
  for (let id = 1; id <= 30; id += 1) world.down(id * 10 * SECOND, id);
  for (const at of [6, 11]) world.down(at * MINUTE, 25 + at);
  world.pass(20 * MINUTE);
  const threads = Map.groupBy(world.sent, ({ message }) => message.thread);
  t.same(
    [...threads.values()].map((those) => those.at(-1)?.message.total),
    [30, 2],
    'one for each address',
  );
  t.ok(world.sent.length < 20, `${world.sent.length} messages`);
  t.same(
    world.sent.map(({ message }) => message.replaces === true),
    world.sent.map(({ at }) => at > NOON + 10 * SECOND && at < NOON + 6 * MINUTE),
    'what comes minutes later is said beside what was said before',
  );
});

t.test('maintenance has threads of its own, and its end says nothing of health', async (t) => {
  const phase = (phase: 'running' | 'ended') =>
    ({
      type: 'maintenance',
      id: 'm',
      source: 'vendor',
      phase,
      title: 'Work',
      text: '',
      startsAt: NOON,
      endsAt: null,
      url: '',
    }) as const;
  const world = new AlertWorld([ruleOf({ events: ['down', 'up', 'maintenance'] })]);
  for (const id of [1, 2]) world.change(0, id, phase('running'));
  world.down(0, 1);
  world.services.set(1, serviceOf(1, { status: 'down' }));
  for (const id of [1, 2]) world.change(HOUR, id, phase('ended'));
  world.pass(2 * HOUR);
  t.match(world.sent, [
    { message: { type: 'alert', total: 2, counts: { maintenance: 2 } } },
    { message: { type: 'alert', total: 1, counts: { down: 1 } } },
    { message: { type: 'recovery', total: 2, counts: { ended: 2 } } },
  ]);
  const [began, down, ended] = world.sent.map(({ message }) => message.thread);
  t.equal(began, ended);
  t.not(down, began);
});

t.test('a service that has failed again is not said to be well', async (t) => {
  const world = new AlertWorld();
  for (const id of [1, 2]) world.down(0, id);
  world.pass(MINUTE);
  for (const id of [1, 2]) world.up(5 * MINUTE, id);
  world.services.set(2, serviceOf(2, { status: 'down' }));
  world.pass(6 * MINUTE);
  t.same(world.sent.at(-1)?.message.counts, { down: 1, up: 1 });
});

t.test('an incident of our own checks is not told beside the outage that it is about', async (t) => {
  const incident = { id: 'i', source: 'own', title: 'Down', text: '', severity: 'major' } as const;
  const world = new AlertWorld([
    ruleOf({ events: ['down', 'up', 'incident', 'incident_update'] }),
    ruleOf({ id: 2, events: ['incident'], channels: [1, 2] }),
  ]);
  world.down(0, 1);
  world.change(0, 1, {
    ...{ type: 'incident', before: null },
    incident: { ...incident, status: 'investigating', startedAt: NOON, url: '' },
  });
  world.pass(HOUR);
  t.same(world.lines(), [
    [0, 1, 'alert', 'down s1'],
    [0, 2, 'alert', 'incident s1'],
  ]);
});

t.test('a service that gets better or worse stays in its thread', async (t) => {
  const rules = [
    ruleOf({ events: ['down', 'slow', 'up'] }),
    ruleOf({ id: 2, events: ['down', 'up'], channels: [2] }),
    ruleOf({ id: 3, events: ['slow'], channels: [3] }),
  ];
  const world = new AlertWorld(rules);
  world.slow(0, 1);
  world.down(5 * MINUTE, 1, 'slow');
  world.pass(6 * MINUTE);
  const first = world.sent[0]?.message.thread;
  world.slow(10 * MINUTE, 1, 'down');
  world.up(15 * MINUTE, 1, 'slow');
  world.pass(HOUR);
  t.same(
    world.sent
      .filter(({ channel }) => channel === 1)
      .map(({ message }) => [message.type, message.urgency, message.thread]),
    [
      ['alert', 'normal', first],
      ['alert', 'high', first],
      ['update', 'normal', first],
      ['recovery', 'low', first],
    ],
  );
  t.same(world.lines(), [
    [0, 1, 'alert', 'slow s1'],
    [0, 3, 'alert', 'slow s1'],
    [5 * MINUTE, 1, 'alert', 'down s1'],
    [5 * MINUTE, 2, 'alert', 'down s1'],
    [10 * MINUTE, 1, 'update', 'slow s1'],
    [10 * MINUTE, 2, 'recovery', 'up s1'],
    [10 * MINUTE, 3, 'update', 'slow s1'],
    [15 * MINUTE, 1, 'recovery', 'slow s1'],
    [15 * MINUTE, 3, 'recovery', 'slow s1'],
  ]);
});

t.test('reminders are sent until it is over or taken', async (t) => {
  const rules = [ruleOf({ repeatMs: 20 * MINUTE, channels: [1, 2] })];
  tryRows(t, [
    [
      'until it is over',
      [ruleOf({ repeatMs: 20 * MINUTE })],
      (world) => {
        world.down(0, 1);
        world.down(0, 2);
        world.up(30 * MINUTE, 2);
        world.up(50 * MINUTE, 1);
        world.pass(3 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s1, down s2'],
        [20 * MINUTE, 1, 'reminder', 'down s1, down s2'],
        [30 * MINUTE, 1, 'update', 'up s2'],
        [40 * MINUTE, 1, 'reminder', 'down s1'],
        [50 * MINUTE, 1, 'recovery', 'up s1'],
      ],
    ],
    [
      'until the rule asks for none',
      [ruleOf({ repeatMs: 20 * MINUTE })],
      (world) => {
        world.down(0, 1);
        world.pass(30 * MINUTE);
        world.rules = [ruleOf()];
        world.pass(3 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [20 * MINUTE, 1, 'reminder', 'down s1'],
      ],
    ],
    [
      'not for the time of an outage of ours',
      [ruleOf({ repeatMs: 20 * MINUTE })],
      (world) => {
        world.down(0, 1);
        world.pass(MINUTE);
        world.decide(NOON + 2 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [2 * HOUR, 1, 'reminder', 'down s1'],
      ],
    ],
  ]);
  const world = new AlertWorld(rules);
  world.down(0, 1);
  world.pass(MINUTE);
  const { thread } = world;
  world.acknowledge(5 * MINUTE, thread);
  world.acknowledge(6 * MINUTE, thread, 'Bob');
  world.acknowledge(6 * MINUTE, 'another');
  t.same(
    world.sent.slice(2).map(({ message }) => [message.note, message.acknowledgeUrl]),
    [
      [{ by: 'Ada' }, null],
      [{ by: 'Ada' }, null],
    ],
  );
  world.up(90 * MINUTE, 1);
  world.pass(3 * HOUR);
  t.same(world.lines(), [
    [0, 1, 'alert', 'down s1'],
    [0, 2, 'alert', 'down s1'],
    [5 * MINUTE, 1, 'acknowledged', 'down s1'],
    [5 * MINUTE, 2, 'acknowledged', 'down s1'],
    [90 * MINUTE, 1, 'recovery', 'up s1'],
    [90 * MINUTE, 2, 'recovery', 'up s1'],
  ]);
  world.acknowledge(4 * HOUR, thread);
  t.same(world.lines(), [], 'a thread that is over is not taken');
});

t.test('an acknowledgement is told only where its thread goes on', async (t) => {
  // Channel 3 shows no threads, and is not told that a service is slow: what gets slow ends there.
  const world = new AlertWorld([
    ruleOf({ events: ['down', 'slow', 'up'] }),
    ruleOf({ id: 2, channels: [3] }),
  ]);
  world.down(0, 1);
  world.down(2 * MINUTE, 2);
  world.pass(5 * MINUTE);
  const threads = [...new Set(world.sent.map(({ message }) => message.thread))];
  t.equal(threads.length, 2);
  world.slow(10 * MINUTE, 1, 'down');
  world.slow(10 * MINUTE, 2, 'down');
  world.acknowledge(10 * MINUTE + SECOND, threads[0] ?? '');
  world.pass(20 * MINUTE);
  // Its end in channel 3 was told with that of the other.
  world.acknowledge(20 * MINUTE, threads[1] ?? '');
  t.same(world.lines().slice(4), [
    [10 * MINUTE, 1, 'update', 'slow s1'],
    [10 * MINUTE, 1, 'update', 'slow s2'],
    [10 * MINUTE, 3, 'recovery', 'up s1, up s2'],
    [10 * MINUTE + SECOND, 1, 'acknowledged', 'slow s1'],
    [20 * MINUTE, 1, 'acknowledged', 'slow s2'],
  ]);
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

t.test('a service of which a rule tells late is said to flap in place of one more outage', async (t) => {
  const world = new AlertWorld([ruleOf({ afterMs: MINUTE })]);
  for (let minutes = 0; minutes < 10; minutes += 3) {
    world.down(minutes * MINUTE, 1);
    world.up((minutes + 2) * MINUTE, 1);
  }
  world.pass(12 * MINUTE);
  t.strictSame(
    world.lines().map(([at, , type, words]) => `${at / MINUTE} ${type}: ${words}`),
    [
      '1 alert: down s1',
      '2 recovery: up s1',
      '4 alert: down s1',
      '5 recovery: up s1',
      '7 alert: down s1 flaps',
    ],
  );
});

t.test('a service that flaps is said to flap, once', async (t) => {
  const world = new AlertWorld([ruleOf({ repeatMs: 10 * MINUTE })]);
  const flap = (to: number) => {
    for (let minute = 0; minute < to; minute += 4) {
      world.down(minute * MINUTE, 1);
      world.up((minute + 2) * MINUTE, 1);
    }
  };
  flap(60);
  world.pass(60 * MINUTE);
  const begun: readonly Line[] = [
    [0, 1, 'alert', 'down s1'],
    [2 * MINUTE, 1, 'recovery', 'up s1'],
    [4 * MINUTE, 1, 'alert', 'down s1'],
    [6 * MINUTE, 1, 'recovery', 'up s1'],
    [8 * MINUTE, 1, 'alert', 'down s1 flaps'],
  ];
  t.match(world.sent.at(-1)?.message.items, [{ flapping: { changes: 5, withinMs: 30 * MINUTE } }]);
  t.same(world.lines(), begun);
  world.pass(2 * HOUR);
  t.same(world.lines(), [[58 * MINUTE + 30 * MINUTE, 1, 'recovery', 'up s1']], 'it stays up');
  world.down(3 * HOUR, 1);
  world.pass(3 * HOUR + MINUTE);
  t.same(world.lines(), [[3 * HOUR, 1, 'alert', 'down s1']], 'it counts anew');

  tryRows(t, [
    [
      'it stays down',
      [ruleOf()],
      (other) => {
        for (let minute = 0; minute < 8; minute += 4) {
          other.down(minute * MINUTE, 1);
          other.up((minute + 2) * MINUTE, 1);
        }
        other.down(8 * MINUTE, 1);
        other.up(2 * HOUR, 1);
        other.pass(4 * HOUR);
      },
      [...begun, [38 * MINUTE, 1, 'update', 'down s1'], [2 * HOUR, 1, 'recovery', 'up s1']],
    ],
    [
      'changes that are too slow',
      [ruleOf()],
      (other) => {
        for (let n = 0; n < 6; n += 1) {
          if (n % 2 === 0) other.down(n * 8 * MINUTE, 1);
          else other.up(n * 8 * MINUTE, 1);
        }
        other.pass(2 * HOUR);
      },
      [0, 1, 2, 3, 4, 5].map(
        (n): Line =>
          n % 2 === 0 ? [n * 8 * MINUTE, 1, 'alert', 'down s1'] : [n * 8 * MINUTE, 1, 'recovery', 'up s1'],
      ),
    ],
  ]);
});

t.test("an owner's maintenance holds alerts", async (t) => {
  const phase = (phase: 'running' | 'ended', source: 'owner' | 'vendor' = 'owner', id = 'm') =>
    ({
      type: 'maintenance',
      id,
      source,
      phase,
      title: 'Work',
      text: '',
      startsAt: 0,
      endsAt: null,
      url: '',
    }) as const;
  tryRows(t, [
    [
      'what is still down at its end is told then',
      [ruleOf()],
      (world) => {
        world.change(0, 1, phase('running'));
        world.change(0, 2, phase('running'));
        world.down(MINUTE, 1);
        world.down(MINUTE, 2);
        world.up(10 * MINUTE, 2);
        world.change(HOUR, 1, phase('ended'));
        world.change(HOUR, 2, phase('ended'));
        world.pass(2 * HOUR);
      },
      [[HOUR, 1, 'alert', 'down s1']],
    ],
    [
      'an end within it is told at its end',
      [ruleOf({ repeatMs: 10 * MINUTE })],
      (world) => {
        world.down(0, 1);
        world.change(MINUTE, 1, phase('running'));
        world.up(40 * MINUTE, 1);
        world.change(HOUR, 1, phase('ended'));
        world.pass(2 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [HOUR, 1, 'recovery', 'up s1'],
      ],
    ],
    [
      'what still is so at its end waits for quiet hours, unless `except` names it',
      (['up', 'down'] as const).map((word, index) =>
        ruleOf({
          id: index + 1,
          channels: [index + 1],
          quiet: { from: 12 * 60, to: 15 * 60, timeZone: 'UTC', except: [word] },
        }),
      ),
      (world) => {
        world.change(0, 1, phase('running'));
        world.down(MINUTE, 1);
        world.change(HOUR, 1, phase('ended'));
        world.pass(6 * HOUR);
      },
      [
        [HOUR, 2, 'alert', 'down s1'],
        [3 * HOUR, 1, 'alert', 'down s1'],
      ],
    ],
    [
      'until the last of two ends',
      [ruleOf()],
      (world) => {
        world.change(0, 1, phase('running'));
        world.change(0, 1, phase('running', 'owner', 'n'));
        world.down(MINUTE, 1);
        world.change(10 * MINUTE, 1, phase('ended'));
        world.change(20 * MINUTE, 1, phase('ended', 'owner', 'n'));
        world.pass(2 * HOUR);
      },
      [[20 * MINUTE, 1, 'alert', 'down s1']],
    ],
    [
      'what began within it, but was noted before its beginning was',
      [ruleOf()],
      (world) => {
        world.down(0, 1);
        world.down(1_000, 2);
        for (const service of [1, 2])
          world.change(1_100, service, { ...phase('running'), startsAt: NOON + 500 });
        world.change(HOUR, 1, phase('ended'));
        world.change(HOUR, 2, phase('ended'));
        world.pass(2 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [HOUR, 1, 'alert', 'down s2'],
      ],
    ],
    [
      'one that began before the rule was made',
      [ruleOf()],
      (world) => {
        world.services.set(1, serviceOf(1, { isInMaintenance: true }));
        world.down(0, 1);
        world.pass(MINUTE);
        world.services.set(1, serviceOf(1));
        world.change(10 * MINUTE, 1, phase('ended'));
        world.pass(2 * HOUR);
      },
      [[10 * MINUTE, 1, 'alert', 'down s1']],
    ],
    [
      "a vendor's holds nothing; both are told to rules that ask",
      [ruleOf({ events: ['down', 'maintenance'] })],
      (world) => {
        world.change(0, 1, phase('running', 'vendor'));
        world.change(0, 2, phase('running'));
        world.down(MINUTE, 1);
        world.change(HOUR, 1, phase('ended', 'vendor'));
        world.pass(2 * HOUR);
      },
      [
        [0, 1, 'alert', 'maintenance s1, maintenance s2'],
        [MINUTE, 1, 'alert', 'down s1'],
        [HOUR, 1, 'update', 'maintenance s1'],
      ],
    ],
  ]);
});

t.test('it tells of incidents, scopes and certificates', async (t) => {
  const incident = (
    source: 'own' | 'vendor' | 'owner',
    before: 'investigating' | 'identified' | null,
    status: 'investigating' | 'identified' | 'resolved',
    text = '',
  ) =>
    ({
      type: 'incident',
      before,
      incident: {
        id: 'i',
        source,
        title: 'Trouble',
        text,
        severity: 'major',
        status,
        startedAt: NOON,
        url: '',
      },
    }) as const;
  const certificate = (days: number, endsAt = NOON + 21 * 24 * HOUR) =>
    ({ type: 'certificate', endsAt, days }) as const;
  tryRows(t, [
    [
      'an incident of the owner with updates',
      [
        ruleOf({ events: ['incident', 'incident_update'] }),
        ruleOf({ id: 2, events: ['incident'], channels: [2] }),
      ],
      (world) => {
        world.change(0, 1, incident('owner', null, 'investigating'));
        world.change(10 * MINUTE, 1, incident('owner', 'investigating', 'investigating', 'more'));
        world.change(20 * MINUTE, 1, incident('owner', 'investigating', 'resolved'));
        world.pass(HOUR);
      },
      [
        [0, 1, 'alert', 'incident s1'],
        [0, 2, 'alert', 'incident s1'],
        [10 * MINUTE, 1, 'update', 'incident_update s1'],
        [20 * MINUTE, 1, 'recovery', 'incident s1'],
        [20 * MINUTE, 2, 'recovery', 'incident s1'],
      ],
    ],
    [
      'an incident in quiet hours that let its beginning through: its end too, but no update',
      [
        ruleOf({
          events: ['incident', 'incident_update'],
          quiet: { from: 12 * 60, to: 15 * 60, timeZone: 'UTC', except: ['incident'] },
        }),
      ],
      (world) => {
        world.change(0, 1, incident('owner', null, 'investigating'));
        world.change(10 * MINUTE, 1, incident('owner', 'investigating', 'investigating', 'more'));
        world.change(20 * MINUTE, 1, incident('owner', 'investigating', 'resolved'));
        world.pass(6 * HOUR);
      },
      [
        [0, 1, 'alert', 'incident s1'],
        [20 * MINUTE, 1, 'recovery', 'incident s1'],
      ],
    ],
    [
      'an incident of a vendor, and a text without a change',
      [ruleOf({ events: ['vendor_incident'] })],
      (world) => {
        world.change(0, 1, incident('vendor', null, 'investigating'));
        world.change(10 * MINUTE, 1, incident('vendor', 'investigating', 'investigating', 'more'));
        world.change(20 * MINUTE, 1, incident('vendor', 'investigating', 'identified'));
        world.change(30 * MINUTE, 1, incident('vendor', 'identified', 'resolved'));
        world.pass(HOUR);
      },
      [
        [0, 1, 'alert', 'vendor_incident s1'],
        [20 * MINUTE, 1, 'update', 'vendor_incident s1'],
        [30 * MINUTE, 1, 'recovery', 'vendor_incident s1'],
      ],
    ],
    [
      'a scope',
      [ruleOf({ events: ['scope'] })],
      (world) => {
        world.change(0, 1, { type: 'scope', from: null, to: 'partial', regions: ['eu'] });
        world.change(10 * MINUTE, 1, { type: 'scope', from: 'partial', to: 'global', regions: ['eu', 'us'] });
        world.change(20 * MINUTE, 1, { type: 'scope', from: 'global', to: null, regions: [] });
        world.pass(HOUR);
      },
      [
        [0, 1, 'alert', 'scope s1'],
        [10 * MINUTE, 1, 'alert', 'scope s1'],
        [20 * MINUTE, 1, 'recovery', 'scope s1'],
      ],
    ],
    [
      'a certificate, once for each threshold, and anew for a new one',
      [ruleOf({ events: ['certificate'] })],
      (world) => {
        world.change(0, 1, certificate(21));
        world.change(HOUR, 1, certificate(21));
        world.change(2 * HOUR, 1, certificate(7));
        world.change(3 * HOUR, 1, certificate(21));
        world.change(4 * HOUR, 1, certificate(1));
        world.change(5 * HOUR, 1, certificate(21, NOON + 99 * 24 * HOUR));
        world.pass(6 * HOUR);
      },
      [0, 2, 4, 5].map((hour): Line => [hour * HOUR, 1, 'alert', 'certificate s1']),
    ],
    [
      'a certificate that was replaced while quiet hours held the word',
      [ruleOf({ events: ['certificate'], quiet: { from: 0, to: 13 * 60, timeZone: 'UTC', except: [] } })],
      (world) => {
        world.change(0, 1, certificate(21));
        world.change(0, 2, certificate(21));
        world.services.set(1, serviceOf(1, { certificateEndsAt: NOON + 99 * 24 * HOUR }));
        world.pass(6 * HOUR);
      },
      [[HOUR, 1, 'alert', 'certificate s2']],
    ],
  ]);
});

t.test('what is removed meanwhile ends', async (t) => {
  tryRows(t, [
    [
      'a rule: what it was about to tell is not told, what it told is told to its end',
      [ruleOf()],
      (world) => {
        world.down(0, 1);
        world.pass(5 * MINUTE);
        world.down(10 * MINUTE, 2);
        world.rules = [];
        world.pass(20 * MINUTE);
        world.up(30 * MINUTE, 1);
        world.up(30 * MINUTE, 2);
        world.pass(HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [30 * MINUTE, 1, 'recovery', 'up s1'],
      ],
    ],
    [
      'a channel',
      [ruleOf({ channels: [1, 2] })],
      (world) => {
        world.down(0, 1);
        world.pass(5 * MINUTE);
        world.channels.delete(1);
        world.rules = [ruleOf({ channels: [2] })];
        world.up(10 * MINUTE, 1);
        world.pass(HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [0, 2, 'alert', 'down s1'],
        [10 * MINUTE, 2, 'recovery', 'up s1'],
      ],
    ],
    [
      'a service, and another that is paused, are said so within ten minutes',
      [ruleOf({ repeatMs: 40 * MINUTE })],
      (world) => {
        for (const id of [1, 2, 3]) world.down(0, id);
        world.pass(5 * MINUTE);
        world.services.delete(1);
        world.pass(11 * MINUTE);
        world.services.set(2, serviceOf(2, { isPaused: true }));
        world.services.delete(3);
        world.pass(3 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s1, down s2, down s3'],
        [10 * MINUTE, 1, 'update', 'down s1 removed'],
        [20 * MINUTE, 1, 'recovery', 'down s2 paused, down s3 removed'],
      ],
    ],
    [
      'a service of a page',
      [ruleOf({ of: { own: false, services: [], categories: [], publicCategories: [], pages: ['shop'] } })],
      (world) => {
        world.pages = { shop: [1, 2] };
        world.down(0, 1);
        world.down(0, 2);
        world.pages = { shop: [2] };
        world.pass(HOUR);
      },
      [[0, 1, 'alert', 'down s2']],
    ],
  ]);
});

t.test('the state is JSON that survives a later version', async (t) => {
  const world = new AlertWorld();
  world.down(0, 1);
  world.pass(MINUTE);
  const stored = JSON.parse(writeAlertState(world.state));
  const [key = ''] = Object.keys(stored.conditions);
  const later = { ...stored, version: 2, mood: 'good' };
  later.conditions = { [key]: { ...stored.conditions[key], colour: 'red' } };
  world.state = readAlertState(JSON.stringify(later));
  world.up(2 * MINUTE, 2, 'unknown');
  world.pass(2 * MINUTE);
  t.same(JSON.parse(writeAlertState(world.state)), { ...later, decidedAt: NOON + 2 * MINUTE });
  for (const text of ['', 'null', '[]', '{}', '{"version":1,"conditions":{}}'])
    t.throws(() => readAlertState(text), text);
});

t.test('10,000 services that fail at once cost little', async (t) => {
  const world = new AlertWorld([ruleOf({ channels: [1, 2, 3], repeatMs: HOUR })], 10_000);
  const events = Array.from({ length: 10_000 }, (_, n) => ({
    position: n + 1,
    serviceId: n + 1,
    at: NOON + n,
    recordedAt: NOON + n,
    change: downChange,
  }));
  const start = process.cpuUsage();
  world.decide(NOON + 10_000, events);
  world.pass(MINUTE);
  const { user } = process.cpuUsage(start);
  t.ok(user < 60_000_000, `${user / 1000} ms`);
  t.same(
    world.sent.map(({ channel, message }) => [channel, message.total, message.items.length]),
    [
      [1, 1, 1],
      [2, 1, 1],
      [3, 1, 1],
      [1, 10_000, 20],
      [2, 10_000, 20],
      [3, 10_000, 20],
    ],
  );
  const { length } = writeAlertState(world.state);
  t.ok(length < 10_000 * 1200, `${length} bytes`);
});
