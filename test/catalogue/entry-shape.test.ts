/** Entries that are read without the parser. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { scanCatalogue } from '../../src/catalogue/scan-catalogue.ts';
import { propertyRuns } from '../support/property-runs.ts';

const parse = (pages: readonly string[] | null) => pages?.flatMap((page) => JSON.parse(page)) ?? null;

t.test('entries of the shape of an earlier one are read as the parser reads them', async (t) => {
  const words = [
    'ai',
    'Name',
    'null',
    'True',
    'on',
    'a: b',
    'a:b',
    'a #b',
    'a#b',
    'a b',
    "it's",
    'x ',
    '1',
    '1x',
  ];
  const quoted = words.flatMap((word) => [word, `"${word}"`, `'${word.replaceAll("'", "''")}'`]);
  const value = fc.oneof(fc.constantFrom(...quoted, '&a b', '*a', '!!str x', '""', '{}', '# c'));
  const forms = [
    (slug: string, name: string, more: string) =>
      `  - slug: ${slug} # ${more}\n    name: ${name}\n    domain: ${slug}.example\n    category: ai\n`,
    (slug: string, name: string, more: string) =>
      `  - { slug: ${slug}, "name": ${name}, domain: ${slug}.example, category: ai } # ${more}\n`,
    (slug: string, name: string, more: string) =>
      `  - &${slug} { slug: "${slug}", name: ${name}, domain: '${slug}.example', category: &x${more.length} ai }\n`,
  ];
  const file = join(t.testdir({}), 'c.yaml');
  let read = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...forms),
      fc.array(fc.tuple(value, fc.constantFrom('', 'x', 'a: [', '#')), { minLength: 2, maxLength: 4 }),
      async (write, entries) => {
        const list = entries.map(([name, more], index) => write(`s${index}`, name, more));
        const text = `services:\n${write('s', 'Name', 'c')}${list.join('')}`;
        writeFileSync(file, text);
        const { pages } = await scanCatalogue(file, 'all');
        if (pages === null) return;
        read += 1;
        t.same(parse(pages), readCatalogue(text, 'c.yaml'), JSON.stringify(text));
      },
    ),
    { numRuns: propertyRuns(300) },
  );
  t.ok(read > 50, `${read} of them were read`);
});
