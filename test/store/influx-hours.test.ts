/** Hours summed up beside their samples: long windows are read from few points, and nothing of the answer changes. */

import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { HOUR_MS } from '../../src/domain/durations.ts';
import type { Sample } from '../../src/domain/sample.ts';
import type { SampleQuery } from '../../src/store/ports/samples.ts';
import { packOutcome, packSamples } from '../../src/store/samples/encoding.ts';
import {
  createHourCollector,
  HOUR_GRACE_MS,
  hourLine,
  hourOf,
  readHours,
  summarizeHour,
} from '../../src/store/samples/influx/hour-summaries.ts';
import { openInfluxLink } from '../../src/store/samples/influx/influx-link.ts';
import { queryBuckets } from '../../src/store/samples/influx/influx-reader.ts';
import type { InfluxSettings } from '../../src/store/samples/influx/influx-settings.ts';
import { INFLUXD2, startInflux2 } from '../support/influx2-server.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { useInflux } from '../support/run-servers.ts';
import { NEEDS_INFLUX, openInflux, settingsOf, until } from './influx-world.ts';
import { naiveBuckets, sampleAt } from './samples-contract.ts';

const DAY = 86_400_000;

t.setTimeout(120_000);

t.test('the summary of an hour gives the same bucket as its samples', async (t) => {
  const sample = fc.record({
    status: fc.constantFrom('up' as const, 'slow' as const, 'down' as const),
    latencyMs: fc.option(fc.integer({ min: 0, max: 65_534 })),
    statusCode: fc.constantFrom(0, 200, 503),
    suspect: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 60 }), (samples) => {
      const summary = summarizeHour(samples.map(packOutcome));
      const line = hourLine(7, 3 * HOUR_MS, summary);
      const fields = Object.fromEntries(
        (line.split(' ')[1] ?? '').split(/,(?=\w+=)/).map((field) => {
          const at = field.indexOf('=');
          return [field.slice(0, at), field.slice(at + 1)];
        }),
      );
      const columns = ['time', 'up', 'slow', 'down', 'suspect', 'valid', 'latencies'];
      const row = columns.map((name) =>
        name === 'time'
          ? Number(line.split(' ').at(-1))
          : name === 'latencies'
            ? (fields[name] ?? '').slice(1, -1)
            : Number.parseInt(fields[name] ?? '', 10),
      );
      t.same(readHours({ columns, rows: [row] }).get(3 * HOUR_MS), summary);
    }),
    { numRuns: propertyRuns(20) },
  );
});

t.test('an hour is summarized once it is complete, and a late sample invalidates its summary', async (t) => {
  const start = 1_000 * HOUR_MS;
  const add = (...samples: Sample[]) => collector.add(packSamples(samples));
  const collector = createHourCollector(start + 60_000);
  t.same(add(sampleAt(start + 120_000)), []);
  t.same(
    add(sampleAt(start + HOUR_MS, { latencyMs: 5 }), sampleAt(start + HOUR_MS + 1, { status: 'down' })),
    [],
  );
  // The last of two with one time wins.
  t.same(add(sampleAt(start + HOUR_MS, { latencyMs: 9 })), []);
  t.same(collector.finish(start + 2 * HOUR_MS + HOUR_GRACE_MS - 1), []);
  const lines = collector.finish(start + 2 * HOUR_MS + HOUR_GRACE_MS);
  t.equal(lines.length, 1, 'of the hour in which it began nothing is said');
  t.match(lines[0], /^upbeat_hour,service_id=1 up=1i,slow=0i,down=1i,suspect=0i,valid=1i,latencies=".+" /);
  t.same(collector.finish(start + 9 * HOUR_MS), []);
  t.same(add(sampleAt(start + HOUR_MS + 7), sampleAt(start + HOUR_MS + 8)), [
    `upbeat_hour,service_id=1 valid=0i ${start + HOUR_MS}`,
  ]);
  t.same(add(sampleAt(start)), [], 'this hour has no summary of ours');
  collector.noteWritten(1, start);
  t.same(add(sampleAt(start)), [`upbeat_hour,service_id=1 valid=0i ${start}`]);
});

async function readsFewer(t: Test, settings: InfluxSettings): Promise<void> {
  const store = await openInflux({ settings, dataDir: t.testdir() });
  t.teardown(() => store.close());
  const now = Date.now();
  const from = hourOf(now) - 30 * DAY;
  const samples = Array.from({ length: 30 * 144 }, (_, place) =>
    sampleAt(from + place * 600_000 + (place % 7), {
      status: place % 50 === 0 ? 'down' : place % 20 === 0 ? 'slow' : 'up',
      latencyMs: place % 50 === 0 ? null : (place * 7_919) % 900,
      suspect: place % 33 === 0,
    }),
  );
  // The monitor was away for five days.
  const measured = samples.filter(({ at }) => at < from + 8 * DAY || at >= from + 13 * DAY);
  await store.append(measured);
  const windows: readonly Omit<SampleQuery, 'serviceId'>[] = [
    { from: hourOf(now) - 29 * DAY, to: now, stepMs: DAY },
    { from: now - 29 * DAY, to: now, stepMs: DAY },
    { from: now - 29 * DAY + 1, to: now - 1, stepMs: 29 * DAY },
    { from: from - 60 * DAY, to: now, stepMs: 6 * 3_600_000 },
    { from: from + 12_345, to: now, stepMs: 5_000_000 },
  ];
  const check = async (all: readonly Sample[], said: string) => {
    for (const window of windows) {
      const buckets = await store.query({ serviceId: 1, ...window });
      const expected = naiveBuckets(all, 1, window.from, window.to, window.stepMs);
      t.same(
        buckets.map(({ meanMs: _, uptimeRatio: __, ...bucket }) => bucket),
        expected.map(({ meanMs: _, uptimeRatio: __, ...bucket }) => bucket),
        `${said}: ${JSON.stringify(window)}`,
      );
      for (const [place, { meanMs }] of buckets.entries())
        if (Math.abs((meanMs ?? 0) - (expected[place]?.meanMs ?? 0)) > 1e-6) t.fail(`${said}: mean ${place}`);
    }
  };
  await check(measured, 'as it is read first');
  await store.flush();
  await check(measured, 'from summed up hours');

  const link = openInfluxLink(settings);
  let rows = 0;
  const counting = {
    async query(statements: readonly string[]) {
      const tables = await link.query(statements);
      rows += tables.reduce((sum, table) => sum + (table?.rows.length ?? 0), 0);
      return tables;
    },
  };
  await queryBuckets(counting, { serviceId: 1, from: hourOf(now) - 29 * DAY, to: now, stepMs: DAY });
  t.ok(rows < 24 * 25 + 60, `${rows} rows instead of ${measured.length}`);

  const late = [
    sampleAt(from + 3 * DAY + 1, { latencyMs: 777 }),
    sampleAt(from + 9 * DAY + 5, { latencyMs: 778 }),
  ];
  await store.append(late);
  await check([...measured, ...late], 'with samples that came late');
  await store.flush();
  await check([...measured, ...late], 'and once more');
  await until(() => store.stats().pending === 0);
  t.equal(store.lost(), 0);
}

t.test('long windows, on InfluxDB 1.6', NEEDS_INFLUX, async (t) => {
  const { url, database } = await useInflux(t);
  await readsFewer(t, settingsOf(url, database));
});

if (INFLUXD2 !== null)
  t.test('long windows, on InfluxDB 2', async (t) => {
    const server = await startInflux2(t, join(t.testdir(), 'influx'));
    await server.makeBucket('upbeat', 90 * 86_400);
    await readsFewer(t, settingsOf(server.url, 'upbeat', { api: 'v2', org: 'acme', token: server.token }));
  });
