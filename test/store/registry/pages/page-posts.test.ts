/** What owners say of pages, and how much. */
import type { Test } from 'tap';
import { withUpdate } from '../../../../src/domain/incident/owner-incident.ts';
import { MAX_POST_BYTES } from '../../../../src/domain/incident/owner-maintenance.ts';
import type { Registry } from '../../../../src/store/ports/registry.ts';
import { HOUR, planned, posted } from '../../post-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, NOON, owned } from '../../registry-fixtures.ts';

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

  t.test('the texts of an account have a bound, whatever says them and however often it moves', async (t) => {
    const { registry, ada, grace, shop, blog } = await filled(t);
    const refused = { code: 'account_limit', refusal: { code: 'too_much_text' } };
    const long = 'x'.repeat(MAX_POST_BYTES / 4);
    const update = { at: NOON, status: 'investigating', markdown: long, plain: '' } as const;
    const made = await registry.addOwnerIncident(posted(ada, { updates: [update] }));
    await registry.addOwnerIncident(posted(ada, { updates: [update] }));
    await registry.addOwnerMaintenance(planned(ada, { markdown: long }));
    const listed = { services: [shop.id, blog.id], markdown: '', plain: 'x'.repeat(MAX_POST_BYTES / 32) };
    const moved = await registry.addOwnerMaintenance(planned(ada, listed));
    const at = { ...moved, startsAt: moved.startsAt + HOUR };
    await t.rejects(registry.putOwnerMaintenance(at, NOON), refused, 'its rows of before stay');
    await t.rejects(registry.addOwnerIncident(posted(ada, { updates: [update] })), refused);
    await t.rejects(
      registry.putOwnerIncident(withUpdate(made, { ...update, status: 'monitoring' }), NOON),
      refused,
    );
    await registry.putOwnerIncident({ ...made, title: 'Late' }, NOON);
    await registry.addOwnerIncident(posted(grace, { updates: [update] }));
    await registry.removeOwnerIncident(ada, made.id);
    await registry.addOwnerIncident(posted(ada, { updates: [update] }));
  });

  t.test('it keeps the words of an account from others, and finds those of a page', async (t) => {
    const { registry, ada, grace, shop } = await filled(t);
    const groups = [{ name: '', services: [shop.id] }];
    const page = await registry.addPage({
      accountId: ada,
      slug: 'all',
      title: 'A',
      text: '',
      groups,
      now: NOON,
    });
    const ofPage = await registry.addOwnerIncident(posted(ada, { pages: [page.id] }));
    const ofService = await registry.addOwnerIncident(
      posted(ada, { services: [shop.id], startedAt: NOON + 1 }),
    );
    await registry.addOwnerIncident(posted(ada, { pages: [page.id + 99] }));
    await registry.addOwnerIncident(posted(grace, { pages: [page.id], services: [shop.id] }));
    const query = { accountId: ada, pageId: page.id, serviceIds: [shop.id] };
    t.strictSame(await registry.incidentsPostedOn(query), [ofService, ofPage]);
    t.equal(await registry.findOwnerIncident(grace, ofPage.id), null);
    await t.rejects(registry.putOwnerIncident({ ...ofPage, accountId: grace }, NOON), { code: 'not_found' });
    await t.rejects(registry.removeOwnerIncident(grace, ofPage.id), { code: 'not_found' });
    const work = await registry.addOwnerMaintenance(planned(ada, { pages: [page.id] }));
    t.strictSame(await registry.maintenancesPostedOn(query, NOON), [work]);
    t.strictSame(await registry.maintenancesPostedOf(shop.id, NOON), [work]);
    t.equal(await registry.findOwnerMaintenance(grace, work.id), null);
    await t.rejects(registry.putOwnerMaintenance({ ...work, accountId: grace }, NOON), { code: 'not_found' });
  });

  t.test('words follow their service: to a page, and not to another account', async (t) => {
    const { registry, ada, grace, shop, blog } = await filled(t);
    const page = await registry.addPage({
      accountId: ada,
      slug: 'all',
      title: 'A',
      text: '',
      groups: [],
      now: NOON,
    });
    await registry.addOwnerMaintenance(planned(ada, { pages: [page.id] }));
    t.same(await ahead(registry), []);
    await registry.changePage(
      { accountId: ada, slug: 'all', revision: 1 },
      { groups: [{ name: '', services: [blog.id, shop.id] }] },
      NOON,
    );
    t.match((await ahead(registry)).map(({ serviceId }) => serviceId).sort(), [shop.id, blog.id]);
    await registry.changePage({ accountId: ada, slug: 'all', revision: 2 }, { access: 'members' }, NOON);
    await registry.advanceMaintenances(NOON);
    t.same(await ahead(registry), [], 'services do not tell what a page for members says');
    t.same(await registry.maintenancesPostedOf(shop.id, NOON), [], 'nor do their calendars');
    await registry.changePage({ accountId: ada, slug: 'all', revision: 3 }, { access: 'public' }, NOON);
    await registry.advanceMaintenances(NOON);
    t.match((await ahead(registry)).map(({ serviceId }) => serviceId).sort(), [shop.id, blog.id]);
    await registry.addOwnerIncident(posted(ada, { services: [shop.id, blog.id] }));
    await registry.proveDomain(grace, 'shop.example', 'root', NOON);
    t.match(await incidents(registry), [{ serviceId: blog.id }]);
    t.match(await ahead(registry), [{ serviceId: blog.id }]);
    t.equal((await incidents(registry)).length + (await ahead(registry)).length, 2);
  });
});
