/** Hours summed up beside their samples: long windows are read from few points, and nothing of the answer changes. */

import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { HOUR_MS } from '../../../../src/domain/durations.ts';
import type { Sample } from '../../../../src/domain/sample.ts';
import type { RegionFilter, SampleQuery } from '../../../../src/store/ports/samples.ts';
import { packOutcome, packSamples } from '../../../../src/store/samples/encoding.ts';
import {
  createHourCollector,
  HOUR_GRACE_MS,
  hourLine,
  hourOf,
  readHours,
  summarizeHour,
} from '../../../../src/store/samples/influx/hour-summaries.ts';
import { openInfluxLink } from '../../../../src/store/samples/influx/influx-link.ts';
import { queryBuckets } from '../../../../src/store/samples/influx/influx-reader.ts';
import type { InfluxSettings } from '../../../../src/store/samples/influx/influx-settings.ts';
import { numberTags } from '../../../../src/store/samples/influx/line-protocol.ts';
import { INFLUXD2, startInflux2 } from '../../../support/influx2-server.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { useInflux } from '../../../support/run-servers.ts';
import { NEEDS_INFLUX, openInflux, settingsOf, until } from '../../influx-world.ts';
import { naiveBuckets, sampleAt } from '../../samples-contract.ts';

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
      const line = hourLine(numberTags(7, null), 3 * HOUR_MS, summary);
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
      t.same(readHours({ columns, rows: [row] }), [{ hour: 3 * HOUR_MS, region: null, summary }]);
    }),
    { numRuns: propertyRuns(20) },
  );
});

t.test('an hour is summarized once it is complete, and a late sample invalidates its summary', async (t) => {
  const start = 1_000 * HOUR_MS;
  const add = (...samples: Sample[]) => collector.add(packSamples(samples));
  const collector = createHourCollector(start + 60_000, (series) => numberTags(series, null));
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
  collector.noteWritten(numberTags(1, null), start);
  t.same(add(sampleAt(start)), [`upbeat_hour,service_id=1 valid=0i ${start}`]);
});

/** The regions of the samples by the number of their day, one for each sample of an hour in turn; empty: none. */
type RegionsOfDay = (day: number) => readonly string[];

const ONE_REGION: RegionsOfDay = () => [];
/** A second region joins on the sixth day, and the third one today. */
const THREE_REGIONS: RegionsOfDay = (day) => (day < 5 ? [] : day < 29 ? ['eu', 'us'] : ['eu', 'us', 'ap']);

async function readsFewer(t: Test, settings: InfluxSettings, regionsOf: RegionsOfDay): Promise<void> {
  const store = await openInflux({ settings, dataDir: t.testdir() });
  t.teardown(() => store.close());
  const now = Date.now();
  const from = hourOf(now) - 30 * DAY;
  const samples = Array.from({ length: 30 * 144 }, (_, place) =>
    sampleAt(from + place * 600_000 + (place % 7), {
      status: place % 50 === 0 ? 'down' : place % 20 === 0 ? 'slow' : 'up',
      latencyMs: place % 50 === 0 ? null : (place * 7_919) % 900,
      suspect: place % 33 === 0,
      ...placeOf(regionsOf(Math.floor(place / 144)), place),
    }),
  );
  const filters: readonly (RegionFilter | undefined)[] =
    regionsOf === ONE_REGION
      ? [undefined]
      : [undefined, { region: 'eu', takesUnnamed: true }, { region: 'us', takesUnnamed: false }];
  // The monitor was away for five days.
  const measured = samples.filter(({ at }) => at < from + 8 * DAY || at >= from + 13 * DAY);
  await store.append(measured);
  const allWindows: readonly Omit<SampleQuery, 'serviceId'>[] = [
    { from: hourOf(now) - 29 * DAY, to: now, stepMs: DAY },
    { from: now - 29 * DAY, to: now, stepMs: DAY },
    { from: now - 29 * DAY + 1, to: now - 1, stepMs: 29 * DAY },
    { from: from - 60 * DAY, to: now, stepMs: 6 * 3_600_000 },
    { from: from + 12_345, to: now, stepMs: 5_000_000 },
  ];
  const windows = regionsOf === ONE_REGION ? allWindows : [1, 4].flatMap((place) => allWindows[place] ?? []);
  const check = async (all: readonly Sample[], said: string) => {
    for (const [window, region] of windows.flatMap((one) =>
      filters.map((filter) => [one, filter] as const),
    )) {
      const query = { serviceId: 1, ...window };
      const buckets = await store.query(region === undefined ? query : { ...query, region });
      const expected = naiveBuckets(all, 1, window.from, window.to, window.stepMs, region);
      t.same(
        buckets.map(({ meanMs: _, uptimeRatio: __, ...bucket }) => bucket),
        expected.map(({ meanMs: _, uptimeRatio: __, ...bucket }) => bucket),
        `${said}: ${JSON.stringify({ ...window, region })}`,
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
  const series = regionsOf === ONE_REGION ? 1 : 2;
  t.ok(rows < series * (24 * 25 + 60), `${rows} rows instead of ${measured.length}`);

  const late = [
    sampleAt(from + 3 * DAY + 1, { latencyMs: 777 }),
    sampleAt(from + 9 * DAY + 5, { latencyMs: 778, ...placeOf(regionsOf(9), 0) }),
  ];
  await store.append(late);
  await check([...measured, ...late], 'with samples that came late');
  await store.flush();
  await check([...measured, ...late], 'and once more');
  await until(() => store.stats().pending === 0);
  t.equal(store.lost(), 0);
}

function placeOf(regions: readonly string[], place: number): Pick<Sample, 'region'> {
  const region = regions[place % regions.length];
  return region === undefined ? {} : { region };
}

t.test('long windows, on InfluxDB 1.6', NEEDS_INFLUX, async (t) => {
  const { url, database } = await useInflux(t);
  await readsFewer(t, settingsOf(url, database), ONE_REGION);
});

t.test('long windows of three regions, on InfluxDB 1.6', NEEDS_INFLUX, async (t) => {
  const { url, database } = await useInflux(t);
  await readsFewer(t, settingsOf(url, database), THREE_REGIONS);
});

if (INFLUXD2 !== null)
  t.test('long windows, on InfluxDB 2', async (t) => {
    const server = await startInflux2(t, join(t.testdir(), 'influx'));
    for (const [bucket, regionsOf] of [
      ['upbeat', ONE_REGION],
      ['upbeat3', THREE_REGIONS],
    ] as const) {
      await server.makeBucket(bucket, 90 * 86_400);
      const settings = settingsOf(server.url, bucket, { api: 'v2', org: 'acme', token: server.token });
      await t.test(bucket, (t) => readsFewer(t, settings, regionsOf));
    }
  });
