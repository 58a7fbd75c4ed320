import t from 'tap';
import {
  type Child,
  type ChildSpec,
  createSupervisor,
  type ExitReason,
  type RestartKind,
  shouldRestart,
} from '../../src/actor/supervisor.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** A child whose end a test decides. */
function puppet(id: string, restart: RestartKind, story: string[], obeys = true) {
  const lives: { end: (reason: ExitReason) => void }[] = [];
  const spec: ChildSpec = {
    id,
    restart,
    shutdownMs: 1_000,
    start(): Child {
      const exited = Promise.withResolvers<ExitReason>();
      lives.push({ end: exited.resolve });
      story.push(`start ${id}`);
      return {
        exited: exited.promise,
        ask() {
          story.push(`ask ${id}`);
          if (obeys) exited.resolve({ kind: 'shutdown' });
        },
        kill() {
          story.push(`kill ${id}`);
          exited.resolve({ kind: 'killed' });
        },
      };
    },
  };
  return { spec, lives };
}

const REASONS = ['normal', 'shutdown', 'crash', 'killed'] as const;

t.test('it restarts by the matrix of restart kind and exit reason', async (t) => {
  const matrix: Record<RestartKind, readonly boolean[]> = {
    permanent: [true, true, true, true],
    transient: [false, false, true, true],
    temporary: [false, false, false, false],
  };
  for (const kind of ['permanent', 'transient', 'temporary'] as const) {
    t.same(
      REASONS.map((reason) => shouldRestart(kind, { kind: reason })),
      matrix[kind],
      kind,
    );
    for (const [index, reason] of REASONS.entries()) {
      const story: string[] = [];
      const { spec, lives } = puppet('a', kind, story);
      const clock = createFakeClock();
      const supervisor = createSupervisor({
        children: [spec],
        intensity: { restarts: 3, withinMs: 1_000 },
        clock,
        onRestart() {},
        onGiveUp() {},
      });
      supervisor.start();
      lives[0]?.end({ kind: reason });
      await clock.advance(0);
      t.equal(lives.length, matrix[kind][index] ? 2 : 1, `${kind} after ${reason}`);
      await supervisor.stop();
    }
  }
});

t.test('it leaves the other children alone', async (t) => {
  const story: string[] = [];
  const [a, b] = [puppet('a', 'permanent', story), puppet('b', 'permanent', story)];
  const clock = createFakeClock();
  const told: string[] = [];
  const supervisor = createSupervisor({
    children: [a.spec, b.spec],
    intensity: { restarts: 3, withinMs: 1_000 },
    clock,
    onGiveUp() {},
    onRestart: (id, reason) => void told.push(`${id} ${reason.kind}`),
  });
  supervisor.start();
  a.lives[0]?.end({ kind: 'crash', error: new Error('bug') });
  await clock.advance(0);
  t.same(story, ['start a', 'start b', 'start a']);
  t.same(told, ['a crash']);
  t.equal(supervisor.restarts, 1);
  await supervisor.stop();
});

t.test('it gives up after too many restarts within the window, and not when they are spread', async (t) => {
  const clock = createFakeClock();
  const story: string[] = [];
  const { spec, lives } = puppet('a', 'permanent', story);
  const other = puppet('b', 'permanent', story);
  const errors: Error[] = [];
  const supervisor = createSupervisor({
    children: [other.spec, spec],
    intensity: { restarts: 2, withinMs: 1_000 },
    clock,
    onRestart() {},
    onGiveUp: (error) => void errors.push(error),
  });
  supervisor.start();
  for (let round = 0; round < 4; round++) {
    lives.at(-1)?.end({ kind: 'crash' });
    await clock.advance(600);
  }
  t.equal(lives.length, 5, 'two restarts in each window are allowed');
  for (let round = 0; round < 3; round++) {
    lives.at(-1)?.end({ kind: 'crash', error: new Error('bug') });
    await clock.advance(1);
  }
  t.match(errors, [{ message: /^a ended again \(bug\) after 2 restarts within 1000 ms$/ }]);
  t.equal(story.at(-1), 'ask b', 'the others are ended before it tells');
});

t.test(
  'it stops in reverse order: it asks each child, and kills those that do not end in time',
  async (t) => {
    const clock = createFakeClock();
    const story: string[] = [];
    const [a, b] = [puppet('a', 'permanent', story), puppet('b', 'permanent', story, false)];
    const supervisor = createSupervisor({
      children: [a.spec, b.spec],
      intensity: { restarts: 3, withinMs: 1_000 },
      clock,
      onRestart() {},
      onGiveUp() {},
    });
    supervisor.start();
    const stopped = supervisor.stop();
    await clock.advance(999);
    t.same(story.slice(2), ['ask b']);
    await clock.advance(1);
    await stopped;
    t.same(story.slice(2), ['ask b', 'kill b', 'ask a']);
  },
);

t.test('it counts a start that throws as a crash', async (t) => {
  const clock = createFakeClock();
  let starts = 0;
  const given: Error[] = [];
  const supervisor = createSupervisor({
    children: [
      {
        id: 'a',
        restart: 'permanent',
        shutdownMs: 1,
        start() {
          starts++;
          throw new Error('no');
        },
      },
    ],
    intensity: { restarts: 2, withinMs: 1_000 },
    clock,
    onRestart() {},
    onGiveUp: (error) => void given.push(error),
  });
  supervisor.start();
  await clock.advance(10);
  t.equal(starts, 3);
  t.match(given, [{ message: /\(no\)/ }]);
});
