/** The retention time over a real registry: wrong clocks, restarts, and several readers. */
import t, { type Test } from 'tap';
import { type Clock, systemClock } from '../../src/clock.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/durations.ts';
import { unknownStatus } from '../../src/domain/status/current.ts';
import { silentLog } from '../../src/log.ts';
import { createRetentionTime, startRetention } from '../../src/record/retention-time.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import { entry, incident, NOON, stay } from '../store/registry-fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
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

const RETENTION_MS = 30 * DAY_MS;

/** A registry with an incident that ended at NOON, and one that ended 20 days later, when the last check was. */
async function fill(t: Test): Promise<Registry> {
  const registry = await openRegistryHere(t.testdir());
  t.teardown(() => registry.close());
  await registry.putCatalogue([entry('a')]);
  for (const [id, at] of [
    ['first', NOON],
    ['second', NOON + 20 * DAY_MS],
  ] as const)
    await registry.commitUpdates([
      {
        ...stay(unknownStatus(1), at),
        incident: incident(1, id, { status: 'resolved', startedAt: at, resolvedAt: at }),
      },
    ]);
  return registry;
}

function begin(registry: Registry, clock: Clock) {
  const retentionNow = createRetentionTime({ registry, clock });
  return startRetention({ registry, retentionMs: RETENTION_MS, retentionNow, clock, log: silentLog });
}

async function keptAfter(registry: Registry, clock: Clock, wait: () => Promise<void> = async () => {}) {
  const retention = begin(registry, clock);
  await wait();
  await retention.settled();
  await retention.stop();
  return (await registry.listIncidents({ limit: 9, offset: 0 })).map(({ id }) => id);
}

t.test('it deletes what is old, at the start and every hour', async (t) => {
  const registry = await fill(t);
  const clock = createFakeClock(NOON + 20 * DAY_MS);
  const retention = begin(registry, clock);
  t.teardown(retention.stop);
  const kept = async () => {
    await retention.settled();
    return (await registry.listIncidents({ limit: 9, offset: 0 })).map(({ id }) => id);
  };
  t.strictSame(await kept(), ['second', 'first']);
  for (let hours = 0; hours < 10 * 24; hours++) {
    await clock.advance(HOUR_MS);
    await retention.settled();
  }
  t.strictSame(await kept(), ['second', 'first'], 'exactly as old as is kept');
  await clock.advance(HOUR_MS);
  t.strictSame(await kept(), ['second']);
});

t.test('a clock that is a year ahead at the start deletes nothing, also after a restart', async (t) => {
  const registry = await fill(t);
  const ahead = createFakeClock(NOON + 385 * DAY_MS);
  t.strictSame(await keptAfter(registry, ahead), ['second', 'first']);
  t.strictSame(await keptAfter(registry, ahead, () => ahead.advance(5 * HOUR_MS)), ['second', 'first']);
  const right = createFakeClock(NOON + 21 * DAY_MS);
  t.strictSame(await keptAfter(registry, right), ['second', 'first']);
});

t.test('a clock that is set forward for a day while the program runs deletes nothing young', async (t) => {
  const registry = await fill(t);
  const fake = createFakeClock(NOON + 20 * DAY_MS);
  let aheadMs = 0;
  const clock: Clock = { ...fake, now: () => fake.now() + aheadMs };
  const day = async () => {
    for (let hours = 0; hours < 24; hours++) await fake.advance(HOUR_MS);
  };
  const kept = await keptAfter(registry, clock, async () => {
    await day();
    aheadMs = 365 * DAY_MS;
    await day();
    aheadMs = -365 * DAY_MS;
    await day();
    aheadMs = 0;
    await day();
  });
  t.strictSame(kept, ['second', 'first']);
});

t.test('a registry that takes no writes is tried again an hour later', async (t) => {
  const registry = await fill(t);
  let isAway = true;
  const failing: Registry = {
    ...registry,
    forgetOld: async (...args) => {
      if (isAway) throw new Error('the disk is full');
      return await registry.forgetOld(...args);
    },
  };
  const clock = createFakeClock(NOON + 31 * DAY_MS);
  await registry.setFact('retention_time', String(NOON + 31 * DAY_MS));
  t.strictSame(
    await keptAfter(failing, clock, async () => {
      await clock.advance(1);
      isAway = false;
      await clock.advance(HOUR_MS);
    }),
    ['second'],
  );
});
