import t from 'tap';
import { compareFences, SHARDS, shardOf } from '../../src/domain/shard.ts';

t.test('it spreads the ids of services evenly over the shards', async (t) => {
  const counts = new Map<number, number>();
  for (let id = 1; id <= SHARDS * 10; id++) counts.set(shardOf(id), (counts.get(shardOf(id)) ?? 0) + 1);
  t.same(
    [...counts.keys()].sort((a, b) => a - b),
    [...Array(SHARDS).keys()],
  );
  t.same(new Set(counts.values()), new Set([10]));
});

t.test('it orders claims by generation, then by their number', async (t) => {
  const fences = [
    { generation: 2, claim: 1 },
    { generation: 1, claim: 9 },
    { generation: 1, claim: 2 },
  ];
  t.same(fences.toSorted(compareFences), fences.toReversed());
  t.equal(compareFences({ generation: 3, claim: 4 }, { generation: 3, claim: 4 }), 0);
});
