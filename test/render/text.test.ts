import t from 'tap';
import { raster, toCoverage } from '../../src/render/coverage.ts';
import { circle } from '../../src/render/paint.ts';
import { faceOf, layOut, measure, shorten } from '../../src/render/text.ts';

const face = faceOf({ weight: 'semibold', size: 13.5 });

t.test('it measures with kerning', async (t) => {
  t.equal(measure(face, ''), 0);
  t.ok(measure(face, 'AV') < measure(face, 'A') + measure(face, 'V'), 'A and V move together');
  t.equal(measure(face, 'nn'), 2 * measure(face, 'n'));
});

t.test('it shortens to the widest beginning that fits', async (t) => {
  const name = 'Internationale Gesellschaft für Überwachung';
  t.equal(shorten(face, name, measure(face, name)), name, 'a name that just fits stays');
  for (const width of [30, 60, 90, 120, 200]) {
    const short = shorten(face, name, width);
    const kept = short.slice(0, -1);
    t.ok(short.endsWith('…') && name.startsWith(kept), short);
    t.ok(measure(face, short) <= width, `${short} fits ${width}`);
    const more = `${name.slice(0, kept.length + 2).trimEnd()}…`;
    t.ok(measure(face, more) > width, `${more} does not fit ${width}`);
  }
  t.equal(shorten(face, 'Amazon Web Services', measure(face, 'Amazon …')), 'Amazon…', 'no space before it');
  t.equal(shorten(face, name, 0), '…');
});

t.test('it ends flat and round letters on whole pixels', async (t) => {
  for (const [letter, height] of [
    ['x', face.xHeight],
    ['o', face.xHeight],
    ['H', face.capHeight],
    ['O', face.capHeight],
  ] as const) {
    const [glyph] = layOut(face, letter, 0);
    t.equal(glyph?.y, -height, `${letter} begins ${height} pixels above the baseline`);
    t.equal(glyph?.coverage.height, height, `${letter} ends on it`);
  }
});

t.test('it leaves the holes of letters open, and none where parts overlap', async (t) => {
  const [glyph] = layOut(face, 'O', 0);
  const { coverage } = glyph ?? { coverage: toCoverage(raster(0, 0, []), 0) };
  t.ok(coverage.width > 5, 'it is drawn');
  const middle = Math.floor(coverage.height / 2) * coverage.width + Math.floor((coverage.width - 1) / 2);
  t.equal(coverage.values[middle], 0);
  const two = toCoverage(raster(20, 10, [circle(6, 5, 5, false), circle(10, 5, 5, false)]), 0);
  t.equal(two.values[5 * two.width + 8], 1);
});

t.test('it covers as much as the outline has area', async (t) => {
  for (const shift of [0, 1, 2, 3]) {
    const disc = toCoverage(raster(20, 20, [circle(10, 10, 9, false)]), shift);
    const area = disc.values.reduce((sum, value) => sum + value, 0);
    t.ok(Math.abs(area - Math.PI * 81) < 3, `${area} is about ${Math.PI * 81}`);
    t.ok(disc.values.every((value) => value >= 0 && value <= 1.0001));
  }
});
