/** Services in the registry. */
import { NO_MEMORY } from '../../../../src/domain/result.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, NOON, owned } from '../../registry-fixtures.ts';

overBoth(async (t, open) => {
  t.test('it begins empty', async (t) => {
    const registry = await open(t);
    t.same(await registry.loadServices(), []);
    t.equal(await registry.lastChange(), 0);
    t.same(await registry.changesAfter(0), []);
    t.same(await registry.putCatalogue([]), { added: 0, changed: 0, removed: 0, unchanged: 0 });
  });

  t.test('it gives back a service whole, with a status that was never checked', async (t) => {
    const registry = await open(t);
    const given = entry('a', {
      paused: true,
      check: {
        kind: 'health',
        url: 'https://a.com/h',
        method: 'GET',
        accept: ['2xx', 401],
        caFile: 'ca.pem',
      },
      statusPage: { url: 'https://status.a.com', kind: 'statuspage', feedUrl: null, components: ['API'] },
    });
    await registry.putCatalogue([given]);
    t.strictSame(await registry.loadServices(), [
      {
        service: { id: 1, ...given, revision: 1 },
        current: { serviceId: 1, seq: 0, observedAt: 0, status: 'unknown', since: null, latest: null },
        memory: NO_MEMORY,
        openIncident: null,
      },
    ]);
  });

  t.test('it adds many services in their order, and loads them page by page', async (t) => {
    const registry = await open(t);
    t.equal(await registry.lastServiceId(), 0);
    const count = 1_003;
    const entries = Array.from({ length: count }, (_, index) => entry(`s${index + 1}`));
    t.match(await registry.putCatalogue(entries), { added: count });
    const changes = await registry.changesAfter(count - 5);
    t.same(
      changes.map(({ seq, serviceId, slug, service }) => [seq, serviceId, slug, service?.id]),
      [999, 1_000, 1_001, 1_002, 1_003].map((id) => [id, id, `s${id}`, id]),
    );
    const page = async (afterId: number, untilId: number) =>
      (await registry.servicesBetween(afterId, untilId)).map(({ service }) => service.slug);
    t.equal(await registry.lastServiceId(), count);
    t.same(await page(0, 2), ['s1', 's2']);
    t.same(await page(1_001, 1_010), ['s1002', 's1003']);
    t.same(await page(1_003, 1_005), []);
    const all = await registry.loadServices();
    t.equal(all.length, count);
    const some = await registry.statesOf([1_003, 9_999, 2]);
    t.strictSame(
      some.sort((a, b) => a.service.id - b.service.id),
      [all[1], all[1_002]],
    );
    t.same(await registry.statesOf([]), []);
  });

  t.test('it sees a change in every member of a definition', async (t) => {
    const registry = await open(t);
    const changes = [
      { name: 'Other' },
      { domain: 'other.com' },
      { category: 'ai' },
      { paused: true },
      { check: { ...entry('a').check, method: 'GET' } },
      { statusPage: { url: 'https://s.com', kind: 'rss', feedUrl: null, components: null } },
    ] as const;
    await registry.putCatalogue([entry('a')]);
    for (const change of changes) {
      t.equal((await registry.putCatalogue([entry('a', change)])).changed, 1, Object.keys(change).join());
      t.equal((await registry.putCatalogue([entry('a', change)])).unchanged, 1);
    }
  });

  t.test('it keeps the rules of owners’ domains and slugs', async (t) => {
    const registry = await open(t, undefined, { domainsPerAccount: 3 });
    await registry.putCatalogue([entry('shop', { domain: 'big-shop.com' }), entry('gone')]);
    await registry.putCatalogue([entry('shop', { domain: 'big-shop.com' })]);
    const [first, second] = [
      await registry.ensureAccount('first', NOON),
      await registry.ensureAccount('second', NOON),
    ];
    await registry.addService(owned('mine.org', first.id));

    const refused: [string, ReturnType<typeof owned>, string][] = [
      ['a domain that another account has', owned('mine.org', second.id, { slug: 'x' }), 'domain_taken'],
      ['a slug that the account has itself', owned('mine.org', first.id, { slug: 'mine-org' }), 'slug_taken'],
      ['a slug that another service has', owned('other.org', second.id, { slug: 'mine-org' }), 'slug_taken'],
      ['a slug of the catalogue', owned('other.org', second.id, { slug: 'shop' }), 'slug_taken'],
      ['a slug of a removed service', owned('other.org', second.id, { slug: 'gone' }), 'slug_taken'],
      ['a dashed domain', owned('big.shop.com', second.id), 'slug_taken'],
      ['a domain of the catalogue', owned('big-shop.com', second.id, { slug: 'x' }), 'catalogue_domain'],
      ['a subdomain of one', owned('api.eu.big-shop.com', second.id), 'catalogue_domain'],
    ];
    for (const [what, service, code] of refused)
      await t.rejects(registry.addService(service), { code }, what);
    await registry.addService(owned('hidden.org', first.id, { visibility: 'private' }));
    for (const slug of ['hidden-org', 'gone'])
      await t.rejects(
        registry.addService(owned('other.org', second.id, { slug })),
        { code: 'slug_taken', message: `The slug ${slug} is reserved. ${slug}-2 is free.` },
        'a private service is told from a removed one by nothing',
      );
    await registry.removeService('hidden-org');

    const verified = owned('api.big-shop.com', second.id, { verified: true });
    t.match(await registry.addService(verified), { ...verified, revision: 1 }, 'verification opens the way');
    await registry.addService(owned('notbig-shop.com', second.id));
    await registry.addService(owned('three.org', second.id));
    await t.rejects(registry.addService(owned('four.org', second.id)), { code: 'account_limit' });
    await registry.removeService('three-org');
    await registry.addService(owned('four.org', second.id));
    await t.rejects(registry.removeService('three-org'), { code: 'not_found' }, 'removed already');
    await t.rejects(registry.removeService('nothing'), { code: 'not_found' });
    await t.rejects(registry.removeService('shop'), { code: 'not_found', message: /catalogue file/ });
  });
});
