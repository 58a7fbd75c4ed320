/** The status store while Redis is stopped, killed, paused, emptied or replaced: nothing is lost, nothing told twice. */
import t, { type Test } from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { type CurrentStatus, unknownStatus } from '../../../src/domain/status/current.ts';
import { requireRedisAddress } from '../../../src/domain/store-address.ts';
import { type Log, silentLog } from '../../../src/log.ts';
import { MAX_CHANGES, receiveRecord } from '../../../src/store/status/redis-status-keys.ts';
import { RedisStatusReader } from '../../../src/store/status/redis-status-reader.ts';
import { RedisStatusStore } from '../../../src/store/status/redis-status-store.ts';
import { freePort } from '../../support/free-port.ts';
import {
  NEEDS_REDIS,
  type RedisServer,
  startRedis,
  startRedisCluster,
  startSentinelSet,
  startSwitchedPair,
  until,
} from '../../support/redis-server.ts';
import { NOON, record } from '../registry-fixtures.ts';

/** Tests that mostly wait, each for servers of its own, run side by side. tap keeps the object: one for each test. */
const sideBySide = () => ({ ...NEEDS_REDIS, buffered: true });
t.jobs = 4;

function optionsFor(url: string, log: Log = silentLog) {
  const address = requireRedisAddress(url);
  return { address, clock: systemClock, log };
}

async function openWriter(t: Test, url: string): Promise<RedisStatusStore> {
  const store = new RedisStatusStore(optionsFor(url));
  t.teardown(() => store.close());
  await until(() => store.state().problem === null, 'the writer is connected');
  return store;
}

/** A process that only serves, with everything that its watchers heard. */
async function openReader(t: Test, url: string) {
  const store = new RedisStatusReader(optionsFor(url));
  t.teardown(() => store.close());
  const heard: string[] = [];
  store.watch(({ serviceId, seq }) => void heard.push(`${serviceId}:${seq}`));
  await store.loaded(20_000);
  return { store, heard };
}

const urlOf = ({ port }: RedisServer, prefix = 'upbeat') => `redis://127.0.0.1:${port}?prefix=${prefix}`;

/** Numbers and seqs of the services that Redis has. */
async function contentOf({ client }: RedisServer, prefix = 'upbeat'): Promise<Record<string, number>> {
  const fields = await client.hgetall(`${prefix}:{status}:records`);
  return Object.fromEntries(
    Object.entries(fields).map(([id, text]) => [id, receiveRecord(text)?.record.seq ?? -1]),
  );
}

/** Ends the connections of that name, as a network would. */
async function cutOff({ client }: RedisServer, name: string): Promise<void> {
  for (const line of String(await client.client('LIST')).split('\n'))
    if (line.includes(`name=${name} `)) await client.client('KILL', 'ID', /id=(\d+)/.exec(line)?.[1] ?? '0');
}

function upTo(count: number, seq: number): CurrentStatus[] {
  return Array.from({ length: count }, (_, index) => record(index + 1, seq, 'up', NOON + seq));
}

const isEverywhere = (server: RedisServer, expected: Record<string, number>, prefix?: string) => async () =>
  JSON.stringify(await contentOf(server, prefix)) === JSON.stringify(expected);

t.test('several processes over one server', NEEDS_REDIS, async (t) => {
  const server = await startRedis(t);

  t.test('it tells another process of a change within 100 ms', async (t) => {
    const url = urlOf(server, 'fast');
    const [writer, reader] = [await openWriter(t, url), await openReader(t, url)];
    const delays: number[] = [];
    for (let seq = 1; seq <= 15; seq++) {
      const seen = Promise.withResolvers<void>();
      const stop = reader.store.watch(() => seen.resolve());
      const startedMs = performance.now();
      await writer.put([record(1, seq, 'up', NOON + seq)]);
      await seen.promise;
      delays.push(performance.now() - startedMs);
      stop();
    }
    // One of the quickest: a busy machine holds most of them up.
    t.ok((delays.sort((a, b) => a - b)[3] ?? 1_000) < 100, `${delays}`);
    t.strictSame(reader.store.get(1), writer.get(1));
  });

  t.test(
    'of routine records only the newest of each service is sent, and none of a removed one',
    async (t) => {
      const url = urlOf(server, 'routine');
      const [writer, reader] = [await openWriter(t, url), await openReader(t, url)];
      await writer.put(upTo(4, 1));
      await until(() => reader.heard.length === 4);
      const routine = [2, 3, 4].map((seq) => writer.put(upTo(2, seq), true));
      t.equal(writer.get(1)?.seq, 4, 'the process itself reads it at once');
      await writer.put([record(3, 2, 'up', NOON + 2)]);
      const early = writer.put([record(4, 2, 'up', NOON + 2)], true);
      const late = writer.put([record(4, 3, 'up', NOON + 3)], true);
      await writer.remove(4);
      await Promise.all([...routine, early, late]);
      await until(() => reader.heard.length >= 7 && reader.store.get(4) === null);
      t.same(reader.heard.slice(4).sort(), ['1:4', '2:4', '3:2']);
    },
  );

  t.test('a later process reads everything, and cannot write', async (t) => {
    const url = urlOf(server, 'late');
    const writer = await openWriter(t, url);
    await writer.put(upTo(1_300, 3));
    await writer.remove(7);
    const { store } = await openReader(t, url);
    t.strictSame(store.get(1_300), writer.get(1_300));
    t.equal(store.get(7), null);
    await t.rejects(store.put([record(1, 9, 'up', NOON)]));
    await t.rejects(store.remove(1));
    await writer.remove(8);
    await until(() => store.get(8) === null, 'the removal is seen');
  });

  t.test('it continues after a broken connection, and receives every change once', async (t) => {
    const url = urlOf(server, 'resumed');
    const [writer, reader] = [await openWriter(t, url), await openReader(t, url)];
    for (let seq = 1; seq <= 60; seq++) {
      await writer.put([record(1, seq, 'up', NOON)]);
      if (seq % 20 === 10) await cutOff(server, 'upbeat-status-reader');
    }
    await until(() => reader.heard.at(-1) === '1:60', 'the newest is heard');
    t.same(
      reader.heard,
      Array.from({ length: 60 }, (_, index) => `1:${index + 1}`),
    );
    t.ok(reader.store.state().reconnects > 0);
  });

  t.test('what it has learned stays until Redis has as much', async (t) => {
    const url = urlOf(server, 'learned');
    const [writer, reader] = [await openWriter(t, url), await openReader(t, url)];
    // The registry has answered a heartbeat; what Redis got when its service was added is still on its way.
    await reader.store.learn([record(1, 1, 'up', NOON)]);
    await writer.put([unknownStatus(1), record(2, 1, 'up', NOON)]);
    await until(() => reader.store.get(2) !== null);
    t.equal(reader.store.get(1)?.status, 'up');
    await writer.put([record(1, 1, 'up', NOON), record(2, 2, 'up', NOON)]);
    await until(() => reader.store.get(2)?.seq === 2);
    await writer.put([record(1, 2, 'down', NOON + 1)]);
    await until(() => reader.store.get(1)?.status === 'down');
    t.same(reader.heard, ['1:1', '2:1', '2:2', '1:2']);
  });

  t.test('it reads everything again after it has missed entries of the stream', async (t) => {
    const url = urlOf(server, 'missed');
    const [writer, reader] = [await openWriter(t, url), await openReader(t, url)];
    await writer.put(upTo(3, 1));
    await until(() => reader.heard.length === 3);
    await server.client.xtrim('missed:{status}:changes', 'MAXLEN', 0);
    await server.client.hincrby('missed:{status}:meta', 'count', 5);
    await writer.put([record(2, 2, 'down', NOON + 2)]);
    await until(() => reader.store.get(2)?.seq === 2);
    t.same(reader.heard, ['1:1', '2:1', '3:1', '2:2']);
  });

  t.test('it keeps the stream short', async (t) => {
    const writer = await openWriter(t, urlOf(server, 'short'));
    await writer.put(upTo(4_000, 1));
    for (let seq = 2; seq <= 4; seq++) await writer.put(upTo(4_000, seq));
    const length = await server.client.xlen('short:{status}:changes');
    t.ok(length >= MAX_CHANGES && length < MAX_CHANGES + 200, String(length));
  });

  t.test('it keeps half as many changes as there are services, if these are many', async (t) => {
    const writer = await openWriter(t, urlOf(server, 'many'));
    const services = 2.2 * MAX_CHANGES;
    await writer.put(upTo(services, 1));
    const length = await server.client.xlen('many:{status}:changes');
    t.ok(Math.abs(length - services / 2) < 200, String(length));
  });

  t.test('it is filled again when Redis was emptied under a working connection', async (t) => {
    const url = urlOf(server, 'emptied');
    const [writer, reader] = [await openWriter(t, url), await openReader(t, url)];
    await writer.put(upTo(3, 2));
    await until(() => reader.heard.length === 3);
    await server.client.del('emptied:{status}:records', 'emptied:{status}:changes', 'emptied:{status}:meta');
    await until(isEverywhere(server, { 1: 2, 2: 2, 3: 2 }, 'emptied'));
    await writer.put([record(2, 3, 'down', NOON + 3)]);
    await until(() => reader.store.get(2)?.seq === 3);
    t.same(reader.heard, ['1:2', '2:2', '3:2', '2:3']);
  });

  t.test('it keeps its copy when Redis is emptied twice in a row', async (t) => {
    const url = urlOf(server, 'twice');
    const keys = ['records', 'changes', 'meta'].map((name) => `twice:{status}:${name}`);
    const first = await openWriter(t, url);
    const { store } = await openReader(t, url);
    await first.put(upTo(2, 1));
    await until(() => store.get(2)?.seq === 1);
    const loads = async () =>
      Number(/cmdstat_hscan:calls=(\d+)/.exec(await server.client.info('commandstats'))?.[1] ?? 0);
    /** Redis has nothing, and the reader has seen it. */
    const empty = async (writer: RedisStatusStore) => {
      await writer.close();
      const before = await loads();
      await server.client.del(keys);
      await until(async () => (await loads()) > before, 'the reader reads everything again');
    };
    await empty(first);
    const second = await openWriter(t, url);
    await second.put(upTo(2, 2));
    await until(() => store.get(2)?.seq === 2);
    await empty(second);
    t.match([store.get(1), store.get(2)], [{ seq: 2 }, { seq: 2 }]);
  });

  t.test(
    'it takes the word of the newest monitor, even an older one, and forgets what that does not know',
    async (t) => {
      const url = urlOf(server, 'restored');
      const first = await openWriter(t, url);
      const reader = await openReader(t, url);
      await first.put(upTo(3, 9));
      await until(() => reader.store.get(3)?.seq === 9);
      const second = await openWriter(t, url);
      await second.put([record(1, 4, 'down', NOON), record(2, 9, 'up', NOON + 9)]);
      await until(isEverywhere(server, { 1: 4, 2: 9 }, 'restored'));
      await until(() => reader.store.get(3) === null && reader.store.get(1)?.seq === 4);
      await first.put([record(2, 10, 'down', NOON + 10)]);
      t.match(first.state(), { problem: 'another monitor writes under the same prefix' });
      t.same(
        await contentOf(server, 'restored'),
        { 1: 4, 2: 9 },
        'the first one counts for nothing any more',
      );
      t.same(reader.heard, ['1:9', '2:9', '3:9', '1:4']);
    },
  );

  t.test('it ignores unreadable records', async (t) => {
    const url = urlOf(server, 'strange');
    const writer = await openWriter(t, url);
    await writer.put(upTo(2, 1));
    await server.client.hset(
      'strange:{status}:records',
      '2',
      '1:1:1:{',
      '3',
      'x',
      '4',
      '1:1:1:{"serviceId":5}',
    );
    const { store } = await openReader(t, url);
    t.same(
      [1, 2, 3, 4, 5].map((id) => store.get(id)?.seq ?? null),
      [1, null, null, null, null],
    );
  });
});

for (const [how, leave, back] of [
  ['stopped', (s: RedisServer) => s.stop(), (s: RedisServer) => s.start()],
  ['killed', (s: RedisServer) => s.stop('SIGKILL'), (s: RedisServer) => s.start()],
  ['paused', async (s: RedisServer) => s.signal('SIGSTOP'), async (s: RedisServer) => s.signal('SIGCONT')],
] as const) {
  t.test(
    `it answers and takes records while Redis is ${how}, and catches up afterwards`,
    sideBySide(),
    async (t) => {
      const server = await startRedis(t);
      const url = urlOf(server);
      const [writer, reader] = [await openWriter(t, url), await openReader(t, url)];
      await writer.put(upTo(300, 1));
      await until(() => reader.heard.length === 300);
      await leave(server);
      await writer.put([record(1, 2, 'down', NOON + 2)]);
      await until(() => writer.state().problem !== null && reader.store.state().problem !== null);
      const tookMs: number[] = [];
      for (let seq = 3; seq <= 12; seq++) {
        const startedMs = performance.now();
        await writer.put([record(1, seq, 'down', NOON + seq)]);
        tookMs.push(performance.now() - startedMs);
      }
      await writer.remove(300);
      // Each would wait for a second or more; a busy machine holds some of them up.
      t.ok(Math.min(...tookMs) < 500, `no request waits for it: ${tookMs}`);
      t.equal(writer.get(1)?.seq, 12, 'the monitor is current');
      t.ok([1, 2].includes(reader.store.get(1)?.seq ?? 0), 'the other process has its last copy');
      t.ok(reader.store.ageMs() > 0);
      await back(server);
      await until(() => reader.store.get(1)?.seq === 12, 'the change is seen');
      // It is filled in parts.
      await until(async () => {
        const content = await contentOf(server);
        return content['1'] === 12 && !('300' in content) && Object.keys(content).length === 299;
      }, 'it has everything');
      t.same(reader.heard.length, new Set(reader.heard).size, 'nothing is told twice');
      t.equal(reader.heard.at(-1), '1:12');
      t.ok(writer.state().reconnects >= 1);
      t.ok(writer.state().commandsFailed >= 0);
    },
  );
}

t.test('it starts without Redis, and fills it when it comes', sideBySide(), async (t) => {
  const server = await startRedis(t);
  await server.stop();
  const store = new RedisStatusStore(optionsFor(urlOf(server)));
  t.teardown(() => store.close());
  await store.put(upTo(2, 1));
  await until(() => /ECONNREFUSED/.test(store.state().problem ?? ''));
  await server.start();
  await until(isEverywhere(server, { 1: 1, 2: 1 }));
});

t.test('it follows the master to another server', sideBySide(), async (t) => {
  const failOver = async (how: 'SIGKILL' | 'SIGSTOP') => {
    const set = await startSentinelSet(t);
    const [writer, reader] = [await openWriter(t, set.url), await openReader(t, set.url)];
    await writer.put(upTo(50, 1));
    await until(() => reader.heard.length === 50);
    if (how === 'SIGKILL') await set.master.stop(how);
    else set.master.signal(how);
    await writer.put([record(1, 2, 'down', NOON + 2)]);
    await until(async () => (await contentOf(set.replica))['1'] === 2, `${how}: the new master has it`);
    await until(() => reader.store.get(1)?.seq === 2, `${how}: the reader has it`);
    await writer.put([record(2, 2, 'down', NOON + 2)]);
    await until(() => reader.store.get(2)?.seq === 2, `${how}: the reader has the next`);
    t.equal(reader.heard.length, 52, `${how}: nothing is told twice`);
  };
  await Promise.all([failOver('SIGKILL'), failOver('SIGSTOP')]);
});

t.test('it is filled again when its node of a cluster comes back empty', sideBySide(), async (t) => {
  const { nodes, url } = await startRedisCluster(t);
  const [writer, reader] = [await openWriter(t, url), await openReader(t, url)];
  await writer.put(upTo(50, 1));
  await until(() => reader.heard.length === 50);
  const home = (
    await Promise.all(nodes.map(async (node) => ((await node.client.dbsize()) > 0 ? [node] : [])))
  ).flat()[0];
  if (home === undefined) throw new Error('no node has the records');
  await home.stop('SIGKILL');
  await writer.put([record(1, 2, 'down', NOON + 2)]);
  await until(() => writer.state().problem !== null);
  await writer.put([record(1, 3, 'up', NOON + 3)]);
  await home.start();
  await until(
    async () => Object.keys(await contentOf(home).catch(() => ({}))).length === 50,
    'it is filled again',
  );
  await until(() => reader.store.get(1)?.seq === 3);
  t.equal(reader.heard.length, new Set(reader.heard).size);
});

t.test('it never shows a password', sideBySide(), async (t) => {
  const server = await startRedis(t);
  await server.client.config('SET', 'requirepass', 'right');
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(JSON.stringify(fields) + message);
  const log = { debug: note, info: note, warn: note, error: note };
  const store = new RedisStatusStore(optionsFor(`redis://:hunter2@127.0.0.1:${server.port}`, log));
  t.teardown(() => store.close());
  await store.put(upTo(1, 1));
  await until(() => /WRONGPASS/.test(store.state().problem ?? ''));
  t.notMatch(lines.join('\n'), /hunter2/);
  t.match(lines.join('\n'), /WRONGPASS.*Redis is unavailable/s);
});

t.test('it follows the master to another server behind one address', sideBySide(), async (t) => {
  const { primary, replica, proxy, promote } = await startSwitchedPair(t);
  const url = `${proxy.url.replace('http', 'redis')}?prefix=upbeat`;
  const [writer, reader] = [await openWriter(t, url), await openReader(t, url)];
  await writer.put(upTo(50, 1));
  await until(() => reader.heard.length === 50);
  // The former master goes on answering reads, and is left behind.
  await promote();
  await primary.client.replicaof('127.0.0.1', String(await freePort()));
  await writer.put([record(1, 2, 'down', NOON + 2)]);
  await until(async () => (await contentOf(replica))['1'] === 2, 'the new master has it');
  await until(() => reader.store.get(1)?.seq === 2, 'the reader has it');
  t.equal(reader.heard.length, 51, 'nothing is told twice');
});

t.test('no connection is usable that leads to a replica', sideBySide(), async (t) => {
  const { replica } = await startSwitchedPair(t);
  const store = new RedisStatusReader(optionsFor(urlOf(replica)));
  t.teardown(() => store.close());
  t.equal(await store.loaded(1_000), false);
  t.match(store.state().problem, /^READONLY/);
  await replica.client.replicaof('NO', 'ONE');
  await until(() => store.state().problem === null);
});
