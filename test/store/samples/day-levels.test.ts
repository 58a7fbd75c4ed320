/** The levels of days in the embedded sample store: what a heat map of a year shows is what its buckets say, whatever happened. */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { cellsOf } from '../../../src/domain/picture.ts';
import type { Sample } from '../../../src/domain/sample.ts';
import { silentLog } from '../../../src/log.ts';
import { joinLevels, levelOfDay, NO_CHECKS, UNKNOWN_LEVEL } from '../../../src/store/samples/day-levels.ts';
import { createRegionNumbers, packOutcome, packSamples } from '../../../src/store/samples/encoding.ts';
import { SampleEngine } from '../../../src/store/samples/sample-engine.ts';
import { openSamplesDatabase } from '../../../src/store/samples/samples-database.ts';
import { openSamples } from '../../../src/store/samples/sqlite-samples.ts';
import { addSample, addSummary, emptySummary, encodeDay } from '../../../src/store/samples/summary.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { makeSmallDisk } from '../../support/small-disk.ts';
import { sampleAt } from '../samples-contract.ts';

const DAY = 86_400_000;
const START = Date.UTC(2025, 9, 1);
const DAYS = 400;
const SERVICES = [1, 2, 3];
/** What an earlier version leaves: no levels, and nothing that keeps them right. */
const EARLIER_VERSION = `DROP TRIGGER level_after_insert; DROP TRIGGER level_after_update; DROP TRIGGER level_after_delete;
  DROP TABLE levels; DELETE FROM facts WHERE name = 'levels.filled'`;

/** A store in a folder that is opened again and again, under a clock that is set. */
function createWorld(dataDir: string, retentionDays = 300) {
  const clock = { now: START + DAYS * DAY };
  const numbers = createRegionNumbers([]);
  const open = () =>
    new SampleEngine({
      database: openSamplesDatabase(dataDir),
      rawRetentionMs: 30 * DAY,
      rollupRetentionMs: retentionDays * DAY,
      now: () => clock.now,
    });
  let engine = open();
  let isOpen = true;
  return {
    clock,
    get engine() {
      return engine;
    },
    append(samples: readonly Sample[]) {
      const packed = packSamples(samples, numbers.numberOf);
      engine.append(packed, numbers.takeNew());
    },
    /** Changes the file by statements, while it is closed. */
    change(statements: string) {
      engine.close();
      const file = new DatabaseSync(join(dataDir, 'samples.sqlite'));
      file.exec(statements);
      file.close();
      engine = open();
    },
    close() {
      if (isOpen) engine.close();
      isOpen = false;
    },
  };
}

/** The cells of services in a window of days, with those of their buckets. */
async function bothWays(engine: SampleEngine, from: number, days: number) {
  const queries = SERVICES.map((serviceId) => ({ serviceId, from, to: from + days * DAY, stepMs: DAY }));
  const levels = await engine.cells(queries);
  return { levels, buckets: queries.map((query) => cellsOf(engine.query(query))) };
}

const OUTCOMES = fc.record({
  status: fc.constantFrom('up', 'up', 'up', 'slow', 'down'),
  latencyMs: fc.option(fc.constantFrom(20, 480, 500, 501, 1_490, 1_510, 9_000)),
  suspect: fc.boolean(),
});

/** What may happen to a store; days are those since its first one. */
const STEP = fc.oneof(
  fc.record({
    does: fc.constant('append' as const),
    day: fc.integer({ min: 0, max: DAYS }),
    days: fc.constantFrom(1, 1, 40, 200),
    serviceId: fc.constantFrom(...SERVICES),
    region: fc.constantFrom(undefined, undefined, 'eu', 'us'),
    outcomes: fc.array(OUTCOMES, { minLength: 1, maxLength: 6 }),
  }),
  fc.record({ does: fc.constant('compact' as const) }),
  fc.record({ does: fc.constant('nextDay' as const), days: fc.constantFrom(1, 1, 30) }),
  fc.record({
    does: fc.constant('change' as const),
    statements: fc.constantFrom(
      '',
      'DELETE FROM days WHERE key % 5 = 0',
      "UPDATE days SET bytes = x'00FF' WHERE key % 7 = 0",
      'UPDATE days SET bytes = (SELECT bytes FROM days ORDER BY key LIMIT 1) WHERE key % 3 = 0',
      "UPDATE levels SET bytes = x'06'",
      'DELETE FROM levels',
      EARLIER_VERSION,
    ),
  }),
);

t.test('cells are those of the buckets, whatever happens to the days', async (t) => {
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 4, maxLength: 14 }), async (steps) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'upbeat-levels-'));
      const world = createWorld(dataDir);
      try {
        for (const step of steps) {
          if (step.does === 'append')
            world.append(
              Array.from({ length: step.days }, (_, index) =>
                step.outcomes.map((outcome, place) =>
                  sampleAt(START + (step.day + index) * DAY + place * 60_000, {
                    ...outcome,
                    serviceId: step.serviceId,
                    ...(step.region === undefined ? {} : { region: step.region }),
                  }),
                ),
              ).flat(),
            );
          else if (step.does === 'compact') await world.engine.compact();
          else if (step.does === 'nextDay') world.clock.now += step.days * DAY;
          else world.change(step.statements);
          const { levels, buckets } = await bothWays(world.engine, START + 20 * DAY, 365);
          t.strictSame(levels, buckets);
          for (const cell of levels.flatMap((row) => [...row])) seen.add(cell);
        }
      } finally {
        world.close();
        rmSync(dataDir, { recursive: true, force: true });
      }
    }),
    { numRuns: propertyRuns(40) },
  );
  t.ok(seen.size >= 6, 'of nearly all levels');
});

/** Samples of a year, a few a day, one day of each level. */
function samplesOfYear(serviceId: number): Sample[] {
  return Array.from({ length: 365 }, (_, day) =>
    [0, 1, 2].map((place) =>
      sampleAt(START + (day + 30) * DAY + place * 60_000, {
        serviceId,
        status: day % 5 === 0 && place === 0 ? 'down' : day % 5 === 1 ? 'slow' : 'up',
        latencyMs: (day % 7) * 300,
      }),
    ),
  ).flat();
}

/** Takes everything but the levels out of a file. */
const LEVELS_ALONE = `DROP TRIGGER IF EXISTS level_after_delete; DELETE FROM days; DELETE FROM summaries; DELETE FROM blocks`;

/** Leaves the levels, and days of which nothing can be read. */
const SUMMARIES_DAMAGED = `DROP TRIGGER level_after_update; UPDATE days SET bytes = zeroblob(2);
  DELETE FROM summaries; DELETE FROM blocks`;

async function fillYear(t: Test, dataDir: string) {
  const world = createWorld(dataDir, 800);
  t.teardown(world.close);
  for (const serviceId of SERVICES) world.append(samplesOfYear(serviceId));
  await world.engine.compact();
  const { buckets } = await bothWays(world.engine, START + 30 * DAY, 365);
  return { world, buckets };
}

t.test('a heat map of days that are over needs their levels alone', async (t) => {
  const { world, buckets } = await fillYear(t, t.testdir());
  world.change(LEVELS_ALONE);
  const { levels, buckets: without } = await bothWays(world.engine, START + 30 * DAY, 365);
  t.strictSame(levels, buckets);
  t.notSame(without, buckets, 'the days themselves are gone');
});

t.test('a heat map of several regions needs their levels alone on days on which they agree', async (t) => {
  const world = createWorld(t.testdir(), 800);
  t.teardown(world.close);
  const inRegion = (region: string, days: readonly [from: number, to: number]) =>
    samplesOfYear(1)
      .slice(days[0] * 3, days[1] * 3)
      .map((sample) => ({ ...sample, region }));
  // One region was added and one was closed; a few days differ.
  const differing = [51, 152].map((day) =>
    sampleAt(START + (day + 30) * DAY, { serviceId: 1, region: 'us', status: 'down' }),
  );
  world.append([...inRegion('eu', [0, 365]), ...inRegion('us', [100, 365]), ...inRegion('asia', [0, 200])]);
  world.append(differing);
  world.append(samplesOfYear(2).map((sample) => ({ ...sample, region: 'eu' })));
  await world.engine.compact();
  const { levels, buckets } = await bothWays(world.engine, START + 30 * DAY, 365);
  t.strictSame(levels, buckets);
  world.change(SUMMARIES_DAMAGED);
  const { levels: alone, buckets: without } = await bothWays(world.engine, START + 30 * DAY, 365);
  t.notSame(without, buckets, 'the summaries say nothing any more');
  const changed = levels.flatMap((row, of) =>
    [...row].flatMap((cell, day) => (cell === alone[of]?.[day] ? [] : [`${of} ${day}`])),
  );
  t.strictSame(
    changed,
    ['0 51'],
    'one of two days on which they differ: on the other, a failure of one is a failure of all',
  );
});

/** Many of none, so that all levels are met. */
const COUNTS = fc.array(fc.constantFrom(0, 0, 0, 1, 5, 19, 40), { minLength: 6, maxLength: 6 });

t.test('levels of series that are joined are those of all their checks, or unknown', async (t) => {
  const seen = new Set<number>();
  await fc.assert(
    fc.property(fc.array(COUNTS, { minLength: 2, maxLength: 3 }), fc.boolean(), (series, areHealthy) => {
      const summaries = series.map(([fast = 0, fair = 0, long = 0, slow = 0, down = 0, suspect = 0]) => {
        const summary = emptySummary();
        const add = (count: number, status: 'up' | 'slow' | 'down', latencyMs: number | null) => {
          const outcome = packOutcome({ status, latencyMs, statusCode: 200, suspect: false });
          for (let n = 0; n < count; n++) addSample(summary, outcome);
        };
        add(fast, 'up', 400);
        add(fair % 10, 'up', 1_400);
        add(long % 5, 'up', 2_400);
        add(areHealthy ? slow % 3 : slow, 'slow', 5_000);
        add(areHealthy ? 0 : down % 20, 'down', null);
        summary.suspect += suspect % 2;
        return summary;
      });
      const all = emptySummary();
      for (const summary of summaries) addSummary(all, summary);
      const levels = summaries.map((summary) => levelOfDay(encodeDay(summary)) ?? -1);
      const [joined] = joinLevels(levels.map((level) => Uint8Array.of(level)));
      if (joined === UNKNOWN_LEVEL) return new Set(levels.filter((level) => level !== NO_CHECKS)).size > 1;
      seen.add(joined ?? -1);
      return joined === levelOfDay(encodeDay(all));
    }),
    { numRuns: propertyRuns(2_000) },
  );
  t.ok(seen.size >= 4, `of most levels: ${[...seen]}`);
});

t.test('the levels of a file of an earlier version are filled in once the store is open', async (t) => {
  const dataDir = t.testdir();
  const { world, buckets } = await fillYear(t, dataDir);
  world.change(EARLIER_VERSION);
  world.close();
  const store = await openSamples({
    dataDir,
    rawRetentionMs: 30 * DAY,
    rollupRetentionMs: 800 * DAY,
    log: silentLog,
  });
  const file = new DatabaseSync(join(dataDir, 'samples.sqlite'));
  const fact = file.prepare("SELECT value FROM facts WHERE name = 'levels.filled'");
  while (fact.get() === undefined) await store.flush();
  file.exec(LEVELS_ALONE);
  file.close();
  const query = { from: START + 30 * DAY, to: START + 395 * DAY, stepMs: DAY };
  const cells = await store.cells?.(SERVICES.map((serviceId) => ({ serviceId, ...query })));
  await store.close();
  t.strictSame(cells, buckets);
});

t.test('days without a level, or with a damaged one, get it the next day', async (t) => {
  const damages = [
    `${EARLIER_VERSION}; INSERT INTO facts VALUES ('levels.filled', '1')`,
    "UPDATE levels SET bytes = x'06'",
    'UPDATE levels SET bytes = zeroblob(128); UPDATE days SET bytes = bytes',
  ];
  for (const damage of damages) {
    const { world, buckets } = await fillYear(t, t.testdir());
    world.change(damage);
    await world.engine.fillLevels();
    world.clock.now += DAY;
    await world.engine.compact();
    world.change(LEVELS_ALONE);
    t.strictSame((await bothWays(world.engine, START + 30 * DAY, 365)).levels, buckets, damage);
  }
});

t.test('rows of levels go with the days that they are of', async (t) => {
  const dataDir = t.testdir();
  const world = createWorld(dataDir, 40);
  for (let day = 0; day < DAYS; day++) {
    world.clock.now = START + (day + 1) * DAY;
    world.append([sampleAt(START + day * DAY)]);
    if (day % 20 === 19) await world.engine.compact();
  }
  world.close();
  const file = new DatabaseSync(join(dataDir, 'samples.sqlite'));
  t.teardown(() => file.close());
  const read = (query: string) => Number(file.prepare(`SELECT ${query} AS n`).get()?.n);
  t.ok(read('(SELECT count(*) FROM days)') < 70);
  t.ok(read('(SELECT count(*) FROM levels)') <= 2);
});

t.test('a file without levels is read on a full disk', { timeout: 60_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-levels-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'data');
  const disk = await makeSmallDisk(t, dataDir, 8 * 1_048_576);
  if (disk === null) return t.comment('SKIPPED: no namespace of mounts can be made here');
  const [command = '', ...words] = disk.enter;
  const script = join(import.meta.dirname, '../samples-full-disk-steps.ts');
  const run = (step: string) => {
    const child = spawn(command, [...words, process.execPath, script, dataDir, step], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    return text(child.stdout);
  };
  const written = await run(EARLIER_VERSION);
  disk.fill();
  t.equal(await run('read'), written);
  t.match(written, /^cells 1,1,1/);
});
