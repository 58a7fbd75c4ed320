/** Long windows of the embedded sample store: answered from days as a whole, with nothing counted twice or not at all. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { cellsOf } from '../../../src/domain/picture.ts';
import type { Bucket, Sample } from '../../../src/domain/sample.ts';
import { packOutcome, packSamples } from '../../../src/store/samples/encoding.ts';
import { SampleEngine } from '../../../src/store/samples/sample-engine.ts';
import { openSamplesDatabase } from '../../../src/store/samples/samples-database.ts';
import {
  addSample,
  decodeDayFigures,
  emptySummary,
  encodeDay,
  quantileOf,
} from '../../../src/store/samples/summary.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { naiveBuckets, sampleAt } from '../samples-contract.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2025, 9, 1);
const DAYS = 400;
const NOW = START + DAYS * DAY + 7 * HOUR;

/** A sample each seven hours and a bit, so that they fall on all times of day; some are bad, some untrusted. */
const SAMPLES: readonly Sample[] = Array.from(
  { length: Math.floor((NOW - START) / (7 * HOUR + 60_007)) },
  (_, index) =>
    sampleAt(START + index * (7 * HOUR + 60_007), {
      latencyMs: 20 + ((index * 7_919) % 5_000),
      status: index % 19 === 0 ? 'down' : index % 7 === 0 ? 'slow' : 'up',
      suspect: index % 31 === 0,
    }),
);

/** A store with all of them in blocks and summaries; single samples are kept for `rawDays`. */
async function openYear(t: Test, rawDays: number) {
  const dataDir = t.testdir();
  const open = () =>
    new SampleEngine({
      database: openSamplesDatabase(dataDir),
      rawRetentionMs: rawDays * DAY,
      rollupRetentionMs: 800 * DAY,
      now: () => NOW,
    });
  const engine = open();
  t.teardown(() => engine.close());
  engine.append(packSamples(SAMPLES));
  await engine.compact();
  return { engine, dataDir };
}

/** Compares: what is counted to the last sample, what is measured within 1 %. */
function isNear(given: readonly Bucket[], wanted: readonly Bucket[]): string | null {
  if (given.length !== wanted.length) return `${given.length} buckets for ${wanted.length}`;
  for (const [place, bucket] of given.entries()) {
    const expected = wanted[place] as Bucket;
    for (const name of [
      'startAt',
      'endAt',
      'count',
      'upCount',
      'slowCount',
      'downCount',
      'suspectCount',
    ] as const)
      if (bucket[name] !== expected[name]) return `${name} ${bucket[name]} for ${expected[name]} in ${place}`;
    for (const name of ['meanMs', 'p50Ms', 'p95Ms', 'p99Ms'] as const) {
      const [is, should] = [bucket[name], expected[name]];
      if ((is === null) !== (should === null)) return `${name} ${is} for ${should} in ${place}`;
      if (Math.abs((is ?? 0) - (should ?? 0)) > (should ?? 0) * 0.01 + 1)
        return `${name} ${is} for ${should} in ${place}`;
    }
  }
  return null;
}

t.test('it counts every sample of a long window once, wherever the window and its steps begin', async (t) => {
  const { engine } = await openYear(t, 500);
  fc.assert(
    fc.property(
      fc.integer({ min: -3 * DAY, max: 200 * DAY }),
      fc.integer({ min: 93 * DAY, max: 420 * DAY }),
      fc.oneof(
        fc.constantFrom(DAY, 2 * DAY, 7 * DAY, 500 * DAY, 12 * HOUR),
        fc.integer({ min: 11 * HOUR, max: 90 * DAY }),
      ),
      fc.boolean(),
      (offset, length, stepMs, aligned) => {
        const at = START + offset;
        const from = aligned ? Math.floor(at / DAY) * DAY : at;
        const query = { serviceId: 1, from, to: from + length, stepMs };
        const problem = isNear(engine.query(query), naiveBuckets(SAMPLES, 1, from, query.to, stepMs));
        if (problem !== null) throw new Error(problem);
      },
    ),
    { numRuns: propertyRuns(20) },
  );
});

t.test('the cells of a heat map are those of its buckets', async (t) => {
  const { engine, dataDir } = await openYear(t, 90);
  // Days without a summary, with a damaged one, and with samples that came late.
  const file = new DatabaseSync(join(dataDir, 'samples.sqlite'));
  file.exec(`DELETE FROM days WHERE key % 11 = 0; UPDATE days SET bytes = x'00FF' WHERE key % 13 = 0;
    UPDATE days SET bytes = bytes || bytes WHERE key % 17 = 0`);
  file.close();
  engine.append(packSamples([sampleAt(START + 200 * DAY + 1, { status: 'down', latencyMs: 3 })]));
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: -3, max: 200 }),
      fc.integer({ min: 1, max: 400 }),
      fc.constantFrom(DAY, DAY, 2 * DAY),
      fc.constantFrom(0, 0, HOUR),
      fc.constantFrom(0, 0, HOUR),
      async (offset, days, stepMs, shift, rest) => {
        const from = START + offset * DAY + shift;
        const query = { serviceId: 1, from, to: from + days * DAY + rest, stepMs };
        const [cells = new Uint8Array()] = await engine.cells([query]);
        for (const cell of cells) seen.add(cell);
        return Buffer.from(cells).equals(cellsOf(engine.query(query)));
      },
    ),
    { numRuns: propertyRuns(20) },
  );
  t.ok(seen.size >= 4, 'of several levels');
});

t.test('the figures of a day are those of its summary', async (t) => {
  const outcome = fc.record({
    status: fc.constantFrom('up', 'slow', 'down'),
    latencyMs: fc.option(fc.integer({ min: 0, max: 20_000 })),
    statusCode: fc.constant(200),
    suspect: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 100, size: 'max' }), (outcomes) => {
      const day = emptySummary();
      for (const each of outcomes) addSample(day, packOutcome(each));
      const [upCount, slowCount, downCount] = day.counts;
      t.strictSame(decodeDayFigures(encodeDay(day)), {
        count: upCount + slowCount + downCount,
        slowCount,
        downCount,
        suspectCount: day.suspect,
        p95Ms: quantileOf(
          [...day.sketch].sort((a, b) => a[0] - b[0]),
          day.latencyCount,
          0.95,
        ),
      });
    }),
    { numRuns: propertyRuns(200) },
  );
});

t.test('a year by the day needs neither samples nor hours', async (t) => {
  const { engine, dataDir } = await openYear(t, 90);
  const query = { serviceId: 1, from: NOW - (NOW % DAY) - 365 * DAY, to: NOW - (NOW % DAY), stepMs: DAY };
  const wanted = naiveBuckets(SAMPLES, 1, query.from, query.to, query.stepMs);
  t.equal(isNear(engine.query(query), wanted), null);
  const file = new DatabaseSync(join(dataDir, 'samples.sqlite'));
  file.exec('DELETE FROM blocks; DELETE FROM summaries');
  file.close();
  t.equal(isNear(engine.query(query), wanted), null);
});

t.test('it counts late samples, before and after they are in their block', async (t) => {
  const { engine } = await openYear(t, 500);
  const late = sampleAt(START + 200 * DAY + 5 * HOUR + 1, { status: 'down', latencyMs: 3 });
  const query = { serviceId: 1, from: START, to: START + DAYS * DAY, stepMs: 10 * DAY };
  const wanted = naiveBuckets([...SAMPLES, late], 1, query.from, query.to, query.stepMs);
  engine.append(packSamples([late]));
  t.equal(isNear(engine.query(query), wanted), null);
  await engine.compact();
  t.equal(isNear(engine.query(query), wanted), null);
});

t.test('it reads the summaries of an older version', async (t) => {
  const { engine, dataDir } = await openYear(t, 90);
  const file = new DatabaseSync(join(dataDir, 'samples.sqlite'));
  file.exec('DELETE FROM days');
  file.close();
  const query = { serviceId: 1, from: START, to: START + DAYS * DAY, stepMs: DAY };
  const wanted = naiveBuckets(SAMPLES, 1, query.from, query.to, query.stepMs);
  t.equal(isNear(engine.query(query), wanted), null);
  await engine.compact();
  t.equal(isNear(engine.query(query), wanted), null);
});

t.test('it deletes days with their hours', async (t) => {
  let now = NOW;
  const engine = new SampleEngine({
    database: openSamplesDatabase(t.testdir()),
    rawRetentionMs: 10 * DAY,
    rollupRetentionMs: 100 * DAY,
    now: () => now,
  });
  t.teardown(() => engine.close());
  const early = Array.from({ length: 61 }, (_, day) => sampleAt(NOW - day * DAY, { serviceId: 2 }));
  engine.append(packSamples([...early, sampleAt(NOW - 60 * DAY), sampleAt(NOW - DAY)]));
  await engine.compact();
  const count = () => engine.query({ serviceId: 1, from: START, to: NOW + DAY, stepMs: 500 * DAY })[0]?.count;
  t.equal(count(), 2);
  for (; now < NOW + 60 * DAY; now += DAY) {
    engine.append(packSamples([sampleAt(now + DAY, { serviceId: 2 })]));
    await engine.compact();
  }
  await engine.compact();
  t.equal(count(), 1);
});
