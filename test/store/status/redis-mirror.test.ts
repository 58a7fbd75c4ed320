/** What the monitor mirrors into real Redis servers: it follows, and is mended after every absence. */
import t, { type Test } from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { requireRedisAddress } from '../../../src/domain/store-address.ts';
import { silentLog } from '../../../src/log.ts';
import { openMonitorState, openRedisMirror } from '../../../src/store/status/redis-mirror.ts';
import {
  NEEDS_REDIS,
  type RedisServer,
  startRedis,
  startRedisCluster,
  until,
} from '../../support/redis-server.ts';

/** A clock whose seconds are short: what is looked at every second is looked at ten times. */
const QUICK = {
  ...systemClock,
  every: (periodMs: number, task: () => void) => systemClock.every(periodMs / 10, task),
};

function startMirror(t: Test, url: string) {
  const address = requireRedisAddress(url);
  const state = { words: new Map<string, string>(), ends: new Map<string, string>(), mayWrite: true };
  const mirror = openRedisMirror({
    address,
    keys: [
      { key: '{monitor}:words', type: 'hash', read: () => state.words },
      { key: '{heartbeats}:deadlines', type: 'sorted-set', read: () => state.ends },
    ],
    mayWrite: () => state.mayWrite,
    clock: QUICK,
    log: silentLog,
  });
  t.teardown(() => mirror.close());
  return Object.assign(state, { mirror, address });
}

/** Both keys, from the server that has them. */
async function contentOf(servers: readonly RedisServer[], prefix = 'upbeat') {
  const parts = await Promise.all(
    servers.map(async ({ client }) => [
      await client.hgetall(`${prefix}:{monitor}:words`).catch(() => ({})),
      await client.zrange(`${prefix}:{heartbeats}:deadlines`, '0', '-1', 'WITHSCORES').catch(() => []),
    ]),
  );
  return JSON.stringify([
    Object.assign({}, ...parts.map(([words]) => words)),
    parts.flatMap(([, ends]) => ends),
  ]);
}

const has = (servers: readonly RedisServer[], words: object, ends: readonly string[], prefix?: string) =>
  until(
    async () => (await contentOf(servers, prefix)) === JSON.stringify([words, ends]),
    JSON.stringify(words),
  );

t.test('it follows over every outage of a server', NEEDS_REDIS, async (t) => {
  const server = await startRedis(t);
  const state = startMirror(t, `redis://127.0.0.1:${server.port}`);
  state.words.set('prober', '1').set('stores', '{}');
  state.ends.set('7', '5000').set('8', '4000');
  await has([server], { prober: '1', stores: '{}' }, ['8', '4000', '7', '5000']);
  state.words.set('prober', '2').delete('stores');
  state.ends.set('7', '3000').delete('8');
  await has([server], { prober: '2' }, ['7', '3000']);

  for (const [leave, back] of [
    [() => server.stop('SIGKILL'), () => server.start()],
    [async () => server.signal('SIGSTOP'), async () => server.signal('SIGCONT')],
    [async () => void (await server.client.flushall()), async () => {}],
  ] as const) {
    await leave();
    const next = String(Number(state.words.get('prober')) + 1);
    state.words.set('prober', next);
    state.ends.set('9', `${next}000`);
    await back();
    await has([server], { prober: next }, ['7', '3000', '9', `${next}000`]);
  }

  // What an earlier monitor left goes; nothing is written any more where another one has begun.
  state.mirror.close();
  await server.client.hset('upbeat:{monitor}:words', 'old', 'x');
  await server.client.zadd('upbeat:{heartbeats}:deadlines', 1, 'old');
  const next = startMirror(t, `redis://127.0.0.1:${server.port}`);
  next.words.set('prober', '9');
  await has([server], { prober: '9' }, []);
  next.mayWrite = false;
  next.words.set('prober', '10');
  const written = startMirror(t, `redis://127.0.0.1:${server.port}?prefix=other`);
  written.words.set('seen', '1');
  await has([server], { seen: '1' }, [], 'other');
  t.equal(await contentOf([server]), JSON.stringify([{ prober: '9' }, []]));
});

t.test('it works on a cluster, and other processes read the state', NEEDS_REDIS, async (t) => {
  const { nodes, url } = await startRedisCluster(t);
  const state = startMirror(t, url);
  const heard: Readonly<Record<string, string>>[] = [];
  const reader = openMonitorState({
    address: state.address,
    onState: (words) => void heard.push(words),
    clock: QUICK,
    log: silentLog,
  });
  t.teardown(() => reader.close());
  state.words.set('prober', '1');
  for (let id = 1; id <= 1_200; id++) state.ends.set(String(id), String(id));
  await until(() => heard.at(-1)?.prober === '1');
  state.words.set('prober', '2');
  await until(() => heard.at(-1)?.prober === '2');
  await until(async () => {
    const counts = await Promise.all(
      nodes.map(({ client }) => client.zcard('upbeat:{heartbeats}:deadlines').catch(() => 0)),
    );
    return counts.includes(1_200);
  });
  t.match(reader.state(), { problem: null });
});
