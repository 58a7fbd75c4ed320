/** Names of regions, and the fact with those of samples. */
import t from 'tap';
import {
  describeClockOffset,
  formatSampleRegions,
  holdersOf,
  isNodeName,
  isRegionName,
  type NodeState,
  nodeNameOf,
  parseSampleRegions,
  regionsOf,
  SHARDS,
  shardOf,
} from '../../src/domain/node.ts';

const NODE: NodeState = {
  name: 'a',
  region: 'eu',
  roles: ['judge', 'probe', 'serve'],
  version: '1.2.3',
  host: 'alpha',
  pid: 7,
  since: 0,
  lastSeen: 0,
  services: 0,
  checksPerSecond: 0,
  online: true,
  offlineSince: null,
  reachesRegistry: true,
  clockOffsetMs: 0,
};

t.test('it knows the names of nodes and regions', async (t) => {
  t.same(['a', 'EU-1.example_2', 'x'.repeat(64)].map(isNodeName), [true, true, true]);
  t.same(['', 'a b', 'ü', 'a\n', 'x'.repeat(65)].map(isNodeName), [false, false, false, false, false]);
  t.same(['eu', 'us-east-1', '9'].map(isRegionName), [true, true, true]);
  t.same(['', 'EU', 'eu_1', 'eu\n', 'x'.repeat(33)].map(isRegionName), [false, false, false, false, false]);
});

t.test('it makes the name of a node from that of any host', async (t) => {
  t.same(['web-1.example.net', 'Straße 5', '', 'x'.repeat(80)].map(nodeNameOf), [
    'web-1.example.net',
    'Stra-e-5',
    'node',
    'x'.repeat(64),
  ]);
});

t.test('it lists the regions that check, online where one of their nodes is', async (t) => {
  const away = { online: false, offlineSince: 1 };
  t.same(
    regionsOf([
      { ...NODE, name: 'a', region: 'us', ...away },
      { ...NODE, name: 'b', region: 'eu' },
      { ...NODE, name: 'c', region: 'eu', roles: ['probe'], ...away },
      { ...NODE, name: 'd', region: 'asia', roles: ['judge', 'serve'] },
    ]),
    [
      { region: 'eu', online: true, nodes: 2 },
      { region: 'us', online: false, nodes: 1 },
    ],
  );
  t.same(regionsOf([]), []);
});

t.test('it says how far a clock is off', async (t) => {
  t.same([-999, 1_000, -90_040].map(describeClockOffset), [
    null,
    "1.0 s ahead of Redis' clock",
    "90.0 s behind Redis' clock",
  ]);
  t.match(
    describeClockOffset(86_400_001),
    /ahead of Redis' clock, so that results of its checks are dropped$/,
  );
});

t.test('shards are divided among the nodes that reach the registry, or among all if none does', async (t) => {
  const cutOff = { reachesRegistry: false };
  const others = [
    { ...NODE, name: 'judge', roles: ['judge'] as const },
    { ...NODE, name: 'us', region: 'us' },
  ];
  const names = (...nodes: readonly NodeState[]) =>
    holdersOf([...others, ...nodes], 'eu').map(({ name }) => name);
  t.same(names({ ...NODE, name: 'a' }, { ...NODE, name: 'b', ...cutOff }), ['a']);
  t.same(names({ ...NODE, name: 'a', ...cutOff }, { ...NODE, name: 'b', ...cutOff }), ['a', 'b']);
  t.same(names(), []);
});

t.test('a node that is offline leaves its shards to those of its region that are not', async (t) => {
  const now = 60_000;
  const node = (name: string, offlineSince: number | null, reachesRegistry = true): NodeState => ({
    ...NODE,
    ...{ name, offlineSince, online: offlineSince === null, lastSeen: now, reachesRegistry },
  });
  const names = (...nodes: readonly NodeState[]) => holdersOf(nodes, 'eu').map(({ name }) => name);
  t.same(names(node('a', null), node('b', now - 4_999)), ['a', 'b'], 'not after a short outage');
  t.same(names(node('a', null), node('b', now - 5_000)), ['a']);
  t.same(names(node('a', 0), node('b', 0)), ['a', 'b'], 'nothing moves if all are offline');
  t.same(names(node('a', 0), node('b', null, false)), ['a'], 'one that cannot load services is of no use');
});

t.test('it spreads the ids of services evenly over the shards', async (t) => {
  const counts = new Map<number, number>();
  for (let id = 1; id <= SHARDS * 10; id++) counts.set(shardOf(id), (counts.get(shardOf(id)) ?? 0) + 1);
  t.same(
    [...counts.keys()].sort((a, b) => a - b),
    [...Array(SHARDS).keys()],
  );
  t.same(new Set(counts.values()), new Set([10]));
});

t.test('a name has up to 32 letters, digits and dashes', async (t) => {
  for (const name of ['eu', 'eu-1', '-', 'x'.repeat(32)]) t.ok(isRegionName(name), name);
  for (const name of ['', 'EU', 'a b', 'ä', 'x'.repeat(33)]) t.notOk(isRegionName(name), name);
});

t.test('the regions of samples are read in their order, and what is no name is left out', async (t) => {
  t.same(parseSampleRegions(formatSampleRegions(['us', 'eu'])), ['us', 'eu']);
  t.same(parseSampleRegions('us  EU eu'), ['us', 'eu']);
  for (const nothing of [null, '']) t.same(parseSampleRegions(nothing), []);
});
