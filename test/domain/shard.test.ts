import t from 'tap';
import { SHARDS, shardOf } from '../../src/domain/shard.ts';

t.test('it spreads the ids of services evenly over the shards', async (t) => {
  const counts = new Map<number, number>();
  for (let id = 1; id <= SHARDS * 10; id++) counts.set(shardOf(id), (counts.get(shardOf(id)) ?? 0) + 1);
  t.same(
    [...counts.keys()].sort((a, b) => a - b),
    [...Array(SHARDS).keys()],
  );
  t.same(new Set(counts.values()), new Set([10]));
});
