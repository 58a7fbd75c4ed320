/** Contract of the registry: incidents and maintenance of owners, and their rows in the lists of their services. */
import type { Test } from 'tap';
import type { OwnerIncident } from '../../src/domain/incident/owner-incident.ts';
import { withUpdate } from '../../src/domain/incident/owner-incident.ts';
import { withOccurrence } from '../../src/domain/incident/owner-maintenance.ts';
import { MAX_POST_BYTES } from '../../src/domain/incident/post-bytes.ts';
import type { NewOwnerIncident, NewOwnerMaintenance } from '../../src/store/ports/posts.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import type { OpenForTest } from './registry-contract.ts';
import { channelOf, ruleOf } from './registry-contract-alerts.ts';
import { entry, NOON, owned } from './registry-fixtures.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SITE = 'https://status.example';

/** An incident of an account before it is stored. */
export const posted = (accountId: number, more: Partial<NewOwnerIncident> = {}): NewOwnerIncident => ({
  accountId,
  title: 'Orders are late',
  severity: 'major',
  status: 'investigating',
  startedAt: NOON,
  resolvedAt: null,
  services: [],
  pages: [],
  updates: [{ at: NOON, status: 'investigating', markdown: 'We **look**.', plain: 'We look.' }],
  siteUrl: SITE,
  now: NOON,
  ...more,
});

/** A maintenance of an account before it is stored. */
export const planned = (accountId: number, more: Partial<NewOwnerMaintenance> = {}): NewOwnerMaintenance => ({
  accountId,
  title: 'New disks',
  markdown: 'It *may* be slow.',
  plain: 'It may be slow.',
  startsAt: NOON + HOUR,
  durationMs: HOUR,
  timeZone: 'Europe/Berlin',
  recurrence: null,
  services: [],
  pages: [],
  siteUrl: SITE,
  now: NOON,
  ...more,
});

const incidents = (registry: Registry) => registry.listIncidents({ limit: 50, offset: 0 });
const ahead = (registry: Registry) => registry.listMaintenances({ limit: 50, offset: 0 });

/** Runs this part of the contract. */
export async function postContract(t: Test, open: OpenForTest): Promise<void> {
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

  t.test('it shows what an owner says in the lists of the services', async (t) => {
    const { registry, ada, shop, blog, other } = await filled(t);
    const services = [shop.id, blog.id, other.id];
    const made = await registry.addOwnerIncident(posted(ada, { services }));
    t.strictSame(await registry.ownerIncidentsOf(ada), [made]);
    t.strictSame(await registry.findOwnerIncident(ada, made.id), made);
    const row = (serviceId: number, slug: string) => ({
      id: `owner-${made.id}-${serviceId}`,
      serviceId,
      source: 'owner',
      title: 'Orders are late',
      description: 'We look.',
      severity: 'major',
      status: 'investigating',
      startedAt: NOON,
      resolvedAt: null,
      sourceUrl: `${SITE}/status/${slug}/incidents/owner-${made.id}-${serviceId}`,
      goodChecks: 0,
      updates: [{ at: NOON, status: 'investigating', text: 'We look.' }],
    });
    t.strictSame(
      await incidents(registry),
      [row(shop.id, 'shop-example'), row(blog.id, 'blog-example')],
      'services of others are left out',
    );
    t.same(await registry.loadVendorStates(), [], 'it is no word of a vendor');

    const update = { at: NOON + 9, status: 'resolved', markdown: '`Done`', plain: 'Done' } as const;
    const over = { ...withUpdate(made, update), services: [shop.id] };
    await registry.putOwnerIncident(over, NOON + 9);
    await t.rejects(registry.putOwnerIncident(over, NOON + 9), { code: 'stale' });
    t.match(await incidents(registry), [
      { serviceId: shop.id, status: 'resolved', resolvedAt: NOON + 9, updates: { length: 2 } },
    ]);
    t.equal((await incidents(registry)).length, 1, 'a service that is no longer named is left out');
    await t.rejects(registry.removeOwnerIncident(ada, made.id, 1), { code: 'stale' });
    await registry.removeOwnerIncident(ada, made.id, 2);
    t.same(await incidents(registry), []);
    t.same(await registry.ownerIncidentsOf(ada), []);
  });

  t.test('it keeps each text once, and lists show the beginnings of the newest ones', async (t) => {
    const { registry, ada, shop, blog } = await filled(t);
    const long = { markdown: `*${'x'.repeat(9_000)}*`, plain: 'x'.repeat(9_000) };
    let whole = await registry.addOwnerIncident(posted(ada, { services: [shop.id, blog.id] }));
    for (let at = NOON + 1; at < NOON + 5; at++) {
      whole = withUpdate(whole, { at, status: 'resolved', ...long });
      await registry.putOwnerIncident(whole, at);
      whole = { ...whole, revision: whole.revision + 1, updatedAt: at };
    }
    const explained = { ...whole, postMortem: { at: NOON + 6, ...long } };
    await registry.putOwnerIncident(explained, NOON + 6);
    const read = await registry.findOwnerIncident(ada, whole.id);
    t.strictSame(read, { ...explained, revision: 6, updatedAt: NOON + 6 });
    const cut = { markdown: `*${'x'.repeat(999)}…`, plain: `${'x'.repeat(1_000)}…`, isCut: true };
    const short = {
      updates: [2, 3, 4].map((after) => ({ at: NOON + after, status: 'resolved', ...cut })),
      earlier: 2,
      postMortem: { at: NOON + 6, ...cut },
    };
    t.strictSame(await registry.ownerIncidentsOf(ada), [{ ...read, ...short }]);
    const query = { accountId: ada, pageId: 9, serviceIds: [blog.id] };
    t.strictSame(await registry.incidentsPostedOn(query), [{ ...read, ...short }]);
    const text = cut.plain;
    const [listed] = await incidents(registry);
    t.match(listed, { description: text, earlier: 3, updates: [{ text }, { text }, { at: NOON + 6, text }] });
    t.match(await registry.findIncident(listed?.id ?? ''), {
      description: long.plain,
      updates: { length: 6, 5: { text: long.plain } },
    });
  });

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

  t.test('it tells webhooks of each update', async (t) => {
    const { registry, ada, shop } = await filled(t);
    await registry.addWebhook({
      accountId: ada,
      url: 'https://a.example',
      secret: 'whsec_c2Vj',
      createdAt: NOON,
    });
    let incident: OwnerIncident = await registry.addOwnerIncident(posted(ada, { services: [shop.id] }));
    for (const status of ['investigating', 'monitoring', 'resolved'] as const) {
      incident = withUpdate(incident, { at: NOON + 1, status, markdown: status, plain: status });
      await registry.putOwnerIncident(incident, NOON);
      incident = { ...incident, revision: incident.revision + 1 };
    }
    await registry.putOwnerIncident({ ...incident, title: 'Orders were late' }, NOON);
    t.same(
      (await registry.deliveriesOf(ada)).map(({ type }) => type).reverse(),
      ['incident.opened', 'incident.updated', 'incident.updated', 'incident.resolved'],
      'a corrected title is no event',
    );
  });

  t.test('it dates the events of an incident by the clock of who says it', async (t) => {
    const { registry, ada, shop } = await filled(t);
    const channel = await registry.addChannel(channelOf(ada));
    await registry.addRule(ruleOf(ada, [channel.id]));
    const made = await registry.addOwnerIncident(posted(ada, { services: [shop.id], now: NOON + 7 }));
    const more = { at: NOON + 9, status: 'monitoring', markdown: 'Fixed.', plain: 'Fixed.' } as const;
    await registry.putOwnerIncident(withUpdate(made, more), NOON + 10);
    t.match(await registry.alertEventsAfter(0, 9), [
      { at: NOON, recordedAt: NOON + 7 },
      { at: NOON + 9, recordedAt: NOON + 10 },
    ]);
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
      const [first] = await ahead(registry);
      t.strictSame(first, {
        id: `owner-m${work.id}-${(NOON + HOUR) / 1_000}-${shop.id}`,
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
      t.match(await incidents(registry), [
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
    t.match(await ahead(registry), [{ serviceId: shop.id }, { serviceId: blog.id }]);
    await registry.changePage({ accountId: ada, slug: 'all', revision: 2 }, { access: 'members' }, NOON);
    await registry.advanceMaintenances(NOON);
    t.same(await ahead(registry), [], 'services do not tell what a page for members says');
    t.same(await registry.maintenancesPostedOf(shop.id, NOON), [], 'nor do their calendars');
    await registry.changePage({ accountId: ada, slug: 'all', revision: 3 }, { access: 'public' }, NOON);
    await registry.advanceMaintenances(NOON);
    t.match(await ahead(registry), [{ serviceId: shop.id }, { serviceId: blog.id }]);
    await registry.addOwnerIncident(posted(ada, { services: [shop.id, blog.id] }));
    await registry.proveDomain(grace, 'shop.example', 'root', NOON);
    t.match(await incidents(registry), [{ serviceId: blog.id }]);
    t.match(await ahead(registry), [{ serviceId: blog.id }]);
    t.equal((await incidents(registry)).length + (await ahead(registry)).length, 2);
  });
}
