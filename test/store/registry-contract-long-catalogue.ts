/** Contract of the registry: a catalogue that is stored page by page. */
import type { Test } from 'tap';
import type { Registry } from '../../src/store/ports/registry.ts';
import type { NewService } from '../../src/store/ports/services.ts';
import type { OpenForTest } from './registry-contract.ts';
import { entry, NOON, owned } from './registry-fixtures.ts';

const pageOf = (...entries: readonly NewService[]) => JSON.stringify(entries);

/** The live services as `slug id revision domain`. */
async function list(registry: Registry): Promise<string[]> {
  const states = await registry.loadServices();
  return states.map(({ service: { slug, id, revision, domain } }) => `${slug} ${id} r${revision} ${domain}`);
}

/** Runs this part of the contract. */
export async function longCatalogueContract(t: Test, open: OpenForTest): Promise<void> {
  t.test('it removes nothing before the last page, and then what was on none', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b'), entry('c'), entry('d')]);
    const first = await registry.putCataloguePage(pageOf(entry('e'), entry('a')));
    t.same(first, { added: 1, changed: 0, unchanged: 1, ids: [1, 5] });
    t.same(
      await list(registry),
      ['a 1 r1 a.com', 'b 2 r1 b.com', 'c 3 r1 c.com', 'd 4 r1 d.com', 'e 5 r1 e.com'],
      'entries of pages that are still to come are live',
    );
    t.equal(await registry.hasCatalogue('new'), false, 'a start would store the list again');
    const second = await registry.putCataloguePage(pageOf(entry('c', { name: 'Another' })));
    t.same(second, { added: 0, changed: 1, unchanged: 0, ids: [3] });
    const seq = await registry.lastChange();
    t.equal(await registry.endCatalogue(Float64Array.from([...first.ids, ...second.ids]), 'new'), 2);
    t.same(await list(registry), ['a 1 r1 a.com', 'c 3 r2 c.com', 'e 5 r1 e.com']);
    t.same(
      (await registry.changesAfter(seq)).map(({ slug, service }) => [slug, service]),
      [
        ['b', null],
        ['d', null],
      ],
    );
    t.equal(await registry.hasCatalogue('new'), true);
  });

  t.test('it changes nothing when pages are put again after an interruption', async (t) => {
    const registry = await open(t);
    const pages = [pageOf(entry('a'), entry('b')), pageOf(entry('c'))];
    await registry.putCataloguePage(pages[0] ?? '');
    const ids: number[] = [];
    const outcomes: object[] = [];
    for (const page of pages) {
      const { ids: stored, ...outcome } = await registry.putCataloguePage(page);
      ids.push(...stored);
      outcomes.push(outcome);
    }
    t.same(outcomes, [
      { added: 0, changed: 0, unchanged: 2 },
      { added: 1, changed: 0, unchanged: 0 },
    ]);
    t.equal(await registry.endCatalogue(Float64Array.from(ids), 'list'), 0);
    t.same(await list(registry), ['a 1 r1 a.com', 'b 2 r1 b.com', 'c 3 r1 c.com']);
  });

  t.test(
    'it lets entries of different pages exchange their domains, and take one that is given up',
    async (t) => {
      const registry = await open(t);
      await registry.putCatalogue([entry('a'), entry('b'), entry('gone')]);
      const ids: number[] = [];
      for (const page of [
        pageOf(entry('a', { domain: 'b.com' })),
        pageOf(entry('b', { domain: 'a.com' }), entry('new', { domain: 'gone.com' })),
      ])
        ids.push(...(await registry.putCataloguePage(page)).ids);
      await registry.endCatalogue(Float64Array.from(ids), 'list');
      t.same(await list(registry), ['a 1 r2 b.com', 'b 2 r2 a.com', 'new 4 r1 gone.com']);
    },
  );

  t.test('it refuses a page with the same slug twice, and changes nothing', async (t) => {
    const registry = await open(t);
    await t.rejects(registry.putCataloguePage(pageOf(entry('a'), entry('a'))), { code: 'slug_taken' });
    t.same(await list(registry), []);
  });

  t.test('it moves owners’ services out of the way as a list in one transaction does', async (t) => {
    const registry = await open(t);
    const { id } = await registry.ensureAccount('acme', NOON);
    await registry.putCatalogue([entry('big')]);
    for (const domain of ['api.new.com', 'old.com', 'shop.org'])
      await registry.addService(owned(domain, id, { verified: domain === 'shop.org' }));
    const { ids } = await registry.putCataloguePage(
      pageOf(entry('big'), entry('new'), entry('old'), entry('shop-org', { domain: 'other.com' })),
    );
    t.same(
      (await registry.servicesOf(id)).map(({ slug }) => slug),
      ['api-new-com', 'shop-org-2'],
      'slugs and badges are given up before entries take them',
    );
    await registry.endCatalogue(Float64Array.from(ids), 'list');
    t.same(
      (await registry.servicesOf(id)).map(({ slug }) => slug),
      ['shop-org-2'],
      'unverified services below a domain of the list are removed',
    );
    t.match((await registry.noticesOf(id)).map(({ text }) => text).sort(), [
      /^The slug shop-org stands for other\.com.*goes on as shop-org-2/,
      /^new\.com.*gave way/,
      /^old\.com.*gave way/,
    ]);
  });
}
