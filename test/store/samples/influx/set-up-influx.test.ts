/** `upbeat doctor --setup`: what it makes in InfluxDB, and that it changes nothing which is there. */

import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { InfluxSettings } from '../../../../src/store/samples/influx/influx-settings.ts';
import { examineInflux, setUpInflux } from '../../../../src/store/samples/influx/set-up-influx.ts';
import { ask, startInflux } from '../../../support/influx-server.ts';
import { type Influx2Server, startInfluxV2 } from '../../../support/influx-v2-server.ts';
import { INFLUXD2, startInflux2 } from '../../../support/influx2-server.ts';
import { install } from '../../../support/program.ts';
import { useInflux, useVictoria } from '../../../support/run-servers.ts';
import { NEEDS_INFLUX, NEEDS_VICTORIA, openInflux, rowsOf, settingsOf, until } from '../../influx-world.ts';
import { sampleAt } from '../../samples-contract.ts';

const DAY = 86_400_000;
const KEEP = 90 * DAY;

t.test('it creates a database with the retention, once', NEEDS_INFLUX, async (t) => {
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

t.test('it changes nothing that exists, and reports differences', NEEDS_INFLUX, async (t) => {
  const folder = t.testdir();
  const server = await startInflux(t, { folder: join(folder, 'influx') }, 'ada');
  const basic = { authorization: `Basic ${Buffer.from('ada:secret').toString('base64')}` };
  const settings = settingsOf(server.url, 'upbeat', { token: 'ada:secret' });
  await ask(server.url, 'CREATE DATABASE upbeat', basic);
  const retention = async () => (await setUpInflux(settings, KEEP)).at(-1);
  t.match(await retention(), {
    what: 'retention',
    made: false,
    found: 'the default policy autogen keeps points indefinitely',
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

/** What holds of InfluxDB 2, real or not. */
async function setsUp(t: Test, server: Influx2Server): Promise<void> {
  const { url, orgId } = server;
  const read = { action: 'read', type: 'buckets' } as const;
  const write = { action: 'write', type: 'buckets' } as const;
  const all = await server.makeToken([read, write]);
  const withOrgs = await server.makeToken([read, write, { action: 'read', type: 'orgs', id: orgId }]);
  const settings = (bucket: string, org: string | null, token: string) =>
    settingsOf(url, bucket, { api: 'v2', org, token });
  const summary = async (changed: InfluxSettings) =>
    (await setUpInflux(changed, KEEP)).map(({ what, made, advice }) => [what, made, advice]);

  await t.test('it creates a bucket once, with the rights that the documentation names', async (t) => {
    // By its id an organisation needs no right of its own.
    for (const [bucket, org, token] of [
      ['by_id', orgId, all],
      ['by_name', 'acme', withOrgs],
    ] as const) {
      const changed = settings(bucket, org, token);
      t.strictSame(await summary(changed), [
        ['bucket', true, null],
        ['mapping', false, null],
      ]);
      t.strictSame(await summary(changed), [
        ['bucket', false, null],
        ['mapping', false, null],
      ]);
      t.match(
        (await server.listBuckets()).find(({ name }) => name === bucket),
        { everySeconds: KEEP / 1_000 },
      );
      t.match(await examineInflux(changed), { found: /was written and read back/, advice: null }, bucket);
    }
    t.match(await setUpInflux(settings('third', 'acme', all), KEEP), [
      { what: 'organisation', made: false, found: /does not see/, advice: /its id, or .*read:orgs/ },
    ]);
  });

  await t.test('it uses an existing bucket with only the rights to read and write it', async (t) => {
    const id = await server.makeBucket('there', KEEP / 1_000);
    const token = await server.makeToken([
      { ...read, id },
      { ...write, id },
    ]);
    for (const org of ['acme', orgId]) {
      t.strictSame(await summary(settings('there', org, token)), [
        ['bucket', false, null],
        ['mapping', false, null],
      ]);
      t.match(await examineInflux(settings('there', org, token)), { found: /read back/, advice: null });
    }
  });

  await t.test('it names the organisation that must be set', async (t) => {
    t.match(await setUpInflux(settings('upbeat', null, withOrgs), KEEP), [
      { what: 'organisation', made: false, found: /not set/, advice: 'set storage.influx.org to acme' },
    ]);
    t.match(await setUpInflux(settings('upbeat', null, all), KEEP), [
      { what: 'organisation', found: /not set/, advice: /its name or id/ },
    ]);
    t.match(await setUpInflux(settings('upbeat', 'nobody', all), KEEP), [
      { what: 'organisation', found: 'there is no organisation nobody', advice: /storage\.influx\.org/ },
    ]);
  });

  await t.test('it leaves buckets and mappings unchanged, and reports differences', async (t) => {
    const [forever, other] = [await server.makeBucket('forever'), await server.makeBucket('other')];
    await server.makeMapping('forever', other);
    t.match(await setUpInflux(settings('forever', 'acme', all), KEEP), [
      {
        what: 'bucket',
        made: false,
        found: 'forever is there, and keeps points indefinitely',
        advice: /7776000s/,
      },
      { what: 'mapping', made: false, found: /mapped to another bucket/, advice: /dbrp/ },
    ]);
    t.match(await examineInflux(settings('forever', 'acme', all)), {
      found: /InfluxQL does not find it/,
      advice: /another bucket: see influx v1 dbrp list/,
    });
    t.match(forever, /^[0-9a-f]{16}$/);
  });

  await t.test('it reports what a token lacks', async (t) => {
    const id = await server.makeBucket('rights');
    const reader = await server.makeToken([{ ...read, id }]);
    const writer = await server.makeToken([{ ...write, id }]);
    t.match(await examineInflux(settings('rights', 'acme', reader)), {
      found: /HTTP 403: insufficient permissions for write/,
      advice: /one that may read and write rights/,
    });
    t.match(await examineInflux(settings('rights', 'acme', writer)), {
      found: /could not be read: .*database not found/,
      advice: /one that may read and write it/,
    });
    t.match(await setUpInflux(settings('unmade', orgId, reader), KEEP), [
      { what: 'server', found: /HTTP 401/, advice: /storage\.influx\.token/ },
    ]);
    const wrong = await setUpInflux(settings('rights', 'acme', 'hunter2'), KEEP);
    t.match(wrong, [{ what: 'server', found: /HTTP 401/, advice: /storage\.influx\.token/ }]);
    t.notMatch(JSON.stringify(wrong), /hunter2/);
  });
}

t.test('InfluxDB 2, by its double', async (t) => setsUp(t, await startInfluxV2(t)));
if (INFLUXD2 !== null)
  t.test('InfluxDB 2', async (t) => setsUp(t, await startInflux2(t, join(t.testdir(), 'influx'))));

t.test('it maps the database if the server does not do so itself', async (t) => {
  for (const missingIs404 of [true, false]) {
    const { url, token, orgId, changes } = await startInfluxV2(t, { missingIs404, virtualMappings: false });
    const settings = settingsOf(url, 'upbeat', { api: 'v2', org: orgId, token });
    for (const isFirst of [true, false])
      t.match(await setUpInflux(settings, KEEP), [
        { what: 'bucket', made: isFirst, advice: null },
        { what: 'mapping', made: isFirst, advice: null },
      ]);
    t.same(changes, ['POST /api/v2/buckets', 'POST /api/v2/dbrps']);
  }
});

t.test('it sets up InfluxDB 1 also if it is written to like version 2', NEEDS_INFLUX, async (t) => {
  const { url, database } = await useInflux(t);
  const settings = settingsOf(url, `${database}_new`, { api: 'v2' });
  t.match(await setUpInflux(settings, KEEP), [{ what: 'database', made: true, advice: null }]);
});

t.test('it creates nothing in VictoriaMetrics', NEEDS_VICTORIA, async (t) => {
  const { url } = await useVictoria(t);
  const settings = settingsOf(url, 'upbeat', { api: 'v2', org: 'acme', token: 'any' });
  t.strictSame(await setUpInflux(settings, KEEP), [
    { what: 'server', made: false, found: 'it takes points and has no databases', advice: null },
  ]);
});

t.test(
  'it ends with 0 if everything exists, and with 1 if something needs to be fixed',
  NEEDS_INFLUX,
  async (t) => {
    const { url, database } = await useInflux(t);
    const bucket = `${database}_shop`;
    const settingUp = async (influx: object, ...args: string[]) => {
      const installation = await install([], { storage: { rawRetention: '30d', influx } });
      t.teardown(() => installation.remove());
      const { status, stdout } = await installation.runHere('doctor', '--setup', ...args);
      return { status, stdout };
    };
    const influx = { url: `${url}/`, api: 'v1', bucket };
    const made = await settingUp(influx, '--json');
    t.equal(made.status, 0);
    t.strictSame(JSON.parse(made.stdout), [
      {
        state: 'ok',
        what: 'postgres',
        found: 'storage.postgres is not set: the registry stays in storage.dataDir',
        advice: null,
      },
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
    t.match(differs.stdout, /^FIX +influx retention +the default policy upbeat keeps points indefinitely/m);
    t.equal(unset.status, 0);
    t.match(unset.stdout, /^ok +influx +storage\.influx is not set/m);
  },
);
