/** Samples in real InfluxDB servers: the contract of the store, faults, and what stands in the database. */
import { join } from 'node:path';
import t from 'tap';
import type { InfluxSamples } from '../../../../src/store/samples/influx/influx-samples.ts';
import type { InfluxSettings } from '../../../../src/store/samples/influx/influx-settings.ts';
import { examineInflux } from '../../../../src/store/samples/influx/set-up-influx.ts';
import { freePort } from '../../../support/free-port.ts';
import { ask, startInflux, startVictoria } from '../../../support/influx-server.ts';
import { INFLUXD2, startInflux2 } from '../../../support/influx2-server.ts';
import { useInflux } from '../../../support/run-servers.ts';
import { NEEDS_INFLUX, NEEDS_VICTORIA, openInflux as open, settingsOf, until } from '../../influx-world.ts';
import { naiveBuckets, runSamplesContract, sampleAt } from '../../samples-contract.ts';

const T0 = Date.UTC(2026, 10, 1);
const MINUTE = 60_000;
const DAY = 86_400_000;

// Servers are started again and again, which takes long on a machine that has much else to do.
t.setTimeout(300_000);

const minute = (store: InfluxSamples, from: number, minutes: number) =>
  store.query({ serviceId: 1, from, to: from + minutes * MINUTE, stepMs: minutes * MINUTE });

t.test('it keeps the contract of the store, on InfluxDB 1.6', NEEDS_INFLUX, async (t) => {
  const folder = t.testdir();
  const server = await useInflux(t);
  let databases = 0;
  runSamplesContract(t, {
    runs: 4,
    async open() {
      const bucket = `${server.database}_${databases++}`;
      await ask(server.url, `CREATE DATABASE ${bucket}`);
      return await open({ settings: settingsOf(server.url, bucket), dataDir: join(folder, bucket) });
    },
  });
  await t.test('the server summarizes long windows', async (t) => {
    const store = await open({
      settings: settingsOf(server.url, server.database),
      dataDir: join(folder, 'year'),
    });
    t.teardown(() => store.close());
    const samples = Array.from({ length: 4_000 }, (_, index) =>
      sampleAt(T0 + index * 2 * 3_600_000, {
        status: index % 50 === 0 ? 'down' : index % 20 === 0 ? 'slow' : 'up',
        latencyMs: index % 50 === 0 ? null : (index * 7_919) % 5_000,
        suspect: index % 30 === 0,
      }),
    );
    await store.append(samples);
    const query = { serviceId: 1, from: T0 + 12_345, to: T0 + 330 * DAY + 12_345, stepMs: 10 * DAY };
    const answer = await store.query(query);
    const expected = naiveBuckets(samples, 1, query.from, query.to, query.stepMs);
    t.equal(answer.length, 33);
    for (const [index, bucket] of answer.entries()) {
      const { p50Ms, p95Ms, p99Ms, meanMs, ...counts } = bucket;
      t.match(expected[index], counts);
      t.ok(Math.abs((meanMs ?? 0) - (expected[index]?.meanMs ?? Number.NaN)) < 1e-6);
      const latencies = samples
        .filter(({ at, suspect }) => at >= bucket.startAt && at < bucket.endAt && !suspect)
        .flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]))
        .sort((a, b) => a - b);
      for (const [value, ratio] of [
        [p50Ms, 0.5],
        [p95Ms, 0.95],
        [p99Ms, 0.99],
      ] as const) {
        const rank = Math.ceil(ratio * latencies.length) - 1;
        t.ok([latencies[rank - 1], latencies[rank]].includes(value ?? -1), `${ratio}: within one rank`);
      }
    }
  });
});

if (INFLUXD2 !== null)
  t.test('it keeps the contract of the store, on InfluxDB 2', async (t) => {
    const folder = t.testdir();
    const server = await startInflux2(t, join(folder, 'influx'));
    let buckets = 0;
    runSamplesContract(t, {
      runs: 4,
      async open() {
        const bucket = `upbeat_${buckets++}`;
        await server.makeBucket(bucket);
        const more = { api: 'v2', org: 'acme', token: server.token } as const;
        return await open({ settings: settingsOf(server.url, bucket, more), dataDir: join(folder, bucket) });
      },
    });
  });

t.test('it writes one measurement with whole-number fields', NEEDS_INFLUX, async (t) => {
  const { url, database } = await useInflux(t);
  const store = await open({ settings: settingsOf(url, database), dataDir: t.testdir() });
  await store.append([
    sampleAt(T0),
    sampleAt(T0 + 1, { serviceId: 2, status: 'down', latencyMs: null, statusCode: 0, suspect: true }),
  ]);
  await store.close();
  const response = await fetch(`${url}/query?db=${database}&epoch=ms&q=SELECT * FROM upbeat_check`);
  const answer = (await response.json()) as {
    results: { series: { columns: string[]; values: unknown[][] }[] }[];
  };
  const [series] = answer.results[0]?.series ?? [];
  const rows = series?.values.map((values) =>
    Object.fromEntries(values.map((value, at) => [series.columns[at], value])),
  );
  const tags = { category: 'developer', service: 'service, =1', service_id: '1' };
  t.same(rows, [
    { time: T0, ...tags, up: 1, slow: 0, down: 0, suspect: 0, status_code: 200, latency_ms: 100, timed: 1 },
    {
      time: T0 + 1,
      ...tags,
      service: 'service, =2',
      service_id: '2',
      up: 0,
      slow: 0,
      down: 1,
      suspect: 1,
      status_code: 0,
      latency_ms: null,
      timed: 0,
    },
  ]);
});

t.test(
  'it loses nothing while the server is unavailable, stopped, killed or restarted',
  NEEDS_INFLUX,
  async (t) => {
    const folder = t.testdir();
    const port = await freePort();
    const dataDir = join(folder, 'data');
    const settings = settingsOf(`http://127.0.0.1:${port}`, 'upbeat');
    let store = await open({ settings, dataDir });
    await store.append([sampleAt(T0), sampleAt(T0 + MINUTE)]);
    await store.flush();
    t.match(store.problem(), /^InfluxDB does not answer: ECONNREFUSED/);
    t.match(store.stats(), { appended: 2, pending: 2 });
    await t.rejects(minute(store, T0, 10), { code: 'samples_away' });
    await store.close();

    store = await open({ settings, dataDir });
    t.equal(store.stats().pending, 2, 'the spool outlives the program');
    await store.append([sampleAt(T0, { latencyMs: 7 })]);
    const server = await startInflux(t, { folder: join(folder, 'influx'), port });
    await until(() => (store.problem() ?? '').includes('database not found'));
    await ask(server.url, 'CREATE DATABASE upbeat');
    await until(async () => {
      await store.flush();
      return store.stats().pending === 0;
    });
    t.match(await minute(store, T0, 10), [{ count: 2, p50Ms: 7 }], 'in their order: the last of two wins');
    t.equal(store.problem(), null);

    await server.stop('SIGKILL');
    await store.append([sampleAt(T0 + 2 * MINUTE)]);
    await store.flush();
    t.equal(store.stats().pending, 1);
    const again = await startInflux(t, { folder: join(folder, 'influx'), port });
    again.process.kill('SIGSTOP');
    await store.append([sampleAt(T0 + 3 * MINUTE)]);
    again.process.kill('SIGCONT');
    await until(async () => {
      await store.flush();
      return store.stats().pending === 0;
    });
    t.match(await minute(store, T0, 10), [{ count: 4 }]);
    t.equal(store.lost(), 0);
    await store.close();
  },
);

t.test('it bounds the spool and counts dropped points', async (t) => {
  const dataDir = t.testdir();
  const settings = settingsOf(`http://127.0.0.1:${await freePort()}`, 'upbeat');
  const store = await open({ settings, dataDir, spoolBytes: 2_000 });
  for (let round = 0; round < 30; round++) {
    await store.append(Array.from({ length: 100 }, (_, index) => sampleAt(T0 + round * 100 + index)));
    await store.flush();
  }
  t.ok(store.stats().fileBytes <= 2_000, `${store.stats().fileBytes} bytes`);
  t.equal(store.lost() + store.stats().pending, 3_000);
  t.ok(store.lost() > 0);
  await store.close();
});

t.test('it keeps samples while the server does not know the user', NEEDS_INFLUX, async (t) => {
  const folder = t.testdir();
  const server = await startInflux(t, { folder: join(folder, 'influx') }, 'ada');
  const basic = { authorization: `Basic ${Buffer.from('ada:secret').toString('base64')}` };
  await ask(server.url, 'CREATE DATABASE upbeat', basic);
  const dataDir = join(folder, 'data');
  const stranger = await open({
    settings: settingsOf(server.url, 'upbeat', { token: 'ada:wrong' }),
    dataDir,
  });
  await stranger.append([sampleAt(T0)]);
  await stranger.flush();
  t.match(stranger.problem(), /HTTP 401/);
  t.notMatch(stranger.problem(), /wrong/);
  t.equal(stranger.stats().pending, 1);
  await t.rejects(minute(stranger, T0, 1), { code: 'samples_refused' });
  await stranger.close();
  const known = await open({ settings: settingsOf(server.url, 'upbeat', { token: 'ada:secret' }), dataDir });
  await until(async () => {
    await known.flush();
    return known.stats().pending === 0;
  });
  t.match(await minute(known, T0, 1), [{ count: 1 }]);
  await known.close();
});

t.test('it tells the doctor what to fix', NEEDS_INFLUX, async (t) => {
  const server = await startInflux(t, { folder: join(t.testdir(), 'influx') }, 'ada');
  const basic = { authorization: `Basic ${Buffer.from('ada:secret').toString('base64')}` };
  const find = (more: Partial<InfluxSettings>) => examineInflux(settingsOf(server.url, 'upbeat', more));
  t.match(await find({ token: 'ada:wrong' }), { found: /HTTP 401/, advice: /storage\.influx\.token/ });
  t.match(await find({ token: 'ada:secret' }), {
    found: /database not found/,
    advice: /doctor --setup, which makes the database upbeat/,
  });
  await ask(server.url, 'CREATE DATABASE upbeat', basic);
  t.strictSame(await find({ token: 'ada:secret' }), {
    found: `${server.url} has upbeat; a point was written and read back`,
    advice: null,
  });
  t.match(await find({ url: 'http://127.0.0.1:1' }), { found: /does not answer/, advice: /start InfluxDB/ });
});

t.test('it writes by the paths of version 2', NEEDS_VICTORIA, async (t) => {
  const folder = t.testdir();
  const server = await startVictoria(t, { folder: join(folder, 'victoria') });
  const settings = settingsOf(server.url, 'upbeat', { api: 'v2', org: 'acme', token: 'any' });
  const store = await open({ settings, dataDir: join(folder, 'data') });
  const at = Date.now() - MINUTE;
  await store.append([
    sampleAt(at, { latencyMs: 42 }),
    sampleAt(at + 1_000, { serviceId: 2, latencyMs: 43 }),
  ]);
  await store.flush();
  t.equal(store.problem(), null);
  t.equal(store.stats().pending, 0);
  const stored = async () => {
    await fetch(`${server.url}/internal/force_flush`);
    const match = encodeURIComponent('{__name__="upbeat_check_latency_ms"}');
    const response = await fetch(`${server.url}/api/v1/export?match[]=${match}`);
    const lines = (await response.text()).trim().split('\n').filter(Boolean);
    return lines.map(
      (line) => JSON.parse(line) as { metric: object; values: number[]; timestamps: number[] },
    );
  };
  await until(async () => (await stored()).length === 2);
  const found = (await stored()).sort((a, b) => (a.values[0] ?? 0) - (b.values[0] ?? 0));
  t.match(found, [
    { metric: { service_id: '1', service: 'service, =1' }, values: [42], timestamps: [at] },
    { metric: { service_id: '2' }, values: [43] },
  ]);
  // Its answer to InfluxQL, the same to every statement, is not taken for a history without checks.
  // It is known without a question.
  await until(() => store.missingHistory() !== null);
  t.match(store.missingHistory(), /does not answer InfluxQL: .*Grafana/);
  t.same([store.problem(), store.advice()], [null, null], 'samples are stored');
  await t.rejects(minute(store, at, 1), { code: 'samples_away' });
  await t.rejects(store.newest(1, 10), { code: 'samples_away' });
  await t.rejects(store.query({ serviceId: 1, from: at - 400 * DAY, to: at, stepMs: DAY }), {
    code: 'samples_away',
  });
  await store.close();
});
