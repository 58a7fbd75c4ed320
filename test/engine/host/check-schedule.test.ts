import fc from 'fast-check';
import t from 'tap';
import type { Clock } from '../../../src/clock.ts';
import { createCheckSchedule, createTimingWheel } from '../../../src/engine/host/check-schedule.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** More than any test needs. */
const SLOTS = 1_000_000;

/** A clock that a test sets. */
function handClock(): Clock & { wall: number; mono: number } {
  const clock = {
    wall: 1_800_000_000_000,
    mono: 0,
    now: () => clock.wall,
    monotonic: () => clock.mono,
    after: () => () => {},
    every: () => () => {},
  };
  return clock;
}

t.test('it agrees with a naive model under any sequence of moves', async () => {
  const move = fc.record({
    kind: fc.constantFrom('add', 'remove', 'wake', 'hasten', 'turn', 'take'),
    id: fc.integer({ min: 1, max: 12 }),
    ms: fc.nat(2_000),
  });
  fc.assert(
    fc.property(fc.array(move, { maxLength: 120 }), (moves) => {
      const clock = handClock();
      const schedule = createCheckSchedule(clock, 10, SLOTS);
      const due = new Map<number, number>();
      const queued = new Set<number>();
      for (const { kind, id, ms } of moves) {
        const at = clock.now() + ms;
        switch (kind) {
          case 'add':
            if (due.has(id)) break;
            schedule.add(id);
            due.set(id, Number.POSITIVE_INFINITY);
            break;
          case 'remove':
            schedule.remove(id);
            due.delete(id);
            queued.delete(id);
            break;
          case 'wake':
            schedule.wake(id, at);
            if (due.has(id)) due.set(id, at);
            queued.delete(id);
            break;
          case 'hasten':
            schedule.hasten(id, at);
            if (due.has(id) && !queued.has(id)) due.set(id, Math.min(at, due.get(id) ?? 0));
            break;
          case 'turn':
            // Whole ticks, and one more for what was scheduled into the tick under way.
            clock.mono += Math.ceil(ms / 10) * 10 + 10;
            clock.wall += Math.ceil(ms / 10) * 10 + 10;
            schedule.turn();
            for (const [service, time] of due)
              if (Math.ceil(time / 10) * 10 <= clock.wall) queued.add(service);
            break;
          case 'take': {
            const taken: number[] = [];
            const told = schedule.take(SLOTS, (serviceId, lateMs) => {
              taken.push(serviceId);
              if (lateMs !== clock.now() - (due.get(serviceId) ?? 0)) throw new Error(`late by ${lateMs}`);
            });
            if (told !== queued.size > 0) throw new Error(`told ${told} of ${queued.size}`);
            for (const service of taken) {
              if (!queued.delete(service)) throw new Error(`${service} was not due`);
              due.set(service, Number.POSITIVE_INFINITY);
            }
          }
        }
      }
    }),
    { numRuns: propertyRuns(150) },
  );
});

t.test('it takes services in order of their due times, and removed ones never', async (t) => {
  const clock = createFakeClock();
  const schedule = createCheckSchedule(clock, 10, SLOTS);
  for (const [id, ms] of [
    [1, 30],
    [2, 10],
    [3, 20],
    [4, 20],
  ] as const) {
    schedule.add(id);
    schedule.wake(id, clock.now() + ms);
  }
  await clock.advance(40);
  schedule.turn();
  schedule.remove(3);
  schedule.add(5);
  const taken: (readonly [number, number | null])[] = [];
  while (schedule.take(SLOTS, (id, lateMs) => taken.push([id, lateMs])));
  t.same(taken, [
    [2, 30],
    [4, 20],
    [1, 10],
  ]);
});

t.test('it keeps due times when the wall clock is set', async (t) => {
  const clock = handClock();
  const schedule = createCheckSchedule(clock, 10, SLOTS);
  schedule.add(1);
  schedule.wake(1, clock.wall + 1_000);
  clock.wall -= 86_400_000;
  clock.mono = 990;
  schedule.turn();
  t.equal(
    schedule.take(SLOTS, () => {}),
    false,
  );
  clock.mono = 1_000;
  schedule.turn();
  t.equal(
    schedule.take(SLOTS, (_, lateMs) => t.equal(lateMs, 0)),
    true,
  );
});

t.test('it keeps the order of arrival, also when the queue never becomes empty', async (t) => {
  const clock = handClock();
  const schedule = createCheckSchedule(clock, 10, SLOTS);
  const ids = Array.from({ length: 10_000 }, (_, index) => index + 1);
  for (const id of ids) {
    schedule.add(id);
    schedule.wake(id, clock.wall);
  }
  const order: number[] = [];
  for (let round = 0; round < 4; round++) {
    clock.mono += 20;
    clock.wall += 20;
    schedule.turn();
    for (let count = 0; count < 9_000; count++) {
      schedule.take(SLOTS, (id) => {
        order.push(id);
        schedule.wake(id, clock.wall);
      });
    }
    t.equal(schedule.waiting, 1_000, `round ${round}`);
  }
  t.same(order, [...ids, ...ids, ...ids, ...ids].slice(0, 36_000));
});

t.test('it keeps due times that lie further ahead than its wheel reaches', async (t) => {
  const clock = handClock();
  const schedule = createCheckSchedule(clock, 2.5, SLOTS);
  const HOUR = 3_600_000;
  for (const [id, hours] of [
    [1, 11],
    [2, 13],
    [3, 15],
    [4, 24],
  ] as const) {
    schedule.add(id);
    schedule.wake(id, clock.wall + hours * HOUR);
  }
  schedule.hasten(3, clock.wall + 14 * HOUR);
  const taken: (readonly [number, number])[] = [];
  for (const hours of [10.99, 11, 12.99, 13, 13.99, 14, 23.99, 24]) {
    clock.mono = hours * HOUR;
    schedule.turn();
    while (schedule.take(SLOTS, (id) => taken.push([id, hours])));
  }
  t.same(taken, [
    [1, 11],
    [2, 13],
    [3, 14],
    [4, 24],
  ]);
});

t.test('it agrees with a naive model under any sequence of moves', async () => {
  const move = fc.oneof(
    fc.record({ kind: fc.constant('schedule' as const), entry: fc.nat(40), ms: fc.nat(900_000) }),
    fc.record({ kind: fc.constant('cancel' as const), entry: fc.nat(40), ms: fc.constant(0) }),
    fc.record({ kind: fc.constant('advance' as const), entry: fc.constant(0), ms: fc.nat(400_000) }),
  );
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
      const wheel = createTimingWheel(5_000, 10);
      const model = new Map<number, number>();
      let now = 5_000;
      for (const { kind, entry, ms } of moves) {
        if (kind === 'schedule') {
          wheel.schedule(entry, now + ms);
          const nextTick = Math.floor((now - 5_000) / 10) + 1;
          model.set(entry, Math.max(nextTick, Math.ceil((now + ms - 5_000) / 10)));
        } else if (kind === 'cancel') {
          wheel.cancel(entry);
          model.delete(entry);
        } else {
          now += ms;
          const fired: number[] = [];
          wheel.advance(now, (due) => fired.push(due));
          const tick = Math.floor((now - 5_000) / 10);
          const expected = [...model].filter(([, at]) => at <= tick).sort((a, b) => a[1] - b[1]);
          for (const [due] of expected) model.delete(due);
          const same =
            JSON.stringify([...fired].sort()) === JSON.stringify(expected.map(([due]) => due).sort());
          if (!same) throw new Error(`fired ${fired}, expected ${expected}`);
        }
        if (wheel.size !== model.size) throw new Error(`size ${wheel.size}, expected ${model.size}`);
      }
    }),
    { numRuns: propertyRuns(100) },
  );
});

t.test('it calls entries in order of ticks, and in order of scheduling within a tick', async (t) => {
  const wheel = createTimingWheel(0, 10);
  for (const [entry, due] of [
    [1, 30],
    [2, 20],
    [3, 30],
    [4, 5],
  ] as const)
    wheel.schedule(entry, due);
  const fired: number[] = [];
  wheel.advance(100, (entry) => fired.push(entry));
  t.same(fired, [4, 2, 1, 3]);
});

t.test('it never calls early and lets an entry be scheduled again while it is called', async (t) => {
  const wheel = createTimingWheel(0, 10);
  wheel.schedule(1, 41);
  let calls = 0;
  wheel.advance(49, () => calls++);
  t.equal(calls, 0);
  wheel.advance(50, (entry) => {
    calls++;
    wheel.schedule(entry, 0);
  });
  t.equal(calls, 1);
  wheel.advance(60, () => calls++);
  t.equal(calls, 2);
});

t.test('it takes a million entries', async (t) => {
  const wheel = createTimingWheel(0, 10);
  for (let entry = 0; entry < 1_000_000; entry++) wheel.schedule(entry, (entry * 7) % 300_000);
  let calls = 0;
  wheel.advance(300_010, () => calls++);
  t.equal(calls, 1_000_000);
});

t.test('it works beyond the number of ticks that an Int32 can contain', async (t) => {
  const wheel = createTimingWheel(0, 10);
  for (const start of [2 ** 31 * 10 - 50, 2 ** 32 * 10 - 50, 3e12]) {
    wheel.advance(start, () => {});
    const fired: number[] = [];
    wheel.schedule(1, start + 30);
    wheel.schedule(2, start + 300_000);
    wheel.schedule(3, start + 400_000);
    for (const [ms, expected] of [
      [20, []],
      [100, [1]],
      [299_900, [1]],
      [300_010, [1, 2]],
      [399_900, [1, 2]],
      [400_010, [1, 2, 3]],
    ] as const) {
      wheel.advance(start + ms, (entry) => fired.push(entry));
      t.same(fired, expected, `${ms} ms after ${start}`);
    }
  }
});
