/** Heat maps: what stands where, levels without colours, many services, hostile names. */
import fc from 'fast-check';
import t from 'tap';
import {
  CELL_LEVELS,
  cellsOf,
  type HeatmapPicture,
  levelOf,
  PICTURE_THEMES,
  PICTURE_WINDOWS,
} from '../../src/domain/picture.ts';
import type { Bucket } from '../../src/domain/sample.ts';
import { CELL_COLOURS } from '../../src/render/colours.ts';
import { CELL_MARKS, drawHeatmap, drawHeatmapPixels, heatmapField } from '../../src/render/heatmap.ts';
import { type CellMark, isMarked } from '../../src/render/heatmap-process.ts';
import { anyText } from '../support/any-text.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { countColours, decodePng, pixelAt } from './decode-png.ts';
import { SEEN_AT, scene } from './heatmap-scenes.ts';

const hex = (colour: number) => `${colour.toString(16).padStart(6, '0')}ff`;
const bytes = async (picture: HeatmapPicture) => Buffer.from(await drawHeatmap(picture)).toString('base64');

t.test('it judges a step by its worst', (t) => {
  const bucket = (count: number, slowCount: number, downCount: number, p95Ms: number | null): Bucket => ({
    startAt: 0,
    endAt: 1,
    count,
    upCount: count - slowCount - downCount,
    slowCount,
    downCount,
    suspectCount: 0,
    uptimeRatio: null,
    meanMs: null,
    p50Ms: null,
    p95Ms,
    p99Ms: null,
  });
  const table: readonly [Bucket, string][] = [
    [bucket(0, 0, 0, null), 'none'],
    [bucket(3, 0, 0, null), 'fast'],
    [bucket(3, 0, 0, 500), 'fast'],
    [bucket(3, 0, 0, 501), 'fair'],
    [bucket(3, 0, 0, 1_500), 'fair'],
    [bucket(3, 0, 0, 1_501), 'long'],
    [bucket(300, 15, 0, 100), 'fast'],
    [bucket(300, 16, 0, 100), 'slow'],
    [bucket(300, 9, 1, 100), 'failing'],
    [bucket(3, 0, 1, 100), 'failing'],
    [bucket(2, 0, 1, 100), 'down'],
    [bucket(3, 0, 3, null), 'down'],
  ];
  for (const [given, level] of table) t.equal(levelOf(given), level, JSON.stringify(given));
  t.same([...cellsOf(table.map(([given]) => given))], [0, 1, 1, 2, 2, 3, 1, 4, 5, 5, 6, 6]);
  t.end();
});

t.test('it puts each step of each service in its cell', async (t) => {
  const picture = scene('24h', 3, 1);
  const cells = picture.cells.map(() => 1);
  cells[0] = 6;
  cells[96 + 95] = 4;
  for (const theme of PICTURE_THEMES) {
    const bitmap = await decodePng(await drawHeatmap({ ...picture, cells, theme }));
    const fill = (level: (typeof CELL_LEVELS)[number]) => hex(CELL_COLOURS[theme][level].fill);
    t.same(
      {
        size: [bitmap.width, bitmap.height],
        first: pixelAt(bitmap, 180, 92),
        next: pixelAt(bitmap, 190, 92),
        last: pixelAt(bitmap, 180 + 950, 112),
        under: pixelAt(bitmap, 180 + 950, 132),
      },
      {
        size: [180 + 960 + 24, 92 + 60 + 58],
        first: fill('down'),
        next: fill('fast'),
        last: fill('slow'),
        under: fill('fast'),
      },
      theme,
    );
  }
});

t.test('it shows every level in the legend, with its mark', async (t) => {
  for (const theme of PICTURE_THEMES) {
    const picture = scene('24h', 1, 1, { theme });
    const bitmap = await drawHeatmapPixels({ ...picture, cells: picture.cells.map(() => 0) });
    const found = countColours(bitmap, 0, bitmap.width);
    for (const level of CELL_LEVELS) {
      const { fill, ink } = CELL_COLOURS[theme][level];
      t.ok((found.get(hex(fill)) ?? 0) > 150, `${theme} ${level}`);
      if (CELL_MARKS[level] > 0) t.ok((found.get(hex(ink)) ?? 0) >= 10, `${theme} ${level} has its mark`);
    }
  }
});

t.test('it distinguishes bad levels without colours', (t) => {
  const marked = CELL_LEVELS.slice(CELL_LEVELS.indexOf('slow')).map((level) => CELL_MARKS[level]);
  t.same([...new Set(marked)], [1, 2, 3]);
  for (const size of [5, 6, 7, 9, 10, 19]) {
    const shapes = marked.map((mark: CellMark) =>
      Array.from({ length: size * size }, (_, at) =>
        Number(isMarked(mark, at % size, Math.floor(at / size), { width: size, height: size })),
      ).join(''),
    );
    t.equal(new Set(shapes).size, 3, `in cells of ${size} pixels`);
    for (const shape of shapes)
      t.ok(shape.replaceAll('0', '').length * 2 < size * size, `${size} pixels leave room around a mark`);
  }
  for (const theme of PICTURE_THEMES) {
    const lights = CELL_LEVELS.map((level) => lightness(CELL_COLOURS[theme][level].fill)).slice(1);
    const sorted = [...lights].sort((a, b) => (theme === 'light' ? b - a : a - b));
    t.same(lights, sorted, `${theme}: from good to bad in one direction`);
    for (const [at, light] of lights.entries())
      if (at > 0) t.ok(Math.abs(light - (lights[at - 1] ?? 0)) > 0.02, `${theme} step ${at} is seen`);
  }
  t.end();
});

t.test('it has room for 1,200 services, and stays small', async (t) => {
  for (const window of ['24h', '1y'] as const) {
    const picture = scene(window, 1_200, 18);
    const png = await drawHeatmap(picture);
    const { width, height } = await decodePng(png);
    t.ok(width >= 1_100 && width <= 1_300, `${window}: ${width} pixels wide`);
    t.ok(height > 1_200 && height < 1_400, `${window}: ${height} pixels high`);
    t.ok(png.length < 250_000, `${window}: ${png.length} bytes`);
    t.equal(heatmapField(picture).cellHeight, 1);
  }
  t.equal(heatmapField(scene('24h', 100, 4)).cellHeight, 9);
  t.equal(heatmapField(scene('24h', 3, 1)).cellHeight, 20);
});

t.test('it shows every part of what it is given', async (t) => {
  const base = scene('24h', 4, 2);
  const [first, second] = base.groups;
  if (first === undefined || second === undefined) return t.fail('there are two groups');
  const changes: readonly Partial<HeatmapPicture>[] = [
    {},
    { theme: 'dark' },
    { total: 4_000 },
    { asOf: SEEN_AT + 60_000 },
    { missingSince: SEEN_AT - 3_600_000 },
    { window: '7d' },
    { groups: [{ ...first, title: 'Cloud' }, second] },
    { groups: [{ ...first, rows: first.rows.map((row) => ({ ...row, name: 'Other' })) }, second] },
    { cells: base.cells.map((level) => 6 - level) },
    { groups: [], cells: new Uint8Array(), total: 0 },
  ];
  const pictures = await Promise.all(changes.map((change) => bytes({ ...base, ...change })));
  return t.equal(new Set(pictures).size, changes.length);
});

t.test('it shows names as badges do', async (t) => {
  const named = (name: string, domain: string) => {
    const picture = scene('24h', 1, 1);
    return bytes({ ...picture, groups: [{ title: 'All', rows: [{ name, domain }] }] });
  };
  const table: readonly [string, string][] = [
    ['微信', 'weixin.example'],
    ['\u202eGitHub\u0000 😀', 'GitHub'],
    ['Naver 네이버', 'Naver'],
  ];
  for (const [name, shown] of table)
    t.equal(await named(name, 'weixin.example'), await named(shown, 'weixin.example'), JSON.stringify(name));
  const long = scene('24h', 1, 1);
  const bitmap = await drawHeatmapPixels({
    ...long,
    cells: long.cells.map(() => 1),
    groups: [{ title: 'All', rows: [{ name: 'W'.repeat(200), domain: 'w.example' }] }],
  });
  t.equal(pixelAt(bitmap, 180, 92), hex(CELL_COLOURS.light.fast.fill), 'a long name ends before the cells');
  t.equal(pixelAt(bitmap, 174, 102), hex(0xffffff));
});

t.test('it draws any names and any cells', async (t) => {
  const done = fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...PICTURE_WINDOWS),
      fc.integer({ min: 1, max: 30 }),
      anyText(),
      fc.uint8Array({ maxLength: 50 }),
      async (window, services, name, levels) => {
        const picture = scene(window, services, 1);
        const cells = picture.cells.map((level, at) => levels[at] ?? level);
        const groups = picture.groups.map(({ rows }) => ({
          title: name,
          rows: rows.map((row) => ({ ...row, name })),
        }));
        const { width, data } = await drawHeatmapPixels({ ...picture, cells, groups });
        return width > 1_000 && data.every((value, at) => at % 4 !== 3 || value === 255);
      },
    ),
    { numRuns: propertyRuns(4) },
  );
  await t.resolves(done);
});

/** Relative luminance (WCAG 2.2). */
function lightness(colour: number): number {
  const [red = 0, green = 0, blue = 0] = [colour >>> 16, (colour >>> 8) & 255, colour & 255].map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
