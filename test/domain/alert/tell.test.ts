/** Reminders, and acknowledgements where the thread goes on. */
import t from 'tap';
import { AlertWorld, HOUR, MINUTE, NOON, ruleOf, SECOND } from './alert-world.ts';
import { tryRows } from './decision-rows.ts';

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
