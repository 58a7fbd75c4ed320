/** The list of services in memory, and the one resolver of names (decisions, Services and Badge). */
import fc from 'fast-check';
import t from 'tap';
import { CATEGORIES, dashDomain, type Service } from '../../src/domain/service.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { service } from '../site/site-world.ts';

const owned = { origin: 'owner', accountId: 1 } as const;

t.test('it resolves a name: catalogue by dashed domain, catalogue by slug, owner by slug', (t) => {
  const directory = createServiceDirectory();
  directory.load([
    service(1, 'github', { domain: 'github.com' }),
    service(2, 'a-b', { domain: 'one.example' }),
    service(3, 'other', { domain: 'a.b' }),
    service(4, 'my-shop-com', { ...owned, domain: 'my.shop.com' }),
    service(5, 'my-shop-com-2', { ...owned, domain: 'my-shop.com' }),
    service(6, 'github-com-2', { ...owned, domain: 'github-com' }),
  ]);
  const table: readonly [string, number | null][] = [
    ['github-com', 1],
    ['GitHub-Com', 1],
    ['github', 1],
    ['a-b', 3],
    ['one-example', 2],
    ['other', 3],
    ['my-shop-com', 4],
    ['my-shop-com-2', 5],
    ['github-com-2', 6],
    ['github.com', null],
    ['', null],
  ];
  for (const [name, id] of table) t.equal(directory.byPageName(name)?.id ?? null, id, name);
  t.strictSame(
    directory.all().map((one) => [one.id, directory.pageName(one)]),
    [
      [2, 'one-example'],
      [1, 'github-com'],
      [6, 'github-com-2'],
      [4, 'my-shop-com'],
      [5, 'my-shop-com-2'],
      [3, 'a-b'],
    ],
    'and each is found under its own page name',
  );
  t.end();
});

t.test('it refuses owners the name of a catalogue service', (t) => {
  const directory = createServiceDirectory();
  directory.load([service(1, 'rival', { ...owned, domain: 'github.com' })]);
  directory.apply({
    seq: 1,
    serviceId: 2,
    slug: 'github',
    service: service(2, 'github', { domain: 'github.com' }),
  });
  t.equal(directory.byPageName('github-com')?.id, 2);
  t.equal(directory.byPageName('rival')?.id, 1);
  t.end();
});

t.test('it ignores an older revision, and takes a change of any member', (t) => {
  const directory = createServiceDirectory();
  directory.load([service(1, 'shop', { revision: 3, name: 'Now' })]);
  directory.apply({ seq: 1, serviceId: 1, slug: 'shop', service: service(1, 'shop', { revision: 2 }) });
  t.equal(directory.bySlug('shop')?.name, 'Now');
  const moved = service(1, 'shop', { revision: 4, category: 'vpn', domain: 'new.example' });
  directory.apply({ seq: 2, serviceId: 1, slug: 'shop', service: moved });
  t.strictSame(directory.shown.ofCategory('developer'), []);
  t.strictSame(directory.shown.ofCategory('vpn'), [moved]);
  t.equal(directory.byPageName('shop-example'), null);
  t.equal(directory.byPageName('new-example'), moved);
  t.end();
});

t.test('it is after any changes what it would be after loading their outcome', async () => {
  const names = ['a', 'b', 'c', 'a-b', 'b-c', 'ab', 'z'];
  const change = fc.record({
    id: fc.integer({ min: 1, max: names.length }),
    removed: fc.boolean(),
    category: fc.constantFrom(...CATEGORIES.slice(0, 3)),
    catalogue: fc.boolean(),
    accountId: fc.constantFrom(1, 2),
    hidden: fc.boolean(),
    domain: fc.constantFrom('x', 'y'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
      const directory = createServiceDirectory();
      const outcome = new Map<number, Service>();
      changes.forEach(({ id, removed, category, catalogue, domain, accountId, hidden }, index) => {
        const slug = names[id - 1] ?? '';
        const next = service(id, slug, {
          category,
          domain: `${domain}.${slug}`,
          revision: index + 1,
          ...(catalogue ? {} : { ...owned, accountId, ...(hidden ? { visibility: 'private' } : {}) }),
        });
        directory.apply({ seq: index + 1, serviceId: id, slug, service: removed ? null : next });
        if (removed) outcome.delete(id);
        else outcome.set(id, next);
      });
      const fresh = createServiceDirectory();
      await fresh.loadInParts([...outcome.values()]);
      const describe = (one: typeof directory) =>
        JSON.stringify([
          one.all(),
          CATEGORIES.map((category) => one.shown.ofCategory(category)),
          names.map((name, index) => [one.bySlug(name), one.byId(index + 1)]),
          names.flatMap((name) =>
            [`x.${name}`, `y.${name}`, name].map((text) => one.byPageName(dashDomain(text))),
          ),
          one.all().map((each) => one.pageName(each)),
          [[], [1], [2], [1, 2]].map((accounts) => {
            const shown = one.shown.to(new Set(accounts));
            return [shown.hidden(), shown.all(), CATEGORIES.map((category) => shown.ofCategory(category))];
          }),
        ]);
      return describe(directory) === describe(fresh);
    }),
  );
});
