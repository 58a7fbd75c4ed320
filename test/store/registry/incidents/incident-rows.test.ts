/** Incidents in the registry. */
import type { Incident } from '../../../../src/domain/incident/incident.ts';
import type { Registry } from '../../../../src/store/ports/registry.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, incident, NOON, owned, stay } from '../../registry-fixtures.ts';

async function put(registry: Registry, incidents: readonly Incident[]): Promise<void> {
  const current = new Map((await registry.loadServices()).map((state) => [state.service.id, state.current]));
  await registry.commitUpdates(
    incidents.flatMap((one) => {
      const before = current.get(one.serviceId);
      return before === undefined ? [] : [{ ...stay(before, NOON), incident: one }];
    }),
  );
}

overBoth(async (t, open) => {
  t.test('it finds what stands beside an incident in the list of its service', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    const list = [
      incident(1, 'd', { startedAt: NOON + 2 }),
      incident(1, 'a', { startedAt: NOON + 1 }),
      incident(1, 'b', { startedAt: NOON + 1 }),
      incident(1, 'c', { startedAt: NOON }),
    ];
    await put(registry, [...list, incident(2, 'other', { startedAt: NOON + 1 })]);
    for (const [index, one] of list.entries()) {
      const { older, newer } = await registry.incidentsBeside(one);
      t.strictSame([older, newer], [list[index + 1] ?? null, list[index - 1] ?? null], one.id);
    }
    t.strictSame(await registry.incidentsBeside({ id: 'other', serviceId: 2, startedAt: NOON + 1 }), {
      older: null,
      newer: null,
    });
    await registry.putCatalogue([entry('b')]);
    t.strictSame(await registry.incidentsBeside({ id: 'd', serviceId: 1, startedAt: NOON + 2 }), {
      older: null,
      newer: null,
    });
  });

  t.test('it gives the incidents of several services since a time, newest first', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b'), entry('c')]);
    await put(registry, [
      incident(1, 'before', { startedAt: NOON - 1 }),
      incident(1, 'a', { startedAt: NOON }),
      incident(2, 'b', { startedAt: NOON + 2 }),
      incident(2, 'c', { startedAt: NOON + 2 }),
      incident(3, 'other', { startedAt: NOON + 1 }),
    ]);
    const idsOf = async (ids: readonly number[]) =>
      (await registry.incidentsOfServicesSince(ids, NOON)).map(({ id }) => id);
    t.strictSame(await idsOf([1, 2]), ['b', 'c', 'a']);
    t.strictSame(await idsOf([]), []);
    await registry.putCatalogue([entry('b'), entry('c')]);
    t.strictSame(await idsOf([1, 2]), ['b', 'c'], 'without services that were removed');
  });

  t.test('of very many incidents since a time it gives the newest, oldest first', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    await put(
      registry,
      Array.from({ length: 1_005 }, (_, index) =>
        incident(1, `many-${index}`, {
          startedAt: NOON + index,
          status: 'resolved',
          resolvedAt: NOON + index,
        }),
      ),
    );
    const found = await registry.incidentsSince(1, NOON);
    t.strictSame(
      [found.length, found[0]?.id, found.at(-1)?.id],
      [1_000, 'many-5', 'many-1004'],
      'what has just happened is never left out',
    );
    const before = await registry.incidentsSince(1, NOON, NOON + 2);
    t.strictSame(
      before.map(({ id }) => id),
      ['many-0', 'many-1'],
      'before a time, however many came later',
    );
  });

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
      [{ after: { startedAt: NOON + 2, id: 'a' } }, ['b', 'c', 'd']],
      [{ after: { startedAt: NOON + 2, id: 'aa' }, limit: 2 }, ['b', 'c']],
      [{ after: { startedAt: NOON + 2, id: 'b' }, offset: 1 }, ['d']],
      [{ after: { startedAt: NOON + 3, id: 'z' }, serviceId: 1 }, ['a', 'c']],
      [{ after: { startedAt: NOON + 2, id: 'a' }, status: 'resolved', verifiedOnly: true }, ['b']],
      [{ after: { startedAt: NOON, id: 'd' } }, []],
      [{ serviceId: 3 }, []],
      [{ status: 'resolved' }, ['a', 'b']],
      [{ status: 'investigating' }, ['c', 'd']],
      [{ status: 'identified' }, []],
      [{ status: 'investigating', serviceId: 2 }, ['d']],
      [{ verifiedOnly: true }, ['a', 'b', 'c', 'd']],
      [{ verifiedOnly: true, status: 'resolved' }, ['a', 'b']],
      [{ verifiedOnly: true, maintenanceOnly: true }, []],
      [{ source: 'own' }, ['a', 'b', 'c', 'd']],
      [{ source: 'vendor' }, []],
      [{ source: 'owner' }, []],
      [{ source: 'own', severity: 'major', serviceId: 2 }, ['b', 'd']],
      [{ severity: 'critical' }, []],
    ] as const;
    for (const [query, ids] of table) {
      const found = await registry.listIncidents({ limit: 50, offset: 0, ...query });
      t.same(
        found.map(({ id }) => id),
        ids,
        JSON.stringify(query),
      );
      const {
        limit: _limit,
        offset: _offset,
        after: _after,
        ...filter
      } = {
        limit: 0,
        offset: 0,
        after: {},
        ...query,
      };
      const whole = await registry.listIncidents({ ...filter, limit: 50, offset: 0 });
      t.equal(await registry.countIncidents(filter), whole.length, `the total of ${JSON.stringify(query)}`);
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
      t.equal(await registry.countIncidents({ verifiedOnly: true }), 1);
      const { id: other } = await registry.ensureAccount('other', NOON);
      for (const [orOf, wanted] of [
        [[accountId], ['owned', 'public']],
        [
          [accountId, other],
          ['owned', 'public'],
        ],
        [[other], ['public']],
      ] as const) {
        const query = { verifiedOnly: true, orOf };
        const found = await registry.listIncidents({ ...query, limit: 9, offset: 0 });
        t.same(
          found.map(({ id }) => id),
          wanted,
          `with those of ${orOf.join()}`,
        );
        t.equal(await registry.countIncidents(query), wanted.length);
        const second = await registry.listIncidents({ ...query, limit: 1, offset: 1 });
        t.same(
          second.map(({ id }) => id),
          wanted.slice(1),
        );
        const { startedAt, id } = found[0] ?? { startedAt: 0, id: '' };
        const rest = await registry.listIncidents({
          ...query,
          after: { startedAt, id },
          limit: 9,
          offset: 0,
        });
        t.same(
          rest.map((one) => one.id),
          wanted.slice(1),
        );
      }
      await registry.removeService('o-org');
      t.same(await ids(false), ['public'], 'a removed service takes its incidents along');
      t.equal(await registry.countIncidents({}), 1);
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
    t.strictSame((await registry.statesOf([1]))[0]?.openIncident, own);
  });
});
