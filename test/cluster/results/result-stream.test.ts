/** Results on their way from nodes to the judge, through a real Redis that is stopped, emptied, slow and full. */
import t, { type Test } from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { ResultReader } from '../../../src/cluster/results/result-reader.ts';
import { ResultSender } from '../../../src/cluster/results/result-sender.ts';
import { BEGIN, MAX_STREAM_RESULTS, READ, resultKeys } from '../../../src/cluster/results/result-stream.ts';
import { SHARDS } from '../../../src/domain/node.ts';
import type { RuledResult } from '../../../src/domain/result.ts';
import { requireRedisAddress } from '../../../src/domain/store-address.ts';
import { type Log, silentLog } from '../../../src/log.ts';
import { createWorld, failed503, good, makeServices, START } from '../../record/record-world.ts';
import { createRecordedRegistry } from '../../support/recorded-registry.ts';
import {
  NEEDS_REDIS,
  type RedisServer,
  startRedis,
  startRedisCluster,
  startSentinelSet,
  until,
} from '../../support/redis-server.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

/** Tests that mostly wait run side by side. tap keeps the object: one for each test. */
const sideBySide = () => ({ ...NEEDS_REDIS, buffered: true });
t.jobs = 4;

const urlOf = ({ port }: RedisServer, prefix = 'upbeat') => `redis://127.0.0.1:${port}?prefix=${prefix}`;

function contextOf(url: string, log: Log = silentLog) {
  const address = requireRedisAddress(url);
  return { address, clock: systemClock, log };
}

/** A log whose sentences are kept. */
function keepLog() {
  const lines: string[] = [];
  const line = (_: object, message: string) => void lines.push(message);
  return { lines, log: { ...silentLog, info: line, warn: line, error: line } };
}

interface NodeOptions {
  readonly name?: string;
  readonly offsetMs?: number;
  readonly log?: Log;
}

/** A node that has claimed all shards with claim 1. */
function openNode(t: Test, url: string, { name = 'eu-1', offsetMs = 0, log = silentLog }: NodeOptions = {}) {
  const options = { ...contextOf(url, log), node: name, region: 'eu', clockOffsetMs: () => offsetMs };
  const sender = new ResultSender(options);
  t.teardown(() => sender.stop());
  for (let shard = 0; shard < SHARDS; shard++) sender.claim(shard, { generation: 1, claim: 1 });
  let made = 0;
  return {
    sender,
    /** Sends results of service `id`, each made a millisecond after the one before. */
    send(id: number, count = 1) {
      const results = Array.from({ length: count }, () => good(id, START + ++made));
      sender.send(results.map((result) => ({ result, suspect: false, region: 'eu' })));
      return results.map(({ endedAt }) => endedAt);
    },
  };
}

/** A judge that keeps what it was given; `take` resolves with what the test says. */
function openJudge(
  t: Test,
  url: string,
  take: (results: readonly RuledResult[]) => Promise<boolean> = async () => true,
  log: Log = silentLog,
) {
  const taken: RuledResult[] = [];
  const deliveries: number[] = [];
  const state = { isFresh: true, mayBegin: true };
  const reader = new ResultReader({
    ...contextOf(url, log),
    isFresh: () => state.isFresh,
    mayBegin: () => state.mayBegin,
    take(results, deliveredAt) {
      taken.push(...results);
      deliveries.push(deliveredAt);
      return take(results);
    },
  });
  t.teardown(() => reader.stop());
  const times = () => taken.map(({ result }) => result.endedAt);
  return { reader, taken, deliveries, times, state };
}

const never = () => new Promise<boolean>(() => {});
const isConnected = ({ reader }: { readonly reader: ResultReader }) =>
  until(() => reader.state().problem === null, 'the judge is connected');

t.test('over one server', NEEDS_REDIS, async (t) => {
  const server = await startRedis(t);
  const lengthOf = (prefix: string) => server.client.xlen(resultKeys(prefix).stream);

  t.test('it delivers results in their order, and removes what is acknowledged', async (t) => {
    const url = urlOf(server, 'order');
    const node = openNode(t, url);
    const judge = openJudge(t, url);
    const sent = [...node.send(1, 1_300), ...node.send(2, 3)];
    await until(() => judge.taken.length >= sent.length);
    t.same(judge.times(), sent);
    t.match(judge.taken[0], { region: 'eu', suspect: false, result: { serviceId: 1 } });
    t.ok(Math.abs((judge.deliveries[0] ?? 0) - Date.now()) < 60_000, 'the time of Redis');
    await until(async () => (await lengthOf('order')) === 0, 'the stream is empty');
    await until(() => node.sender.stats().backlog === 0 && judge.reader.stats().backlog === 0);
    t.match(node.sender.stats(), { waiting: 0, dropped: 0, refused: 0, takeovers: 0 });
    t.match(judge.reader.stats(), { taken: 1_303, refusedEntries: 0, delayMs: 0 });
  });

  t.test('a new judge first gets what the one before it has not acknowledged', async (t) => {
    const url = urlOf(server, 'pending');
    const node = openNode(t, url);
    const former = openJudge(t, url, never);
    const sent = node.send(1, 600);
    await until(() => former.taken.length === 600);
    await until(() => former.reader.stats().delayMs > 0, 'the delay of what is not committed grows');
    former.state.isFresh = false;
    const later = node.send(1, 600);
    await until(async () => (await lengthOf('pending')) === 4);
    const judge = openJudge(t, url);
    await until(() => judge.taken.length === 1_200);
    t.same(judge.times(), [...sent, ...later]);
    former.state.isFresh = true;
    node.send(1, 5);
    await until(() => judge.taken.length === 1_205);
    t.equal(former.taken.length, 600, 'the former judge reads no more, though it thinks itself fresh');
    await until(async () => (await lengthOf('pending')) === 0);
  });

  t.test('results without an acknowledgement stay for the next judge', async (t) => {
    const url = urlOf(server, 'given-up');
    const node = openNode(t, url);
    const former = openJudge(t, url, async () => false);
    const sent = node.send(1, 3);
    await until(() => former.taken.length === 3);
    await former.reader.stop();
    const judge = openJudge(t, url);
    await until(() => judge.taken.length === 3);
    t.same(judge.times(), sent);
  });

  t.test('entries that are none of ours keep nothing from the judge', async (t) => {
    const url = urlOf(server, 'garbage');
    const { stream } = resultKeys('garbage');
    const node = openNode(t, url);
    await server.client.xadd(stream, '*', 'head', '{"form":1', 'numbers', 'abc', 'count', 'many');
    await server.client.xadd(stream, '*', 'any', 'thing');
    const judge = openJudge(t, url);
    await isConnected(judge);
    await server.client.xadd(stream, '*', 'head', '{"form":2}', 'numbers', '', 'count', '7');
    const sent = node.send(1, 2);
    await until(() => judge.taken.length === 2);
    t.same(judge.times(), sent);
    await until(() => judge.reader.stats().refusedEntries === 3);
    await until(async () => (await lengthOf('garbage')) === 0);
    await until(() => judge.reader.stats().backlog === 0);
  });

  t.test('results of an older claim are refused, and those beside them are not', async (t) => {
    const url = urlOf(server, 'fences');
    const judge = openJudge(t, url);
    // A judge that begins forgets the claims before it.
    await until(async () => (await server.client.hexists(resultKeys('fences').state, 'judge')) === 1);
    const [slow, quick] = [openNode(t, url, { name: 'slow' }), openNode(t, url, { name: 'quick' })];
    slow.send(5);
    await until(() => judge.taken.length === 1);
    quick.sender.claim(5, { generation: 1, claim: 2 });
    await until(async () => (await server.client.hget(resultKeys('fences').claims, 'eu/5')) === '1:2:quick');
    const times = slow.send(6);
    slow.send(5);
    slow.send(5 + SHARDS);
    quick.send(5);
    await until(() => slow.sender.stats().refused === 2 && judge.taken.length === 3);
    t.same(
      judge.taken.map(({ result }) => result.serviceId),
      [5, ...judge.taken.slice(1).map(({ result }) => result.serviceId)],
    );
    t.same(
      judge.taken
        .slice(1)
        .map(({ result }) => result.serviceId)
        .sort(),
      [5, 6],
    );
    t.ok(judge.times().includes(times[0] ?? 0));
    // A judge that connects again forgets the claims, and the next claim is then no takeover.
    let claim = 3;
    await until(() => {
      const node = claim % 2 === 1 ? slow : quick;
      node.sender.claim(5, { generation: 1, claim: claim++ });
      return judge.reader.stats().takeovers > 0;
    });
    t.ok(judge.reader.stats().takeovers >= 1, 'one node has taken shards over from the other');
  });

  t.test('a claim of an older generation is refused however large its number', async (t) => {
    const url = urlOf(server, 'generations');
    const node = openNode(t, url);
    const judge = openJudge(t, url);
    node.sender.claim(1, { generation: 12, claim: 1 });
    node.send(1);
    await until(() => judge.taken.length === 1);
    const late = openNode(t, url, { name: 'late' });
    late.sender.claim(1, { generation: 9, claim: 40 });
    late.send(1);
    await until(() => late.sender.stats().refused === 1);
    t.equal(judge.taken.length, 1);
  });

  t.test('results of a shard that was never claimed are refused', async (t) => {
    const sender = new ResultSender({
      ...contextOf(urlOf(server, 'unclaimed')),
      ...{ node: 'eu-1', region: 'eu', clockOffsetMs: () => 0 },
    });
    t.teardown(() => sender.stop());
    sender.send([{ result: good(1, START), suspect: false, region: 'eu' }]);
    await until(() => sender.stats().refused === 1);
    t.equal(sender.stats().waiting, 0);
  });

  t.test('a new judge forgets the claims, whose numbers a restored registry may repeat', async (t) => {
    const url = urlOf(server, 'restored');
    const node = openNode(t, url);
    node.sender.claim(1, { generation: 50, claim: 1 });
    const former = openJudge(t, url);
    node.send(1);
    await until(() => former.taken.length === 1);
    await node.sender.stop();
    const judge = openJudge(t, url);
    await isConnected(judge);
    const restored = openNode(t, url);
    restored.send(1);
    await until(() => judge.taken.length === 1);
    t.equal(restored.sender.stats().refused, 0);
  });

  t.test('while the stream is full, results wait at their node', async (t) => {
    const url = urlOf(server, 'full');
    const { state } = resultKeys('full');
    const { lines, log } = keepLog();
    await server.client.hset(state, 'waiting', MAX_STREAM_RESULTS);
    const node = openNode(t, url, { log });
    const sent = node.send(1, 700);
    await until(() => lines.includes('the judge is behind: results wait at this node'));
    t.equal(node.sender.stats().waiting, 700);
    t.equal(await lengthOf('full'), 0);
    const judge = openJudge(t, url);
    await server.client.hset(state, 'waiting', 0);
    await until(() => judge.taken.length === 700);
    t.same(judge.times(), sent);
    t.ok(lines.includes('results are sent to the judge again'));
  });

  t.test('times of a node whose clock is off are corrected, or refused beyond a day', async (t) => {
    const url = urlOf(server, 'clocks');
    const judge = openJudge(t, url);
    const late = openNode(t, url, { name: 'late', offsetMs: -90_000 });
    const [at = 0] = late.send(1);
    await until(() => judge.taken.length === 1);
    t.same(judge.times(), [at + 90_000]);
    const absurd = openNode(t, url, { name: 'absurd', offsetMs: 90_000_000 });
    absurd.send(2);
    await until(() => judge.reader.stats().refusedEntries === 1);
    t.equal(judge.taken.length, 1);
  });

  t.test('a judge that is not fresh, or does not know all nodes yet, reads nothing', async (t) => {
    const url = urlOf(server, 'stale');
    const judge = openJudge(t, url);
    await isConnected(judge);
    const node = openNode(t, url);
    for (const condition of ['isFresh', 'mayBegin'] as const) {
      const before = judge.taken.length;
      judge.state[condition] = false;
      node.send(1);
      await until(async () => (await lengthOf('stale')) === 1);
      t.equal(judge.taken.length, before, condition);
      judge.state[condition] = true;
      await until(() => judge.taken.length === before + 1);
    }
  });

  t.test('judges that end before they acknowledge leave each transition once, in order', async (t) => {
    const url = urlOf(server, 'exactly-once');
    const registry = await createRecordedRegistry(makeServices(3));
    t.teardown(() => registry.close());
    const node = openNode(t, url);
    const expected: string[] = [];
    let at = START;
    let redelivered = 0;
    for (let life = 0; life < 6; life++) {
      const { record, clock } = await createWorld({ registry });
      const committed = new Set<number>();
      const judge = openJudge(t, url, async (results) => {
        const end = record.takeRuled(results, at);
        await clock.advance(2_000);
        await end;
        for (const { result } of results) committed.add(result.endedAt);
        // What the newest results change is committed, and the judge ends.
        return results.some(({ result }) => result.endedAt === at) ? await never() : true;
      });
      for (const id of [1, 2, 3]) {
        at += 10_000;
        const isGood = (life + id) % 2 === 0;
        const result = isGood ? good(id, at) : failed503(id, at, { firstFailedAt: at });
        expected.push(`${id} ${isGood ? 'up' : 'down'}`);
        node.sender.send([{ result, suspect: false, region: 'eu' }]);
        await until(() => committed.has(at), 'it is committed');
      }
      redelivered += judge.taken.length - 3;
      await judge.reader.stop();
    }
    t.same(
      registry.transitions.map(({ serviceId, to }) => `${serviceId} ${to}`),
      expected,
    );
    t.equal(redelivered, 5 * 3, 'each life got those of the one before again');
  });
});

t.test('results wait while Redis is away, and arrive when it is back, empty', sideBySide(), async (t) => {
  const server = await startRedis(t);
  const url = urlOf(server);
  const node = openNode(t, url);
  const judge = openJudge(t, url);
  node.send(1, 10);
  await until(() => judge.taken.length === 10);
  await server.stop();
  const sent = node.send(1, 1_200);
  await until(() => judge.reader.state().problem !== null && node.sender.state().problem !== null);
  t.equal(node.sender.stats().waiting, 1_200);
  await server.start();
  await until(() => judge.taken.length === 1_210);
  t.same(judge.times().slice(10), sent);
  t.equal(await server.client.hlen(resultKeys('upbeat').claims), SHARDS, 'the claims are noted again');
});

t.test('it goes on when Redis is emptied under its connections', sideBySide(), async (t) => {
  const server = await startRedis(t);
  const url = urlOf(server);
  const node = openNode(t, url);
  const judge = openJudge(t, url);
  for (let round = 1; round <= 3; round++) {
    const sent = node.send(1, 5);
    await until(() => judge.taken.length === 5 * round, `round ${round}`);
    t.same(judge.times().slice(-5), sent);
    await server.client.flushall();
  }
});

t.test('results go through a Redis that hangs for a while', sideBySide(), async (t) => {
  const server = await startRedis(t);
  const url = urlOf(server);
  const node = openNode(t, url);
  const judge = openJudge(t, url);
  const first = node.send(1, 5);
  await until(() => judge.taken.length === 5);
  server.signal('SIGSTOP');
  const sent = node.send(1, 600);
  await until(() => node.sender.state().problem !== null && judge.reader.state().problem !== null);
  server.signal('SIGCONT');
  await until(() => new Set(judge.times()).size === 605);
  // What was in its sockets may have been taken twice.
  t.same([...new Set(judge.times())], [...first, ...sent]);
  await until(async () => (await server.client.xlen(resultKeys('upbeat').stream)) === 0);
});

t.test(
  'a node keeps the newest results while Redis is away, and says what it drops',
  sideBySide(),
  async (t) => {
    const server = await startRedis(t);
    const { lines, log } = keepLog();
    const node = openNode(t, urlOf(server), { log });
    await until(() => node.sender.state().problem === null);
    await server.stop();
    await until(() => node.sender.state().problem !== null);
    for (let batch = 0; batch < 202; batch++) node.send(1 + batch, 500);
    t.match(node.sender.stats(), {
      waiting: 100_000,
      dropped: 1_000,
      problem: 'results cannot be sent to the judge; the oldest are dropped',
    });
    t.equal(lines.filter((line) => line.startsWith('results cannot be sent')).length, 1);
    await server.start();
    const judge = openJudge(t, urlOf(server));
    await until(() => judge.taken.length >= 100_000);
    t.equal(judge.taken[0]?.result.serviceId, 3);
    t.match(node.sender.stats(), { waiting: 0, dropped: 1_000, problem: null });
  },
);

t.test('a judge goes on after an answer that is none', sideBySide(), async (t) => {
  const server = await startRedis(t);
  const road = await startTcpProxy(t, `http://127.0.0.1:${server.port}`);
  // A number in place of the entries, and of the epoch: such as an answer that belongs to another command.
  for (const script of [READ, BEGIN]) {
    const prefix = `odd-${script.sha1.slice(0, 4)}`;
    const { lines, log } = keepLog();
    const node = openNode(t, urlOf(server, prefix));
    const judge = openJudge(
      t,
      `redis://127.0.0.1:${new URL(road.url).port}?prefix=${prefix}`,
      undefined,
      log,
    );
    await isConnected(judge);
    const before = node.send(1, 3);
    await until(() => judge.taken.length >= 3);
    const unread = () => server.client.xlen(resultKeys(prefix).stream);
    await until(async () => (await unread()) === 0, 'what was taken is acknowledged');
    let odd = 0;
    road.answers = (request) => {
      if (!request.includes(script.sha1.slice(0, 8))) return null;
      odd++;
      return script === READ ? ':1\r\n' : '+OK\r\n';
    };
    let looks = 0;
    await until(() => {
      // On a busy machine the script may be sent behind something else, where the proxy does not see it.
      if (script === BEGIN && looks++ % 250 === 0) {
        road.isCut = true;
        road.isCut = false;
      }
      return odd > 0;
    });
    road.answers = () => null;
    const after = node.send(1, 3);
    await until(() => String(judge.times().slice(-3)) === String(after), 'it reads again');
    t.same(judge.times().slice(0, 3), before);
    t.notMatch(lines, ['another judge reads the results; this one reads no more']);
  }
});

t.test('a judge that is told by mistake of a later one asks again', sideBySide(), async (t) => {
  const server = await startRedis(t);
  const road = await startTcpProxy(t, `http://127.0.0.1:${server.port}`);
  const judge = openJudge(t, `redis://127.0.0.1:${new URL(road.url).port}?prefix=upbeat`);
  await isConnected(judge);
  let told = 0;
  road.answers = (request) => (request.includes(READ.sha1.slice(0, 8)) && told++ === 0 ? ':-2\r\n' : null);
  await until(() => told > 1, 'it reads again');
  openNode(t, urlOf(server)).send(2, 4);
  await until(() => judge.taken.length === 4);
});

t.test('results go through a Redis cluster', sideBySide(), async (t) => {
  const cluster = await startRedisCluster(t);
  const node = openNode(t, cluster.url);
  const judge = openJudge(t, cluster.url);
  const sent = node.send(1, 600);
  await until(() => judge.taken.length === 600);
  t.same(judge.times(), sent);
});

t.test('results follow a fail-over of Sentinel', sideBySide(), async (t) => {
  const { master, url } = await startSentinelSet(t);
  const node = openNode(t, url);
  const judge = openJudge(t, url);
  node.send(1, 10);
  await until(() => judge.taken.length >= 10);
  await master.stop('SIGKILL');
  await until(() => node.sender.state().problem !== null);
  const sent = node.send(1, 600);
  const isThere = () => {
    const seen = new Set(judge.times());
    return sent.every((at) => seen.has(at));
  };
  await until(isThere, 'all have arrived');
  t.equal(node.sender.stats().waiting, 0);
});
