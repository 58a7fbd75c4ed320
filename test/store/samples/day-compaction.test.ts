/** Samples that come when those of their day have been deleted or cannot be read. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { packSamples } from '../../../src/store/samples/encoding.ts';
import { SampleEngine } from '../../../src/store/samples/sample-engine.ts';
import { openSamplesDatabase } from '../../../src/store/samples/samples-database.ts';
import { sampleAt } from '../samples-contract.ts';

const DAY = 86_400_000;
const FIRST = Date.UTC(2026, 0, 1);

/** A store that keeps single samples for 2 days, with 24 samples of the first day. */
async function openStore(t: Test) {
  const dataDir = t.testdir();
  const clock = { now: FIRST };
  const engine = new SampleEngine({
    database: openSamplesDatabase(dataDir),
    ...{ rawRetentionMs: 2 * DAY, rollupRetentionMs: 20 * DAY },
    now: () => clock.now,
  });
  t.teardown(() => engine.close());
  const append = (at: number, serviceId = 1) => engine.append(packSamples([sampleAt(at, { serviceId })]));
  for (let hour = 0; hour < 24; hour++) append(FIRST + (hour * DAY) / 24);
  await engine.compact();
  return {
    ...{ engine, dataDir, append },
    /** Lets days pass on which another service is checked. */
    async live(days: number) {
      for (let day = 0; day < days; day++) {
        clock.now += DAY;
        append(clock.now, 2);
        await engine.compact();
      }
    },
    /** Samples in the history of the first day. */
    count: () => engine.query({ serviceId: 1, from: FIRST, to: FIRST + DAY, stepMs: DAY })[0]?.count,
  };
}

t.test('a late sample does not replace the summary of a day whose samples were deleted', async (t) => {
  const { engine, append, live, count } = await openStore(t);
  await live(5);
  t.same([engine.newest(1, 100).length, count()], [0, 24], 'single samples are gone');
  append(FIRST + 90_000);
  t.equal(count(), 24, 'while it is in memory');
  await engine.compact();
  t.equal(count(), 24, 'and when it would be in a block');
});

t.test('nor that of a day whose samples are damaged', async (t) => {
  const { engine, dataDir, append, live, count } = await openStore(t);
  await live(1);
  const file = new DatabaseSync(join(dataDir, 'samples.sqlite'));
  file.exec('UPDATE blocks SET bytes = zeroblob(9) WHERE key < 2 * 65536');
  file.close();
  append(FIRST + 90_000);
  t.equal(count(), 24);
  await engine.compact();
  t.equal(count(), 24);
});

t.test('a late sample counts while its day has its samples', async (t) => {
  const { engine, append, live, count } = await openStore(t);
  await live(1);
  append(FIRST + 90_000);
  t.equal(count(), 25);
  await engine.compact();
  t.equal(count(), 25);
});

const NOW = Date.UTC(2026, 10, 20, 12);
const SERVICES = 400;
const DAYS = 4;
const A_DAY = 24;

t.test(
  'a query that comes while samples are sealed or deleted is answered at once, and counts each once',
  async (t) => {
    const dataDir = t.testdir();
    const open = (rawDays: number) =>
      new SampleEngine({
        database: openSamplesDatabase(dataDir),
        rawRetentionMs: rawDays * DAY,
        rollupRetentionMs: 100 * DAY,
        now: () => NOW,
      });
    let engine = open(20);
    t.teardown(() => engine.close());
    const addDays = (from: number) => {
      for (let serviceId = 1; serviceId <= SERVICES; serviceId++)
        engine.append(
          packSamples(
            Array.from({ length: DAYS * A_DAY }, (_, index) =>
              sampleAt(from + index * (DAY / A_DAY), { serviceId }),
            ),
          ),
        );
    };
    const countOf = (serviceId: number) =>
      engine.query({ serviceId, from: NOW - 50 * DAY, to: NOW + 50 * DAY, stepMs: 100 * DAY })[0]?.count;
    /** Asks while the store compacts; returns how often it was answered before the end. */
    const askMeanwhile = async (expected: number) => {
      let isOver = false;
      const compacting = engine.compact().finally(() => {
        isOver = true;
      });
      let answers = 0;
      for (; !isOver; answers++) {
        const serviceId = 1 + ((answers * 37) % SERVICES);
        const count = countOf(serviceId);
        if (count !== expected) t.equal(count, expected, `service ${serviceId}, answer ${answers}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await compacting;
      return answers;
    };

    addDays(NOW - DAYS * DAY);
    t.ok((await askMeanwhile(DAYS * A_DAY)) > 15, 'it answers between the parts of its work');
    // Late ones of the same days.
    addDays(NOW - DAYS * DAY + 1);
    await askMeanwhile(2 * DAYS * A_DAY);
    engine.close();
    engine = open(1);
    t.ok((await askMeanwhile(2 * DAYS * A_DAY)) > 3);
    t.equal(countOf(SERVICES), 2 * DAYS * A_DAY, 'summaries have what single samples had');
    t.ok(engine.newest(1, 1_000).length < 2 * DAYS * A_DAY, 'and these are gone');
  },
);
