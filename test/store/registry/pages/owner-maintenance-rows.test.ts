/** Maintenance that owners announce, in the registry. */
import type { Test } from 'tap';
import { withOccurrence } from '../../../../src/domain/incident/owner-maintenance.ts';
import type { Registry } from '../../../../src/store/ports/registry.ts';
import { HOUR, planned, SITE } from '../../post-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, NOON, owned } from '../../registry-fixtures.ts';

const DAY = 24 * HOUR;

const incidents = (registry: Registry) => registry.listIncidents({ limit: 50, offset: 0 });

const ahead = (registry: Registry) => registry.listMaintenances({ limit: 50, offset: 0 });

overBoth(async (t, open) => {
  const filled = async (t: Test) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('public')]);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    const shop = await registry.addService(owned('shop.example', ada));
    const blog = await registry.addService(owned('blog.example', ada));
    const other = await registry.addService(owned('other.example', grace));
    return { registry, ada, grace, shop, blog, other };
  };

  t.test(
    'a maintenance begins and ends by the clock, with an incident, on services and those of pages',
    async (t) => {
      const { registry, ada, shop, blog, other } = await filled(t);
      const groups = [{ name: '', services: [blog.id, other.id] }];
      const page = await registry.addPage({
        accountId: ada,
        slug: 'all',
        title: 'A',
        text: '',
        groups,
        now: NOON,
      });
      const last = await registry.lastChange();
      const work = await registry.addOwnerMaintenance(
        planned(ada, { services: [shop.id], pages: [page.id] }),
      );
      t.ok((await registry.lastChange()) > last, 'the monitor learns of it by the feed of changes');
      const first = (await ahead(registry)).find(({ serviceId }) => serviceId === shop.id);
      t.match(first?.id, new RegExp(`^owner-m${work.id}-${(NOON + HOUR) / 1_000}-[0-9a-f]{12}$`));
      t.strictSame(first, {
        id: first?.id,
        serviceId: shop.id,
        title: 'New disks',
        description: 'It may be slow.',
        startsAt: NOON + HOUR,
        endsAt: NOON + 2 * HOUR,
        reportedState: 'planned',
        phase: 'planned',
        sourceUrl: `${SITE}/status/shop-example`,
        updates: [],
        ownerId: work.id,
        announcedAt: NOON,
      });
      t.same(
        (await registry.loadVendorStates()).map(({ serviceId, open }) => ({ serviceId, open })),
        [shop, blog].map(({ id }) => ({ serviceId: id, open: [] })),
        'it holds for the services of the account alone',
      );
      t.equal((await registry.advanceMaintenances(NOON)).nextAt, NOON + HOUR);
      t.same(await incidents(registry), []);
      const began = await registry.advanceMaintenances(NOON + HOUR);
      t.match(began, { states: { length: 2 }, nextAt: NOON + 2 * HOUR });
      const open = (await incidents(registry)).toSorted((a, b) => a.serviceId - b.serviceId);
      t.match(open, [
        { serviceId: shop.id, source: 'owner', severity: 'maintenance', status: 'identified' },
        { serviceId: blog.id, source: 'owner', severity: 'maintenance', status: 'identified' },
      ]);
      t.match(await registry.advanceMaintenances(NOON + 2 * HOUR), { nextAt: null });
      t.match(await incidents(registry), [{ status: 'resolved', resolvedAt: NOON + 2 * HOUR }, {}]);
      t.same(await ahead(registry), []);
      t.same(await registry.announcedWindows(shop.id, NOON, NOON + DAY), [
        { from: NOON + HOUR, to: NOON + 2 * HOUR },
      ]);
      t.same(await registry.announcedWindows(other.id, NOON, NOON + DAY), []);
    },
  );

  t.test('a maintenance is moved, extended, ended early and withdrawn', async (t) => {
    const { registry, ada, shop, blog } = await filled(t);
    const work = await registry.addOwnerMaintenance(planned(ada, { services: [shop.id, blog.id] }));
    const moved = { ...work, startsAt: NOON + 3 * HOUR, services: [shop.id] };
    await registry.putOwnerMaintenance(moved, NOON);
    await t.rejects(registry.putOwnerMaintenance(moved, NOON), { code: 'stale' });
    t.match(await ahead(registry), [{ serviceId: shop.id, startsAt: NOON + 3 * HOUR }]);
    t.equal((await ahead(registry)).length, 1);
    await registry.advanceMaintenances(NOON);
    t.same(await incidents(registry), [], 'what was moved before it began leaves no incident');

    const start = NOON + 3 * HOUR;
    await registry.advanceMaintenances(start);
    const extend = { startsAt: start, endsAt: start + 2 * HOUR };
    await registry.putOwnerMaintenance({ ...withOccurrence(moved, extend, start), revision: 2 }, start + 1);
    await registry.advanceMaintenances(start + HOUR);
    t.match(await incidents(registry), [{ status: 'identified', resolvedAt: null }]);
    const at = start + HOUR + 5;
    const end = { startsAt: start, endsAt: at };
    await registry.putOwnerMaintenance({ ...withOccurrence(moved, end, at), revision: 3 }, at);
    await registry.advanceMaintenances(at);
    t.match(await incidents(registry), [{ status: 'resolved', resolvedAt: at }]);
    t.same(await registry.announcedWindows(shop.id, NOON, at + DAY), [{ from: start, to: at }]);

    const next = await registry.addOwnerMaintenance(
      planned(ada, { services: [blog.id], startsAt: at, now: at }),
    );
    await registry.advanceMaintenances(at);
    await registry.putOwnerMaintenance({ ...next, cancelledAt: at + 7 }, at + 7);
    t.same(await ahead(registry), [], 'it is gone at once');
    await registry.advanceMaintenances(at + 7);
    t.match(await incidents(registry), [{ serviceId: blog.id, status: 'resolved', resolvedAt: at + 7 }, {}]);
    t.equal(await registry.findOwnerMaintenance(ada, next.id), null);
    t.equal((await registry.maintenancesPostedOf(blog.id, at + DAY)).length, 1, 'calendars still list it');
    t.equal((await registry.maintenancesPostedOf(blog.id, at + 40 * DAY)).length, 0);
  });

  t.test('a recurring maintenance plans the next occurrence when one has ended', async (t) => {
    const { registry, ada, shop } = await filled(t);
    const weekly = { services: [shop.id], recurrence: 'FREQ=DAILY;COUNT=3' };
    await registry.addOwnerMaintenance(planned(ada, weekly));
    const starts = async () => (await ahead(registry)).map(({ startsAt }) => (startsAt - NOON) / HOUR);
    t.same(await starts(), [1, 25]);
    await registry.advanceMaintenances(NOON + 2 * HOUR);
    t.same(await starts(), [25, 49]);
    await registry.advanceMaintenances(NOON + 26 * HOUR);
    t.same(await starts(), [49]);
    t.match(await registry.advanceMaintenances(NOON + 50 * HOUR), { nextAt: null });
    t.equal((await incidents(registry)).length, 3);
  });
});
