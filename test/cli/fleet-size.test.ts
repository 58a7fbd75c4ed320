/** What the memory of a program is planned by: the size of its fleet. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isSmallFleet } from '../../src/cli/child-memory.ts';
import { estimateServices } from '../../src/cli/fleet-size.ts';
import { entry } from '../store/registry-fixtures.ts';
import { openRegistryHere } from '../support/registry-here.ts';

t.test('a fleet is small by its services and by their checks a second', (t) => {
  for (const [what, services, intervalMs, isSmall] of [
    ['the public list every five minutes', 1_200, 300_000, true],
    ['the same every 12 s', 1_200, 12_000, true],
    ['the same every second', 1_200, 1_000, false],
    ['the most that are small', 5_000, 300_000, true],
    ['one more', 5_001, 300_000, false],
    ['none yet', 0, 300_000, true],
    ['not known', null, 300_000, false],
  ] as const)
    t.equal(isSmallFleet(services, intervalMs), isSmall, what);
  t.end();
});

t.test('it counts services before the program starts', async (t) => {
  const folder = t.testdir({
    'blocks.yaml': 'services:\n  - slug: one\n    name: One\n  - name: Two\n    slug: two\n',
    'braces.yaml': 'services: [{ slug: one, name: One }, {name: Two, slug: two},\n{"slug": "three"}]\n',
    'empty.yaml': 'services: []\n',
    // More than is read at a time.
    'long.yaml': `services:\n${Array.from({ length: 60_000 }, (_, n) => `  - slug: service-${n}\n    name: A slug\n`).join('')}`,
  });
  const count = (file: string, dataDir = join(folder, 'none'), url: string | null = null) =>
    estimateServices({
      catalogue: { file: join(folder, file) },
      storage: { dataDir, postgres: { url } },
    });
  t.equal(await count('blocks.yaml'), 2);
  t.equal(await count('braces.yaml'), 3);
  t.equal(await count('empty.yaml'), 0);
  t.equal(await count('long.yaml'), 60_000);
  t.equal(await count('missing.yaml'), null, 'a catalogue that cannot be read');
  t.equal(await count('blocks.yaml', undefined, 'postgres://other/upbeat'), null, 'on another machine');

  const dataDir = join(folder, 'data');
  const registry = await openRegistryHere(dataDir);
  t.equal(await count('blocks.yaml', dataDir), 2, 'a registry without services');
  await registry.putCatalogue(['a', 'b', 'c'].map((slug) => entry(slug)));
  t.equal(await count('blocks.yaml', dataDir), 3, 'while another process has the registry open');
  await registry.close();
  t.equal(await count('blocks.yaml', dataDir), 3, 'after that');
  t.equal(await count('long.yaml', dataDir), 60_000);
  writeFileSync(join(dataDir, 'registry.sqlite'), 'no database');
  t.equal(await count('blocks.yaml', dataDir), null, 'a registry that cannot be read');
});
