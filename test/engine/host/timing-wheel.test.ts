import fc from 'fast-check';
import t from 'tap';
import { createTimingWheel } from '../../../src/engine/host/timing-wheel.ts';
import { propertyRuns } from '../../support/property-runs.ts';

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
