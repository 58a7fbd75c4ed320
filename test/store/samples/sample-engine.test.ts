/** The embedded sample store under a wall clock that is wrong: nothing that is young may be deleted. */
import t, { type Test } from 'tap';
import { packSamples } from '../../../src/store/samples/encoding.ts';
import { SampleEngine } from '../../../src/store/samples/sample-engine.ts';
import { openSamplesDatabase } from '../../../src/store/samples/samples-database.ts';
import { sampleAt } from '../samples-contract.ts';

const DAY = 86_400_000;
const HOUR = DAY / 24;
const NOON = Date.UTC(2026, 10, 3, 12);
const [RAW_DAYS, ROLLUP_DAYS] = [5, 15];

/** A store in which a service was checked every 6 hours for so many days. */
async function openStore(t: Test, days: number, dataDir = t.testdir()) {
  const clock = { now: NOON - days * DAY };
  const open = () =>
    new SampleEngine({
      database: openSamplesDatabase(dataDir),
      rawRetentionMs: RAW_DAYS * DAY,
      rollupRetentionMs: ROLLUP_DAYS * DAY,
      now: () => clock.now,
    });
  const first = open();
  for (; clock.now < NOON; clock.now += DAY / 4) {
    first.append(packSamples([sampleAt(clock.now)]));
    await first.compact();
  }
  first.close();
  const engine = open();
  t.teardown(() => engine.close());
  return {
    clock,
    engine,
    /** Checks the service for so long, as often. */
    async check(ms: number, everyMs = 3 * HOUR) {
      for (const end = clock.now + ms; clock.now < end; clock.now += everyMs) {
        engine.append(packSamples([sampleAt(clock.now)]));
        await engine.compact();
      }
    },
    /** Single samples of the service before noon, and samples in its history of the last days. */
    held() {
      const single = engine.newest(1, 100_000).filter(({ at }) => at < NOON).length;
      const window = { serviceId: 1, from: NOON - days * DAY, to: NOON, stepMs: days * DAY };
      return { single, counted: engine.query(window)[0]?.count };
    },
  };
}

for (const [name, ms] of [
  ['an hour', HOUR],
  ['a day', DAY],
  ['a month', 31 * DAY],
  ['a year', 365 * DAY],
  ['ten years', 3_650 * DAY],
] as const)
  for (const [direction, sign] of [
    ['ahead', 1],
    ['back', -1],
  ] as const)
    t.test(`it keeps what is young while the clock is ${name} ${direction}, and afterwards`, async (t) => {
      const { clock, engine, check, held } = await openStore(t, RAW_DAYS);
      t.same(held(), { single: RAW_DAYS * 4, counted: RAW_DAYS * 4 });
      clock.now += sign * ms;
      await engine.compact();
      t.same(held(), { single: RAW_DAYS * 4, counted: RAW_DAYS * 4 }, 'at once');
      await check(6 * HOUR);
      // The day on which the clock is wrong is a day more, for which the oldest one goes: its afternoon is at the edge.
      // A clock that is behind by less than the history writes into it.
      const isYoung = () => held().single >= RAW_DAYS * 4 - 2 && (held().counted ?? 0) >= RAW_DAYS * 4;
      t.ok(isYoung(), 'after six hours');
      clock.now = NOON + 6 * HOUR;
      await engine.compact();
      t.ok(isYoung(), 'when it is right again');
    });

t.test('each day on which the clock is ahead costs the oldest day', async (t) => {
  const { clock, check, held } = await openStore(t, RAW_DAYS);
  clock.now += 3_650 * DAY;
  await check(DAY);
  // From noon to noon are two days of the calendar. Two samples of the oldest day, and four of the next, are gone.
  t.same(held(), { single: RAW_DAYS * 4 - 6, counted: RAW_DAYS * 4 });
});

t.test(
  'a program that was off for long deletes nothing at its start, and what is old as days pass',
  async (t) => {
    const { clock, engine, check, held } = await openStore(t, RAW_DAYS);
    clock.now += 100 * DAY;
    await engine.compact();
    t.same(held(), { single: RAW_DAYS * 4, counted: RAW_DAYS * 4 });
    await check((RAW_DAYS + 1) * DAY, DAY);
    t.same(held(), { single: 0, counted: RAW_DAYS * 4 }, 'hours are left');
    await check((ROLLUP_DAYS - RAW_DAYS + 1) * DAY, DAY);
    t.same(held(), { single: 0, counted: 0 });
  },
);

t.test(
  'the summary of a day has all of it, although the clock said meanwhile that it was over',
  async (t) => {
    const { clock, check, engine } = await openStore(t, 1);
    clock.now += 2 * DAY;
    await engine.compact();
    clock.now -= 2 * DAY;
    await check(15 * HOUR);
    const from = Math.floor(NOON / DAY) * DAY;
    // Windows of more than 92 days are answered from summaries.
    const days = engine.query({ serviceId: 1, from: from - 100 * DAY, to: from + DAY, stepMs: DAY });
    t.equal(days.at(-1)?.count, 2 + 4);
  },
);
