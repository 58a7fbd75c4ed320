import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadCatalogue, watchCatalogue } from '../../src/catalogue/watch-catalogue.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';

const entry = (slug: string) => `  - { slug: ${slug}, name: X, domain: ${slug}.example, category: ai }\n`;

t.test('it takes a new list when the file is replaced, and keeps the old one when it is bad', async (t) => {
  const folder = t.testdir({ 'c.yaml': `services:\n${entry('a')}` });
  const file = join(folder, 'c.yaml');
  const { text, services } = await loadCatalogue(file);
  t.same(
    services.map(({ slug }) => slug),
    ['a'],
  );

  const lists: string[][] = [];
  const errors: object[] = [];
  let changed = Promise.withResolvers<void>();
  const watch = watchCatalogue(text, {
    file,
    clock: systemClock,
    log: { ...silentLog, error: (fields) => void errors.push(fields) },
    onChange: async (list) => {
      lists.push(list.map(({ slug }) => slug));
      changed.resolve();
    },
  });
  t.teardown(() => watch.close());

  // The timers of the program's clock do not keep a process alive; the test's own does.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  writeFileSync(`${file}.new`, `services:\n${entry('a')}${entry('b')}`);
  renameSync(`${file}.new`, file);
  await changed.promise;
  t.same(lists, [['a', 'b']]);

  writeFileSync(file, 'services: 7\n');
  await watch.reload();
  await watch.reload();
  t.equal(errors.length, 1, 'a bad file is told once');
  changed = Promise.withResolvers<void>();
  writeFileSync(file, `services:\n${entry('c')}`);
  await watch.reload();
  t.same(lists, [['a', 'b'], ['c']]);
});
