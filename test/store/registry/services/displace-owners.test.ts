/** Entries of the catalogue, and owners' services in their place. */
import type { Service } from '../../../../src/domain/service.ts';
import type { Registry } from '../../../../src/store/ports/registry.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, firstTurn, incident, NOON, owned } from '../../registry-fixtures.ts';

/** A service of an account with a transition and an incident. */
async function withHistory(registry: Registry, service: Promise<Service>): Promise<Service> {
  const added = await service;
  await registry.commitUpdates([
    { ...firstTurn(added.id, 'down', NOON), incident: incident(added.id, `own-${added.id}-1`) },
  ]);
  return added;
}

async function findBySlug(registry: Registry, slug: string) {
  return (await registry.loadServices()).find(({ service }) => service.slug === slug);
}

const texts = async (registry: Registry, accountId: number) =>
  (await registry.noticesOf(accountId)).map(({ text }) => text);

overBoth(async (t, open) => {
  const cases = [
    ['an unverified service of the same domain', 'same.com', {}, 'live', null],
    ['an unverified service of another domain', 'oth.er', {}, 'live', 'oth-er-2'],
    ['a verified service of the same domain', 'same.com', { verified: true }, 'live', 'same-com-2'],
    ['a verified service of another domain', 'oth.er', { verified: true }, 'live', 'oth-er-2'],
    ['a removed service that was verified', 'same.com', { verified: true }, 'removed', null],
    ['a removed service that never was', 'same.com', {}, 'removed', null],
  ] as const;

  for (const [what, domain, change, state, nextSlug] of cases)
    t.test(`it gives an entry the slug of ${what}, and nothing of its past`, async (t) => {
      const registry = await open(t);
      const { id: accountId } = await registry.ensureAccount('acme', NOON);
      const old = await withHistory(registry, registry.addService(owned(domain, accountId, change)));
      if (state === 'removed') await registry.removeService(old.slug);
      const before = await registry.lastChange();
      await registry.putCatalogue([entry(old.slug, { domain: 'same.com' })]);

      const mine = await findBySlug(registry, old.slug);
      t.match(mine, {
        service: { origin: 'catalogue', accountId: null },
        current: { status: 'unknown', seq: 0 },
        openIncident: null,
      });
      const id = mine?.service.id ?? 0;
      t.not(id, old.id);
      t.same(await registry.transitionsOf(id, 0, NOON * 2), []);
      t.same(await registry.incidentsSince(id, 0), []);
      t.same(await registry.listIncidents({ serviceId: id, limit: 9, offset: 0 }), []);
      const shown = (await registry.transitionsAfter(0, 9)).map(({ serviceId, slug }) => [serviceId, slug]);
      t.same(shown, nextSlug === null ? [] : [[old.id, nextSlug]], 'the feed tells of it under its own slug');

      const changes = (await registry.changesAfter(before)).map(({ serviceId, slug, service }) => [
        serviceId === id ? 'entry' : 'old',
        slug,
        service !== null,
      ]);
      const entryAdded = ['entry', old.slug, true];
      if (state === 'removed') {
        t.same(changes, [entryAdded]);
        return;
      }
      t.same(changes, [nextSlug === null ? ['old', old.slug, false] : ['old', nextSlug, true], entryAdded]);
      const [told, ...more] = await texts(registry, accountId);
      t.same(more, []);
      if (nextSlug === null) {
        t.match(told, /was not verified and gave way/);
        return;
      }
      t.match(told, `goes on as ${nextSlug}, with its history.`);
      const kept = await findBySlug(registry, nextSlug);
      t.match(kept, { service: { id: old.id, accountId }, current: { status: 'down', seq: 1 } });
      t.equal(kept?.openIncident?.id, `own-${old.id}-1`);
    });

  t.test('it frees the badge of an entry, which is its dashed domain', async (t) => {
    const registry = await open(t);
    const { id } = await registry.ensureAccount('acme', NOON);
    const old = await registry.addService(owned('git-hub.com', id, { verified: true }));
    await registry.putCatalogue([entry('github', { domain: 'git.hub.com' })]);
    t.match(await findBySlug(registry, 'git-hub-com-2'), { service: { id: old.id } });
  });

  t.test('it gives no slug to an owner that another entry of the same list takes', async (t) => {
    const registry = await open(t);
    const { id } = await registry.ensureAccount('acme', NOON);
    const old = await registry.addService(owned('a.com', id, { verified: true }));
    await registry.putCatalogue([entry('a-com', { domain: 'z.com' }), entry('a-com-2', { domain: 'y.com' })]);
    t.match(await findBySlug(registry, 'a-com-3'), { service: { id: old.id, revision: 2 } });
    t.equal((await texts(registry, id)).length, 1);
  });

  t.test(
    'it removes unverified services below a domain of the list, also of an entry that stayed',
    async (t) => {
      const registry = await open(t, t.testdir());
      const { id } = await registry.ensureAccount('acme', NOON);
      const below = await registry.addService(owned('api.eu.big.com', id));
      await registry.addService(owned('proved.big.com', id, { verified: true }));
      await registry.addService(owned('notbig.com', id));
      await registry.putCatalogue([entry('big')]);
      const slugs = (await registry.loadServices()).map(({ service }) => service.slug).sort();
      t.same(slugs, ['big', 'notbig-com', 'proved-big-com']);
      t.same(JSON.parse((await registry.getFact(`displaced:${below.id}`)) ?? 'null'), {
        slug: 'api-eu-big-com',
        domain: 'api.eu.big.com',
        accountId: id,
        by: { slug: 'big', domain: 'big.com' },
      });
      await t.rejects(registry.claimDomain('api.eu.big.com', id), { code: 'catalogue_domain' });
      t.match(await registry.proveDomain(id, 'api.eu.big.com', 'heartbeat', NOON), {
        id: below.id,
        slug: 'api-eu-big-com',
        verified: true,
      });
    },
  );

  t.test('it gives an owner’s service the name of its domain where an entry has its name', async (t) => {
    const registry = await open(t);
    const { id } = await registry.ensureAccount('acme', NOON);
    for (const [domain, name] of [
      ['a.org', 'GіtHub'],
      ['b.org', 'Git Lab'],
      ['c.org', 'c.org'],
    ] as const) {
      const { slug } = await registry.addService(owned(domain, id, { verified: true }));
      await registry.changeService(slug, { name });
    }
    await registry.putCatalogue([entry('x', { name: 'GitHub' }), entry('y', { name: 'C.org' })]);
    const names = (await registry.servicesOf(id)).map(({ domain, name }) => [domain, name]);
    t.same(names, [
      ['a.org', 'a.org'],
      ['b.org', 'Git Lab'],
      ['c.org', 'c.org'],
    ]);
    t.same(await texts(registry, id), [
      'The public catalogue has a service named GitHub now. Your service a.org bears its domain as its name; choose another.',
    ]);
    for (const name of ['GitHub', 'git-hub', 'G1THUB', 'Ｇɪtһub'])
      await t.rejects(registry.changeService('b-org', { name }), {
        code: 'name_taken',
        message: /equals or resembles GitHub of the public catalogue/,
      });
    await t.rejects(registry.addService(owned('d.org', id, { name: 'GITHUB' })), { code: 'name_taken' });
    await registry.changeService('b-org', { name: 'GitHub mirror' });
    await registry.changeService('c-org', { name: 'c.org', category: 'ai' });
  });

  t.test('it brings a proved domain its dashed slug, and leads from the old one to it', async (t) => {
    const registry = await open(t);
    const { id: squatter } = await registry.ensureAccount('squatter', NOON);
    const { id: owner } = await registry.ensureAccount('owner', NOON);
    const squatted = await registry.claimDomain('my-shop.com', squatter);
    const mine = await registry.claimDomain('my.shop.com', owner);
    t.same([squatted.slug, mine.slug], ['my-shop-com', 'my-shop-com-2']);
    const proved = await registry.proveDomain(owner, 'my.shop.com', 'heartbeat', NOON);
    t.match(proved, { id: mine.id, slug: 'my-shop-com', formerSlugs: ['my-shop-com-2'] });
    t.match(await registry.servicesOf(squatter), [{ id: squatted.id, slug: 'my-shop-com-3' }]);
    t.match(await texts(registry, squatter), [
      /^The slug my-shop-com belongs to the verified domain my\.shop\.com/,
    ]);
    t.match(await findBySlug(registry, 'my-shop-com'), { service: proved });

    await registry.proveDomain(squatter, 'my-shop.com', 'heartbeat', NOON);
    t.match(await registry.servicesOf(squatter), [{ slug: 'my-shop-com-3' }], 'who is first keeps it');
    await registry.putCatalogue([entry('my-shop-com-2')]);
    t.equal((await findBySlug(registry, 'my-shop-com'))?.service.formerSlugs, undefined);
  });

  t.test('it gives a proved domain its dashed slug after another account burnt it', async (t) => {
    const registry = await open(t);
    const { id: squatter } = await registry.ensureAccount('squatter', NOON);
    const { id: owner } = await registry.ensureAccount('owner', NOON);
    for (const domain of ['shop.com', 'other.com']) {
      const { slug } = await registry.claimDomain(domain, squatter);
      await registry.removeService(slug);
    }
    t.equal((await registry.proveDomain(owner, 'shop.com', 'root', NOON)).slug, 'shop-com');
    t.equal((await registry.claimDomain('other.com', owner)).slug, 'other-com');
  });

  t.test('it bounds what an account registers within a day, what it removed again included', async (t) => {
    const registry = await open(t, undefined, { domainsPerAccount: 10 });
    const { id } = await registry.ensureAccount('acme', NOON);
    const { id: other } = await registry.ensureAccount('other', NOON);
    for (let n = 0; n < 200; n += 10) {
      // A domain that comes back counts like a new one.
      const domains = Array.from({ length: 10 }, (_, index) => `d${(n + index) % 150}.org`);
      const claimed = await Promise.all(domains.map((domain) => registry.claimDomain(domain, id)));
      await Promise.all(claimed.map(({ slug }) => registry.removeService(slug)));
    }
    const refused = { code: 'account_limit', message: /200 domains within a day.+ try again after 20\d\d-/ };
    await t.rejects(registry.claimDomain('more.org', id), refused);
    await t.rejects(registry.claimDomain('d1.org', id), refused);
    await t.rejects(registry.proveDomain(id, 'proved.org', 'root', NOON), refused);
    await registry.claimDomain('more.org', other);
    t.same(await registry.servicesOf(id), []);
  });
});
