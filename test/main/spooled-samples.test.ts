/** What a former monitor of a cluster kept on disk for InfluxDB is sent by the same process, beside the next monitor. */
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { silentLog } from '../../src/log.ts';
import { sendSpooledSamples } from '../../src/main/open-stores.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { NEEDS_INFLUX, openInflux, rowsOf, settingsOf, until } from '../store/influx-world.ts';
import { sampleAt } from '../store/samples-contract.ts';
import { freePort } from '../support/free-port.ts';
import { useInflux } from '../support/run-servers.ts';

t.test('a process that is no longer the monitor sends what it kept on disk', NEEDS_INFLUX, async (t) => {
  const { url, database } = await useInflux(t);
  const dataDir = t.testdir();
  const config = loadConfig({
    file: null,
    env: {
      UPBEAT_STORAGE_DATADIR: dataDir,
      UPBEAT_STORAGE_POSTGRES_URL: 'postgres://upbeat@127.0.0.1:9/upbeat',
      UPBEAT_STORAGE_REDIS_URL: 'redis://127.0.0.1:9',
      UPBEAT_STORAGE_INFLUX_URL: url,
      UPBEAT_STORAGE_INFLUX_API: 'v1',
      UPBEAT_STORAGE_INFLUX_BUCKET: database,
    },
  });
  const fail = (what: string) => (error: Error) => t.fail(`${what}: ${error.message}`);
  const parts = { config, directory: createServiceDirectory(), clock: systemClock, log: silentLog, fail };
  t.equal(await sendSpooledSamples(parts), null, 'it was never the monitor');

  /** The monitor's time: InfluxDB is away, and samples stay on disk. */
  const keep = async (count: number, from: number) => {
    const away = settingsOf(`http://127.0.0.1:${await freePort()}`, database);
    const monitor = await openInflux({ settings: away, dataDir });
    await monitor.append(Array.from({ length: count }, (_, n) => sampleAt(from + n * 1_000)));
    await monitor.close();
  };
  const counted = async () => {
    const [row] = await rowsOf(url, database, 'SELECT COUNT(up) FROM upbeat_check');
    return Number(row?.count ?? 0);
  };
  const startAt = Date.now() - 3_600_000;
  await keep(3, startAt);
  const sending = await sendSpooledSamples(parts);
  await until(async () => (await counted()) === 3, 'the points are in InfluxDB');
  await sending?.stop();

  // It becomes the monitor again meanwhile, and continues with the open store.
  await keep(2, startAt + 60_000);
  const again = await sendSpooledSamples(parts);
  const samples = await again?.take();
  await samples?.append([sampleAt(startAt + 120_000)]);
  await until(async () => (await counted()) === 6, 'all points are in InfluxDB');
  await again?.stop();
  t.equal(await again?.take(), null);
  await samples?.close();
});
