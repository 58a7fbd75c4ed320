/** What the channels of an account are told of what begins, lasts and ends: one table for each rule. */
import t from 'tap';
import { writeAlertState } from '../../../src/domain/alert/alert-state.ts';
import { AlertWorld, HOUR, type Line, MINUTE, NOON, ruleOf, SECOND, serviceOf } from './alert-world.ts';
import { downChange, tryRows } from './decision-rows.ts';

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
