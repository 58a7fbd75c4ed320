/** The catalogue, put in as a whole or page by page. */
import type { Registry } from '../../../../src/store/ports/registry.ts';
import type { NewService } from '../../../../src/store/ports/services.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, firstTurn, NOON, owned } from '../../registry-fixtures.ts';

const pageOf = (...entries: readonly NewService[]) => JSON.stringify(entries);

/** The live services as `slug id revision domain`. */
async function list(registry: Registry): Promise<string[]> {
  const states = await registry.loadServices();
  return states.map(({ service: { slug, id, revision, domain } }) => `${slug} ${id} r${revision} ${domain}`);
}

/** The services of a registry by slug, as `slug id revision`. */
async function revisions(registry: Registry): Promise<string[]> {
  const states = await registry.loadServices();
  return states.map(({ service }) => `${service.slug} ${service.id} r${service.revision}`);
}

overBoth(async (t, open) => {
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

  t.test(
    'it adds and changes the entries of a part of the list, and knows the list by its digest',
    async (t) => {
      const registry = await open(t);
      const part = (digest: string, ...entries: readonly NewService[]) =>
        registry.putCatalogue({ digest, isPart: true, pages: entries.map((one) => JSON.stringify([one])) });
      t.equal(await registry.hasCatalogue('first'), false);
      await registry.putCatalogue({
        ...{ digest: 'first', isPart: false },
        pages: [JSON.stringify([entry('a'), entry('b')]), JSON.stringify([entry('c')])],
      });
      t.equal(await registry.hasCatalogue('first'), true);
      t.same(await part('second', entry('b', { name: 'Another' }), entry('d')), {
        ...{ added: 1, changed: 1, removed: 0, unchanged: 0 },
      });
      t.same(await revisions(registry), ['a 1 r1', 'b 2 r2', 'c 3 r1', 'd 4 r1']);
      t.same([await registry.hasCatalogue('first'), await registry.hasCatalogue('second')], [false, true]);
      await t.rejects(part('third', entry('e', { domain: entry('a').domain })), { code: 'domain_taken' });
      t.same(
        await part(
          'third',
          entry('a', { domain: 'moved.example' }),
          entry('e', { domain: entry('a').domain }),
        ),
        { added: 1, changed: 1, removed: 0, unchanged: 0 },
        'an entry may take a domain that the same list gives up',
      );
      await registry.addService(owned('mine.example', (await registry.ensureAccount('x', NOON)).id));
      t.equal(
        await registry.hasCatalogue('third'),
        false,
        'a service that was added since may conflict with the list',
      );
    },
  );

  t.test('it counts what putting the catalogue in did, and changes no revision without need', async (t) => {
    const registry = await open(t);
    t.same(await registry.putCatalogue([entry('a'), entry('b'), entry('c')]), {
      added: 3,
      changed: 0,
      removed: 0,
      unchanged: 0,
    });
    t.same(await registry.putCatalogue([entry('d'), entry('c'), entry('b', { name: 'Bee' })]), {
      added: 1,
      changed: 1,
      removed: 1,
      unchanged: 1,
    });
    t.same(await revisions(registry), ['b 2 r2', 'c 3 r1', 'd 4 r1']);
  });

  t.test('it gives a slug that returns its old service, and no id twice', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b')]);
    const update = firstTurn(1, 'up', NOON, 'a');
    await registry.commitUpdates([update]);
    await registry.putCatalogue([]);
    t.same(await revisions(registry), []);
    t.same(await registry.putCatalogue([entry('c'), entry('a')]), {
      added: 2,
      changed: 0,
      removed: 0,
      unchanged: 0,
    });
    const states = await registry.loadServices();
    t.same(
      states.map(({ service }) => [service.slug, service.id]),
      [
        ['a', 1],
        ['c', 3],
      ],
    );
    t.same(states[0]?.current, update.current, 'it goes on where it was');
    t.ok((states[0]?.service.revision ?? 0) > 1, 'processes with the old definition receive the new one');
  });

  t.test('it refuses a catalogue that contradicts itself, whole', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a')]);
    await t.rejects(registry.putCatalogue([entry('b'), entry('c'), entry('c', { domain: 'x.com' })]), {
      code: 'slug_taken',
      message: /c twice/,
    });
    await t.rejects(
      registry.putCatalogue([entry('b', { domain: 'x-y.com' }), entry('c', { domain: 'x.y.com' })]),
      { code: 'domain_taken', message: /b and c would share the badge x-y-com/ },
    );
    t.same(await revisions(registry), ['a 1 r1']);
    t.equal(await registry.lastChange(), 1);
  });

  t.test('it lets a catalogue entry win an unverified domain, and says so', async (t) => {
    const registry = await open(t);
    const { id } = await registry.ensureAccount('acme', NOON);
    const loser = await registry.addService(owned('a.com', id));
    const bystander = await registry.addService(owned('b.com', id));
    t.match(await registry.putCatalogue([entry('a')]), { added: 1, removed: 0 });
    const slugs = (await registry.loadServices()).map(({ service }) => `${service.slug} ${service.origin}`);
    t.same(slugs, [`${bystander.slug} owner`, 'a catalogue']);
    t.same(JSON.parse((await registry.getFact(`displaced:${loser.id}`)) ?? 'null'), {
      slug: 'a-com',
      domain: 'a.com',
      accountId: id,
      by: { slug: 'a', domain: 'a.com' },
    });
    t.equal(await registry.getFact(`displaced:${bystander.id}`), null);
    const notices = await registry.noticesOf(id);
    t.match(notices, [{ text: /^a\.com is part of the public catalogue now, as a\. Your service a-com/ }]);
    t.equal(notices.length, 1);
  });
});
