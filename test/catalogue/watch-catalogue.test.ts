import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadCatalogue, markCatalogue, watchCatalogue } from '../../src/catalogue/watch-catalogue.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import type { NewService } from '../../src/store/ports/services.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const entry = (slug: string) => `  - { slug: ${slug}, name: X, domain: ${slug}.example, category: ai }\n`;
const listOf = (...slugs: string[]) => `services:\n${slugs.map(entry).join('')}`;

const plainEntry = (slug: string) =>
  `  - slug: ${slug}\n    name: Name of ${slug}\n    domain: ${slug}.example\n    category: ai\n`;
const plainListOf = (...slugs: string[]) => `services:\n${slugs.map(plainEntry).join('')}`;

/** Watches `file` and notes what was taken and what was told. */
async function follow(
  t: Test,
  file: string,
  clock: Clock,
  onChange = async (_slugs: readonly string[]) => {},
) {
  const mark = await markCatalogue(file);
  const { services } = await loadCatalogue(file);
  const lists: string[][] = [services.map(({ slug }) => slug)];
  const parts: boolean[] = [];
  const problems: string[] = [];
  const watch = watchCatalogue(mark, {
    file,
    clock,
    log: {
      ...silentLog,
      error: (fields) => void problems.push((fields as { problem: string }).problem),
    },
    isListed: (slug) => lists.at(-1)?.includes(slug) === true,
    async onChange({ pages, isPart }) {
      const slugs = pages.flatMap((page) => JSON.parse(page) as NewService[]).map(({ slug }) => slug);
      await onChange(slugs);
      // A part is added to the list before.
      lists.push(isPart ? [...new Set([...(lists.at(-1) ?? []), ...slugs])] : slugs);
      parts.push(isPart);
    },
  });
  t.teardown(() => watch.close());
  return { watch, lists, parts, problems };
}

/** Moves time until `done`; the file system's own answers take real time. */
async function until(clock: ReturnType<typeof createFakeClock>, done: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!done() && performance.now() < deadline) {
    await clock.advance(5_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

t.test('it takes a new list when an editor renames it over the file', async (t) => {
  const file = join(t.testdir({ 'c.yaml': listOf('a') }), 'c.yaml');
  const { lists, problems } = await follow(t, file, systemClock);
  writeFileSync(`${file}.new`, listOf('a', 'b'));
  renameSync(`${file}.new`, file);
  const deadline = performance.now() + 20_000;
  while (lists.length < 2 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 10));
  t.same({ lists, problems }, { lists: [['a'], ['a', 'b']], problems: [] });
});

t.test('it changes nothing but the log when the file is bad, and takes the next good one', async (t) => {
  const file = join(t.testdir({ 'c.yaml': listOf('a') }), 'c.yaml');
  const clock = createFakeClock();
  const { watch, lists, problems } = await follow(t, file, clock);
  writeFileSync(file, 'services: 7\n');
  await watch.reload();
  t.same({ lists, problems }, { lists: [['a']], problems: [`${file}: must hold a list named "services"`] });
  writeFileSync(file, listOf('c'));
  await watch.reload();
  await watch.reload();
  t.same(lists, [['a'], ['c']], 'a list that stands already is not taken again');
  t.equal(problems.length, 1);
});

t.test(
  'it reports a problem once while it looks by itself, and again when it is asked to read',
  async (t) => {
    const file = join(t.testdir({ 'c.yaml': listOf('a') }), 'c.yaml');
    const clock = createFakeClock();
    const { watch, lists, problems } = await follow(t, file, clock);
    rmSync(file);
    await until(clock, () => problems.length > 0);
    for (let turn = 0; turn < 5; turn++) await until(clock, () => true);
    await clock.advance(60_000);
    await watch.reload();
    t.match(problems, [/ENOENT/, /ENOENT/]);
    t.equal(problems.length, 2);
    writeFileSync(file, listOf('a', 'b'));
    await until(clock, () => lists.length > 1);
    t.same(lists, [['a'], ['a', 'b']]);
  },
);

t.test('it sees the target of a link change, as the configuration of a container does', async (t) => {
  const folder = t.testdir({});
  for (const [name, slug] of [
    ['one', 'a'],
    ['two', 'b'],
  ] as const) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'c.yaml'), listOf(slug));
  }
  symlinkSync('one', join(folder, 'now'));
  symlinkSync('now/c.yaml', join(folder, 'c.yaml'));
  const clock = createFakeClock();
  const { lists } = await follow(t, join(folder, 'c.yaml'), clock);
  symlinkSync('two', join(folder, 'next'));
  renameSync(join(folder, 'next'), join(folder, 'now'));
  await until(clock, () => lists.length > 1);
  t.same(lists, [['a'], ['b']]);
});

t.test('it offers a list again that could not be taken', async (t) => {
  const file = join(t.testdir({ 'c.yaml': listOf('a') }), 'c.yaml');
  const clock = createFakeClock();
  let away = true;
  const { watch, lists, problems } = await follow(t, file, clock, async () => {
    if (away) throw new Error('the registry is away');
  });
  writeFileSync(file, listOf('b'));
  await watch.reload();
  t.same({ lists, problems }, { lists: [['a']], problems: ['the registry is away'] });
  away = false;
  await until(clock, () => lists.length > 1);
  t.same({ lists, problems }, { lists: [['a'], ['b']], problems: ['the registry is away'] });
});

t.test('it takes one list at a time', async (t) => {
  const file = join(t.testdir({ 'c.yaml': listOf('a') }), 'c.yaml');
  let open = 0;
  const { watch, lists } = await follow(t, file, createFakeClock(), async () => {
    open += 1;
    t.equal(open, 1);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
  });
  for (const slug of ['b', 'c', 'd']) {
    writeFileSync(file, listOf(slug));
    await Promise.all([watch.reload(), watch.reload()]);
  }
  t.same(lists, [['a'], ['b'], ['c'], ['d']]);
});

t.test('it takes and tells nothing after it was closed', async (t) => {
  const file = join(t.testdir({ 'c.yaml': listOf('a') }), 'c.yaml');
  const clock = createFakeClock();
  const { watch, lists, problems } = await follow(t, file, clock);
  writeFileSync(file, listOf('b'));
  watch.close();
  await watch.reload();
  await clock.advance(60_000);
  t.same({ lists, problems }, { lists: [['a']], problems: [] });
});

t.test('it names setting and file where there is nothing to read', async (t) => {
  await t.rejects(loadCatalogue('/nowhere/list.yaml'), {
    message: /^catalogue\.file: \/nowhere\/list\.yaml cannot be read: ENOENT/,
  });
});

t.test('it passes on what has changed alone, and all entries where one was removed', async (t) => {
  const file = join(t.testdir({ 'c.yaml': plainListOf('a', 'b', 'c') }), 'c.yaml');
  const changes: (readonly string[])[] = [];
  const { watch, lists, parts } = await follow(t, file, createFakeClock(), async (slugs) => {
    changes.push(slugs);
  });
  const steps = [
    plainListOf('a', 'b', 'c', 'd'),
    plainListOf('a', 'b', 'c', 'd').replace('name: Name of b', 'name: Another name'),
    plainListOf('d', 'c', 'b', 'a').replace('name: Name of b', 'name: Another name'),
    plainListOf('d', 'c', 'a'),
    plainListOf('d', 'c', 'e'),
    `${plainListOf('d', 'c')}# Only entries in plain lines are told apart.\n${entry('f')}`,
  ];
  for (const text of steps) {
    writeFileSync(file, text);
    await watch.reload();
  }
  t.same(changes, [['d'], ['b'], [], ['d', 'c', 'a'], ['d', 'c', 'e'], ['d', 'c', 'f']]);
  t.same(parts, [true, true, true, false, false, false]);
  t.same(lists.at(-1), ['d', 'c', 'f']);
});

t.test('it names the problems of a whole list where a part of it cannot be stored', async (t) => {
  const file = join(t.testdir({ 'c.yaml': plainListOf('a', 'b') }), 'c.yaml');
  const { watch, parts, problems } = await follow(t, file, createFakeClock(), async (slugs) => {
    if (slugs.length === 1) throw Object.assign(new Error('the badge is taken'), { code: 'domain_taken' });
  });
  writeFileSync(file, `${plainListOf('a', 'b')}${plainEntry('c').replace('c.example', 'a.example')}`);
  await watch.reload();
  t.same(parts, []);
  t.match(problems, [/c\.yaml:12: the domain "a\.example" stands in line 2 already/]);
});

t.test('it takes the whole list where more has changed than is stored in one transaction', async (t) => {
  const slugs = Array.from({ length: 5_001 }, (_, index) => `s${index}`);
  const file = join(t.testdir({ 'c.yaml': plainListOf('a', 'b') }), 'c.yaml');
  const { watch, lists, parts } = await follow(t, file, createFakeClock());
  writeFileSync(file, plainListOf('a', 'b', ...slugs));
  await watch.reload();
  t.same({ parts, list: lists.at(-1)?.length }, { parts: [false], list: 5_003 });
});

t.test('it never takes a file that is being written, and takes it when it is complete', async (t) => {
  const file = join(t.testdir({ 'c.yaml': plainListOf('a', 'b', 'c') }), 'c.yaml');
  const clock = createFakeClock();
  const { lists, problems } = await follow(t, file, clock);
  // Each step is a valid list, or none at all, and comes before the file has been quiet.
  for (const step of ['', 'services: [', plainListOf('a'), plainListOf('a', 'b')]) {
    writeFileSync(file, step);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(100);
  }
  writeFileSync(file, plainListOf('a', 'b', 'c', 'd'));
  await until(clock, () => lists.length > 1);
  t.same(
    { lists, problems },
    {
      lists: [
        ['a', 'b', 'c'],
        ['a', 'b', 'c', 'd'],
      ],
      problems: [],
    },
  );
});

t.test('it takes a change of a file that is read by a thread of its own', async (t) => {
  const slugs = Array.from({ length: 60_000 }, (_, index) => `service-${index}`);
  const file = join(t.testdir({ 'c.yaml': plainListOf(...slugs) }), 'c.yaml');
  t.ok(statSync(file).size > 4_194_304);
  const { watch, lists, parts, problems } = await follow(t, file, systemClock);
  writeFileSync(file, plainListOf(...slugs).replace('Name of service-40000', 'Other'));
  await watch.reload();
  t.same({ read: lists.length, parts, problems }, { read: 2, parts: [true], problems: [] });
  writeFileSync(file, `${plainListOf(...slugs)}  - slug: [\n`);
  await watch.reload();
  t.equal(lists.length, 2);
  t.match(problems, [/c\.yaml:/]);
});
