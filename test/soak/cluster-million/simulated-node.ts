/**
 * A node of `cluster-million.ts` whose checks are simulated: it registers itself, holds all shards of its region, loads
 * their services and sends results, by the parts of a real node. Prints a line of JSON when it has loaded the services and
 * when it has sent what a line of its standard input says.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../src/clock.ts';
import { ClusterNodes } from '../../../src/cluster/nodes.ts';
import { ResultSender } from '../../../src/cluster/results/result-sender.ts';
import { ShardHolder } from '../../../src/cluster/shards/hold-shards.ts';
import { SHARDS } from '../../../src/domain/node.ts';
import type { RuledResult } from '../../../src/domain/result.ts';
import { requireRedisAddress } from '../../../src/domain/store-address.ts';
import { createStartPermit } from '../../../src/engine/protocol.ts';
import { silentLog } from '../../../src/log.ts';
import { openRegistryInProcess } from '../../../src/store/registry/open-registry.ts';
import { VERSION } from '../../../src/version.ts';
import { goodResult } from '../../support/attempts.ts';
import { isFailing, type SimulatedReport } from './simulation.ts';

const [region = '', postgresUrl = '', redisUrl = '', count = '0'] = process.argv.slice(2);
const services = Number(count);
const STEP_MS = 100;
const LATENCY_MS = 40;
const GOOD = {
  responseTimeMs: 38,
  timing: { dnsMs: 1.5, connectMs: 12.25, tlsMs: 14.5, firstByteMs: 9.75, totalMs: 38.5 },
  certificateExpiresAt: systemClock.now() + 5_184_000_000,
} as const;
const FAILED = {
  ...GOOD,
  attempts: 3,
  statusCode: 503,
  failure: { class: 'status', phase: 'first_byte', cause: { code: 'status', statusCode: 503 } },
} as const;

const common = { clock: systemClock, log: silentLog };
const redis = { ...common, address: requireRedisAddress(redisUrl) };
const name = `${region}-1`;
let loaded = 0;
let checksPerSecond = 0;

const cluster = await ClusterNodes.join({
  ...redis,
  self: {
    name,
    region,
    roles: ['probe'],
    version: VERSION,
    host: 'simulated',
    pid: process.pid,
    process: null,
  },
  report: () => ({
    services: loaded,
    checksPerSecond,
    online: true,
    offlineSince: null,
    reachesRegistry: true,
  }),
  onNameTaken: (error) => {
    throw error;
  },
});
cluster.begin();
const registry = await openRegistryInProcess({ ...common, dataDir: '/nonexistent', postgresUrl });
const sender = new ResultSender({ ...redis, node: name, region, clockOffsetMs: cluster.clockOffsetMs });
const claimed = Promise.withResolvers<readonly number[]>();
const shards: number[] = [];
new ShardHolder({
  ...redis,
  region,
  node: name,
  holders: () => [{ name, reachesRegistry: true }],
  permit: createStartPermit(),
  onGain(gained) {
    for (const { shard, fence } of gained) {
      sender.claim(shard, fence);
      shards.push(shard);
    }
    if (shards.length === SHARDS) claimed.resolve(shards);
  },
  onLoss(lost) {
    throw new Error(`${lost.length} shards were lost`);
  },
});

await claimed.promise;
const claimedMs = performance.now();
for (const shard of shards.slice(0, SHARDS)) loaded += (await registry.loadTargets([shard], region)).length;
const loadedS = (performance.now() - claimedMs) / 1_000;
if (loaded !== services) throw new Error(`${loaded} services were loaded`);
tell(0);

for await (const line of createInterface({ input: process.stdin })) {
  const { rate, seconds } = JSON.parse(line) as { rate: number; seconds: number };
  checksPerSecond = rate;
  const startedMs = performance.now();
  let sent = 0;
  while (sent < rate * seconds) {
    const dueBy = Math.min(rate * seconds, Math.floor(((performance.now() - startedMs) / 1_000) * rate));
    const results = Array.from({ length: dueBy - sent }, (_, index) =>
      resultOf(1 + ((sent + index) % services)),
    );
    if (results.length > 0) sender.send(results);
    sent = dueBy;
    await sleep(STEP_MS);
  }
  while (sender.stats().waiting > 0) await sleep(STEP_MS);
  tell(sent);
}

function resultOf(serviceId: number): RuledResult {
  const at = systemClock.now();
  const changes = isFailing(serviceId) ? { ...FAILED, firstFailedAt: at - 6_000 } : GOOD;
  return {
    result: goodResult(serviceId, at, { ...changes, startedAt: at - LATENCY_MS }),
    suspect: false,
    region,
  };
}

function tell(sent: number): void {
  const { user, system } = process.cpuUsage();
  const { dropped, refused } = sender.stats();
  const report: SimulatedReport = {
    ...{ services: loaded, shards: shards.length, loadedS, sent, dropped, refused },
    cpuS: (user + system) / 1e6,
    memoryBytes: process.memoryUsage.rss(),
  };
  console.log(JSON.stringify(report));
}
