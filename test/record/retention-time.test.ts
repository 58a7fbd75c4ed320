/** The retention time over a real registry: wrong clocks, restarts, and several readers. */
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/durations.ts';
import { unknownStatus } from '../../src/domain/status/current.ts';
import { createRetentionTime } from '../../src/record/retention-time.ts';
import { entry, NOON, stay } from '../store/registry-fixtures.ts';
import { openRegistryHere } from '../support/registry-here.ts';

const YEAR_MS = 365 * DAY_MS;

/** A registry whose newest check was at NOON, and clocks that a test sets. */
async function createWorld(t: Test) {
  const registry = await openRegistryHere(t.testdir());
  t.teardown(() => registry.close());
  await registry.putCatalogue([entry('a')]);
  await registry.commitUpdates([stay(unknownStatus(1), NOON)]);
  let [elapsedMs, aheadMs] = [0, 0];
  const now = () => Math.floor(NOON + elapsedMs + aheadMs);
  const clock = { ...systemClock, now, monotonic: () => elapsedMs };
  return {
    registry,
    /** What a process that starts now reads. */
    open: () => createRetentionTime({ registry, clock }),
    pass(ms: number): void {
      elapsedMs += ms;
    },
    /** How far the wall clock is ahead from now on, milliseconds. */
    setAhead(ms: number): void {
      aheadMs = ms;
    },
  };
}

t.test('it goes with a clock that is right, also over a restart', async (t) => {
  const { open, pass } = await createWorld(t);
  const read = open();
  t.equal(await read(), NOON);
  pass(HOUR_MS);
  t.equal(await read(), NOON + HOUR_MS);
  pass(HOUR_MS);
  const again = open();
  t.equal(await again(), NOON + HOUR_MS, 'what passed between the processes is made up for');
  pass(HOUR_MS);
  t.equal(await again(), NOON + 3 * HOUR_MS);
});

for (const [name, ms] of [
  ['an hour', HOUR_MS],
  ['a day', DAY_MS],
  ['a year', YEAR_MS],
] as const) {
  t.test(`a clock that is ${name} ahead at the first start of all is not believed`, async (t) => {
    const { open, pass, setAhead } = await createWorld(t);
    setAhead(ms);
    t.equal(await open()(), NOON);
    const read = open();
    t.equal(await read(), NOON, 'and not after a restart');
    pass(20 * 60_000);
    t.equal(await read(), NOON + 40 * 60_000, 'it moves twice as fast as time at the most');
    setAhead(0);
    t.equal(await read(), NOON + 20 * 60_000, 'it is never later than the clock');
  });

  t.test(`a clock that is ${name} behind makes nothing older, and does not move it back`, async (t) => {
    const { open, pass, setAhead } = await createWorld(t);
    const read = open();
    pass(HOUR_MS);
    await read();
    setAhead(-ms);
    t.equal(await read(), NOON + HOUR_MS - ms);
    setAhead(0);
    t.equal(await read(), NOON + HOUR_MS);
  });
}

t.test('two readers of a registry agree, and do not move it faster', async (t) => {
  const { open, pass, setAhead } = await createWorld(t);
  const [one, other] = [open(), open()];
  await one();
  await other();
  setAhead(YEAR_MS);
  pass(HOUR_MS);
  t.equal(await one(), NOON + 2 * HOUR_MS);
  t.equal(await other(), NOON + 2 * HOUR_MS);
  pass(HOUR_MS);
  t.equal(await other(), NOON + 4 * HOUR_MS);
  t.strictSame(await Promise.all([one(), one()]), [NOON + 4 * HOUR_MS, NOON + 4 * HOUR_MS]);
});

t.test(
  'it is whole milliseconds, though the monotonic clock and an earlier version have fractions',
  async (t) => {
    const { registry, open, pass } = await createWorld(t);
    const read = open();
    await read();
    pass(0.219);
    t.equal(await read(), NOON);
    pass(HOUR_MS + 0.3);
    t.equal(await read(), NOON + HOUR_MS);
    await registry.setFact('retention_time', String(NOON + HOUR_MS + 0.219));
    t.equal(await open()(), NOON + HOUR_MS);
  },
);

t.test('a registry that takes no writes stops nothing', async (t) => {
  const { registry } = await createWorld(t);
  let elapsedMs = 0;
  const clock = { ...systemClock, now: () => NOON + elapsedMs, monotonic: () => elapsedMs };
  const full = { ...registry, setFact: () => Promise.reject(new Error('the disk is full')) };
  const read = createRetentionTime({ registry: full, clock });
  t.equal(await read(), NOON);
  elapsedMs += HOUR_MS;
  t.equal(await read(), NOON + HOUR_MS);
});
