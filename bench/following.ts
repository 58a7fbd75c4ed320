/**
 * Statuses on their way from the judge to a serving node: `node bench/following.ts`. The judge puts the statuses of services
 * in three regions, as it does after routine checks; a real Redis hands them on to a serving node in a process of its own
 * (`status-follower.ts`), where nobody reads them. Starts Debian's Redis on a free port of loopback.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '../src/clock.ts';
import type { CurrentStatus } from '../src/domain/status/current.ts';
import { requireRedisAddress } from '../src/domain/store-address.ts';
import { silentLog } from '../src/log.ts';
import { RedisStatusStore } from '../src/store/status/redis-status-store.ts';
import { NEEDS_REDIS, startRedis } from '../test/support/redis-server.ts';
import { cpuOfRedis } from './process-cpu.ts';
import { absent, atMost, type BenchRow, floor, median, printRows } from './row.ts';

const SERVICES = 20_000;
/** Statuses that are put at once, each of another service. */
const TOGETHER = 1_000;
const ROUNDS = 7;
const REGIONS = ['asia', 'eu', 'us'];

type Scope = Parameters<typeof startRedis>[0];

/** Measures it. Takes about half a minute. */
export async function run(): Promise<readonly BenchRow[]> {
  if ('skip' in NEEDS_REDIS) return [absent('statuses through Redis', NEEDS_REDIS.skip)];
  const ends: (() => unknown)[] = [];
  const scope: Scope = { teardown: (end) => void ends.unshift(end) };
  try {
    return printRows(await measure(scope));
  } finally {
    for (const end of ends) await end();
  }
}

async function measure(scope: Scope): Promise<BenchRow[]> {
  const redis = await startRedis(scope);
  const url = `redis://127.0.0.1:${redis.port}`;
  const store = new RedisStatusStore({
    ...{ address: requireRedisAddress(url), clock: systemClock, log: silentLog },
  });
  scope.teardown(() => store.close());
  while (store.state().problem !== null) await new Promise((resolve) => setTimeout(resolve, 10));
  const startedAt = systemClock.now();
  await store.put(idsFrom(1, SERVICES).map((id) => statusOf(id, startedAt)));
  const follower = await startFollower(scope, url);
  const costs = { judge: [] as number[], redis: [] as number[], serving: [] as number[] };
  for (let round = 1; round <= ROUNDS; round++) {
    const before = process.cpuUsage();
    const redisBefore = await cpuOfRedis(redis.client);
    for (let id = 1; id <= SERVICES; id += TOGETHER)
      await store.put(
        idsFrom(id, TOGETHER).map((one) => statusOf(one, startedAt + round)),
        true,
      );
    const serving = await follower(round * SERVICES);
    // The code of the first rounds is not compiled yet.
    if (round <= 2) continue;
    const { user, system } = process.cpuUsage(before);
    costs.judge.push((user + system) / SERVICES);
    costs.redis.push((((await cpuOfRedis(redis.client)) - redisBefore) * 1e6) / SERVICES);
    costs.serving.push(serving / SERVICES);
  }
  return [
    floor('statuses: CPU of the judge to hand one on', median(costs.judge), 'µs CPU a status'),
    floor('statuses: CPU of Redis for one, with a serving node', median(costs.redis), 'µs CPU a status'),
    atMost(
      'statuses: CPU of a serving node to follow one',
      median(costs.serving),
      'µs CPU a status',
      15,
      median(costs.serving) / median(costs.judge),
    ),
  ];
}

/** Starts the serving node. Resolves with what waits until it has seen so many statuses: its CPU time since the wait before. */
async function startFollower(scope: Scope, url: string): Promise<(seen: number) => Promise<number>> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'status-follower.ts'), url, String(SERVICES)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  scope.teardown(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => (JSON.parse((await lines.next()).value ?? '{}') as { cpuUs: number }).cpuUs;
  await next();
  return (seen) => {
    child.stdin.write(`${seen}\n`);
    return next();
  };
}

function idsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

function statusOf(serviceId: number, at: number): CurrentStatus {
  const regions = REGIONS.map((region) => ({
    ...{ region, since: at - 1_000, observedAt: at + 40, votes: true },
    check: {
      ...({ status: 'up', responseTimeMs: 38, statusCode: 200, checkedAt: at, source: 'root' } as const),
      ...{ reported: null, failure: null, blocked: false, certificateExpiresAt: at + 5_184_000_000 },
      timing: { dnsMs: 1.5, connectMs: 12.25, tlsMs: 14.5, firstByteMs: 9.75, totalMs: 38.5 },
    },
  }));
  const latest = regions[0]?.check ?? null;
  return {
    serviceId,
    seq: 1,
    observedAt: at + 40,
    status: 'up',
    since: at - 1_000,
    latest,
    regions,
    scope: null,
  };
}

if (import.meta.main) await run();
