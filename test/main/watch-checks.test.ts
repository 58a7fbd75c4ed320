/** Whether checks that are due are made, as the watch of a process judges it. */
import t, { type Test } from 'tap';
import type { NodeState } from '../../src/domain/node.ts';
import {
  createRegionWatch,
  watchAccountBounds,
  watchLateChecks,
  watchStoppedChecks,
} from '../../src/main/watch-checks.ts';
import { createFakeClock } from '../support/fake-clock.ts';

t.test('it says that checks begin late after half a minute of it, and that it is over', async (t) => {
  const clock = createFakeClock();
  const lines: string[] = [];
  const note = (_fields: object, sentence: string) => void lines.push(sentence);
  let p99 = 0;
  const watch = watchLateChecks(
    () => ({ hosts: [null, { startDelayMs: { p99: 10 } }, { startDelayMs: { p99 } }] }),
    clock,
    { debug: note, info: note, warn: note, error: note },
  );
  t.teardown(watch.stop);
  const pass = async (delayMs: number, forMs: number) => {
    p99 = delayMs;
    await clock.advance(forMs);
    return [watch.problem(), ...lines.splice(0)];
  };
  t.same(await pass(5_000, 60_000), [null], 'not late');
  t.same(await pass(60_000, 25_000), [null], 'one long pause');
  t.same(await pass(0, 5_000), [null]);
  t.match(await pass(12_000, 30_000), [
    'checks begin 12 s late: the machine cannot make that many',
    'checks begin late',
  ]);
  t.match(await pass(7_000, 60_000), [/begin 7 s late/], 'said once');
  t.match(await pass(100, 25_000), [/late/], 'a thread may start nothing for a while');
  t.same(await pass(100, 5_000), [null, 'checks start on time again']);
});

t.test(
  'it names an account whose checks wait for its share for half a minute, and says when that is over',
  async (t) => {
    const clock = createFakeClock();
    const lines: unknown[] = [];
    const note = (fields: object, sentence: string) => void lines.push([sentence, fields]);
    let bounded = [{ accountId: 7, held: 64, waiting: 900 }];
    const watch = watchAccountBounds(
      () => ({ hosts: [null, { shares: { bounded } }, { shares: { bounded } }] }),
      clock,
      {
        ...{ debug: note, info: note, warn: note, error: note },
      },
    );
    t.teardown(watch.stop);
    await clock.advance(25_000);
    t.same(lines, []);
    await clock.advance(60_000);
    t.same(lines.splice(0), [
      [
        'checks of an account are late: it holds its share of the slots',
        { account: 7, held: 128, waiting: 1_800 },
      ],
    ]);
    t.same(watch.of(7), { held: 128, waiting: 1_800 }, 'and its owner reads it');
    t.equal(watch.of(8), null);
    bounded = [];
    await clock.advance(20_000);
    bounded = [{ accountId: 7, held: 64, waiting: 1 }];
    await clock.advance(5_000);
    bounded = [];
    await clock.advance(25_000);
    t.same(lines, [], 'a pause is no end');
    await clock.advance(5_000);
    t.same(lines, [['checks of an account start on time again', { account: 7 }]]);
    t.equal(watch.of(7), null);
  },
);

function createWorld(t: Test) {
  const clock = createFakeClock();
  const lines: string[] = [];
  const note = (fields: object, sentence: string) => void lines.push(`${sentence} ${JSON.stringify(fields)}`);
  const idle = { openChecks: 0, waiting: 0, checksDone: 7 };
  const world = {
    hosts: [idle] as (typeof idle | null)[],
    known: null as string | null,
    regions: new Map<string, string | null>(),
  };
  const watch = watchStoppedChecks({
    report: () => ({ services: 5, hosts: world.hosts }),
    knownProblem: () => world.known,
    regions: () => world.regions,
    clock,
    log: { debug: note, info: note, warn: note, error: note },
  });
  t.teardown(watch.stop);
  const pass = async (change: Partial<typeof world>, forMs: number) => {
    Object.assign(world, change);
    await clock.advance(forMs);
    return [watch.problem(), ...lines.splice(0)];
  };
  return { watch, idle, pass };
}

t.test('it says within 20 s that checks which are due are not made', async (t) => {
  const { watch, idle, pass } = createWorld(t);
  t.same(await pass({}, 3_600_000), [null], 'none is due');
  t.equal(watch.stoppedMs(), 0);
  t.same(await pass({ hosts: [{ ...idle, waiting: 3, openChecks: 1 }] }, 60_000), [null], 'one is made');
  t.same(await pass({ hosts: [{ ...idle, waiting: 3 }] }, 14_000), [null]);
  t.same(await pass({}, 6_000), [
    'none of 3 checks that are due is made',
    'checks that are due are not made {"problem":"none of 3 checks that are due is made"}',
  ]);
  t.ok(watch.stoppedMs() >= 15_000);
  t.match(await pass({}, 60_000), ['none of 3 checks that are due is made'], 'said once');
  t.same(await pass({ hosts: [{ ...idle, waiting: 3, checksDone: 8 }] }, 1_000), [
    null,
    'checks are made again {}',
  ]);
  t.same(await pass({ hosts: [idle, { ...idle, waiting: 1 }] }, 20_000), [
    'none of 1 checks that are due is made',
    'checks that are due are not made {"problem":"none of 1 checks that are due is made"}',
  ]);
  t.match(await pass({ hosts: [idle, null] }, 20_000), ['none of 0 checks that are due is made']);
  t.equal(watch.ownProblem(), 'none of 0 checks that are due is made');
});

t.test('a known reason counts though nothing is due, and is said in place of the figures', async (t) => {
  const { watch, pass } = createWorld(t);
  t.same(await pass({ known: 'shards cannot be renewed' }, 10_000), [null], 'Redis may be restarted');
  t.match(await pass({}, 10_000), ['shards cannot be renewed', /^checks that are due are not made/]);
  t.match(await pass({ known: null }, 1_000), [null, 'checks are made again {}']);
  t.equal(watch.ownProblem(), null);
});

t.test('the monitor says that no node of a region makes checks', async (t) => {
  const { watch, pass } = createWorld(t);
  const regions = new Map([
    ['eu', null],
    ['us', 'no checks are made from us'],
  ]);
  t.match(await pass({ regions }, 20_000), ['no checks are made from us', /"region":"us"/]);
  t.equal(watch.ownProblem(), null);
  t.same([...watch.regionsStoppedMs().keys()], ['eu', 'us']);
  t.same(await pass({ regions: new Map() }, 1_000), [
    null,
    'checks of the region are no longer watched here {"region":"us"}',
  ]);
});

t.test('a region is found whose nodes have no services, or make no checks', async (t) => {
  const node = (name: string, region: string, more: Partial<NodeState> = {}): NodeState => ({
    ...{ name, region, roles: ['probe'], version: '1', host: 'h', pid: 1, since: 0, lastSeen: 0 },
    ...{ services: 4, checksPerSecond: 0, online: true, offlineSince: null, reachesRegistry: true },
    ...{ clockOffsetMs: 0, ...more },
  });
  const clock = createFakeClock();
  const [own, hour] = ['home', 3_600_000];
  const find = (nodes: readonly NodeState[], isChecked = true) =>
    Object.fromEntries(createRegionWatch(own, () => isChecked, clock)(nodes));
  const lazy = node('two', 'us', { services: 0 });
  const stuck = node('three', 'us', { checksProblem: 'shards cannot be renewed' });
  t.same(find([node('one', 'eu'), node('four', 'us'), lazy, stuck]), { eu: null, us: null });
  t.same(find([node('one', 'eu'), lazy, stuck]), {
    eu: null,
    us: 'no checks are made from us (three: shards cannot be renewed)',
  });
  t.same(find([lazy]), { us: 'no checks are made from us (its nodes have no services)' });
  t.same(find([lazy], false), { us: null }, 'none is checked from there');
  t.same(find([{ ...lazy, roles: ['serve'] }]), {
    home: 'no checks are made from home (no node of it is there)',
  });
  t.same(find([], false), { home: null });

  const look = createRegionWatch(own, (region) => region !== 'asia', clock);
  const eu = node('one', 'eu');
  look([eu, node('two', 'us'), node('three', 'asia')]);
  const missed = 'no checks are made from us (no node of it is there)';
  await clock.skip(5 * hour);
  t.same(Object.fromEntries(look([eu])), { eu: null, us: missed, asia: null }, 'its last node has left');
  await clock.skip(2 * hour);
  t.same(Object.fromEntries(look([eu])), { eu: null }, 'a region that was given up is missed for hours');
});
