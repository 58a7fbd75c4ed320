import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  createCatalogueWriter,
  markCatalogue,
  storeWhileReading,
} from '../../src/catalogue/watch-catalogue.ts';
import { silentLog } from '../../src/log.ts';
import type { CatalogueList, CatalogueStore, NewService } from '../../src/store/ports/services.ts';
import { entry } from '../store/registry-fixtures.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openRegistryHere } from '../support/registry-here.ts';
import { entry as entryText } from './catalogue-texts.ts';

const listOf = (digest: string, ...pages: readonly string[][]): CatalogueList => ({
  ...{ digest, isPart: false },
  pages: pages.map((slugs) => JSON.stringify(slugs.map((slug) => entry(slug)))),
});

/** A writer over a new registry; `onPage` is called before each page is stored, with its number from 1. */
async function begin(t: Test, onPage: (page: number) => Promise<void> = async () => {}) {
  const registry = await openRegistryHere(t.testdir());
  t.teardown(() => registry.close());
  const clock = createFakeClock();
  const lines: unknown[] = [];
  let pages = 0;
  const writing = {
    registry: double<CatalogueStore>({
      putCatalogue: (list) => registry.putCatalogue(list),
      async putCataloguePage(page) {
        pages += 1;
        await onPage(pages);
        return await registry.putCataloguePage(page);
      },
      endCatalogue: (ids, digest) => registry.endCatalogue(ids, digest),
    }),
    clock,
    log: { ...silentLog, info: (fields: object, message: string) => void lines.push([message, fields]) },
    file: 'c.yaml',
    version: 'v',
  };
  const write = createCatalogueWriter(writing);
  const slugs = async () => (await registry.loadServices()).map(({ service }) => service.slug);
  return { registry, clock, writing, write, lines, slugs, pages: () => pages };
}

t.test('it stores a long list page by page, and logs how far it is', async (t) => {
  const world = await begin(t, async () => void (await world.clock.advance(7_000)));
  await world.write(listOf('one', ['a', 'b'], ['c'], ['d']), 'it is loaded');
  t.same(await world.slugs(), ['a', 'b', 'c', 'd']);
  t.same(world.lines, [
    ['the catalogue is being stored', { entries: 3, page: 2, pages: 3, file: 'c.yaml' }],
    ['it is loaded', { added: 4, changed: 0, removed: 0, unchanged: 0, file: 'c.yaml' }],
  ]);
  await world.write(listOf('two', ['a'], ['d', 'e']), 'it is changed');
  t.same(await world.slugs(), ['a', 'd', 'e']);
  t.equal(await world.registry.hasCatalogue('v two'), true);
});

t.test('it makes other writes between two pages', async (t) => {
  const seen: string[][] = [];
  const world = await begin(t, async () => {
    await world.registry.setFact('other', 'written');
    seen.push(await world.slugs());
  });
  await world.write(listOf('one', ['a'], ['b']), 'it is loaded');
  t.same(seen, [[], ['a']]);
});

t.test('it puts a list from its first page again when the disk was full in between', async (t) => {
  const world = await begin(t, async (page) => {
    if (page === 2)
      throw Object.assign(new Error('full'), { code: 'storage_full', refusal: { code: 'storage_full' } });
  });
  await world.write(listOf('one', ['a'], ['b']), 'it is loaded');
  t.same(await world.slugs(), ['a']);
  await world.clock.advance(2_000);
  while (world.lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.same([await world.slugs(), world.pages()], [['a', 'b'], 4]);
  t.match(world.lines, [['it is loaded', { added: 1, unchanged: 1, removed: 0 }]]);
});

t.test('it gives up a list for a newer one, and removes nothing for it', async (t) => {
  let newer: Promise<void> | null = null;
  const world = await begin(t, async (page) => {
    if (page === 1) newer = world.write(listOf('two', ['x'], ['y']), 'the newer one');
  });
  await world.write(listOf('one', ['a'], ['b']), 'the older one');
  await newer;
  t.same(await world.slugs(), ['x', 'y']);
  t.match(world.lines, [['the newer one', {}]]);
  t.equal(world.lines.length, 1);
});

/** A catalogue file beside the registry of a test. */
function writeFile(t: Test, entries: readonly string[]): string {
  const file = join(t.testdirName, 'c.yaml');
  writeFileSync(file, `services:\n${entries.join('')}`);
  return file;
}

t.test('it stores the first list while it reads it', async (t) => {
  const world = await begin(t);
  const file = writeFile(
    t,
    Array.from({ length: 12_000 }, (_, index) => entryText(`s${index}`)),
  );
  const stored: (readonly [id: number, slug: string])[] = [];
  const onStored = (page: string, ids: readonly number[]) =>
    stored.push(
      ...(JSON.parse(page) as NewService[]).map(({ slug }, index) => [ids[index] ?? 0, slug] as const),
    );
  t.equal(await storeWhileReading({ ...world.writing, file }, 'it is loaded', onStored), true);
  t.equal(world.pages(), 3);
  t.same(
    stored,
    (await world.registry.loadServices()).map(({ service }) => [service.id, service.slug]),
  );
  t.same(world.lines, [['it is loaded', { added: 12_000, changed: 0, removed: 0, unchanged: 0, file }]]);
  const { digest } = await markCatalogue(file);
  t.equal(await world.registry.hasCatalogue(`v ${digest}`), true);
});

t.test('it leaves a list to others that has a problem, or while the disk is full', async (t) => {
  const world = await begin(t, async () => {
    throw Object.assign(new Error('full'), { code: 'storage_full', refusal: { code: 'storage_full' } });
  });
  for (const entries of [[entryText('a'), entryText('a')], [entryText('A')], [entryText('a')]]) {
    const file = writeFile(t, entries);
    t.equal(await storeWhileReading({ ...world.writing, file }, 'it is loaded', () => {}), false);
  }
  t.same([await world.slugs(), world.lines, world.pages()], [[], [], 1]);
});

t.test('it leaves a long list to others that has a slug twice', async (t) => {
  const world = await begin(t);
  const slugs = Array.from({ length: 6_000 }, (_, index) => `s${index}`);
  const file = writeFile(
    t,
    ['s1', ...slugs].map((slug) => entryText(slug)),
  );
  t.equal(await storeWhileReading({ ...world.writing, file }, 'it is loaded', () => {}), false);
  t.same([await world.slugs(), world.lines, world.pages()], [[], [], 1]);
});
