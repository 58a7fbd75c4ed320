/** Contract of the registry: the lists of incidents. */
import type { Test } from 'tap';
import type { Incident } from '../../src/domain/incident.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import type { OpenForTest } from './registry-contract.ts';
import { entry, incident, NOON, owned, stay } from './registry-fixtures.ts';

async function put(registry: Registry, incidents: readonly Incident[]): Promise<void> {
  const current = new Map((await registry.loadServices()).map((state) => [state.service.id, state.current]));
  await registry.commitJudgements(
    incidents.flatMap((one) => {
      const before = current.get(one.serviceId);
      return before === undefined ? [] : [{ ...stay(before, NOON), incident: one }];
    }),
  );
}

/** Runs this part of the contract. */
export async function incidentContract(t: Test, open: OpenForTest): Promise<void> {
  t.test('it lists the newest first, then by id, in pages, by service and by status', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    await put(registry, [
      incident(1, 'c', { startedAt: NOON + 1 }),
      incident(2, 'b', { startedAt: NOON + 2, status: 'resolved', resolvedAt: NOON + 3 }),
      incident(1, 'a', { startedAt: NOON + 2, status: 'resolved', resolvedAt: NOON + 3 }),
      incident(2, 'd', { startedAt: NOON }),
    ]);
    const table = [
      [{}, ['a', 'b', 'c', 'd']],
      [{ limit: 2 }, ['a', 'b']],
      [{ limit: 2, offset: 1 }, ['b', 'c']],
      [{ offset: 4 }, []],
      [{ offset: 400 }, []],
      [{ serviceId: 1 }, ['a', 'c']],
      [{ serviceId: 1, offset: 1 }, ['c']],
      [{ serviceId: 3 }, []],
      [{ status: 'resolved' }, ['a', 'b']],
      [{ status: 'investigating' }, ['c', 'd']],
      [{ status: 'identified' }, []],
      [{ status: 'investigating', serviceId: 2 }, ['d']],
      [{ verifiedOnly: true }, ['a', 'b', 'c', 'd']],
      [{ verifiedOnly: true, status: 'resolved' }, ['a', 'b']],
    ] as const;
    for (const [query, ids] of table) {
      const found = await registry.listIncidents({ limit: 50, offset: 0, ...query });
      t.same(
        found.map(({ id }) => id),
        ids,
        JSON.stringify(query),
      );
    }
  });

  t.test(
    'it leaves out unverified services where it is asked to, from the moment of verification on',
    async (t) => {
      const registry = await open(t);
      await registry.putCatalogue([entry('a')]);
      const { id: accountId } = await registry.ensureAccount('acme', NOON);
      const service = await registry.addService(owned('o.org', accountId));
      await put(registry, [incident(1, 'public'), incident(service.id, 'owned')]);
      const ids = async (verifiedOnly: boolean) =>
        (await registry.listIncidents({ verifiedOnly, limit: 9, offset: 0 })).map(({ id }) => id);
      t.same(await ids(false), ['owned', 'public']);
      t.same(await ids(true), ['public']);
      await registry.removeService('o-org');
      t.same(await ids(false), ['public'], 'a removed service takes its incidents along');
      t.match(await registry.addService(owned('o.org', accountId, { verified: true })), { id: service.id });
      t.same(await ids(true), ['owned', 'public'], 'and brings them back');
    },
  );

  t.test('it gives the open incident of a service that returns', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    const own = incident(1, 'own-1-1', { status: 'monitoring', goodChecks: 1 });
    await put(registry, [own]);
    await registry.putCatalogue([]);
    t.same(await registry.listIncidents({ limit: 9, offset: 0 }), []);
    await registry.putCatalogue([entry('a')]);
    t.strictSame((await registry.loadServices())[0]?.openIncident, own);
  });
}
