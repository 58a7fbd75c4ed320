import t from 'tap';
import { createPace } from '../../src/engine/host/pace.ts';

/** Waiting ones that make no burst. */
const FEW = 10;

/** The pace after so many came in each of many ticks. */
function usedTo(perTick: number) {
  const pace = createPace(10);
  for (let tick = 0; tick < 1_000; tick++) pace.note(perTick);
  return pace;
}

t.test('it begins few at a time, and a burst in parts', async (t) => {
  const pace = createPace(10);
  t.same(
    [0, 1, 8, 256, 257, 500, 10_000].map((waiting) => pace.starts(waiting)),
    [8, 8, 8, 8, 9, 16, 313],
  );
});

t.test('it takes a single burst for no habit', async (t) => {
  const pace = usedTo(0);
  pace.note(500);
  t.equal(pace.starts(100), 8);
});

t.test('it begins what comes all the time faster than it comes', async (t) => {
  for (const perSecond of [1_000, 3_000, 5_000, 20_000]) {
    const pace = usedTo(perSecond / 100);
    const beginsPerSecond = pace.starts(FEW) * 500;
    t.ok(beginsPerSecond >= perSecond * 1.5, `${perSecond} come, ${beginsPerSecond} can be begun`);
  }
});

t.test('it forgets a habit that has ended', async (t) => {
  const pace = usedTo(200);
  t.equal(pace.starts(FEW), 60);
  for (let tick = 0; tick < 1_000; tick++) pace.note(0);
  t.equal(pace.starts(FEW), 8);
});
