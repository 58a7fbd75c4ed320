/** The hashes of entries, by which changes are found. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createLineSplitter } from '../../src/catalogue/entry-bytes.ts';
import { scanCatalogue } from '../../src/catalogue/scan-catalogue.ts';
import { entry, splitEntries } from './catalogue-texts.ts';

t.test('it finds what is new in a list, wherever entries were added, removed and moved', async (t) => {
  const folder = t.testdir({});
  const before = Array.from({ length: 2_000 }, (_, index) => entry(`s${index}`));
  const write = (entries: readonly string[]) => {
    const file = join(folder, 'c.yaml');
    writeFileSync(file, `services:\n${entries.join('')}`);
    return file;
  };
  const { hashes } = await scanCatalogue(write(before), 'none');
  const slugs = async (entries: readonly string[]) => {
    const scan = await scanCatalogue(write(entries), { except: hashes ?? new Float64Array() });
    return scan.pages === null ? null : scan.slugs;
  };
  const added = ['x', 'y', 'z'].map((slug) => entry(slug));
  t.same(await slugs(before), []);
  t.same(await slugs([...added, ...before]), ['x', 'y', 'z']);
  t.same(await slugs(before.toSpliced(1_000, 500, ...added)), ['x', 'y', 'z']);
  t.same(await slugs([...before.slice(700), ...added, ...before.slice(0, 700)]), ['x', 'y', 'z']);
  t.same(await slugs([...added, ...before.toReversed()]), ['x', 'y', 'z']);
  t.same(await slugs(before.toSpliced(5, 1, entry('s5', '    statusPage: null\n'))), null);
  t.same(await slugs(before.toSpliced(5, 0, before[900] ?? '')), null, 'an entry that is there twice');
  t.same(await slugs([...before.toReversed(), before[3] ?? '']), null, 'an entry that is there twice');
});

t.test(
  'entries that differ in one byte, or in the order of their bytes, have different hashes',
  async (t) => {
    const texts = new Set<string>();
    const text = '  - slug: q23q1w5\n    name: aaaa\n';
    for (let at = 4; at < text.length; at++)
      for (let byte = 33; byte < 127; byte++) {
        texts.add(text.slice(0, at) + String.fromCharCode(byte) + text.slice(at + 1));
        // The same bit of two bytes that are hashed at the same place of two words.
        const twice = [...text].map((one, place) =>
          place === at || place === at + 4 ? String.fromCharCode(one.charCodeAt(0) ^ (byte & 0x40)) : one,
        );
        texts.add(twice.join(''));
      }
    const hashes = new Set<number>();
    const whole = [...texts].filter((one) => splitEntries(one).entries[0] === one);
    for (const one of whole)
      for (const { hash } of createLineSplitter('  ')(Buffer.from(one), true).entries) hashes.add(hash);
    t.equal(hashes.size, whole.length);
  },
);
