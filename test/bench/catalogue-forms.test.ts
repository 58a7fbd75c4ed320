/** The catalogues of the benchmark. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { catalogueIn, FORMS } from '../../bench/catalogue-forms.ts';
import { readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { scanCatalogue } from '../../src/catalogue/scan-catalogue.ts';

t.test('each form of the benchmark is read in parts, and means what the parser says', async (t) => {
  const file = join(t.testdir({}), 'c.yaml');
  for (const [name, form] of Object.entries(FORMS)) {
    const text = catalogueIn(form, 300);
    writeFileSync(file, text);
    const { pages } = await scanCatalogue(file, 'all');
    t.same(pages?.flatMap((page) => JSON.parse(page)) ?? null, readCatalogue(text, file), name);
  }
});
