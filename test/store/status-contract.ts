/** What every status store must do, whatever it is built on. */
import fc from 'fast-check';
import root, { type Test } from 'tap';
import type { StatusHead } from '../../src/domain/status/current.ts';
import type { StatusStore } from '../../src/store/ports/status.ts';
import { inRegions, NOON, record } from './registry-fixtures.ts';

/** How the suite opens empty stores. */
export interface StatusAdapter {
  open(): Promise<StatusStore>;
}

/** Runs the suite against an adapter, as tests of `t`; `runs` of the property. */
export function runStatusContract(adapter: StatusAdapter, t: Test = root, runs = 50): void {
  const open = async (t: Test) => {
    const store = await adapter.open();
    t.teardown(() => store.close());
    return store;
  };

  t.test('it returns what was put, at once, and null for others', async (t) => {
    const store = await open(t);
    t.equal(store.get(1), null);
    t.equal(await store.put([record(1, 0, 'up', NOON), record(2, 3, 'down', NOON)]), 2);
    t.strictSame(store.get(1), record(1, 0, 'up', NOON));
    t.strictSame(store.get(2), record(2, 3, 'down', NOON));
    t.equal(store.get(3), null);
  });

  t.test('it keeps regions and scope', async (t) => {
    const store = await open(t);
    const current = inRegions(record(1, 2, 'up', NOON));
    await store.put([current]);
    t.strictSame(store.get(1), current);
  });

  t.test('it accepts only newer records, by seq and then by time', async (t) => {
    const table = [
      ['a greater seq', 2, NOON, true],
      ['a greater seq of an earlier time', 2, NOON - 1_000, true],
      ['the same seq, later', 1, NOON + 1, true],
      ['the same', 1, NOON, false],
      ['the same seq, earlier', 1, NOON - 1, false],
      ['a smaller seq, later', 0, NOON + 9, false],
    ] as const;
    for (const [what, seq, at, taken] of table) {
      const store = await open(t);
      await store.put([record(1, 1, 'up', NOON)]);
      t.equal(await store.put([record(1, seq, 'down', at)]), taken ? 1 : 0, what);
      t.equal(store.get(1)?.status, taken ? 'down' : 'up', what);
    }
  });

  t.test('it ends with the newest record, whatever the order in which they come', async (t) => {
    const one = fc.record({
      serviceId: fc.integer({ min: 1, max: 3 }),
      seq: fc.integer({ min: 0, max: 3 }),
      at: fc.integer({ min: 0, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(one, { maxLength: 5 }), { maxLength: 5 }), async (batches) => {
        const store = await adapter.open();
        for (const batch of batches)
          await store.put(batch.map(({ serviceId, seq, at }) => record(serviceId, seq, 'up', at)));
        for (const serviceId of [1, 2, 3]) {
          const newest = batches
            .flat()
            .filter((given) => given.serviceId === serviceId)
            .sort((a, b) => b.seq - a.seq || b.at - a.at)[0];
          t.match(
            store.get(serviceId),
            newest === undefined ? null : { seq: newest.seq, observedAt: newest.at },
          );
        }
        await store.close();
      }),
      { numRuns: runs },
    );
  });

  t.test('it notifies watchers of each accepted record until they stop', async (t) => {
    const store = await open(t);
    const heard: string[] = [];
    const listen = (name: string) => (given: StatusHead) =>
      void heard.push(`${name} ${given.serviceId}:${given.seq} ${store.get(given.serviceId)?.seq}`);
    const stopA = store.watch(listen('a'));
    const stopB = store.watch(listen('b'));
    await store.put([record(1, 1, 'up', NOON), record(1, 1, 'up', NOON), record(1, 2, 'down', NOON)]);
    stopA();
    stopA();
    await store.put([record(2, 1, 'up', NOON)]);
    stopB();
    await store.put([record(3, 1, 'up', NOON)]);
    t.same(heard, ['a 1:1 1', 'b 1:1 1', 'a 1:2 2', 'b 1:2 2', 'b 2:1 1']);
  });

  t.test('a watcher that throws does not affect others', async (t) => {
    const store = await open(t);
    const heard: number[] = [];
    store.watch(() => {
      throw new Error('a watcher that fails');
    });
    store.watch(({ serviceId }) => void heard.push(serviceId));
    t.equal(await store.put([record(1, 1, 'up', NOON), record(2, 1, 'up', NOON)]), 2);
    t.same(heard, [1, 2]);
  });

  t.test('it counts what it has, after each change', async (t) => {
    const store = await open(t);
    const counted = () => [
      ...(['up', 'slow', 'down', 'unknown'] as const).map(store.counts.withStatus),
      ...(['global', 'partial'] as const).map(store.counts.withScope),
      Object.fromEntries(store.counts.failing()),
    ];
    t.same(counted(), [0, 0, 0, 0, 0, 0, {}]);
    await store.put([
      record(1, 1, 'up', NOON),
      inRegions(record(2, 1, 'up', NOON)),
      record(3, 1, 'slow', NOON),
    ]);
    t.same(counted(), [2, 1, 0, 0, 0, 1, { us: 1 }]);
    await store.put([
      record(1, 2, 'down', NOON),
      { ...inRegions(record(4, 1, 'up', NOON)), scope: 'global' },
    ]);
    await store.put([record(3, 0, 'down', NOON)]);
    t.same(counted(), [2, 1, 1, 0, 1, 1, { us: 2 }], 'an older record changes nothing');
    await store.put([record(2, 2, 'up', NOON)]);
    await store.remove(4);
    await store.remove(4);
    await store.remove(9);
    t.same(counted(), [1, 1, 1, 0, 0, 0, {}]);
  });

  t.test('it deletes a removed service', async (t) => {
    const store = await open(t);
    await store.put([record(1, 5, 'up', NOON)]);
    await store.remove(1);
    await store.remove(2);
    t.equal(store.get(1), null);
    t.equal(await store.put([record(1, 0, 'up', NOON - 1)]), 1, 'and takes it anew when it returns');
  });
}
