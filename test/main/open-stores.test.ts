/** The stores that a process opens at its start, and what it says if it cannot. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { silentLog } from '../../src/log.ts';
import { openConfiguredInflux, openReadSamples, openSharedStores } from '../../src/main/open-stores.ts';
import { openSamples } from '../../src/store/samples/sqlite-samples.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { type Influx2Server, startInfluxV2 } from '../support/influx-v2-server.ts';
import { INFLUXD2, startInflux2 } from '../support/influx2-server.ts';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../support/postgres-server.ts';
import { NEEDS_REDIS, until } from '../support/redis-server.ts';
import { useRedis } from '../support/run-servers.ts';

/** Opens the stores of a process with this environment. */
function open(env: Readonly<Record<string, string>>, log = silentLog) {
  const fail = () => (error: Error) => {
    throw error;
  };
  const config = loadConfig({ file: null, env });
  const directory = createServiceDirectory();
  return openSharedStores({ config, directory, clock: systemClock, log, fail });
}

t.setTimeout(180_000);

// The first one: the stores make all later files private, which the server could not read.
t.test('a start waits for PostgreSQL while it is away, and says so', NEEDS_POSTGRES, async (t) => {
  const server = await startPostgres(t);
  await createDatabase(server.url('postgres'), 'upbeat');
  await server.stop();
  const said: string[] = [];
  const env = { UPBEAT_STORAGE_DATADIR: t.testdir(), UPBEAT_STORAGE_POSTGRES_URL: server.url('upbeat') };
  const note = (fields: object, sentence: string) => void said.push(`${sentence} ${JSON.stringify(fields)}`);
  const opening = open(env, { ...silentLog, warn: note });
  const isSaid = () =>
    said.some((line) => /^PostgreSQL is away; the start waits for it .*cannot be reached/.test(line));
  await until(isSaid, 'it says that it waits');
  await server.start();
  await (await opening).close();
});

t.test(
  'it refuses InfluxDB 2 without an organisation, and a server that is away is not asked for one',
  async (t) => {
    const servers: Influx2Server[] = [await startInfluxV2(t)];
    if (INFLUXD2 !== null) servers.push(await startInflux2(t, t.testdir()));
    const openInflux = (env: Readonly<Record<string, string>>) =>
      openConfiguredInflux({
        config: loadConfig({ file: null, env: { UPBEAT_STORAGE_DATADIR: t.testdir(), ...env } }),
        directory: createServiceDirectory(),
        clock: systemClock,
        log: silentLog,
        fail: () => () => {},
      });
    for (const { url, token } of servers) {
      const env = { UPBEAT_STORAGE_INFLUX_URL: url, UPBEAT_STORAGE_INFLUX_TOKEN: token };
      await t.rejects(openInflux(env), {
        code: 'bad_config',
        message: /^storage\.influx\.org: is not set; set storage\.influx\.org to the name or id/,
      });
      await (await openInflux({ ...env, UPBEAT_STORAGE_INFLUX_ORG: 'acme' }))?.close();
    }
    await (await openInflux({ UPBEAT_STORAGE_INFLUX_URL: 'http://127.0.0.1:9' }))?.close();
  },
);

t.test('a node that serves refuses histories until its data directory has samples', async (t) => {
  const dataDir = t.testdir();
  const fail = () => (error: Error) => {
    throw error;
  };
  const config = loadConfig({ file: null, env: { UPBEAT_STORAGE_DATADIR: dataDir } });
  const parts = { config, directory: createServiceDirectory(), clock: systemClock, log: silentLog, fail };
  const { rawRetentionMs, rollupRetentionMs } = config.storage;
  const read = await openReadSamples(parts);
  t.teardown(() => read.close());
  const day = { serviceId: 1, from: 0, to: 86_400_000, stepMs: 3_600_000 };
  for (const refused of [read.query(day), read.newest(1, 1), read.regionsOf(1)])
    await t.rejects(refused as Promise<unknown>, {
      code: 'samples_away',
      message: /^this node has no samples/,
    });
  const written = await openSamples({ dataDir, rawRetentionMs, rollupRetentionMs, log: silentLog });
  t.teardown(() => written.close());
  const at = Date.now();
  await written.append([{ serviceId: 2, at, status: 'up', latencyMs: 4, statusCode: 200, suspect: false }]);
  await written.flush();
  t.equal((await read.query(day)).length, 24, 'of a service without samples too');
  t.match(await read.newest(2, 1), [{ at }]);
});

t.test('it says what to do if the data directory cannot be created', async (t) => {
  const file = join(t.testdir({ 'a-file': '' }), 'a-file');
  for (const dataDir of [file, join(file, 'below')]) {
    await t.rejects(
      open({ UPBEAT_STORAGE_DATADIR: dataDir }),
      { message: new RegExp(`^The data directory ${dataDir} cannot be made .* set storage\\.dataDir`) },
      dataDir,
    );
  }
});

t.test(
  'it refuses a Redis prefix that another installation uses, and no other one',
  NEEDS_REDIS,
  async (t) => {
    const { url, prefix, client } = await useRedis(t);
    const folder = t.testdir();
    const openIn = (name: string, suffix = '') =>
      open({
        UPBEAT_STORAGE_DATADIR: join(folder, name),
        UPBEAT_STORAGE_REDIS_URL: `${url}?prefix=${prefix}${suffix}`,
      });
    const key = `${prefix}:{nodes}:installation`;
    const claimOf = async () => (await client.get(key))?.split(' ')[0] ?? null;
    const taken = { code: 'redis_prefix_taken', message: /uses the prefix .*\. Add \?prefix= with a name/ };

    const first = await openIn('first');
    const installation = await claimOf();
    t.ok(installation);
    await t.rejects(openIn('second'), taken);
    t.equal(await claimOf(), installation);
    await (await openIn('second', '-own')).close();

    const beside = await openIn('first');
    t.equal(await claimOf(), installation, 'processes of one installation share the prefix');
    await client.del(key);
    await until(async () => (await claimOf()) === installation, 'an emptied Redis is claimed again');
    await beside.close();
    await until(async () => (await claimOf()) === installation, 'and so it is after a process has stopped');
    t.equal(first.redis?.problem(), null);
    await first.close();

    cpSync(join(folder, 'first'), join(folder, 'copy'), { recursive: true });
    const copy = await openIn('copy');
    t.equal(await claimOf(), installation, 'a copied or restored registry is the same installation');
    await copy.close();

    await client.set(key, `${installation} process 1 on a-host`, 'PX', 1_500);
    const second = await openIn('second');
    t.not(await claimOf(), installation, 'the claim of an installation that was killed expires');
    await client.set(key, `${installation} process 1 on a-host`);
    await until(() => second.redis?.problem() !== null);
    t.match(second.redis?.problem(), /^another installation, process 1 on a-host, uses the same prefix$/);
    await second.close();
    t.equal(await claimOf(), installation, 'a process that stops ends only its own claim');
  },
);
