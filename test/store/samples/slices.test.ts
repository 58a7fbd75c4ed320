/** The embedded sample store while it moves samples into blocks, summarises days and deletes them: queries go on. */
import t from 'tap';
import { packSamples } from '../../../src/store/samples/encoding.ts';
import { SampleEngine } from '../../../src/store/samples/sample-engine.ts';
import { openSamplesDatabase } from '../../../src/store/samples/samples-database.ts';
import { sampleAt } from '../samples-contract.ts';

const DAY = 86_400_000;
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
