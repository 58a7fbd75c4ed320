/** Which nodes are alive, by the records of all. */
import t from 'tap';
import { createCutOffWatch, createLiveNodes } from '../../src/cluster/live-nodes.ts';
import { createNameClaim, formatNode, type NodeRecord } from '../../src/cluster/node-record.ts';
import { createClockOffset } from '../../src/cluster/nodes.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { NOW, RECORD } from './node-records.ts';

const INSTANCE = '00000000-0000-4000-8000-000000000001';

const OTHER = '00000000-0000-4000-8000-000000000002';

const listed = (record: NodeRecord | null, seenAt: number, name = 'a') => ({
  name,
  value: formatNode({ instance: INSTANCE, record }),
  seenAt,
});

t.test('it measures the difference of two clocks by the shortest round trip', async (t) => {
  const clock = createFakeClock(NOW);
  const offset = createClockOffset(clock);
  /** Redis' clock is `behindMs` behind; the answer takes `thereMs` and `backMs`. */
  const measure = async (behindMs: number, thereMs: number, backMs: number) => {
    const done = offset.measure();
    await clock.advance(thereMs);
    const redisAt = clock.now() - behindMs;
    await clock.advance(backMs);
    done(redisAt);
    return offset.ms;
  };
  t.equal(offset.ms, 0);
  t.equal(await measure(5_000, 10, 490), 5_240, 'right within half of the round trip');
  t.equal(await measure(5_000, 4, 2), 4_999);
  t.equal(await measure(5_000, 0, 400), 4_999, 'a slow answer says less');
  t.equal(await measure(-90_000, 0, 400), -89_800, 'unless a clock was set');
  await clock.advance(61_000);
  t.equal(await measure(-90_000, 0, 600), -89_700, 'an old measurement is worth less than any new one');
});

t.test('it drops a node that no list shows for six seconds', async (t) => {
  const clock = createFakeClock(NOW);
  const live = createLiveNodes('self', clock);
  const names = () => live.all().map(({ name }) => name);
  const take = (...list: ReturnType<typeof listed>[]) => live.take(list, clock.now());
  take(listed(RECORD, NOW), listed({ ...RECORD, name: 'b' }, NOW, 'b'), listed(RECORD, NOW, 'self'));
  t.same(names(), ['a', 'b'], 'without this node itself');
  const { process: _, starting: __, ...state } = RECORD;
  t.same(live.all()[0], { ...state, lastSeen: NOW });
  for (const second of [2, 4, 6]) {
    await clock.advance(2_000);
    take(listed(RECORD, clock.now()));
    t.same(names(), ['a', 'b'], `${second} s`);
  }
  await clock.advance(100);
  take(listed(RECORD, clock.now()));
  t.same(names(), ['a']);
  take(listed(null, clock.now()));
  t.same(names(), [], 'one that left is gone at once');
});

t.test('it counts a node from when it has started', async (t) => {
  const clock = createFakeClock(NOW);
  const live = createLiveNodes('self', clock);
  live.take([listed({ ...RECORD, starting: true }, NOW)], NOW);
  t.same(live.all(), []);
  live.take([listed(RECORD, NOW)], NOW);
  t.equal(live.all().length, 1);
});

t.test('it keeps the nodes while Redis is away, and for six seconds after it came back empty', async (t) => {
  const clock = createFakeClock(NOW);
  const live = createLiveNodes('self', clock);
  live.take([listed(RECORD, NOW)], NOW);
  await clock.advance(3_600_000);
  t.equal(live.all().length, 1);
  live.take([], clock.now());
  t.equal(live.all().length, 1);
  await clock.advance(6_000);
  live.take([], clock.now());
  t.equal(live.all().length, 1);
  await clock.advance(1);
  live.take([], clock.now());
  t.equal(live.all().length, 0);
});

t.test('it gives up a name whose holder is alive', async (t) => {
  const value = formatNode({ instance: OTHER, record: RECORD });
  const runs = createNameClaim('a', () => true);
  t.match(runs.noteHolder(value, '1'), {
    code: 'node_name_taken',
    message:
      'The node name a is taken by process 7 on alpha, which runs since 2026-11-22T00:00:00.000Z. Set node.name to a name that no other node has.',
  });
  const elsewhere = createNameClaim('a', () => null);
  t.equal(elsewhere.noteHolder(value, '1'), null);
  t.equal(elsewhere.noteHolder(value, '1'), null, 'it may have ended');
  t.equal(elsewhere.replaces, '');
  t.match(elsewhere.noteHolder(value, '2'), { code: 'node_name_taken' }, 'it was renewed');
  const ended = createNameClaim('a', () => false);
  t.equal(ended.noteHolder(value, '1'), null);
  t.equal(ended.replaces, OTHER, 'its entry is replaced at once');
  ended.noteHeld();
  t.equal(ended.replaces, '');
});

t.test('it knows the processes of nodes that are starting, too', async (t) => {
  const clock = createFakeClock(NOW);
  const live = createLiveNodes('self', clock);
  live.take([listed({ ...RECORD, starting: true }, NOW)], NOW);
  const { host, pid } = RECORD;
  const known = [
    { host, pid, process: RECORD.process },
    { host: 'renamed', pid, process: RECORD.process },
    { host, pid },
    { host, pid, process: 'boot ns 7 200' },
    { host, pid: 8 },
  ].map(live.has);
  t.same(known, [true, true, true, false, false]);
});

t.test('a monitor is cut off once Redis has not shown it for four seconds', async (t) => {
  const clock = createFakeClock(NOW);
  let isKnown: boolean | null = true;
  const isCutOff = createCutOffWatch({ hasProcess: () => isKnown, clock });
  /** Looks every 200 ms, as a judge does that waits for the lease. */
  const look = async (ms: number, pid = 1) => {
    let cutOff = isCutOff({ host: 'alpha', pid });
    for (let passed = 0; passed < ms; passed += 200) {
      await clock.advance(200);
      cutOff = isCutOff({ host: 'alpha', pid });
    }
    return cutOff;
  };
  t.notOk(await look(10_000), 'it is there');
  isKnown = false;
  t.notOk(await look(3_800));
  isKnown = true;
  t.notOk(await look(200), 'it has registered');
  isKnown = false;
  t.notOk(await look(3_800));
  t.notOk(await look(3_800, 2), 'another one holds the lease');
  t.ok(await look(200, 2));
  isKnown = null;
  t.notOk(await look(10_000, 2), 'Redis is away for this process, too');
  isKnown = false;
  t.notOk(await look(3_800, 2));
  await clock.advance(60_000);
  t.notOk(await look(3_800, 2), 'time in which this process was suspended proves nothing');
  t.ok(await look(200, 2));
});
