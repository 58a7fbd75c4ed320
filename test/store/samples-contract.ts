/** What every sample store must do, whatever it is made of. */
import fc from 'fast-check';
import type { Test } from 'tap';
import type { Bucket, Sample } from '../../src/domain/sample.ts';
import type { RegionFilter, SampleStore } from '../../src/store/ports/samples.ts';

/** A store under test. */
export interface SampleStoreAdapter {
  /** Opens an empty store, which the suite closes. */
  open(): Promise<SampleStore>;
  /** Runs of the comparison with the model; default 40. Fewer where opening a store takes long. */
  readonly runs?: number;
}

const T0 = Date.UTC(2026, 10, 1);
const MINUTE = 60_000;

/** A sample with changes. */
export function sampleAt(at: number, changes: Partial<Sample> = {}): Sample {
  return { serviceId: 1, at, status: 'up', latencyMs: 100, statusCode: 200, suspect: false, ...changes };
}

/** Buckets by definition: the naive model. Percentiles by nearest rank. */
export function naiveBuckets(
  samples: readonly Sample[],
  serviceId: number,
  from: number,
  to: number,
  stepMs: number,
  filter?: RegionFilter,
): Bucket[] {
  const isOf = ({ region }: Sample) =>
    filter === undefined || (region === undefined ? filter.takesUnnamed : region === filter.region);
  const newest = new Map<string, Sample>();
  for (const sample of samples)
    if (sample.serviceId === serviceId && isOf(sample)) newest.set(`${sample.region} ${sample.at}`, sample);
  const buckets: Bucket[] = [];
  for (let startAt = from; startAt < to; startAt += stepMs) {
    const endAt = Math.min(to, startAt + stepMs);
    const inside = [...newest.values()].filter(({ at }) => at >= startAt && at < endAt);
    const trusted = inside.filter(({ suspect }) => !suspect);
    const latencies = trusted
      .flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]))
      .sort((a, b) => a - b);
    const countOf = (word: string) => trusted.filter(({ status }) => status === word).length;
    const rank = (ratio: number) => latencies[Math.max(1, Math.ceil(ratio * latencies.length)) - 1] ?? null;
    buckets.push({
      startAt,
      endAt,
      count: trusted.length,
      upCount: countOf('up'),
      slowCount: countOf('slow'),
      downCount: countOf('down'),
      suspectCount: inside.length - trusted.length,
      uptimeRatio: trusted.length === 0 ? null : (countOf('up') + countOf('slow')) / trusted.length,
      meanMs: latencies.length === 0 ? null : latencies.reduce((sum, one) => sum + one, 0) / latencies.length,
      p50Ms: rank(0.5),
      p95Ms: rank(0.95),
      p99Ms: rank(0.99),
    });
  }
  return buckets;
}

/** Runs the suite. */
export function runSamplesContract(t: Test, adapter: SampleStoreAdapter): void {
  const opened = async (test: Test) => {
    const store = await adapter.open();
    test.teardown(() => store.close());
    return store;
  };

  t.test('it returns every bucket of a window, also empty ones, and cuts the last one', async (t) => {
    const store = await opened(t);
    await store.append([
      sampleAt(T0),
      sampleAt(T0 + MINUTE, { status: 'down', latencyMs: null, statusCode: 0 }),
    ]);
    const query = { serviceId: 1, from: T0, to: T0 + 5 * MINUTE, stepMs: 2 * MINUTE };
    t.same(
      await store.query(query),
      naiveBuckets(
        [sampleAt(T0), sampleAt(T0 + MINUTE, { status: 'down', latencyMs: null })],
        1,
        query.from,
        query.to,
        query.stepMs,
      ),
    );
    t.match((await store.query(query))[2], {
      startAt: T0 + 4 * MINUTE,
      endAt: T0 + 5 * MINUTE,
      count: 0,
      uptimeRatio: null,
      meanMs: null,
      p50Ms: null,
      p99Ms: null,
    });
  });

  t.test('it counts the start of a window and not its end', async (t) => {
    const store = await opened(t);
    await store.append([T0 - 1, T0, T0 + MINUTE - 1, T0 + MINUTE].map((at) => sampleAt(at)));
    const [bucket] = await store.query({ serviceId: 1, from: T0, to: T0 + MINUTE, stepMs: MINUTE });
    t.equal(bucket?.count, 2);
  });

  t.test('it keeps suspect samples out of uptime and percentiles, and counts them', async (t) => {
    const store = await opened(t);
    await store.append([
      sampleAt(T0, { latencyMs: 10 }),
      sampleAt(T0 + 1, { status: 'down', latencyMs: 9_000, suspect: true }),
      sampleAt(T0 + 2, { status: 'slow', latencyMs: 4_000 }),
    ]);
    const [bucket] = await store.query({ serviceId: 1, from: T0, to: T0 + MINUTE, stepMs: MINUTE });
    t.match(bucket, { count: 2, suspectCount: 1, downCount: 0, uptimeRatio: 1, p50Ms: 10, p99Ms: 4_000 });
  });

  t.test('of two samples with the same time the last one counts', async (t) => {
    const store = await opened(t);
    await store.append([sampleAt(T0, { latencyMs: 1 })]);
    await store.flush();
    await store.append([sampleAt(T0, { latencyMs: 2, status: 'slow' })]);
    const [bucket] = await store.query({ serviceId: 1, from: T0, to: T0 + MINUTE, stepMs: MINUTE });
    t.match(bucket, { count: 1, slowCount: 1, p50Ms: 2 });
  });

  t.test('it returns the newest samples, newest first, whenever they arrived', async (t) => {
    const store = await opened(t);
    const samples = [5, 1, 3, 4, 2].map((minute) => sampleAt(T0 + minute * MINUTE, { latencyMs: minute }));
    await store.append(samples);
    await store.append([sampleAt(T0, { serviceId: 2 })]);
    t.same(
      (await store.newest(1, 3)).map(({ latencyMs }) => latencyMs),
      [5, 4, 3],
    );
    t.same((await store.newest(1, 100)).length, 5);
    t.same(await store.newest(9, 10), []);
    t.same((await store.newest(2, 1))[0], sampleAt(T0, { serviceId: 2 }));
  });

  t.test('it distinguishes regions, and counts each sample once over all of them', async (t) => {
    const store = await opened(t);
    t.same(await store.regionsOf(1), []);
    const before = [sampleAt(T0, { latencyMs: 10 }), sampleAt(T0 + MINUTE, { latencyMs: 20 })];
    await store.append(before);
    t.same(await store.regionsOf(1), [], 'the samples have no region');
    // Regions may check in the same millisecond.
    const after = [
      sampleAt(T0 + 5 * MINUTE, { region: 'us', latencyMs: 900 }),
      sampleAt(T0 + 5 * MINUTE, { region: 'eu', latencyMs: 30 }),
      sampleAt(T0 + 6 * MINUTE, { region: 'us', status: 'down', latencyMs: null, statusCode: 0 }),
      sampleAt(T0 + 7 * MINUTE, { region: 'eu', latencyMs: 40, suspect: true }),
    ];
    await store.append(after);
    await store.append([
      sampleAt(T0, { serviceId: 2, region: 'ap' }),
      sampleAt(T0 + 5 * MINUTE, { region: 'eu', latencyMs: 31 }),
    ]);
    t.same(await store.regionsOf(1), ['eu', 'us']);
    t.same(await store.regionsOf(2), ['ap']);
    t.same(await store.regionsOf(3), []);
    const window = { serviceId: 1, from: T0, to: T0 + 10 * MINUTE, stepMs: 5 * MINUTE };
    t.match(await store.query(window), [
      { count: 2, p50Ms: 10, p99Ms: 20 },
      { count: 3, upCount: 2, downCount: 1, suspectCount: 1, p50Ms: 31, p99Ms: 900 },
    ]);
    const of = (region: string, takesUnnamed = false) =>
      store.query({ ...window, region: { region, takesUnnamed } });
    t.match(await of('us'), [{ count: 0 }, { count: 2, downCount: 1, suspectCount: 0, p50Ms: 900 }]);
    t.match(await of('eu'), [{ count: 0 }, { count: 1, suspectCount: 1, p50Ms: 31 }]);
    t.match(await of('eu', true), [{ count: 2 }, { count: 1, suspectCount: 1, p50Ms: 31 }]);
    t.match(await of('ap'), [{ count: 0 }, { count: 0 }], 'it has samples of another service');
    t.match(await of('sa', true), [{ count: 2 }, { count: 0 }], 'there is no such region');
    t.same(
      (await store.newest(1, 5))
        .map(({ at, region, latencyMs }) => [(at - T0) / MINUTE, region, latencyMs])
        .sort(),
      [
        [1, undefined, 20],
        [5, 'eu', 31],
        [5, 'us', 900],
        [6, 'us', null],
        [7, 'eu', 40],
      ],
    );
  });

  t.test('it refuses a query that cannot be answered', async (t) => {
    const store = await opened(t);
    for (const [from, to, stepMs] of [
      [T0, T0, 1],
      [T0 + 1, T0, 1],
      [T0, T0 + 1_001, 1],
      [T0, T0 + 1, 0],
    ] as const) {
      await t.rejects(store.query({ serviceId: 1, from, to, stepMs }));
    }
  });

  t.test('it agrees with the naive model for any samples and windows', async () => {
    const sample = fc.record(
      {
        serviceId: fc.integer({ min: 1, max: 3 }),
        at: fc.integer({ min: 0, max: 3 * 1_440 }).map((minute) => T0 + minute * MINUTE),
        status: fc.constantFrom('up' as const, 'slow' as const, 'down' as const),
        latencyMs: fc.option(fc.integer({ min: 0, max: 65_534 })),
        statusCode: fc.constantFrom(0, 200, 204, 301, 404, 503),
        suspect: fc.boolean(),
        region: fc.constantFrom('eu', 'us'),
      },
      {
        noNullPrototype: true,
        requiredKeys: ['serviceId', 'at', 'status', 'latencyMs', 'statusCode', 'suspect'],
      },
    );
    const filter = fc.option(fc.record({ region: fc.constantFrom('eu', 'ap'), takesUnnamed: fc.boolean() }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(sample, { maxLength: 30 }), { maxLength: 4 }),
        fc.integer({ min: 0, max: 4_000 }),
        fc.integer({ min: 1, max: 4_000 }),
        fc.integer({ min: 10, max: 2_000 }),
        filter,
        async (batches, start, length, step, region) => {
          const store = await adapter.open();
          try {
            for (const batch of batches) await store.append(batch);
            const [from, to, stepMs] = [T0 + start * MINUTE, T0 + (start + length) * MINUTE, step * MINUTE];
            const query = { serviceId: 1, from, to, stepMs };
            const answer = await store.query(region === null ? query : { ...query, region });
            const expected = naiveBuckets(batches.flat(), 1, from, to, stepMs, region ?? undefined);
            const close = (a: number | null, b: number | null) =>
              a === b || Math.abs((a ?? NaN) - (b ?? NaN)) < 1e-6;
            const same =
              answer.length === expected.length &&
              answer.every((bucket, index) => {
                const { meanMs, uptimeRatio, ...rest } = expected[index] as Bucket;
                return (
                  close(bucket.meanMs, meanMs) &&
                  close(bucket.uptimeRatio, uptimeRatio) &&
                  Object.entries(rest).every(([name, value]) => bucket[name as keyof Bucket] === value)
                );
              });
            if (!same) throw new Error(`${JSON.stringify(answer)} is not ${JSON.stringify(expected)}`);
          } finally {
            await store.close();
          }
        },
      ),
      { numRuns: adapter.runs ?? 40 },
    );
  });
}
