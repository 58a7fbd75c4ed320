/**
 * `npm run soak -- influx-spool`: a day's absence of InfluxDB for 1,200 services that are checked every five minutes
 * (345,600 samples, a row of the spool for each quarter of a second), then how it drains. Ends with status 1 where a
 * sample is lost, or the requests are more than their bound. `UPBEAT_TEST_INFLUXD2` names a server of version 2 to try
 * instead of 1.6.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { openInfluxLink } from '../../src/store/samples/influx/influx-link.ts';
import { InfluxWriter } from '../../src/store/samples/influx/influx-writer.ts';
import { openSpool } from '../../src/store/samples/influx/spool.ts';
import { settingsOf } from '../store/influx-world.ts';
import { double } from '../support/double.ts';
import { ask, startInflux } from '../support/influx-server.ts';
import { INFLUXD2, startInflux2 } from '../support/influx2-server.ts';

const SERVICES = 1_200;
const CHECKS_A_DAY = 288;
const SAMPLES = SERVICES * CHECKS_A_DAY;
const MAX_REQUESTS = Math.ceil(SAMPLES / 5_000) + 5;
const FROM = Date.now() - 2 * 86_400_000;

/** Where the disk need not be waited for: filling the spool is no part of the trial. */
const MEMORY_DISK = '/dev/shm';
const folder = mkdtempSync(join(existsSync(MEMORY_DISK) ? MEMORY_DISK : tmpdir(), 'upbeat-soak-'));
const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
const scope = { teardown: (end: () => unknown) => void ends.unshift(end) };
try {
  const settings = await startServer();
  const spool = openSpool(folder, 1024 ** 3);
  for (let row = 0; row < SAMPLES; row++) {
    const at = FROM + row * 250;
    spool.put([
      `upbeat_check,service_id=${row % SERVICES} up=1i,slow=0i,down=0i,suspect=0i,status_code=200i,latency_ms=${row % 900}i,timed=1i ${at}`,
    ]);
  }
  console.log(`${spool.samples} samples wait in ${(spool.bytes / 1e6).toFixed(0)} MB`);
  const link = openInfluxLink(settings);
  let requests = 0;
  const startedAt = performance.now();
  const writer = new InfluxWriter(
    double({
      send(lines) {
        requests++;
        return link.send(lines);
      },
    }),
    spool,
    systemClock,
  );
  while (writer.state().pending > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  const seconds = (performance.now() - startedAt) / 1_000;
  const { lost } = await writer.close();
  const [table] = await link.query(['SELECT COUNT(up) FROM upbeat_check']);
  const stored = Number(table?.rows[0]?.[1]);
  console.log(`drained in ${seconds.toFixed(1)} s by ${requests} requests; ${stored} stored, ${lost} lost`);
  if (stored !== SAMPLES || lost > 0 || requests > MAX_REQUESTS) {
    console.log('NOT as it must be');
    process.exitCode = 1;
  }
} finally {
  for (const end of ends) await end();
}

async function startServer() {
  if (INFLUXD2 !== null) {
    const server = await startInflux2(scope, join(folder, 'influx'));
    await server.makeBucket('upbeat');
    return settingsOf(server.url, 'upbeat', { api: 'v2', org: 'acme', token: server.token });
  }
  const server = await startInflux(scope, { folder: join(folder, 'influx') });
  await ask(server.url, 'CREATE DATABASE upbeat');
  return settingsOf(server.url, 'upbeat');
}
