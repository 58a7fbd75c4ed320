/** The feed of changes of services. */
import type { ServiceChange } from '../../../src/store/ports/services.ts';
import { overBoth } from '../registry-contract.ts';
import { entry, NOON, owned, until } from '../registry-fixtures.ts';

overBoth(async (t, open) => {
  t.test('it writes a feed of changes without gaps, each with the service as it then was', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    await t.rejects(registry.putCatalogue([entry('b'), entry('b')]));
    await registry.putCatalogue([entry('a', { name: 'New' })]);
    const { id } = await registry.ensureAccount('acme', NOON);
    const own = await registry.addService(owned('o.org', id));
    await registry.removeService('o-org');
    await registry.putCatalogue([]);
    const a = { id: 1, ...entry('a'), revision: 1 };
    t.strictSame(await registry.changesAfter(0), [
      { seq: 1, serviceId: 1, slug: 'a', service: a },
      { seq: 2, serviceId: 1, slug: 'a', service: { ...a, name: 'New', revision: 2 } },
      { seq: 3, serviceId: own.id, slug: 'o-org', service: own },
      { seq: 4, serviceId: own.id, slug: 'o-org', service: null },
      { seq: 5, serviceId: 1, slug: 'a', service: null },
    ]);
    t.equal(await registry.lastChange(), 5);
    t.same(
      (await registry.changesAfter(3)).map(({ seq }) => seq),
      [4, 5],
    );
  });

  t.test('it gives at most 1,000 changes a call', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue(Array.from({ length: 1_005 }, (_, n) => entry(`s${n}`)));
    t.equal((await registry.changesAfter(0)).length, 1_000);
    t.same((await registry.changesAfter(1_000)).length, 5);
    const heard: number[] = [];
    const stop = registry.watchChanges(0, ({ seq }) => heard.push(seq));
    await until(() => heard.length >= 1_005);
    stop();
    t.same(
      heard,
      Array.from({ length: 1_005 }, (_, n) => n + 1),
    );
  });

  t.test(
    'it tells watchers of changes of this and of other processes, in order, until they stop',
    async (t) => {
      const dataDir = t.testdir();
      const [here, there] = [await open(t, dataDir), await open(t, dataDir)];
      await here.putCatalogue([entry('a')]);
      const heard: ServiceChange[] = [];
      const heardLate: ServiceChange[] = [];
      const stop = here.watchChanges(0, (change) => {
        heard.push(change);
        if (change.seq === 1) throw new Error('a listener that fails once');
      });
      const stopLate = here.watchChanges(1, (change) => void heardLate.push(change));
      await there.putCatalogue([entry('a'), entry('b')]);
      await until(() => heard.length === 2 && heardLate.length === 1);
      await here.putCatalogue([entry('b')]);
      await until(() => heard.length === 3 && heardLate.length === 2);
      stop();
      await there.putCatalogue([entry('c')]);
      await until(() => heardLate.length === 4);
      stopLate();
      t.same(
        heard.map(({ seq, slug, service }) => [seq, slug, service !== null]),
        [
          [1, 'a', true],
          [2, 'b', true],
          [3, 'a', false],
        ],
      );
    },
  );
});
