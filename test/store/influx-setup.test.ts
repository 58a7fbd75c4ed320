/** `upbeat doctor --setup`: what it makes in InfluxDB, and that it changes nothing which is there. */
import { join } from 'node:path';
import t from 'tap';
import { setUpInflux } from '../../src/store/samples/influx/set-up-influx.ts';
import { ask, startInflux } from '../support/influx-server.ts';
import { type InfluxV2Options, startInfluxV2 } from '../support/influx-v2-server.ts';
import { install } from '../support/program.ts';
import { useInflux, useVictoria } from '../support/run-servers.ts';
import { NEEDS_INFLUX, NEEDS_VICTORIA, openInflux, rowsOf, settingsOf, until } from './influx-world.ts';
import { sampleAt } from './samples-contract.ts';

const DAY = 86_400_000;
const KEEP = 90 * DAY;

t.test('it makes a database that keeps points as long as it is told, once', NEEDS_INFLUX, async (t) => {
  const folder = t.testdir();
  const server = await startInflux(t, { folder: join(folder, 'influx') });
  const policies = (database: string) =>
    rowsOf(server.url, database, `SHOW RETENTION POLICIES ON "${database.replaceAll('"', '\\"')}"`);
  // A name that would end a statement, were it not quoted.
  for (const bucket of ['upbeat', 'a "quoted" name; DROP DATABASE upbeat']) {
    const settings = settingsOf(server.url, bucket);
    t.strictSame(await setUpInflux(settings, KEEP), [
      { what: 'database', made: true, found: `${bucket} was made, and keeps points for 90d`, advice: null },
    ]);
    t.strictSame(await setUpInflux(settings, KEEP), [
      { what: 'database', made: false, found: `${bucket} is there`, advice: null },
      {
        what: 'retention',
        made: false,
        found: 'the default policy upbeat keeps points for 90d',
        advice: null,
      },
    ]);
  }
  t.match(await policies('upbeat'), [{ name: 'upbeat', duration: '2160h0m0s', default: true }]);

  const store = await openInflux({
    settings: settingsOf(server.url, 'upbeat'),
    dataDir: join(folder, 'data'),
  });
  const at = Date.now() - 60_000;
  await store.append([sampleAt(at), sampleAt(at - KEEP - DAY), sampleAt(at - 1)]);
  await store.flush();
  await until(() => store.stats().pending === 0);
  t.equal((await store.newest(1, 10)).length, 2, 'what is too old for it is not kept');
  t.equal(store.lost(), 1, 'and that alone counts as given up');
  t.equal(store.problem(), null, 'for nothing is the matter with the server');
  await store.close();
});

t.test('it changes nothing that is there, and tells what differs', NEEDS_INFLUX, async (t) => {
  const folder = t.testdir();
  const server = await startInflux(t, { folder: join(folder, 'influx') }, 'ada');
  const basic = { authorization: `Basic ${Buffer.from('ada:secret').toString('base64')}` };
  const settings = settingsOf(server.url, 'upbeat', { token: 'ada:secret' });
  await ask(server.url, 'CREATE DATABASE upbeat', basic);
  const retention = async () => (await setUpInflux(settings, KEEP)).at(-1);
  t.match(await retention(), {
    what: 'retention',
    made: false,
    found: 'the default policy autogen keeps points for ever',
    advice: 'ALTER RETENTION POLICY "autogen" ON "upbeat" DURATION 2160h SHARD DURATION 1d',
  });
  await ask(server.url, 'ALTER RETENTION POLICY autogen ON upbeat DURATION 36h30m SHARD DURATION 1h', basic);
  t.match(await retention(), { found: 'the default policy autogen keeps points for 2190m', advice: /90d/ });
  await ask(server.url, 'ALTER RETENTION POLICY autogen ON upbeat DURATION 2160h', basic);
  t.match(await retention(), { advice: null });
  await ask(server.url, 'DROP RETENTION POLICY autogen ON upbeat', basic);
  t.match(await retention(), { what: 'retention', made: true, found: /upbeat was made the default policy/ });
  t.match(await retention(), { made: false, advice: null });

  const wrong = await setUpInflux({ ...settings, token: 'ada:wrong' }, KEEP);
  t.match(wrong, [{ what: 'server', made: false, found: /HTTP 401/, advice: /storage\.influx\.token/ }]);
  t.notMatch(JSON.stringify(wrong), /ada:wrong/);
  t.match(await setUpInflux({ ...settings, url: 'http://127.0.0.1:1' }, KEEP), [
    { what: 'server', found: /does not answer/, advice: /start InfluxDB/ },
  ]);
});

t.test('it makes a bucket and its mapping by the API of version 2, once', async (t) => {
  const versions: readonly (InfluxV2Options & { readonly mapped: boolean })[] = [
    { mapped: true },
    { missingIs404: true, mapped: true },
    { virtualMappings: true, mapped: false },
  ];
  for (const { mapped, ...version } of versions) {
    const { url, token, buckets, mappings, changes } = await startInfluxV2(t, version);
    for (const org of ['acme', null]) {
      const settings = settingsOf(url, 'upbeat', { api: 'v2', org, token });
      const steps = await setUpInflux(settings, KEEP);
      t.strictSame(
        steps.map(({ what, made, advice }) => [what, made, advice]),
        [
          ['bucket', org === 'acme', null],
          ['mapping', org === 'acme' && mapped, null],
        ],
      );
    }
    t.match(buckets, [{ name: 'upbeat', retentionRules: [{ type: 'expire', everySeconds: KEEP / 1_000 }] }]);
    t.same(
      mappings.map(({ id: _, ...mapping }) => mapping),
      mapped
        ? [
            {
              orgID: buckets[0]?.orgID,
              bucketID: buckets[0]?.id,
              database: 'upbeat',
              retention_policy: 'autogen',
              default: true,
            },
          ]
        : [],
    );
    t.same(changes, ['POST /api/v2/buckets', 'POST /api/v2/dbrps'].slice(0, mapped ? 2 : 1));
  }
});

t.test('it leaves buckets and mappings of others as they are', async (t) => {
  const server = await startInfluxV2(t);
  const { url, token, buckets, mappings, changes } = server;
  const settings = settingsOf(url, 'upbeat', { api: 'v2', org: 'acme', token });
  buckets.push({ id: 'b1', orgID: '0a5a5a5a5a5a5a5a', name: 'upbeat', retentionRules: [] });
  mappings.push({
    id: 'd1',
    orgID: '0a5a5a5a5a5a5a5a',
    bucketID: 'b2',
    database: 'upbeat',
    retention_policy: 'autogen',
    default: true,
  });
  t.match(await setUpInflux(settings, KEEP), [
    { what: 'bucket', made: false, found: 'upbeat is there, and keeps points for ever', advice: /7776000s/ },
    { what: 'mapping', made: false, found: /mapped to another bucket/, advice: /dbrp/ },
  ]);
  t.same(changes, []);

  t.match(await setUpInflux({ ...settings, org: 'nobody' }, KEEP), [
    { what: 'bucket', found: 'there is no organisation nobody', advice: /storage\.influx\.org/ },
  ]);
  const wrong = await setUpInflux({ ...settings, token: 'hunter2' }, KEEP);
  t.match(wrong, [{ what: 'server', found: /HTTP 401/, advice: /storage\.influx\.token/ }]);
  t.notMatch(JSON.stringify(wrong), /hunter2/);
  const reader = await startInfluxV2(t, { readOnly: true });
  t.match(await setUpInflux({ ...settings, url: reader.url }, KEEP), [
    { what: 'server', found: /HTTP 403/, advice: /may read and write/ },
  ]);
});

t.test('it sets up InfluxDB 1 where it is written to like version 2', NEEDS_INFLUX, async (t) => {
  const { url, database } = await useInflux(t);
  const settings = settingsOf(url, `${database}_new`, { api: 'v2' });
  t.match(await setUpInflux(settings, KEEP), [{ what: 'database', made: true, advice: null }]);
});

t.test('it has nothing to make in VictoriaMetrics', NEEDS_VICTORIA, async (t) => {
  const { url } = await useVictoria(t);
  const settings = settingsOf(url, 'upbeat', { api: 'v2', org: 'acme', token: 'any' });
  t.strictSame(await setUpInflux(settings, KEEP), [
    { what: 'server', made: false, found: 'it takes points and has no databases', advice: null },
  ]);
});

t.test(
  'it ends with 0 when all is there and with 1 when something is to be mended',
  NEEDS_INFLUX,
  async (t) => {
    const { url, database } = await useInflux(t);
    const bucket = `${database}_shop`;
    const settingUp = async (influx: object, ...args: string[]) => {
      const installation = await install([], { storage: { rawRetention: '30d', influx } });
      t.teardown(() => installation.remove());
      const { status, stdout } = await installation.run('doctor', '--setup', ...args);
      return { status, stdout };
    };
    const influx = { url: `${url}/`, api: 'v1', bucket };
    const made = await settingUp(influx, '--json');
    t.equal(made.status, 0);
    t.strictSame(JSON.parse(made.stdout), [
      {
        state: 'made',
        what: 'influx database',
        found: `${bucket} was made, and keeps points for 30d`,
        advice: null,
      },
    ]);
    await ask(url, `ALTER RETENTION POLICY upbeat ON ${bucket} DURATION 0s`);
    const [differs, unset] = await Promise.all([settingUp(influx), settingUp({})]);
    t.equal(differs.status, 1);
    t.match(differs.stdout, /^MEND +influx retention +the default policy upbeat keeps points for ever/m);
    t.equal(unset.status, 0);
    t.match(unset.stdout, /^ok +influx +storage\.influx is not set/m);
  },
);
