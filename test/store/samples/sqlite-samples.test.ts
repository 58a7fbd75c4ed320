/** The embedded sample store: the contract, and what only a file on disk can get wrong. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import t from 'tap';
import { systemClock } from '../../../src/clock.ts';
import type { Sample } from '../../../src/domain/sample.ts';
import { silentLog } from '../../../src/log.ts';
import type { SampleQuery } from '../../../src/store/ports/samples.ts';
import { openRegistry } from '../../../src/store/registry/open-registry.ts';
import {
  createRegionNumbers,
  decodeBlock,
  encodeBlock,
  packOutcome,
  packSamples,
} from '../../../src/store/samples/encoding.ts';
import { SampleEngine } from '../../../src/store/samples/sample-engine.ts';
import { openSamplesDatabase } from '../../../src/store/samples/samples-database.ts';
import { openSamples } from '../../../src/store/samples/sqlite-samples.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { openSampleStore } from '../../support/sample-store.ts';
import { naiveBuckets, runSamplesContract, sampleAt } from '../samples-contract.ts';

const DAY = 86_400_000;
/** Each opens files of its own, which takes a tenth of a second. */
const RUNS = propertyRuns(12);
const folders: string[] = [];
const folder = () => {
  const path = mkdtempSync(join(tmpdir(), 'upbeat-samples-'));
  folders.push(path);
  return path;
};
t.after(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});

const NOW = Date.UTC(2026, 10, 3);
const now = () => NOW;

/** The thread's store in this process, with a file and a retention of the test's own. */
function openEngine(dataDir = folder(), now: () => number = Date.now, rawDays = 90, rollupDays = 730) {
  const database = openSamplesDatabase(dataDir);
  const engine = new SampleEngine({
    database,
    rawRetentionMs: rawDays * DAY,
    rollupRetentionMs: rollupDays * DAY,
    now,
  });
  return { engine, dataDir };
}

t.test('a second process reads while the first one writes', (t) => {
  let appends = 0;
  runSamplesContract(t, {
    runs: RUNS,
    async open() {
      const NOW = Date.UTC(2026, 10, 3);
      const now = () => NOW;
      const { engine: writer, dataDir } = openEngine(folder(), now);
      const follower = new SampleEngine({
        database: openSamplesDatabase(dataDir),
        rawRetentionMs: 90 * DAY,
        rollupRetentionMs: 730 * DAY,
        now,
        follows: true,
      });
      const regions = createRegionNumbers([]);
      return {
        async append(samples) {
          writer.append(packSamples(samples, regions.numberOf), regions.takeNew());
          writer.flush();
          // What was read from the journal may be in blocks when it is read again.
          if (appends++ % 2 === 1) await writer.compact();
        },
        query: async (query) => follower.query(query),
        newest: async (serviceId, limit) => follower.newest(serviceId, limit),
        regionsOf: async (serviceId) => follower.regionsOf(serviceId),
        flush: async () => {},
        stats: () => ({ appended: 0, pending: 0, fileBytes: 0 }),
        async close() {
          writer.close();
          follower.close();
        },
      };
    },
  });
  t.end();
});

t.test('it keeps the samples of a former writer that woke, and those of its successor', async (t) => {
  for (const tidies of ['former', 'successor'] as const) {
    const NOW = Date.UTC(2026, 10, 3);
    const now = () => NOW;
    const { engine: former, dataDir } = openEngine(folder(), now);
    former.append(packSamples([sampleAt(now() - 3)]));
    former.flush();
    const { engine: successor } = openEngine(dataDir, now);
    successor.append(packSamples([sampleAt(now() - 2)]));
    successor.flush();
    former.append(packSamples([sampleAt(now() - 1)]));
    former.flush();
    await (tidies === 'former' ? former : successor).compact();
    // A crash: only what is on disk remains.
    const { engine: next } = openEngine(dataDir, now);
    t.same(
      next.newest(1, 10).map(({ at }) => at - now()),
      [-1, -2, -3],
      `tidied by the ${tidies}`,
    );
    for (const engine of [former, successor, next]) engine.close();
  }
});

t.test('while samples are in the journal', (t) => {
  runSamplesContract(t, { runs: RUNS, open: async () => openSampleStore({ now }) });
  t.end();
});

t.test('when samples are in blocks', (t) => {
  runSamplesContract(t, { runs: RUNS, open: async () => openSampleStore({ now, tidies: true }) });
  t.end();
});

t.test(
  'it serves the port through its thread or that of the registry, and keeps everything over a restart',
  async (t) => {
    const dataDir = folder();
    const options = {
      dataDir,
      rawRetentionMs: 90 * DAY,
      rollupRetentionMs: 730 * DAY,

      log: silentLog,
    };
    const now = Date.now();
    const first = await openSamples(options);
    void first.append([sampleAt(now - 2)]);
    await first.append([sampleAt(now - 1), sampleAt(now)]);
    t.equal(first.stats().appended, 3);
    t.equal((await first.newest(1, 10)).length, 3);
    await first.compact();
    await first.append([
      sampleAt(now + 1),
      sampleAt(now + 2, { region: 'us' }),
      sampleAt(now + 3, { region: 'eu' }),
    ]);
    await first.flush();
    t.equal(first.stats().pending, 0);
    t.ok(first.stats().fileBytes > 0);
    await t.rejects(first.query({ serviceId: 1, from: 0, to: 5_000, stepMs: 1 }), /buckets/);
    await first.close();

    const registry = await openRegistry({ dataDir: folder(), log: silentLog, clock: systemClock });
    const second = await openSamples({ ...options, host: registry.hostSamples });
    await second.append([sampleAt(now + 4, { region: 'ap' }), sampleAt(now + 5, { region: 'us' })]);
    t.same(
      (await second.newest(1, 10)).map(({ at, region = '' }) => `${at - now} ${region}`),
      ['5 us', '4 ap', '3 eu', '2 us', '1 ', '0 ', '-1 ', '-2 '],
    );
    await second.close();
    t.equal(await registry.lastServiceId(), 0, 'which goes on');
    await registry.close();
  },
);

t.test(
  'it answers from hours what is out of raw retention, within 1 %, and forgets what is out of both',
  async (t) => {
    let now = Date.UTC(2026, 0, 1);
    const { engine } = openEngine(folder(), () => now, 2, 20);
    t.teardown(() => engine.close());
    const samples: Sample[] = [];
    for (let at = now; at < now + DAY; at += 300_000) {
      const latencyMs = 20 + (((at / 300_000) * 7_919) % 5_000);
      samples.push(
        sampleAt(at, { latencyMs: Math.round(latencyMs), status: latencyMs > 4_500 ? 'slow' : 'up' }),
      );
    }
    samples.push(sampleAt(now + 1_000, { status: 'down', latencyMs: null, statusCode: 0 }));
    for (let at = now; at < now + DAY; at += 600_000)
      samples.push(sampleAt(at, { region: 'us', latencyMs: 6_000 + ((at / 600_000) % 100) }));
    engine.append(
      packSamples(samples, () => 1),
      ['us'],
    );
    await engine.compact();
    const window = { serviceId: 1, from: now, to: now + DAY, stepMs: DAY / 4 };
    const queries = [
      window,
      { ...window, region: { region: 'us', takesUnnamed: false } },
      { ...window, region: { region: 'eu', takesUnnamed: true } },
    ];
    const exactOf = ({ serviceId, from, to, stepMs, region }: SampleQuery) =>
      naiveBuckets(samples, serviceId, from, to, stepMs, region);
    for (const query of queries) t.same(engine.query(query), exactOf(query));

    await livePastDays(engine, 5, () => (now += DAY));
    t.same(engine.newest(1, 5), [], 'single samples are gone');
    t.same(engine.regionsOf(1), ['us']);
    for (const query of queries) {
      const exact = exactOf(query);
      for (const [index, bucket] of engine.query(query).entries()) {
        const expected = exact[index];
        t.match(bucket, {
          count: expected?.count,
          upCount: expected?.upCount,
          downCount: expected?.downCount,
          uptimeRatio: expected?.uptimeRatio,
        });
        for (const name of ['meanMs', 'p50Ms', 'p95Ms', 'p99Ms'] as const) {
          const [given, wanted] = [bucket[name] ?? 0, expected?.[name] ?? 0];
          t.ok(Math.abs(given - wanted) <= wanted * 0.01 + 1, `${name}: ${given} for ${wanted}`);
        }
      }
    }
    await livePastDays(engine, 30, () => (now += DAY));
    for (const query of queries)
      t.ok(
        engine.query(query).every(({ count }) => count === 0),
        'nothing is left',
      );
  },
);

/** Lets days pass on which another service is checked. `nextDay` moves the clock and returns its time. */
async function livePastDays(
  engine: ReturnType<typeof openEngine>['engine'],
  days: number,
  nextDay: () => number,
): Promise<void> {
  for (let day = 0; day < days; day++) {
    engine.append(packSamples([sampleAt(nextDay(), { serviceId: 2 })]));
    await engine.compact();
  }
}

t.test('a long window is read in slices, while its samples are moved into blocks', async (t) => {
  const { engine } = openEngine(folder(), now);
  const DAYS = 40;
  const query = { serviceId: 1, from: NOW - DAYS * DAY, to: NOW, stepMs: DAY };
  for (let day = 0; day < DAYS; day++) {
    if (day === DAYS - 3) await engine.compact();
    engine.append(
      packSamples(
        Array.from({ length: 1_440 }, (_, minute) => sampleAt(query.from + day * DAY + minute * 60_000)),
      ),
    );
  }
  const wanted = engine.query(query);
  t.equal(wanted.at(-1)?.count, 1_440);
  const read = async () => t.same(await engine.queryInSlices(query), wanted);
  await Promise.all([read(), engine.compact(), read(), read()]);
  await read();
  t.throws(() => engine.query({ ...query, stepMs: 1 }), /buckets/);
  await t.rejects(engine.queryInSlices({ ...query, stepMs: 1 }), /buckets/);
  engine.close();
});

t.test('another process that holds the file of samples holds up no calls of the registry', async (t) => {
  const dataDir = folder();
  const registry = await openRegistry({ dataDir, log: silentLog, clock: systemClock });
  const options = { dataDir, rawRetentionMs: 90 * DAY, rollupRetentionMs: 730 * DAY, log: silentLog };
  const samples = await openSamples({ ...options, host: registry.hostSamples });
  const lock = new DatabaseSync(join(dataDir, 'samples.sqlite'));
  lock.exec('BEGIN IMMEDIATE');
  await samples.append([sampleAt(Date.now())]);
  // Several attempts to write fail meanwhile.
  for (let state = ''; state === ''; ) {
    t.equal(await registry.lastServiceId(), 0);
    state = samples.problem() ?? '';
    await samples.append([sampleAt(Date.now())]);
  }
  t.match(samples.problem(), /locked/);
  t.ok(samples.stats().pending > 0);
  lock.exec('ROLLBACK');
  lock.close();
  await samples.flush();
  t.match(samples.stats(), { pending: 0 });
  t.equal(samples.problem(), null);
  await samples.close();
  await registry.close();
});

t.test('it tells 255 regions apart, whatever the id of the service', async (t) => {
  const start = Date.UTC(2026, 5, 1);
  const { engine, dataDir } = openEngine(folder(), () => start + 3 * DAY);
  const { numberOf, takeNew } = createRegionNumbers([]);
  const names = Array.from({ length: 256 }, (_, index) => `region-${index}`);
  const samples = [1, 2 ** 29 - 1].flatMap((serviceId) =>
    names.map((region, index) => sampleAt(start + index, { serviceId, region, latencyMs: index })),
  );
  engine.append(packSamples(samples, numberOf), takeNew());
  await engine.compact();
  engine.close();
  const { engine: next } = openEngine(dataDir, () => start + 3 * DAY);
  t.teardown(() => next.close());
  for (const serviceId of [1, 2 ** 29 - 1]) {
    t.same(next.regionsOf(serviceId), names.slice(0, -1).sort());
    const window = { serviceId, from: start, to: start + DAY, stepMs: DAY };
    t.match(next.query(window), [{ count: 256 }]);
    t.match(next.query({ ...window, region: { region: 'region-254', takesUnnamed: false } }), [
      { count: 1, p50Ms: 254 },
    ]);
    const [last, before] = next.newest(serviceId, 2);
    t.same([last?.latencyMs, last?.region], [255, undefined], 'one more region is not told apart');
    t.same([before?.latencyMs, before?.region], [254, 'region-254']);
  }
});

t.test('a day of any length is read as it was written, also by an earlier version', (t) => {
  for (const count of [1, 2, 7, 8, 9, 60, 1_440, 5_000]) {
    const times = Array.from({ length: count }, (_, index) => NOW + index * 60_000 + (index % 7));
    const outcomes = times.map((_, index) =>
      packOutcome({ status: 'up', latencyMs: 20 + (index % 90), statusCode: 200, suspect: false }),
    );
    const block = encodeBlock({ times, outcomes });
    t.strictSame(decodeBlock(block), { times, outcomes }, `${count} samples`);
    const usual = deflateRawSync(inflateRawSync(block), { level: 1 });
    t.ok(block.length <= usual.length * 1.05 + 20, `${block.length} bytes instead of ${usual.length}`);
    t.strictSame(decodeBlock(usual), { times, outcomes }, 'a block of an earlier version');
  }
  t.throws(() => decodeBlock(new Uint8Array([1, 3, 0, 252, 255, 9, 9, 9])));
  t.end();
});

t.test('late samples are stored in their day', async (t) => {
  const start = Date.UTC(2026, 5, 1);
  const { engine } = openEngine(folder(), () => start + 3 * DAY);
  t.teardown(() => engine.close());
  engine.append(packSamples([sampleAt(start + 5), sampleAt(start + DAY + 5)]));
  await engine.compact();
  engine.append(packSamples([sampleAt(start + 1, { latencyMs: 7 })]));
  await engine.compact();
  t.match(engine.query({ serviceId: 1, from: start, to: start + DAY, stepMs: DAY }), [
    { count: 2, p50Ms: 7 },
  ]);
});

t.test('a kill neither loses nor duplicates flushed samples', async (t) => {
  const dataDir = folder();
  let flushed = 0;
  for (let round = 0; round < 3; round++) {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, '../samples-writer.ts'), dataDir, String(flushed)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { PATH: process.env.PATH },
      },
    );
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const enough = flushed + 3_000 * (round + 1);
    while (Number(output.trim().split('\n').at(-1) ?? 0) < enough)
      await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill('SIGKILL');
    await once(child, 'exit');
    flushed = Number(output.trim().split('\n').at(-1));
  }
  const { engine } = openEngine(dataDir);
  t.teardown(() => engine.close());
  const [bucket] = engine.query({ serviceId: 1, from: 1, to: flushed + 1, stepMs: flushed });
  t.equal(bucket?.count, flushed, 'every sample that was acknowledged is there once');
});

/** A filled store, closed; its file, and how it is opened. */
async function filledStore() {
  const dataDir = folder();
  const file = join(dataDir, 'samples.sqlite');
  const open = (installation?: string) =>
    openSamples({
      dataDir,
      rawRetentionMs: 90 * DAY,
      rollupRetentionMs: 730 * DAY,
      log: silentLog,
      ...(installation === undefined ? {} : { installation }),
    });
  const store = await open('here');
  await store.append(Array.from({ length: 3_000 }, (_, index) => sampleAt(Date.now() - index * 1_000)));
  await store.compact();
  await store.close();
  return { dataDir, file, open };
}

t.test('it moves a damaged file away, reports it and starts with a new one', async (t) => {
  const { dataDir, file, open } = await filledStore();
  const whole = readFileSync(file);
  const damages: [string, () => void][] = [
    [
      'no database',
      () => writeFileSync(file, 'this is no database, and long enough to be looked at'.repeat(20)),
    ],
    ['another header', () => writeFileSync(file, Buffer.from(whole).fill(0xab, 0, 100))],
    ['cut off', () => truncateSync(file, 2 * 4_096)],
    ['a page in the middle', () => writeFileSync(file, Buffer.from(whole).fill(0xab, 4_096, 8_192))],
  ];
  for (const [what, damage] of damages) {
    writeFileSync(file, whole);
    damage();
    const broken = readFileSync(file);
    const store = await open('here');
    t.match(store.setAside, /samples\.sqlite\.damaged-\d{4}-\d\d-\d\dT/, what);
    t.same(readFileSync(store.setAside ?? ''), broken, `${what}: it is kept as it was`);
    await store.append([sampleAt(Date.now())]);
    t.equal((await store.newest(1, 10)).length, 1);
    await store.close();
    rmSync(store.setAside ?? '');
  }
  t.same(readdirSync(dataDir), ['samples.sqlite']);
});

t.test('it refuses the samples of another installation, and leaves them alone', async (t) => {
  const { file, open } = await filledStore();
  await t.rejects(open('there'), {
    code: 'samples_foreign',
    message: /samples\.sqlite belongs to another installation/,
  });
  const store = await open('here');
  t.equal((await store.newest(1, 10)).length, 10);
  await store.close();
  writeFileSync(file, '');
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE theirs (n INTEGER)');
  database.close();
  await t.rejects(open('here'), { code: 'samples_foreign', message: /another program/ });
});

t.test(
  'it loses the oldest where the disk takes none for too long, counts them, and bounds its memory',
  (t) => {
    const dataDir = folder();
    const database = openSamplesDatabase(dataDir);
    const engine = new SampleEngine({
      database,
      rawRetentionMs: 90 * DAY,
      rollupRetentionMs: 730 * DAY,
      now,
      maxPending: 1_000,
    });
    const T = now();
    engine.append(packSamples([sampleAt(T - 10)]));
    engine.flush();
    const lock = new DatabaseSync(join(dataDir, 'samples.sqlite'));
    lock.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE');
    for (let batch = 0; batch < 11; batch++)
      engine.append(
        packSamples(Array.from({ length: 100 }, (_, index) => sampleAt(T + batch * 100 + index))),
      );
    t.match(engine.state(), { pending: 900, lost: 200 });
    const kept = engine.newest(1, 1_000).map(({ at }) => at - T);
    t.same([kept.length, kept[0], kept.at(-2), kept.at(-1)], [901, 1_099, 200, -10], 'what is on disk stays');
    lock.exec('ROLLBACK');
    lock.close();
    t.match(engine.flush(), { pending: 0, lost: 200, problem: null });
    t.equal(engine.newest(1, 1_000).length, 901);
    engine.close();
    t.end();
  },
);
