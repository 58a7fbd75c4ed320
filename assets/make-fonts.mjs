/**
 * `npm run fonts`: makes the fonts of pages, `assets/web/inter-latin.woff2` and `inter-latin-ext.woff2`, from the variable
 * Inter of `@fontsource-variable/inter`. The result is committed, because an installation does not have the package.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import subsetFont from 'subset-font';

const { resolve } = createRequire(import.meta.url);
const SOURCE = join(dirname(resolve('@fontsource-variable/inter/package.json')), 'files');

/** Ranges of code points, as in `unicode-range` of assets/web/tokens.css. */
const SUBSETS = {
  latin: [
    [0x20, 0x7e],
    [0xa0, 0xff],
    [0x131, 0x131],
    [0x152, 0x153],
    [0x2013, 0x2014],
    [0x2018, 0x201e],
    [0x2020, 0x2022],
    [0x2026, 0x2026],
    [0x2030, 0x2030],
    [0x2032, 0x2033],
    [0x2039, 0x203a],
    [0x20ac, 0x20ac],
    [0x2122, 0x2122],
    [0x2190, 0x2193],
    [0x2212, 0x2212],
  ],
  'latin-ext': [
    [0x100, 0x130],
    [0x132, 0x151],
    [0x154, 0x17f],
    [0x218, 0x21b],
    [0x1e00, 0x1eff],
  ],
};
const OPTIONS = {
  targetFormat: 'woff2',
  variationAxes: { wght: { min: 400, max: 700 } },
  // Pair kerning, and figures of one width in tables.
  keepFeatures: ['kern', 'tnum'],
  noHinting: true,
};

for (const [name, ranges] of Object.entries(SUBSETS)) {
  const text = ranges
    .flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
    )
    .join('');
  const font = await subsetFont(readFileSync(join(SOURCE, `inter-${name}-wght-normal.woff2`)), text, OPTIONS);
  writeFileSync(join(import.meta.dirname, 'web', `inter-${name}.woff2`), font);
  process.stdout.write(`inter-${name}.woff2: ${font.length} bytes\n`);
}
