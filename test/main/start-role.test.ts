/** A judge far from PostgreSQL takes over: how often it waits for the server, and that this is soon. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { stringify } from 'yaml';
import { createCatalogueWriter, loadCatalogue } from '../../src/catalogue/watch-catalogue.ts';
import { systemClock } from '../../src/clock.ts';
import { ResultSender } from '../../src/cluster/results/result-sender.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { formatSampleRegions, SAMPLE_REGIONS_FACT } from '../../src/domain/node.ts';
import { requireRedisAddress } from '../../src/domain/store-address.ts';
import { silentLog } from '../../src/log.ts';
import { createActiveRole } from '../../src/main/active-role.ts';
import { joinNodes, NO_WORK } from '../../src/main/join-nodes.ts';
import { openSharedStores } from '../../src/main/open-stores.ts';
import { RoleChanges } from '../../src/main/start-role.ts';
import { acquireLease } from '../../src/store/lease/writer-lease.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { VERSION } from '../../src/version.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { good } from '../record/record-world.ts';
import { SECRET_KEY } from '../support/cluster.ts';
import { executeSql, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { NEEDS_REDIS, until } from '../support/redis-server.ts';
import { createRegistry, usePostgres, useRedis } from '../support/run-servers.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

/** One way to the far server, milliseconds. */
const DELAY_MS = 300;
/** Services whose vendors have reported something. */
const VENDORS = 40;
/** Most round trips from the end of the former judge to the first judgement: 13, and what a busy machine takes. The lease itself takes some of them. */
const MAX_ROUND_TRIPS = 17;

t.setTimeout(120_000);

t.test('a judge far from PostgreSQL takes over soon', { ...NEEDS_POSTGRES, ...NEEDS_REDIS }, async (t) => {
  const [postgres, redis] = await Promise.all([usePostgres(t), useRedis(t)]);
  await createRegistry(postgres, redis.prefix);
  const near = postgres.url(redis.prefix);
  const { port } = new URL(near);
  const road = await startTcpProxy(t, `http://127.0.0.1:${port}`);
  const far = near.replace(`:${port}/`, `:${new URL(road.url).port}/`);
  const catalogue = writeCatalogue(t);
  const redisUrl = `${redis.url}?prefix=${redis.prefix}`;
  const registry = await openRegistry({
    ...{ dataDir: t.testdirName, domainsPerAccount: 10, postgresUrl: near, secretKey: SECRET_KEY },
    ...{ clock: systemClock, log: silentLog, onEnd: (error) => t.fail(error.message) },
  });
  t.teardown(() => registry.close());
  const stored = { registry, clock: systemClock, log: silentLog, file: catalogue, version: VERSION };
  await createCatalogueWriter(stored)((await loadCatalogue(catalogue)).list, '');
  await registry.setFact(SAMPLE_REGIONS_FACT, formatSampleRegions(['eu']));
  const former = await acquireLease({
    ...{ store: registry, place: 'near', clock: systemClock, onLost: () => {} },
    self: { pid: 1, host: 'near', isAlive: () => true },
  });
  const next = await startNode(t, { postgresUrl: far, redisUrl, catalogue });
  const sender = new ResultSender({
    ...{ address: requireRedisAddress(redisUrl), clock: systemClock, log: silentLog },
    ...{ node: 'eu-1', region: 'eu', clockOffsetMs: () => 0 },
  });
  t.teardown(() => sender.stop());
  await executeSql(
    near,
    `INSERT INTO vendor_entries (service_id, feed, entry, id, document, kind, open)
     SELECT id, 'feed', 'entry', 'vendor-' || id, 'document', 'incident', 0 FROM services`,
  );

  // Nodes go on checking meanwhile.
  sender.claim(1, { generation: 1, claim: 1 });
  sender.send([{ result: good(1, Date.now()), suspect: false, region: 'eu' }]);
  await until(() => sender.stats().waiting === 0, 'the result waits for a judge');
  road.delayMs = DELAY_MS;
  const began = performance.now();
  await former.release();
  await until(() => next.role.current.name === 'monitor', 'the far judge is the monitor');
  await until(() => next.role.status.get(1)?.status === 'up', 'it judges');
  const roundTrips = Math.round((performance.now() - began) / (2 * DELAY_MS));
  t.ok(roundTrips <= MAX_ROUND_TRIPS, `${roundTrips} round trips`);
});

/** Writes the catalogue of all nodes; returns its file. */
function writeCatalogue(t: Test): string {
  const file = join(t.testdir(), 'catalogue.yaml');
  const services = Array.from({ length: VENDORS }, (_, n) => ({
    ...{ slug: `s${n}`, name: `S${n}`, domain: `s${n}.example`, category: 'developer' },
  }));
  writeFileSync(file, stringify({ services }));
  return file;
}

/** What the node needs to find the others. */
interface NodeSettings {
  readonly postgresUrl: string;
  readonly redisUrl: string;
  readonly catalogue: string;
}

/** Starts the roles of a judge in this process. */
async function startNode(t: Test, { postgresUrl, redisUrl, catalogue }: NodeSettings) {
  const folder = join(t.testdirName, 'far');
  mkdirSync(folder, { recursive: true });
  const configFile = join(folder, 'upbeat.yaml');
  writeFileSync(
    configFile,
    stringify({
      node: { name: 'far', roles: ['judge', 'serve'] },
      catalogue: { file: catalogue },
      secrets: { key: SECRET_KEY },
      storage: { dataDir: join(folder, 'data'), postgres: { url: postgresUrl }, redis: { url: redisUrl } },
    }),
  );
  const config = loadConfig({ file: configFile, env: {} });
  const fail = (what: string) => (error: Error) => t.fail(`${what}: ${error.message}`);
  const parts = { config, directory: createServiceDirectory(), clock: systemClock, log: silentLog, fail };
  const node = await joinNodes({ ...parts, work: () => NO_WORK });
  const shared = await openSharedStores(parts);
  const role = createActiveRole({ mayServe: true, log: silentLog });
  const changes = await RoleChanges.start({ ...parts, shared, node }, role);
  await changes.begin(() => async () => {});
  node.begin();
  let stopped: Promise<void> | null = null;
  const stop = () =>
    (stopped ??= (async () => {
      await changes.stop();
      await shared.close();
      await node.leave();
    })());
  t.teardown(stop);
  return { role, stop };
}
