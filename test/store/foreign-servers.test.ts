/** Servers that speak nonsense, refuse, or are full: PostgreSQL and Redis behind a proxy that garbles, and Redis with limits. */
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import type { CurrentStatus } from '../../src/domain/status/current.ts';
import { requireRedisAddress } from '../../src/domain/store-address.ts';
import { silentLog } from '../../src/log.ts';
import { openPostgresMethods } from '../../src/store/registry/postgres-methods.ts';
import { receiveRecord } from '../../src/store/status/redis-status-keys.ts';
import { RedisStatusStore } from '../../src/store/status/redis-status-store.ts';
import { createDatabase, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { NEEDS_REDIS, type RedisServer, startRedis, until } from '../support/redis-server.ts';
import { registryHere } from '../support/registry-here.ts';
import { usePostgres } from '../support/run-servers.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { NOON, record } from './registry-fixtures.ts';

t.setTimeout(180_000);
t.jobs = 3;

function openStatus(t: Test, url: string) {
  const store = new RedisStatusStore({
    address: requireRedisAddress(url),
    clock: systemClock,
    log: silentLog,
  });
  t.teardown(() => store.close());
  return store;
}

/** Waits until Redis has that record of the first service. */
async function untilFilled({ client }: RedisServer, seq: number): Promise<void> {
  await until(async () => {
    const text = await client.hget('upbeat:{status}:records', '1');
    return text !== null && receiveRecord(text)?.record.seq === seq;
  }, 'it is filled');
}

const upTo = (count: number, seq: number): CurrentStatus[] =>
  Array.from({ length: count }, (_, index) => record(index + 1, seq, 'up', NOON + seq));

t.test('PostgreSQL', { ...NEEDS_POSTGRES, buffered: true }, async (t) => {
  const server = await usePostgres(t);
  await createDatabase(server.url('postgres'), 'garbled');
  const proxy = await startTcpProxy(t, server.url('garbled'));
  const url = new URL(server.url('garbled'));
  url.port = new URL(proxy.url).port;
  const data = { dataDir: t.testdir(), domainsPerAccount: 10 };
  const ends: Error[] = [];
  const registry = registryHere(
    await openPostgresMethods(url.href, data, (reason) => ends.push(reason)),
    systemClock,
  );
  t.teardown(() => registry.close());
  await registry.setFact('before', '1');

  await t.test(
    'answers that are none refuse the call, and all is right when the server speaks again',
    async (t) => {
      proxy.garbles = true;
      await t.rejects(registry.setFact('meanwhile', '1'), { code: 'storage_unreachable' });
      await t.rejects(registry.getFact('before'), { code: 'storage_unreachable' });
      proxy.garbles = false;
      await until(
        async () => (await registry.getFact('before').catch(() => null)) === '1',
        'it is read again',
      );
      await registry.setFact('after', '1');
      t.equal(await registry.getFact('after'), '1');
      t.same(ends, []);
    },
  );
});

t.test(
  'Redis that answers nonsense costs nothing, and is filled again',
  { ...NEEDS_REDIS, buffered: true },
  async (t) => {
    const server = await startRedis(t);
    const proxy = await startTcpProxy(t, `redis://127.0.0.1:${server.port}`);
    const store = openStatus(t, `redis://127.0.0.1:${new URL(proxy.url).port}?prefix=upbeat`);
    await until(() => store.state().problem === null);
    await store.put(upTo(3, 1));
    proxy.garbles = true;
    await store.put(upTo(3, 2));
    await until(() => store.state().problem !== null, 'it says so');
    t.equal(store.get(1)?.seq, 2, 'reads of this process are current');
    proxy.garbles = false;
    await untilFilled(server, 2);
    await until(() => store.state().problem === null);
  },
);

for (const [what, set, reset] of [
  ['has no room', ['maxmemory', '1'], ['maxmemory', '0']],
  ['accepts no writes', ['min-replicas-to-write', '1'], ['min-replicas-to-write', '0']],
] as const)
  t.test(
    `Redis that ${what} costs nothing, and is filled again`,
    { ...NEEDS_REDIS, buffered: true },
    async (t) => {
      const server = await startRedis(t, ['--maxmemory-policy', 'noeviction']);
      const store = openStatus(t, `redis://127.0.0.1:${server.port}?prefix=upbeat`);
      await until(() => store.state().problem === null);
      await store.put(upTo(3, 1));
      await server.client.config('SET', ...set);
      await store.put(upTo(3, 2));
      await until(() => store.state().problem !== null, 'it says so');
      t.equal(store.get(1)?.seq, 2, 'reads of this process are current');
      await server.client.config('SET', ...reset);
      await untilFilled(server, 2);
      await until(() => store.state().problem === null);
    },
  );

t.test('Redis that refuses connections is tried again', { ...NEEDS_REDIS, buffered: true }, async (t) => {
  const server = await startRedis(t);
  await server.client.config('SET', 'requirepass', 'other');
  await server.client.auth('other');
  const store = openStatus(t, `redis://127.0.0.1:${server.port}?prefix=upbeat`);
  await store.put(upTo(3, 1));
  await until(() => /NOAUTH|password|auth/i.test(store.state().problem ?? ''), 'it says why');
  t.equal(store.get(1)?.seq, 1);
  await server.client.config('SET', 'requirepass', '');
  await untilFilled(server, 1);
});
