/** Shards that nodes hold by BullMQ, on a real Redis that is emptied, stopped and suspended. */

import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { systemClock } from '../../../src/clock.ts';
import {
  connectChannels,
  createRecheckSender,
  readRecheckRequest,
  recheckChannel,
} from '../../../src/cluster/channels.ts';
import { type HeldShard, ShardHolder } from '../../../src/cluster/shards/hold-shards.ts';
import { maintainShards } from '../../../src/cluster/shards/shard-queue.ts';
import { SHARDS, type ShardFence } from '../../../src/domain/node.ts';
import { requireRedisAddress } from '../../../src/domain/store-address.ts';
import { createStartPermit, readStartPermit } from '../../../src/engine/protocol.ts';
import { createLog } from '../../../src/log.ts';
import { freePort } from '../../support/free-port.ts';
import {
  NEEDS_REDIS,
  startRedis,
  startRedisCluster,
  startSentinelSet,
  startSwitchedPair,
} from '../../support/redis-server.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

/** Shorter than in production, so that the tests wait less. */
const LOCK_MS = 3_000;

t.setTimeout(120_000);
t.jobs = 4;

/** Tests mostly wait, so that they run side by side. tap keeps the object: one for each test. */
const sideBySide = () => ({ ...NEEDS_REDIS, buffered: true });

/** A Redis with a judge that hands out the shards of the region `eu`. */
async function createWorld(t: Test) {
  const redis = await startRedis(t);
  return { redis, ...createWorldOver(t, `redis://127.0.0.1:${redis.port}`) };
}

/** The same over any installation of Redis. */
function createWorldOver(t: Test, url: string) {
  const address = requireRedisAddress(`${url}?prefix=test`);
  const common = { address, clock: systemClock, log: createLog({ level: 'silent', format: 'json' }) };
  const nodes = new Set<string>();
  let isFresh = true;
  const maintainAs = (fence: number) => {
    const lease = { fence, isFresh: () => isFresh };
    const shardJobs = maintainShards({ ...common, regions: () => ['eu'], lease });
    t.teardown(() => shardJobs.stop());
    return shardJobs;
  };
  /** The fence of every claim, by shard, in the order of the claims. */
  const claims = new Map<number, ShardFence[]>();
  const join = (name: string) => {
    nodes.add(name);
    const permit = createStartPermit();
    const lost: HeldShard[] = [];
    const holder = new ShardHolder({
      ...common,
      region: 'eu',
      node: name,
      holders: () => [...nodes].map((one) => ({ name: one, reachesRegistry: true })),
      permit,
      lockMs: LOCK_MS,
      onGain(gained) {
        for (const { shard, fence } of gained) claims.set(shard, [...(claims.get(shard) ?? []), fence]);
      },
      onLoss: (shards) => void lost.push(...shards),
    });
    t.teardown(() => holder.stop());
    return {
      held: () => holder.held().map(({ shard }) => shard),
      lost,
      problem: () => holder.problem(),
      mayStart: readStartPermit(permit.shared),
      /** No check may start until the next renewal. */
      forbid: permit.revoke,
      /** From now on the node is not among the holders, or is again. */
      setCutOff(isCutOff: boolean) {
        if (isCutOff) nodes.delete(name);
        else nodes.add(name);
      },
      async leave() {
        nodes.delete(name);
        await holder.stop();
      },
    };
  };
  return {
    common,
    claims,
    shardJobs: maintainAs(7),
    maintainAs,
    join,
    setFresh(value: boolean) {
      isFresh = value;
    },
  };
}

/** Waits until `condition` holds; the test's own time-out ends what never comes. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const all = [...Array(SHARDS).keys()];
const sorted = (...lists: number[][]) => lists.flat().sort((a, b) => a - b);

t.test('nodes share the shards, and each claim has a greater fence', sideBySide(), async (t) => {
  const { shardJobs, claims, join } = await createWorld(t);
  const one = join('one');
  t.notOk(one.mayStart(), 'nothing is allowed before the first renewal');
  await until(() => one.held().length === SHARDS && one.mayStart());
  t.same(claims.get(5), [{ generation: 7_000_000, claim: 1 }]);

  const two = join('two');
  await until(() => one.held().length === 32 && two.held().length === 32);
  t.same(sorted(one.held(), two.held()), all);
  t.same(sorted(one.lost.map(({ shard }) => shard)), sorted(two.held()), 'what one has handed back');
  await until(() => shardJobs.counts().get('eu')?.held === SHARDS);
  t.same(shardJobs.counts().get('eu'), { held: SHARDS, waiting: 0 });

  await two.leave();
  t.notOk(two.mayStart());
  await until(() => one.held().length === SHARDS);
  t.same(
    [...claims.values()],
    [...claims.values()].map((fences) =>
      fences.toSorted((a, b) => a.generation - b.generation || a.claim - b.claim),
    ),
  );
  t.same(new Set([...claims.values()].map((fences) => fences.length)), new Set([1, 3]));
});

t.test('an emptied Redis has every shard again, in a later generation', sideBySide(), async (t) => {
  const { redis, claims, join, setFresh, maintainAs } = await createWorld(t);
  const one = join('one');
  await until(() => one.held().length === SHARDS);
  await redis.client.flushall();
  await until(() => one.lost.length >= SHARDS && one.held().length === SHARDS);
  t.same(claims.get(5)?.at(-1), { generation: 7_000_001, claim: 1 });

  setFresh(false);
  await redis.client.flushall();
  await until(() => one.held().length === 0);
  t.notOk(one.mayStart());
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  t.equal(one.held().length, 0, 'a judge that may have been replaced makes no jobs');
  setFresh(true);
  maintainAs(8);
  await until(() => one.held().length === SHARDS);
  t.ok((claims.get(5)?.at(-1)?.generation ?? 0) > 7_000_001);
});

t.test(
  'a node that cannot renew its claims may not start checks, and has others when Redis is back',
  sideBySide(),
  async (t) => {
    const { redis, claims, join } = await createWorld(t);
    const one = join('one');
    await until(() => one.held().length === SHARDS && one.mayStart());
    redis.signal('SIGSTOP');
    await until(() => !one.mayStart());
    t.equal(one.held().length, SHARDS, 'it does not know what became of them');
    await new Promise((resolve) => setTimeout(resolve, LOCK_MS));
    redis.signal('SIGCONT');
    await until(() => one.lost.length >= SHARDS && one.held().length === SHARDS && one.mayStart());
    const { generation, claim = 0 } = claims.get(5)?.at(-1) ?? {};
    t.equal(generation, 7_000_000);
    t.ok(claim >= 2, 'it was claimed anew');
    await redis.stop();
    await until(() => !one.mayStart());
    await redis.start();
    await until(() => one.held().length === SHARDS && one.mayStart());
    t.equal(claims.get(5)?.at(-1)?.generation, 7_000_001);
  },
);

t.test(
  'a node that alone is cut off from the registry hands its shards to others',
  sideBySide(),
  async (t) => {
    const { join } = await createWorld(t);
    const [one, two] = [join('one'), join('two')];
    await until(() => one.held().length === 32 && two.held().length === 32);
    one.setCutOff(true);
    const cutMs = performance.now();
    await until(() => one.held().length === 0 && two.held().length === SHARDS);
    t.ok(performance.now() - cutMs > 7_000, 'a fault that all nodes are about to notice moves nothing');
    one.setCutOff(false);
    await until(() => one.held().length === 32 && two.held().length === 32);
    t.same(sorted(one.held(), two.held()), all);
  },
);

/** The requests that a node of the region `us` has received; `sendUntilReceived` sends some until it has received one. */
function exchangeRequests(t: Test, common: ReturnType<typeof createWorldOver>['common']) {
  const received: (readonly number[])[] = [];
  const take = (text: string) => {
    const ids = readRecheckRequest(text);
    if (ids.length > 0) received.push(ids);
  };
  const channel = recheckChannel(common.address.prefix, 'us');
  t.teardown(connectChannels(common, 'node-messages', new Map([[channel, take]])).stop);
  const sender = createRecheckSender(common);
  t.teardown(sender.stop);
  const sendUntilReceived = async () => {
    const before = received.length;
    while (received.length === before) {
      sender.send('eu', [1]);
      sender.send('us', [2, 3]);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  return { received, sendUntilReceived };
}

t.test(
  'the nodes of a region receive its re-check requests, also after Redis was away',
  sideBySide(),
  async (t) => {
    const { redis, common } = await createWorld(t);
    const { received, sendUntilReceived } = exchangeRequests(t, common);
    await sendUntilReceived();
    t.same(received[0], [2, 3]);
    await redis.client.publish('test:{rechecks}:us', 'not a request');
    await redis.client.publish('test:{rechecks}:us', '[1.5,"2",-1]');
    await redis.stop();
    await redis.start();
    await sendUntilReceived();
    t.same(new Set(received.map(String)), new Set(['2,3']));
  },
);

t.test(
  'connections that a cut has silenced are replaced before TCP repeats what was lost',
  sideBySide(),
  async (t) => {
    const redis = await startRedis(t);
    const proxy = await startTcpProxy(t, `http://127.0.0.1:${redis.port}`);
    const { join, common } = createWorldOver(t, proxy.url.replace('http', 'redis'));
    const { sendUntilReceived } = exchangeRequests(t, common);
    const one = join('one');
    await until(() => one.held().length === SHARDS);
    await sendUntilReceived();
    const names = new Set<string>();
    proxy.server.on('connection', (socket: Socket) => {
      socket.on('data', (bytes) => {
        for (const [name] of String(bytes).matchAll(/upbeat-[a-z-]+/g)) names.add(name);
      });
    });
    proxy.silent = true;
    const parts = ['upbeat-node-messages', 'upbeat-recheck-sender', 'upbeat-shards'];
    await until(() => parts.every((name) => names.has(name)));
    proxy.silent = false;
    one.forbid();
    await until(() => one.held().length === SHARDS && one.mayStart());
    await sendUntilReceived();
  },
);

t.test('shards and requests follow a fail-over of Sentinel', sideBySide(), async (t) => {
  const { master, replica, url } = await startSentinelSet(t);
  const { join, common, shardJobs } = createWorldOver(t, url);
  const { sendUntilReceived } = exchangeRequests(t, common);
  const [one, two] = [join('one'), join('two')];
  const isShared = () => one.held().length === 32 && two.held().length === 32;
  await until(() => isShared() && one.mayStart() && two.mayStart());
  await sendUntilReceived();
  await master.stop('SIGKILL');
  while (!(await replica.client.info('replication')).includes('role:master')) await replica.client.ping();
  // Renewed at the new master.
  for (const node of [one, two]) node.forbid();
  await until(() => isShared() && one.mayStart() && two.mayStart());
  t.same(sorted(one.held(), two.held()), all);
  await sendUntilReceived();
  await until(() => shardJobs.counts().get('eu')?.held === SHARDS);
});

t.test('shards and requests follow a fail-over behind one address', sideBySide(), async (t) => {
  const { primary, replica, proxy, promote } = await startSwitchedPair(t);
  const { join, common } = createWorldOver(t, proxy.url.replace('http', 'redis'));
  const { sendUntilReceived } = exchangeRequests(t, common);
  const [one, two] = [join('one'), join('two')];
  const isShared = () => one.held().length === 32 && two.held().length === 32;
  await until(() => isShared() && one.mayStart() && two.mayStart());
  await sendUntilReceived();
  // The former master is a replica now, and answers on the connections that are open.
  await promote();
  for (const node of [one, two]) node.forbid();
  await until(() => isShared() && one.mayStart() && two.mayStart());
  await sendUntilReceived();
  const connections = async ({ client }: typeof replica) =>
    new Set(String(await client.client('LIST')).match(/(?<=name=upbeat-)\S+/g));
  while ((await connections(primary)).size > 0 || (await connections(replica)).size < 3)
    await sendUntilReceived();
  t.same(await connections(replica), new Set(['shards', 'node-messages', 'recheck-sender']));
});

t.test('a node whose server stays read-only says so, and may not start checks', sideBySide(), async (t) => {
  const { primary, replica, proxy, promote } = await startSwitchedPair(t);
  const { join } = createWorldOver(t, proxy.url.replace('http', 'redis'));
  const one = join('one');
  await until(() => one.held().length === SHARDS && one.mayStart());
  t.equal(one.problem(), null);
  proxy.target = `http://127.0.0.1:${replica.port}`;
  await primary.client.replicaof('127.0.0.1', String(await freePort()));
  await until(() => one.problem() !== null && !one.mayStart());
  t.match(one.problem(), /READONLY/);
  await promote();
  await until(() => one.problem() === null && one.held().length === SHARDS && one.mayStart());
});

t.test('nodes keep their shards and go on while Redis is full', sideBySide(), async (t) => {
  const { redis, join } = await createWorld(t);
  const [one, two] = [join('one'), join('two')];
  await until(() => one.held().length === 32 && two.held().length === 32);
  await redis.client.config('SET', 'maxmemory', '1');
  await t.rejects(redis.client.set('x', 'y'), /OOM/);
  for (const node of [one, two]) {
    // Each renewal allows what comes after it, however often locks would have expired.
    for (let renewals = 0; renewals < 4; renewals++) {
      node.forbid();
      await until(node.mayStart);
    }
    t.same([node.held().length, node.lost.length, node.problem()], [32, 0, null]);
  }
  const three = join('three');
  await two.leave();
  await redis.client.config('SET', 'maxmemory', '0');
  await until(() => one.held().length === 32 && three.held().length === 32);
  t.same(sorted(one.held(), three.held()), all, 'what two held went to a node that came');
});

t.test(
  'shards and requests are right again when nodes of a Redis Cluster come back empty',
  sideBySide(),
  async (t) => {
    const { nodes, url } = await startRedisCluster(t);
    const { join, common } = createWorldOver(t, url);
    const { sendUntilReceived } = exchangeRequests(t, common);
    const [one, two] = [join('one'), join('two')];
    const isShared = () =>
      one.held().length === 32 && two.held().length === 32 && one.mayStart() && two.mayStart();
    await until(isShared);
    await sendUntilReceived();
    for (const { client } of nodes) await client.flushall();
    await until(() => one.lost.length >= 32 && two.lost.length >= 32);
    await until(isShared);
    for (const node of nodes) await node.stop('SIGKILL');
    await until(() => !one.mayStart() && !two.mayStart());
    for (const node of nodes) await node.start();
    await until(isShared);
    t.same(sorted(one.held(), two.held()), all);
    await sendUntilReceived();
  },
);
