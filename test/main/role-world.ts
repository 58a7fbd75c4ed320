/** A monitor and processes that serve beside it, all in the process of the test, over one data directory and one Redis. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { stringify } from 'yaml';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { readHeartbeat } from '../../src/domain/heartbeat/heartbeat-body.ts';
import { silentLog } from '../../src/log.ts';
import { joinNodes } from '../../src/main/join-nodes.ts';
import { openSharedStores } from '../../src/main/open-stores.ts';
import { type MonitorRole, startMonitor } from '../../src/main/start-monitor.ts';
import { type ServingRole, startServing } from '../../src/main/start-serving.ts';
import type { ReceivedHeartbeat } from '../../src/record/observation.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';

/** The world. */
export interface RoleWorld {
  /** What the one probed service, `shop` with the number 1, answers. */
  code: number;
  /** How often it was asked. */
  requests: number;
  /** Whether the monitor's lease is fresh. */
  isFresh: boolean;
  readonly registry: Registry;
  startMonitor(): Promise<MonitorRole>;
  startServing(): Promise<ServingRole>;
  /** A heartbeat of the account `ada` for `jobs.example.com`. */
  heartbeat(status: string): Promise<ReceivedHeartbeat>;
}

/** Makes the world over a Redis; everything that was started is stopped after the test. */
export async function createRoleWorld(t: Test, redisUrl: string): Promise<RoleWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-role-'));
  const site = createServer((_request, response) => {
    world.requests += 1;
    response.writeHead(world.code).end();
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const catalogueFile = join(folder, 'catalogue.yaml');
  const configFile = join(folder, 'upbeat.yaml');
  const service = { slug: 'shop', name: 'Shop', domain: 'shop.example', category: 'developer' };
  writeFileSync(catalogueFile, stringify({ services: [{ ...service, check: { url } }] }));
  writeFileSync(
    configFile,
    stringify({
      catalogue: { file: catalogueFile },
      checks: {
        interval: '1s',
        timeout: '900ms',
        firstSpread: '100ms',
        confirmAfter: ['50ms'],
        threads: 1,
        allowPrivate: ['127.0.0.0/8'],
        controlTargets: [url],
      },
      storage: { dataDir: join(folder, 'data'), redis: { url: redisUrl } },
    }),
  );
  const config = loadConfig({ file: configFile, env: {} });
  const stops: (() => Promise<void>)[] = [];

  async function openParts() {
    const directory = createServiceDirectory();
    const fail = (what: string) => (error: Error) => t.fail(`${what}: ${error.message}`);
    const parts = { config, directory, clock: systemClock, log: silentLog, fail };
    const shared = await openSharedStores(parts);
    stops.push(shared.close);
    const work = () => ({
      services: 0,
      checksDone: 0,
      online: true,
      offlineSince: null,
      reachesRegistry: true,
    });
    return { ...parts, shared, node: await joinNodes({ ...parts, work }) };
  }

  const own = await openParts();
  const { registry } = own.shared;
  const world: RoleWorld = {
    code: 200,
    requests: 0,
    isFresh: true,
    registry,
    async startMonitor() {
      const lease = { fence: 1, isFresh: () => world.isFresh, release: async () => {} };
      const monitor = await startMonitor(await openParts(), lease);
      stops.push(once(monitor.stop));
      await monitor.begin();
      return monitor;
    },
    async startServing() {
      const serving = await startServing(await openParts());
      const stop = once(serving.stop);
      stops.push(stop);
      return { ...serving, stop };
    },
    async heartbeat(status) {
      const { id: accountId } = await registry.ensureAccount('ada', Date.now());
      const body = JSON.stringify({ domain: 'jobs.example.com', status });
      const reading = readHeartbeat(body, 'beat');
      if (!reading.ok) throw new Error(reading.problem);
      return { report: reading.report, accountId, arrivedAt: Date.now(), body };
    },
  };
  t.teardown(async () => {
    for (const stop of stops.reverse()) await stop();
    site.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return world;
}

function once(stop: () => Promise<void>): () => Promise<void> {
  let stopped: Promise<void> | null = null;
  return () => (stopped ??= stop());
}
