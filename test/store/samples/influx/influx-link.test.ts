/**
 * Every answer of InfluxDB to a write that is not success: what is kept, what is given up, and what is said of it. On the
 * double, which gives recorded answers, and on a real InfluxDB 2 where there is one.
 */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { InfluxSettings } from '../../../../src/store/samples/influx/influx-settings.ts';
import { examineInflux } from '../../../../src/store/samples/influx/set-up-influx.ts';
import { ask } from '../../../support/influx-server.ts';
import { type Influx2Server, RECORDED, startInfluxV2 } from '../../../support/influx-v2-server.ts';
import { INFLUXD2, startInflux2 } from '../../../support/influx2-server.ts';
import { useInflux } from '../../../support/run-servers.ts';
import { NEEDS_INFLUX, openInflux, settingsOf, until } from '../../influx-world.ts';
import { sampleAt } from '../../samples-contract.ts';

const DAY = 86_400_000;
const NOW = Date.now();

t.setTimeout(120_000);

/** A server with the bucket `upbeat`, which keeps 90 days, and settings that work. */
async function makeWorld(t: Test, server: Influx2Server) {
  const id = await server.makeBucket('upbeat', (90 * DAY) / 1_000);
  const both = [
    { action: 'read', type: 'buckets', id },
    { action: 'write', type: 'buckets', id },
  ] as const;
  const token = await server.makeToken(both);
  const settings = settingsOf(server.url, 'upbeat', { api: 'v2', org: 'acme', token });
  const dataDir = t.testdir();
  return {
    server,
    settings,
    reader: await server.makeToken([both[0]]),
    writer: await server.makeToken([both[1]]),
    open: () => openInflux({ settings, dataDir }),
  };
}

/** Faults of the settings: nothing is given up, and the operator is told what to mend. */
const FAULTS: readonly {
  readonly name: string;
  readonly wrong: (world: Awaited<ReturnType<typeof makeWorld>>) => Partial<InfluxSettings>;
  readonly problem: RegExp;
  readonly advice: RegExp;
  /** Histories are read all the same. */
  readonly isRead?: boolean;
}[] = [
  {
    name: 'no organisation',
    wrong: () => ({ org: null }),
    problem: /HTTP 400: Please provide either orgID or org/,
    advice: /set storage\.influx\.org to the name or id/,
    isRead: true,
  },
  {
    name: 'an organisation that is not there',
    wrong: () => ({ org: 'nobody' }),
    problem: /HTTP 404: organization name "nobody" not found/,
    advice: /storage\.influx\.org/,
    isRead: true,
  },
  {
    name: 'a bucket that is not there',
    wrong: () => ({ bucket: 'nowhere' }),
    problem: /HTTP 404: bucket "nowhere" not found/,
    advice: /doctor --setup, which makes the bucket nowhere/,
  },
  {
    name: 'a token that is not known',
    wrong: () => ({ token: 'hunter2' }),
    problem: /HTTP 401: unauthorized access/,
    advice: /storage\.influx\.token to one that may read and write upbeat/,
  },
  {
    name: 'a token that may not write',
    wrong: ({ reader }) => ({ token: reader }),
    problem: /HTTP 403: insufficient permissions for write/,
    advice: /storage\.influx\.token to one that may read and write upbeat/,
    isRead: true,
  },
];

async function keepsPoints(t: Test, server: Influx2Server): Promise<void> {
  const world = await makeWorld(t, server);
  t.jobs = FAULTS.length;
  for (const fault of FAULTS) {
    t.test(`points are kept: ${fault.name}`, { buffered: true }, async (t) => {
      const wrong = fault.wrong(world);
      const dataDir = t.testdir();
      const at = NOW - 60_000;
      const broken = await openInflux({ settings: { ...world.settings, ...wrong }, dataDir });
      await broken.append([sampleAt(at), sampleAt(at + 1)]);
      await broken.flush();
      t.match(broken.problem(), fault.problem);
      t.match(broken.advice(), fault.advice);
      t.notMatch(`${broken.problem()} ${broken.advice()}`, /hunter2/);
      t.match({ pending: broken.stats().pending, lost: broken.lost() }, { pending: 2, lost: 0 });
      t.equal(broken.missingSince(), at, 'and since when they are missing is known');
      if (fault.isRead !== true) await t.rejects(broken.newest(1, 1), { code: 'samples_refused' });
      await broken.close();
      t.match(await examineInflux({ ...world.settings, ...wrong }), {
        found: fault.problem,
        advice: fault.advice,
      });

      const mended = await openInflux({ settings: world.settings, dataDir });
      await until(() => mended.stats().pending === 0 && mended.problem() === null, 'all arrived');
      t.match({ lost: mended.lost(), missingSince: mended.missingSince() }, { lost: 0, missingSince: null });
      await mended.close();
    });
  }

  t.test('points that are too old are dropped, but no others of their batch', async (t) => {
    const store = await world.open();
    t.teardown(() => store.close());
    const old = Array.from({ length: 30 }, (_, index) => sampleAt(NOW - 100 * DAY - index * DAY));
    await store.append([sampleAt(NOW - 3, { serviceId: 7 }), ...old, sampleAt(NOW - 2, { serviceId: 7 })]);
    await store.flush();
    await until(() => store.stats().pending === 0);
    t.equal(store.lost(), 30);
    t.equal(store.problem(), null);
  });
}

t.jobs = 3;
t.test('InfluxDB 2, by its double', { buffered: true }, async (t) => keepsPoints(t, await startInfluxV2(t)));
if (INFLUXD2 !== null)
  t.test('InfluxDB 2', { buffered: true }, async (t) =>
    keepsPoints(t, await startInflux2(t, join(t.testdir(), 'influx'))),
  );

t.test('points are kept while the server limits, fails or is overloaded', { buffered: true }, async (t) => {
  const said = (message: string) => JSON.stringify({ code: 'internal error', message });
  const faults = [
    [429, said('rate limit exceeded'), { 'retry-after': '1' }, /HTTP 429: rate limit/, /limits the rate/],
    [500, RECORDED.storage_full?.body ?? '', {}, /HTTP 500: .*cache-max-memory-size/, /log of InfluxDB/],
    [502, '<html>Bad Gateway</html>', {}, /HTTP 502/, /log of InfluxDB/],
    [503, said('service unavailable'), { 'retry-after': '1' }, /HTTP 503/, /log of InfluxDB/],
    [408, said('request timeout'), {}, /HTTP 408/, /docs\/influxdb\.md/],
    [405, said('method not allowed'), {}, /HTTP 405/, /docs\/influxdb\.md/],
    [301, '', { location: 'https://elsewhere.example/' }, /HTTP 301/, /docs\/influxdb\.md/],
    [400, said('invalid precision; valid precision units are ns, us, ms, and s'), {}, /precision/, /docs/],
  ] as const;
  t.jobs = faults.length;
  for (const [status, body, headers, problem, advice] of faults)
    t.test(`${status}`, { buffered: true }, async (t) => {
      const server = await startInfluxV2(t);
      const { settings } = await makeWorld(t, server);
      const store = await openInflux({ settings, dataDir: join(t.testdir(), String(status)) });
      server.fault = { status, body, headers: { ...headers, 'content-type': 'application/json' } };
      await store.append([sampleAt(NOW - status), sampleAt(NOW - status - 1_000)]);
      await store.flush();
      t.match({ problem: store.problem(), advice: store.advice() }, { problem, advice }, String(status));
      t.match(
        { pending: store.stats().pending, lost: store.lost() },
        { pending: 2, lost: 0 },
        String(status),
      );
      server.fault = null;
      await until(() => store.stats().pending === 0 && store.problem() === null, `${status} passes`);
      t.equal(store.lost(), 0, String(status));
      await store.close();
      t.equal(server.lines.filter((line) => line.startsWith('upbeat_check')).length, 2);
    });
});

t.test(
  'it gives malformed lines up that the server names, and stores the others',
  NEEDS_INFLUX,
  async (t) => {
    const { url, database } = await useInflux(t);
    const two = await startInfluxV2(t);
    const servers: readonly (readonly [string, InfluxSettings])[] = [
      ['InfluxDB 1', settingsOf(url, database)],
      ['the double of InfluxDB 2', (await makeWorld(t, two)).settings],
      ...(INFLUXD2 === null
        ? []
        : [
            [
              'InfluxDB 2',
              (await makeWorld(t, await startInflux2(t, join(t.testdir(), 'i2')))).settings,
            ] as const,
          ]),
    ];
    for (const [name, settings] of servers) {
      const { openInfluxLink } = await import('../../../../src/store/samples/influx/influx-link.ts');
      const link = openInfluxLink(settings);
      const good = Array.from({ length: 100 }, (_, at) => `upbeat_check,service_id=1 up=1i ${NOW - at}`);
      const lines = [...good.slice(0, 50), 'nonsense', ...good.slice(50), "more_nonsense'dropped=9"];
      const outcome = await link.send(lines);
      t.match(
        outcome,
        { unsent: [], dropped: 2, problem: null, refusal: /unable to parse 'nonsense'/ },
        name,
      );
      const [table] = await link.query([`SELECT COUNT(up) FROM upbeat_check`]).catch(() => [null]);
      if (name !== 'the double of InfluxDB 2') t.equal(table?.rows[0]?.[1], 100, name);
    }
    t.equal(two.lines.length, 100);
    await ask(url, `DROP DATABASE ${database}`);
  },
);
