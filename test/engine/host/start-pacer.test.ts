import t from 'tap';
import { createStartPacer } from '../../../src/engine/host/start-pacer.ts';

/** Waiting ones that make no burst. */
const FEW = 10;

/** The pacer after so many came in each of many ticks. */
function usedTo(perTick: number) {
  const pacer = createStartPacer(10);
  for (let tick = 0; tick < 1_000; tick++) pacer.note(perTick);
  return pacer;
}

t.test('it starts few at a time, and a burst in parts', async (t) => {
  const pacer = createStartPacer(10);
  t.same(
    [0, 1, 8, 256, 257, 500, 10_000].map((waiting) => pacer.starts(waiting)),
    [8, 8, 8, 8, 9, 16, 313],
  );
});

t.test('a single burst is no constant load', async (t) => {
  const pacer = usedTo(0);
  pacer.note(500);
  t.equal(pacer.starts(100), 8);
});

t.test('a constant load starts faster than it becomes due', async (t) => {
  for (const perSecond of [1_000, 3_000, 5_000, 20_000]) {
    const pacer = usedTo(perSecond / 100);
    const beginsPerSecond = pacer.starts(FEW) * 500;
    t.ok(beginsPerSecond >= perSecond * 1.5, `${perSecond} come, ${beginsPerSecond} can be begun`);
  }
});

t.test('it adapts when a constant load ends', async (t) => {
  const pacer = usedTo(200);
  t.equal(pacer.starts(FEW), 60);
  for (let tick = 0; tick < 1_000; tick++) pacer.note(0);
  t.equal(pacer.starts(FEW), 8);
});

t.test('a thread is busy from 500 checks a second on, not by a single burst', async (t) => {
  t.same(
    [0, 4, 6, 10].map((perTick) => usedTo(perTick).isBusy()),
    [false, false, true, true],
  );
  const pacer = usedTo(0);
  pacer.note(300);
  t.equal(pacer.isBusy(), false);
});
