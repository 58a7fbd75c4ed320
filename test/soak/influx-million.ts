/**
 * The same million points in the embedded store and in InfluxDB give the same histories. They go in through the adapters
 * in large batches, which loads the server as a fleet would that comes back from a long outage.
 */
import { join } from 'node:path';
import t from 'tap';
import type { Bucket, Sample } from '../../src/domain/sample.ts';
import { silentLog } from '../../src/log.ts';
import type { SampleQuery } from '../../src/store/ports/samples.ts';
import { openSamples } from '../../src/store/samples/sqlite-samples.ts';
import { NEEDS_INFLUX, openInflux, settingsOf } from '../store/influx-world.ts';
import { ask, startInflux } from '../support/influx-server.ts';

const SERVICES = 1_000;
const ROUNDS = 1_000;
/** Points that one request to the adapter holds. */
const ROUNDS_A_BATCH = 10;
const STEP_MS = 300_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Midnight; the points go on for three and a half days. */
const T0 = Math.floor(Date.now() / DAY) * DAY - 10 * DAY;
const END = T0 + ROUNDS * STEP_MS;
const SEED = 20_261_121;

/** Whole numbers below `limit` from a seed (mulberry32), the same in every run. */
function chance(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** One check of every service. A few come late, some twice with the same time; outages, slow spells, our own faults. */
function roundOf(round: number, pick: (limit: number) => number): Sample[] {
  return Array.from({ length: SERVICES }, (_, index) => {
    const serviceId = index + 1;
    const kind = pick(100);
    const status = kind < 4 ? 'down' : kind < 9 ? 'slow' : 'up';
    const silent = status === 'down' && pick(2) === 0;
    const late = pick(200) === 0 ? pick(Math.min(round, 300) + 1) : 0;
    const jitter = late > 0 ? 0 : pick(9);
    return {
      serviceId,
      at: T0 + (round - late) * STEP_MS + ((index * 7_919) % (STEP_MS - 10)) + jitter,
      status,
      latencyMs: silent
        ? null
        : status === 'slow'
          ? 3_001 + pick(62_000)
          : 20 + (serviceId % 400) + pick(200),
      statusCode: silent ? 0 : status === 'down' ? 503 : 200,
      suspect: pick(50) === 0,
    };
  });
}

/** Windows of a page, of a day, of all, cut anywhere, of one service each. */
function someQueries(pick: (limit: number) => number): SampleQuery[] {
  const serviceId = () => 1 + pick(SERVICES);
  const fixed = [
    [T0, END, HOUR],
    [T0, END, DAY],
    [T0 - DAY, END + DAY, 6 * HOUR],
    [END - DAY, END, STEP_MS],
    [T0, END, END - T0],
    [END, END + DAY, HOUR],
  ] as const;
  const cut = Array.from({ length: 60 }, () => {
    const from = T0 - HOUR + pick(END - T0);
    const to = from + 1 + pick(END - T0);
    return [from, to, Math.max(1 + pick(DAY), Math.ceil((to - from) / 1_000))] as const;
  });
  return [...fixed, ...fixed, ...fixed, ...fixed, ...cut].map(([from, to, stepMs]) => ({
    serviceId: serviceId(),
    from,
    to,
    stepMs,
  }));
}

// Half a minute on two busy cores; a machine with ten times as much to do gets its time too.
t.setTimeout(400_000);

t.test(
  'it answers a million points as the embedded store does',
  { ...NEEDS_INFLUX, timeout: 390_000 },
  async (t) => {
    const folder = t.testdir();
    const server = await startInflux(t, { folder: join(folder, 'influx') });
    await ask(server.url, 'CREATE DATABASE upbeat');
    const influx = await openInflux({
      settings: settingsOf(server.url, 'upbeat'),
      dataDir: join(folder, 'data'),
    });
    t.teardown(() => influx.close());
    const embedded = await openSamples({
      dataDir: join(folder, 'embedded'),
      rawRetentionMs: 90 * DAY,
      rollupRetentionMs: 400 * DAY,
      log: silentLog,
    });
    t.teardown(() => embedded.close());

    const pick = chance(SEED);
    const startedMs = performance.now();
    let taken: Promise<unknown> = Promise.resolve();
    for (let round = 0; round < ROUNDS; round += ROUNDS_A_BATCH) {
      const samples = Array.from({ length: ROUNDS_A_BATCH }, (_, offset) =>
        roundOf(round + offset, pick),
      ).flat();
      // One batch is made while the one before is on its way.
      await taken;
      taken = Promise.all([embedded.append(samples), influx.append(samples)]);
    }
    await taken;
    await Promise.all([embedded.flush(), influx.flush()]);
    const loadedMs = performance.now() - startedMs;
    t.equal(influx.problem(), null);
    t.match(influx.stats(), { appended: SERVICES * ROUNDS });

    const same: string[] = [];
    const different: { query: SampleQuery; embedded: Bucket; influx: Bucket | undefined }[] = [];
    for (const query of someQueries(pick)) {
      const [ours, theirs] = await Promise.all([embedded.query(query), influx.query(query)]);
      const wrong = ours.findIndex((bucket, index) => !isSame(bucket, theirs[index]));
      if (ours.length === theirs.length && wrong === -1) same.push(JSON.stringify(query));
      else different.push({ query, embedded: ours[wrong] as Bucket, influx: theirs[wrong] });
    }
    t.same(different, []);
    t.equal(same.length, 84);
    for (let turn = 0; turn < 10; turn++) {
      const serviceId = 1 + pick(SERVICES);
      t.same(await influx.newest(serviceId, 50), await embedded.newest(serviceId, 50));
    }
    const counted = await embedded.query({ serviceId: 1, from: T0, to: END, stepMs: END - T0 });
    t.ok((counted[0]?.count ?? 0) > 900, 'there was something to compare');
    t.comment(`loaded in ${Math.round(loadedMs)} ms, all in ${Math.round(performance.now() - startedMs)} ms`);
  },
);

/** Equal but for the last digits of means, which are sums in another order. */
function isSame(ours: Bucket, theirs: Bucket | undefined): boolean {
  if (theirs === undefined) return false;
  return (Object.keys(ours) as (keyof Bucket)[]).every((name) => {
    const [a, b] = [ours[name], theirs[name]];
    return a === b || (name === 'meanMs' && a !== null && b !== null && Math.abs(a - b) <= 1e-6 * a);
  });
}
