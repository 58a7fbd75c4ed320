/** Incidents that owners post, in the registry. */
import t, { type Test } from 'tap';
import type { OwnerIncident } from '../../../../src/domain/incident/owner-incident.ts';
import { readPostOf, withUpdate } from '../../../../src/domain/incident/owner-incident.ts';
import type { Registry } from '../../../../src/store/ports/registry.ts';
import { MIN_RANDOM_NUMBER, serviceMark } from '../../../../src/store/registry/pages/owner-incident-rows.ts';
import { channelOf, ruleOf } from '../../alert-fixtures.ts';
import { planned, posted, SITE } from '../../post-fixtures.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, NOON, owned } from '../../registry-fixtures.ts';

const incidents = (registry: Registry) => registry.listIncidents({ limit: 50, offset: 0 });

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

  t.test('it shows what an owner says in the lists of the services', async (t) => {
    const { registry, ada, shop, blog, other } = await filled(t);
    const services = [shop.id, blog.id, other.id];
    const made = await registry.addOwnerIncident(posted(ada, { services }));
    t.strictSame(await registry.ownerIncidentsOf(ada), [made]);
    t.strictSame(await registry.findOwnerIncident(ada, made.id), made);
    const ids = new Map((await incidents(registry)).map(({ id, serviceId }) => [serviceId, id]));
    const row = (serviceId: number, slug: string) => ({
      id: ids.get(serviceId),
      serviceId,
      source: 'owner',
      title: 'Orders are late',
      description: 'We look.',
      severity: 'major',
      status: 'investigating',
      startedAt: NOON,
      resolvedAt: null,
      sourceUrl: `${SITE}/status/${slug}/incidents/${ids.get(serviceId)}`,
      goodChecks: 0,
      updates: [{ at: NOON, status: 'investigating', text: 'We look.' }],
    });
    t.strictSame(
      (await incidents(registry)).toSorted((a, b) => a.serviceId - b.serviceId),
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
    const long = 'x'.repeat(9_000);
    const other = {
      services: [shop.id],
      updates: [{ at: NOON, status: 'resolved', markdown: long, plain: long }],
    } as const;
    await registry.addOwnerIncident(posted(ada, other));
    const bodies = (await registry.deliveriesOf(ada)).map(({ body }) => body.length);
    t.ok(Math.max(...bodies) < 2_000, `${bodies}`);
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

  t.test('the ids of its posts count neither the posts nor the services of others', async (t) => {
    const { registry, ada, shop, blog } = await filled(t);
    const services = [shop.id, blog.id];
    const said = [
      await registry.addOwnerIncident(posted(ada, { services })),
      await registry.addOwnerIncident(posted(ada, { services })),
    ];
    const work = [
      await registry.addOwnerMaintenance(planned(ada, { services })),
      await registry.addOwnerMaintenance(planned(ada, { services })),
    ];
    const numbers = [...said, ...work].map(({ id }) => id).sort((a, b) => a - b);
    for (const [index, number] of numbers.entries()) {
      t.match(`${number}`, /^\d{15}$/);
      t.ok(number - (numbers[index - 1] ?? 0) > 1, 'no number follows another');
    }
    const listed = [
      ...(await incidents(registry)),
      ...(await registry.listMaintenances({ limit: 50, offset: 0 })),
    ].map(({ id }) => id);
    t.equal(listed.length, 8);
    for (const id of listed) t.match(id, /^owner-(?:\d{15}|m\d{15}-\d+)-[0-9a-f]{12}$/);
    t.equal(new Set(listed.map((id) => id.split('-').at(-1))).size, 8, 'nor is a service known by its id');
    const [first] = said;
    if (first !== undefined) await registry.putOwnerIncident({ ...first, title: 'Later' }, NOON);
    t.same(
      (await incidents(registry)).map(({ id }) => id),
      listed.slice(0, 4),
      'an update keeps them',
    );
  });
});

t.test('posts of before keep their ids, which have numbers of services', (t) => {
  t.equal(serviceMark(3, 7, 'secret'), '7');
  t.match(serviceMark(MIN_RANDOM_NUMBER, 7, 'secret'), /^[0-9a-f]{12}$/);
  t.not(serviceMark(MIN_RANDOM_NUMBER, 7, 'secret'), serviceMark(MIN_RANDOM_NUMBER, 7, 'another'));
  for (const end of ['7', serviceMark(MIN_RANDOM_NUMBER, 7, 'secret')])
    t.equal(readPostOf(`owner-3-${end}`), 3);
  t.equal(readPostOf('owner-m3-8-1'), null);
  t.end();
});
