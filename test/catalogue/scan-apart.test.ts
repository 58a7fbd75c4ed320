/** A catalogue that a thread reads. */
import { join } from 'node:path';
import t from 'tap';
import { scanApart } from '../../src/catalogue/scan-apart.ts';
import { scanCatalogue } from '../../src/catalogue/scan-catalogue.ts';
import { systemClock } from '../../src/clock.ts';

const PUBLIC_LIST = join(import.meta.dirname, '../../config/catalogue.yaml');

t.test(
  'a thread of its own reads the same, fails alike, and is ended when nobody needs the rest',
  async (t) => {
    const { hashes } = await scanCatalogue(PUBLIC_LIST, 'none');
    const except = (hashes ?? new Float64Array()).slice(3);
    for (const wanted of ['none', 'all', { except }] as const)
      t.same(
        await scanApart(PUBLIC_LIST, wanted, () => false, systemClock),
        await scanCatalogue(PUBLIC_LIST, wanted),
      );
    const missing = join(t.testdir(), 'missing.yaml');
    await t.rejects(
      scanApart(missing, 'none', () => false, systemClock),
      { code: 'ENOENT' },
    );

    // Looked at before the thread has started.
    const atOnce = {
      ...systemClock,
      every: (_periodMs: number, look: () => void) => {
        look();
        return () => {};
      },
    };
    t.equal(await scanApart(PUBLIC_LIST, 'all', () => true, atOnce), null);
  },
);
