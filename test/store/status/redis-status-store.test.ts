/** The status store in real Redis servers: the contract of the port, and what other processes see. */
import t from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { requireRedisAddress } from '../../../src/domain/store-address.ts';
import { silentLog } from '../../../src/log.ts';
import type { MemoryStatusStore } from '../../../src/store/status/memory-status-store.ts';
import { runScript } from '../../../src/store/status/redis-client.ts';
import {
  BEGIN,
  EMPTY,
  formatRecord,
  PUT,
  REMOVE,
  SUPERSEDED,
  statusKeys,
} from '../../../src/store/status/redis-status-keys.ts';
import { RedisStatusReader } from '../../../src/store/status/redis-status-reader.ts';
import { RedisStatusStore } from '../../../src/store/status/redis-status-store.ts';
import {
  NEEDS_REDIS,
  startRedis,
  startRedisCluster,
  startSentinelSet,
  until,
} from '../../support/redis-server.ts';
import { useRedis } from '../../support/run-servers.ts';
import { NOON, record } from '../registry-fixtures.ts';
import { runStatusContract } from '../status-contract.ts';

let stores = 0;

function optionsFor(url: string) {
  const address = requireRedisAddress(url);
  return { address, clock: systemClock, log: silentLog };
}

function adapterFor(url: string, prefix = 'contract') {
  return {
    async open() {
      const store = new RedisStatusStore(
        optionsFor(`${url}${url.includes('?') ? '&' : '?'}prefix=${prefix}-${stores++}`),
      );
      await until(() => store.state().problem === null);
      return store;
    },
  };
}

t.test('a single server', NEEDS_REDIS, async (t) => {
  const { url, prefix } = await useRedis(t);
  runStatusContract(adapterFor(url, prefix), t, 25);
});

t.test('a master, its replica and Sentinels', NEEDS_REDIS, async (t) => {
  const { url } = await startSentinelSet(t);
  runStatusContract(adapterFor(`${url}?sentinelUser=upbeat&sentinelPassword=word`), t, 10);
});

t.test('a cluster of three', NEEDS_REDIS, async (t) => {
  runStatusContract(adapterFor((await startRedisCluster(t)).url), t, 10);
});

t.test(
  'a store that learns its records one after the other drops no others before',
  NEEDS_REDIS,
  async (t) => {
    const { client, port } = await startRedis(t);
    const options = optionsFor(`redis://127.0.0.1:${port}?prefix=learnt`);
    const keys = statusKeys('learnt');
    const openWriter = async (copy?: MemoryStatusStore) => {
      const store = new RedisStatusStore({ ...options, ...(copy === undefined ? {} : { copy }) });
      t.teardown(() => store.close());
      await until(() => store.state().problem === null);
      return store;
    };
    const former = await openWriter();
    await former.put([1, 2, 3].map((id) => record(id, 1, 'up', NOON)));
    const reader = new RedisStatusReader(options);
    t.teardown(() => reader.close());
    t.ok(await reader.loaded(5_000));

    const copy = reader.handOver();
    const next = await openWriter(copy);
    t.equal(next.get(3)?.status, 'up', 'what was followed is served');
    next.learn([record(1, 1, 'up', NOON)]);
    await next.put([record(2, 2, 'down', NOON + 1)]);
    t.match([reader.get(2), next.counts.withStatus('up')], [{ status: 'down' }, 2], 'they share the copy');
    t.same((await client.hkeys(keys.records)).sort(), ['1', '2', '3']);
    next.complete();
    t.equal(next.get(3), null, 'it was removed while nobody followed');
    await until(async () => (await client.hlen(keys.records)) === 2);
    await reader.close();
    t.equal(next.get(1)?.status, 'up');
  },
);

t.test('Redis compares records, too, so that late ones change nothing', NEEDS_REDIS, async (t) => {
  const { client } = await startRedis(t);
  const keys = statusKeys('late');
  const all = [keys.records, keys.changes, keys.meta];
  const put = (epoch: number, seq: number, at: number) =>
    runScript(client, PUT, all, [epoch, 1, seq, at, formatRecord(epoch, record(1, seq, 'up', at))]);
  const begin = (epoch: number) => runScript(client, BEGIN, [keys.meta], [epoch, 'birth']);
  t.equal(await put(1, 1, NOON), EMPTY, 'no writer has started');
  t.equal(await begin(0), 1);
  const told = async () => await client.xlen(keys.changes);
  const table = [
    ['the first', 1, 5, NOON, 1, 1],
    ['the same', 1, 5, NOON, 0, 1],
    ['the same seq, earlier', 1, 5, NOON - 1, 0, 1],
    ['the same seq, later', 1, 5, NOON + 1, 1, 2],
    ['a smaller seq, later', 1, 4, NOON + 9, 0, 2],
    ['a greater seq, earlier', 1, 6, NOON - 9, 1, 3],
  ] as const;
  for (const [what, epoch, seq, at, taken, changes] of table)
    t.same([await put(epoch, seq, at), await told()], [taken, changes], what);
  t.equal(await begin(1), 1, 'the same monitor again');
  t.equal(await begin(0), 2, 'another one');
  t.equal(await begin(1), SUPERSEDED);
  t.equal(await put(1, 9, NOON), SUPERSEDED);
  t.equal(await runScript(client, REMOVE, all, [1, 1]), SUPERSEDED, 'the first one no more');
  t.same([await put(2, 1, NOON), await told()], [1, 4], 'an older word of a later epoch');
  t.equal(await begin(0), 3);
  t.same([await put(3, 1, NOON), await told()], [1, 4], 'the same word of a later epoch is no change');
  t.same([await runScript(client, REMOVE, all, [3, 1, 7]), await told()], [1, 5]);
  t.equal(await client.hlen(keys.records), 0);
});

t.test(
  'it writes nothing while it may have a successor, even where Redis was emptied',
  NEEDS_REDIS,
  async (t) => {
    const { client, port } = await startRedis(t);
    const options = optionsFor(`redis://127.0.0.1:${port}?prefix=woken`);
    const keys = statusKeys('woken');
    let mayWrite = true;
    const woken = new RedisStatusStore({ ...options, mayWrite: () => mayWrite });
    t.teardown(() => woken.close());
    await until(() => woken.state().problem === null);
    await woken.put([record(1, 1, 'up', NOON)]);
    t.match(await client.hget(keys.records, '1'), '1:1:');

    // It sleeps; Redis is emptied, and the successor begins in it.
    mayWrite = false;
    await client.del(keys.records, keys.changes, keys.meta);
    await client.hset(keys.meta, 'epoch', '0');
    await until(() => woken.state().problem !== null, 'it sees that Redis was emptied');
    await woken.put([record(1, 2, 'down', NOON + 1)]);
    await until(() => woken.state().commandsFailed > 2, 'it has tried');
    t.same(await client.hgetall(keys.meta), { epoch: '0' }, 'no epoch of its own');
    t.equal(await client.exists(keys.records), 0);
    t.match(woken.state().problem, /lease/);

    // No other process took its place: the disk was slow.
    mayWrite = true;
    await until(() => woken.state().problem === null);
    await until(
      async () => (await client.hget(keys.records, '1'))?.includes(':2:') === true,
      'all is written again',
    );
  },
);
