/** Transitions as a stream in real Redis servers: each once and in order, whatever happens to Redis. */
import t, { type Test } from 'tap';
import { systemClock } from '../../../src/clock.ts';
import type { Transition } from '../../../src/domain/status/current.ts';
import { requireRedisAddress } from '../../../src/domain/store-address.ts';
import { silentLog } from '../../../src/log.ts';
import {
  MAX_TRANSITIONS,
  openRedisTransitionStream,
} from '../../../src/store/status/redis-transition-stream.ts';
import {
  NEEDS_REDIS,
  type RedisServer,
  startRedis,
  startRedisCluster,
  until,
} from '../../support/redis-server.ts';
import { useRedis } from '../../support/run-servers.ts';
import { openTurningService } from '../../support/turning-service.ts';

/** A registry that a test adds to, and the stream that follows it. */
async function startStream(t: Test, url: string, count = 0) {
  const address = requireRedisAddress(url);
  const service = await openTurningService(t, count);
  let mayWrite = true;
  const stream = openRedisTransitionStream({
    address,
    registry: service.registry,
    watchTransitions: service.watchTransitions,
    mayWrite: () => mayWrite,
    clock: systemClock,
    log: silentLog,
  });
  t.teardown(() => stream.close());
  return {
    stream,
    supersede() {
      mayWrite = false;
    },
    add: service.turn,
    registry: service.registry,
  };
}

async function positionsIn({ client }: Pick<RedisServer, 'client'>, prefix = 'upbeat'): Promise<number[]> {
  const entries = await client.xrange(`${prefix}:{events}:transitions`, '-', '+').catch(() => []);
  return entries.map(([id, fields]) => {
    const told = JSON.parse(fields[1] ?? '') as Transition;
    return id === `${told.position}-0` ? told.position : -1;
  });
}

const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

function has(
  server: Pick<RedisServer, 'client'>,
  expected: readonly number[],
  prefix?: string,
): Promise<void> {
  return until(async () => JSON.stringify(await positionsIn(server, prefix)) === JSON.stringify(expected));
}

t.test('it writes each transition once, in order, over every fault of Redis', NEEDS_REDIS, async (t) => {
  const server = await startRedis(t);
  const { add, stream, registry } = await startStream(t, `redis://127.0.0.1:${server.port}`, 250);
  await has(server, upTo(250));
  t.match(await server.client.xrange('upbeat:{events}:transitions', '7-0', '7-0'), [
    ['7-0', ['transition', JSON.stringify((await registry.transitionsAfter(6, 1))[0])]],
  ]);
  await add(5);
  await has(server, upTo(255));

  server.signal('SIGSTOP');
  await add(3);
  await until(() => stream.state().problem !== null);
  await add(3);
  server.signal('SIGCONT');
  await has(server, upTo(261));

  await server.stop('SIGKILL');
  await add(4);
  await server.start();
  await has(server, upTo(265));

  await server.client.flushall();
  await has(server, upTo(265));

  // As after a fail-over to a replica that was behind.
  await server.client
    .multi()
    .del('upbeat:{events}:transitions')
    .xadd(
      'upbeat:{events}:transitions',
      '1-0',
      'transition',
      JSON.stringify((await registry.transitionsAfter(0, 1))[0]),
    )
    .exec();
  await has(server, upTo(265));
});

t.test(
  'it goes on where an earlier process ended, and begins anew for another registry',
  NEEDS_REDIS,
  async (t) => {
    const server = await useRedis(t);
    const url = `${server.url}?prefix=${server.prefix}`;
    const first = await startStream(t, url, 12);
    await has(server, upTo(12), server.prefix);
    first.stream.close();
    await startStream(t, url, 15);
    await has(server, upTo(15), server.prefix);
    await startStream(t, url, 3);
    await has(server, upTo(3), server.prefix);
  },
);

t.test('it keeps the newest of many transitions', NEEDS_REDIS, async (t) => {
  const server = await useRedis(t);
  await startStream(t, `${server.url}?prefix=${server.prefix}`, MAX_TRANSITIONS + 500);
  const stored = () => positionsIn(server, server.prefix);
  await until(async () => (await stored()).at(-1) === MAX_TRANSITIONS + 500);
  const kept = await stored();
  t.same(kept, upTo(MAX_TRANSITIONS + 500, kept[0]));
  t.ok(kept.length >= MAX_TRANSITIONS && kept.length < MAX_TRANSITIONS + 200, String(kept.length));
});

t.test('it writes to a cluster', NEEDS_REDIS, async (t) => {
  const { nodes, url } = await startRedisCluster(t);
  const { add } = await startStream(t, `${url}?prefix=up`, 5);
  await add(2);
  const all = async () => (await Promise.all(nodes.map((node) => positionsIn(node, 'up')))).flat();
  await until(async () => (await all()).length === 7);
  t.same(await all(), upTo(7));
});
