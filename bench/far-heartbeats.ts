/**
 * Heartbeats through three nodes that are 100 ms from PostgreSQL, answered when the judge beside it has committed them:
 * `node bench/far-heartbeats.ts`. Each node has its own connections, delayed by a proxy. First as many as it takes, then 1,000 a
 * second. Starts Debian's PostgreSQL on a free port of loopback; without one there are no rows.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/clock.ts';
import { readHeartbeat } from '../src/domain/heartbeat/heartbeat-body.ts';
import { silentLog } from '../src/log.ts';
import { createHeartbeatForwarder, startInboxReader } from '../src/record/heartbeat-inbox.ts';
import { openRegistry } from '../src/store/registry/open-registry.ts';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../test/support/postgres-server.ts';
import { startTcpProxy } from '../test/support/tcp-proxy.ts';
import { bodyOf, openWorld } from './heartbeats.ts';
import { absent, atLeast, atMost, type BenchRow, floor, median, printRows } from './row.ts';
import { sendConcurrently } from './send-concurrently.ts';

const NODES = 3;
/** One way to PostgreSQL, milliseconds. */
const DELAY_MS = 50;
const SERVICES = 1_000;
const AT_ONCE = 768;
const HEARTBEATS = 10_000;
const ROUNDS = 3;
const RATE_PER_MS = 1;
const PACED_MS = 10_000;
const TICK_MS = 10;
const MAX_P99_MS = 400;

/** Runs the benchmark, prints its table and returns its lines. Takes about a minute. */
export async function run(): Promise<readonly BenchRow[]> {
  if ('skip' in NEEDS_POSTGRES) return [absent('heartbeats through far nodes', NEEDS_POSTGRES.skip)];
  const ends: (() => unknown)[] = [];
  const scope = { teardown: (end: () => unknown) => void ends.unshift(end) };
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  try {
    const server = await startPostgres(scope, { durable: true });
    await createDatabase(server.url('postgres'), 'upbeat');
    const near = server.url('upbeat');
    const world = await openWorld(join(folder, 'judge'), near);
    scope.teardown(world.close);
    // Every service is known before.
    await sendConcurrently(SERVICES, 256, world.take);
    const reader = startInboxReader({
      ...{ inbox: world.registry, record: world.record, clockOffsetMs: () => 0 },
      ...{ clock: systemClock, log: silentLog },
    });
    scope.teardown(() => reader.stop());
    const road = await startTcpProxy(scope, `http://127.0.0.1:${new URL(near).port}`);
    const far = near.replace(`:${new URL(near).port}/`, `:${new URL(road.url).port}/`);
    const [known] = await world.registry.servicesOf(world.ownerOf(0).accountId);
    const nodes = await Promise.all(
      Array.from({ length: NODES }, async (_, index) => {
        const registry = await openRegistry({
          ...{ dataDir: join(folder, `node-${index}`), postgresUrl: far, domainsPerAccount: 1 },
          ...{ clock: systemClock, log: silentLog },
        });
        const forwarder = createHeartbeatForwarder({
          ...{ inbox: registry, serviceOf: () => known ?? null, learn: async () => {} },
          ...{ clockOffsetMs: () => 0, clock: systemClock },
        });
        scope.teardown(async () => {
          forwarder.stop();
          await registry.close();
        });
        return forwarder;
      }),
    );
    road.delayMs = DELAY_MS;

    const send = async (index: number): Promise<void> => {
      const body = bodyOf(index);
      const reading = readHeartbeat(body, 'beat');
      if (!reading.ok) throw new Error(reading.problem);
      const { accountId } = world.ownerOf(index);
      const received = { report: reading.report, accountId, arrivedAt: systemClock.now(), body };
      await nodes[index % NODES]?.takeHeartbeat(received);
    };
    await sendConcurrently(HEARTBEATS, AT_ONCE, send);
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round++)
      rates.push(await sendConcurrently(HEARTBEATS, AT_ONCE, send));
    const took = await sendPaced(send);
    took.sort((a, b) => a - b);
    const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
    return printRows([
      atLeast('heartbeats through three nodes 100 ms from PostgreSQL', median(rates), 'heartbeats/s', 1_000),
      floor('heartbeats through them, 1,000 a second, p50', at(0.5), 'ms'),
      atMost('heartbeats through them, 1,000 a second, p99', at(0.99), 'ms', MAX_P99_MS),
    ]);
  } finally {
    for (const end of ends) await end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Sends at a steady rate, whatever the answers take; returns how long each took, milliseconds. */
async function sendPaced(send: (index: number) => Promise<void>): Promise<number[]> {
  const took: number[] = [];
  const sent: Promise<void>[] = [];
  const began = performance.now();
  for (let passedMs = 0; passedMs < PACED_MS; passedMs = performance.now() - began) {
    while (sent.length < passedMs * RATE_PER_MS) {
      const sentMs = performance.now();
      sent.push(send(sent.length).then(() => void took.push(performance.now() - sentMs)));
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(sent);
  return took;
}

if (import.meta.main) await run();
