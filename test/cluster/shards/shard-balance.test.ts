import t from 'tap';
import { createShardBalance, fairShare } from '../../../src/cluster/shards/hold-shards.ts';
import { SHARDS } from '../../../src/domain/node.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const HOLDER = { isHolder: true, reachesRegistry: true };
const CUT_OFF = { isHolder: false, reachesRegistry: false };

t.test('it gives each node an equal part, rounded up so that none is left over', async (t) => {
  t.same([0, 1, 2, 3, 5, SHARDS, SHARDS * 2].map(fairShare), [64, 64, 32, 22, 13, 1, 1]);
});

t.test('it claims up to its part, and hands back the rest when a node has come', async (t) => {
  const clock = createFakeClock();
  const balance = createShardBalance(clock);
  t.same(balance({ ...HOLDER, held: 0, nodes: 1, waiting: 64 }), { claim: 64, handBack: 0 });
  t.same(balance({ ...HOLDER, held: 64, nodes: 1, waiting: 0 }), { claim: 0, handBack: 0 });
  t.same(balance({ ...HOLDER, held: 64, nodes: 2, waiting: 0 }), { claim: 0, handBack: 32 });
  t.same(balance({ ...HOLDER, held: 32, nodes: 2, waiting: 32 }), { claim: 0, handBack: 0 });
  t.same(balance({ ...HOLDER, held: 20, nodes: 2, waiting: 32 }), { claim: 12, handBack: 0 });
  t.same(balance({ ...HOLDER, held: 32, nodes: 1, waiting: 32 }), { claim: 32, handBack: 0 });
});

t.test(
  'it takes shards that no node claims, and offers them again later or when nodes come or go',
  async (t) => {
    const clock = createFakeClock();
    const balance = createShardBalance(clock);
    t.same(balance({ ...HOLDER, held: 32, nodes: 2, waiting: 32 }), { claim: 0, handBack: 0 });
    await clock.advance(3_900);
    t.same(balance({ ...HOLDER, held: 32, nodes: 2, waiting: 32 }), { claim: 0, handBack: 0 });
    await clock.advance(100);
    t.same(balance({ ...HOLDER, held: 32, nodes: 2, waiting: 32 }), { claim: 32, handBack: 0 });
    t.same(balance({ ...HOLDER, held: 64, nodes: 2, waiting: 0 }), { claim: 0, handBack: 0 });
    await clock.advance(30_000);
    t.same(balance({ ...HOLDER, held: 64, nodes: 2, waiting: 0 }), { claim: 0, handBack: 32 });
    t.same(
      balance({ ...HOLDER, held: 32, nodes: 2, waiting: 5 }),
      { claim: 0, handBack: 0 },
      'the wait begins anew',
    );
    await clock.advance(4_000);
    t.same(balance({ ...HOLDER, held: 32, nodes: 2, waiting: 5 }), { claim: 5, handBack: 0 });
    t.same(balance({ ...HOLDER, held: 37, nodes: 3, waiting: 0 }), { claim: 0, handBack: 15 });
  },
);

t.test(
  'a node that alone is cut off from the registry claims nothing, and releases its shards after 8 s',
  async (t) => {
    const clock = createFakeClock();
    const balance = createShardBalance(clock);
    const cutOff = { ...CUT_OFF, held: 32, nodes: 1, waiting: 0 };
    t.same(balance(cutOff), { claim: 0, handBack: 0 });
    await clock.advance(7_900);
    t.same(balance({ ...cutOff, waiting: 9 }), { claim: 0, handBack: 0 });
    t.same(balance({ ...cutOff, isHolder: true, nodes: 2 }), { claim: 0, handBack: 0 }, 'it is not alone');
    t.same(balance(cutOff), { claim: 0, handBack: 0 }, 'the time begins anew');
    await clock.advance(8_000);
    t.same(balance(cutOff), { claim: 0, handBack: 32 });
    t.same(balance({ ...cutOff, held: 0, waiting: 32 }), { claim: 0, handBack: 0 });
    t.same(balance({ ...HOLDER, held: 0, nodes: 2, waiting: 32 }), { claim: 32, handBack: 0 });
  },
);

t.test('no node releases shards while none reaches the registry', async (t) => {
  const balance = createShardBalance(createFakeClock());
  const away = { isHolder: true, reachesRegistry: false, held: 64, nodes: 2, waiting: 0 };
  t.same(balance(away), { claim: 0, handBack: 0 });
  t.same(balance({ ...away, held: 0, waiting: 32 }), { claim: 32, handBack: 0 });
  t.same(balance({ ...away, reachesRegistry: true }), { claim: 0, handBack: 32 });
});
