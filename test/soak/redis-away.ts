/** Redis is away for ten minutes, by a clock that is put forward: what it missed is there afterwards, each once. */
import t, { type Test } from 'tap';
import { type Clock, systemClock } from '../../src/clock.ts';
import { requireRedisAddress } from '../../src/domain/store-address.ts';
import { silentLog } from '../../src/log.ts';
import { RedisStatusReader } from '../../src/store/status/redis-status-reader.ts';
import { RedisStatusStore } from '../../src/store/status/redis-status-store.ts';
import { openRedisTransitionStream } from '../../src/store/status/redis-transition-stream.ts';
import {
  NEEDS_REDIS,
  type RedisServer,
  startRedis,
  startRedisCluster,
  until,
} from '../support/redis-server.ts';
import { openTurningService } from '../support/turning-service.ts';

const TEN_MINUTES_MS = 600_000;
const MISSED = 3_000;

t.setTimeout(300_000);
t.jobs = 2;

/** A clock that a test puts forward. */
function createShiftedClock(): Clock & { forward(ms: number): void } {
  let shiftMs = 0;
  return {
    ...systemClock,
    now: () => systemClock.now() + shiftMs,
    monotonic: () => systemClock.monotonic() + shiftMs,
    forward(ms) {
      shiftMs += ms;
    },
  };
}

async function run(t: Test, url: string, servers: readonly RedisServer[]): Promise<void> {
  const address = requireRedisAddress(url);
  const clock = createShiftedClock();
  const common = { address, clock, log: silentLog };
  const service = await openTurningService(t);
  const store = new RedisStatusStore(common);
  const reader = new RedisStatusReader(common);
  const stream = openRedisTransitionStream({
    ...common,
    registry: service.registry,
    watchTransitions: service.watchTransitions,
    mayWrite: () => true,
  });
  t.teardown(async () => {
    stream.close();
    await reader.close();
    await store.close();
  });
  const heard: number[] = [];
  reader.watch(({ seq }) => void heard.push(seq));
  const turn = async () => {
    await service.turn(1);
    await store.put([service.current]);
  };
  const inRedis = async () => {
    const lists = await Promise.all(
      servers.map(({ client }) => client.xrange('upbeat:{events}:transitions', '-', '+').catch(() => [])),
    );
    return lists.flat().map(([id]) => Number.parseInt(id, 10));
  };

  await turn();
  await until(() => reader.get(1)?.seq === 1);
  await until(async () => (await inRedis()).length === 1);
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  await until(() => reader.state().problem !== null && store.state().problem !== null);
  clock.forward(TEN_MINUTES_MS);
  for (let count = 0; count < MISSED; count++) await turn();
  t.ok(reader.ageMs() >= TEN_MINUTES_MS, 'the copy says how old it is');
  t.equal(reader.get(1)?.seq, 1, 'and answers');
  t.equal(store.get(1)?.seq, MISSED + 1, 'the monitor is current');

  await Promise.all(servers.map((server) => server.start()));
  await until(() => reader.get(1)?.seq === MISSED + 1, 'the newest is seen');
  await until(async () => (await inRedis()).length === MISSED + 1, 'what was missed is there');
  t.same(
    await inRedis(),
    service.registry.transitions.map(({ position }) => position),
    'each once, in order',
  );
  t.same(
    heard,
    [...new Set(heard)].sort((a, b) => a - b),
    'nothing is told twice, or backwards',
  );
  await until(() => reader.ageMs() < 5_000, 'the copy is current');
}

t.test('one server', { ...NEEDS_REDIS, buffered: true }, async (t) => {
  const server = await startRedis(t);
  await run(t, `redis://127.0.0.1:${server.port}`, [server]);
});

t.test('a cluster', { ...NEEDS_REDIS, buffered: true }, async (t) => {
  const { nodes, url } = await startRedisCluster(t);
  await run(t, url, nodes);
});
