/** Charts of response times: size, what stands where, colours, hostile texts and figures. */
import fc from 'fast-check';
import t from 'tap';
import {
  CHART_SIZES,
  type ChartPicture,
  type ChartPoint,
  chartPoints,
  PICTURE_THEMES,
  PICTURE_WINDOWS,
  spanOf,
  stepsOf,
} from '../../src/domain/picture.ts';
import type { Bucket } from '../../src/domain/sample.ts';
import { drawChart, drawChartPixels } from '../../src/render/chart.ts';
import { PICTURE_COLOURS } from '../../src/render/colours.ts';
import { anyText } from '../support/any-text.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { countColours, decodePng, pixelAt } from './decode-png.ts';

const NOW = Date.UTC(2026, 10, 21, 9, 7);
const GOOD: ChartPoint = { p50Ms: 100, p95Ms: 200, count: 3, downCount: 0 };
const DOWN: ChartPoint = { p50Ms: null, p95Ms: null, count: 3, downCount: 3 };
const NONE: ChartPoint = { p50Ms: null, p95Ms: null, count: 0, downCount: 0 };
const span = spanOf('24h', NOW);
const steps = stepsOf(span);
const all = (point: ChartPoint) => Array.from({ length: steps }, () => point);
const base: ChartPicture = {
  name: 'GitHub',
  domain: 'github.com',
  status: 'up',
  ageText: null,
  asOf: NOW - 60_000,
  missingSince: null,
  window: '24h',
  span,
  points: all(GOOD),
  uptimeText: '100 %',
  theme: 'light',
  size: 'embed',
  site: 'status.example.org',
};
const hex = (colour: number) => `${colour.toString(16).padStart(6, '0')}ff`;
const digest = (picture: ChartPicture) => Buffer.from(drawChart(picture)).toString('base64');

t.test('it draws both sizes in both themes, each colour where it belongs', async (t) => {
  const points = all(GOOD).map((point, index) => (index >= 48 && index < 60 ? DOWN : point));
  for (const theme of PICTURE_THEMES) {
    for (const size of CHART_SIZES) {
      const png = drawChart({ ...base, points, theme, size });
      const picture = await decodePng(png);
      const colours = PICTURE_COLOURS[theme];
      t.same(
        { size: [picture.width, picture.height], ground: pixelAt(picture, picture.width / 2, 8) },
        { size: size === 'embed' ? [800, 300] : [1_200, 630], ground: hex(colours.ground) },
        `${theme} ${size}`,
      );
      const found = countColours(picture, 0, picture.width);
      for (const name of ['text', 'muted', 'grid', 'axis', 'line', 'band', 'down', 'stripe', 'mark'] as const)
        t.ok((found.get(hex(colours[name])) ?? 0) > 20, `${theme} ${size} has ${name}`);
      t.ok(png.length < (size === 'embed' ? 25_000 : 50_000), `${png.length} bytes`);
    }
  }
});

t.test('it marks the times of failed checks by stripes and a cross, not by colour alone', async (t) => {
  const points = all(GOOD).map((point, index) => (index === 50 ? { ...GOOD, downCount: 1 } : point));
  const { mark, stripe } = PICTURE_COLOURS.light;
  const good = countColours(drawChartPixels(base), 60, 790);
  const failed = countColours(drawChartPixels({ ...base, points }), 60, 790);
  t.notOk(good.has(hex(stripe)), 'a good time has none');
  t.ok((failed.get(hex(stripe)) ?? 0) > 50, 'one failed check of a step shows');
  t.ok((failed.get(hex(mark)) ?? 0) > (good.get(hex(mark)) ?? 0) + 20, 'and has its cross');
});

t.test('it leaves gaps where nothing is known, and shows a single check', async (t) => {
  const columns = (points: readonly ChartPoint[]) => {
    const picture = drawChartPixels({ ...base, points });
    // Left of the plot stand labels, under it the legend has a piece of line.
    return [...Array(720).keys()].filter((column) =>
      Array.from({ length: 170 }, (_, row) => pixelAt(picture, column + 70, row + 74)).includes(
        hex(PICTURE_COLOURS.light.line),
      ),
    ).length;
  };
  const whole = columns(base.points);
  const half = columns(base.points.map((point, index) => (index % 24 < 12 ? NONE : point)));
  const one = columns(base.points.map((_, index) => (index === 40 ? GOOD : NONE)));
  t.ok(whole > 700, `${whole} columns of line`);
  t.ok(half > 280 && half < 360, `${half} columns of line`);
  t.ok(one >= 3 && one <= 8, `${one} columns of line`);
});

t.test('it says so where there are no checks, or no response times', async (t) => {
  const pictures = new Set([
    digest(base),
    digest({ ...base, points: all(NONE) }),
    digest({ ...base, points: all({ ...NONE, count: 3 }) }),
    digest({ ...base, points: all(DOWN) }),
  ]);
  t.equal(pictures.size, 4);
});

t.test('it shows every part of what it is given', async (t) => {
  const changes: readonly Partial<ChartPicture>[] = [
    {},
    { name: 'Codeberg' },
    { domain: 'github.io' },
    { status: 'down' },
    { ageText: '12 min ago' },
    { asOf: NOW - 180_000 },
    { asOf: null },
    { missingSince: NOW - 3_600_000 },
    { window: '7d' },
    { uptimeText: '99.9 %' },
    { uptimeText: null },
    { theme: 'dark' },
    { size: 'card' },
    { size: 'card', site: 'upbeat.example.org' },
    { points: all({ ...GOOD, p50Ms: 150 }) },
    { points: all({ ...GOOD, p95Ms: 160 }) },
  ];
  t.equal(new Set(changes.map((change) => digest({ ...base, ...change }))).size, changes.length);
});

t.test('it shows a name as a badge does, and fits every text', async (t) => {
  const table: readonly [string, string][] = [
    ['微信', 'github.com'],
    ['\u202eGitHub\u0000 😀', 'GitHub'],
    ['Ｇｉｔ', 'Git'],
    ['Naver 네이버', 'Naver'],
  ];
  for (const [name, shown] of table)
    t.equal(digest({ ...base, name }), digest({ ...base, name: shown }), JSON.stringify(name));
  for (const size of CHART_SIZES) {
    const long = {
      ...base,
      size,
      name: 'W'.repeat(200),
      domain: `${'w'.repeat(60)}.example`,
      site: 'x'.repeat(200),
    };
    const picture = drawChartPixels({ ...long, ageText: '12 min ago' });
    const edge = PICTURE_COLOURS.light[size === 'embed' ? 'border' : 'ground'];
    for (const column of [0, picture.width - 1]) {
      for (let row = 10; row < picture.height - 10; row++)
        if (pixelAt(picture, column, row) !== hex(edge)) return t.fail(`ink at the edge, row ${row}`);
    }
  }
  return t.pass('no text passes the edge');
});

t.test('it draws any figures and any text', (t) => {
  const ms = fc.option(fc.integer({ min: 0, max: 65_534 }), { nil: null });
  const point = fc.record({ p50Ms: ms, p95Ms: ms, count: fc.nat(3), downCount: fc.nat(3) });
  fc.assert(
    fc.property(
      fc.constantFrom(...PICTURE_WINDOWS),
      fc.array(point, { minLength: 1, maxLength: 40 }),
      anyText(),
      fc.constantFrom(...PICTURE_THEMES),
      (window, points, name, theme) => {
        const picture = { ...base, window, span: spanOf(window, NOW), points, name, theme };
        const { width, height, data } = drawChartPixels(picture);
        return width === 800 && height === 300 && data[(150 * 800 + 5) * 4 + 3] === 255;
      },
    ),
    { numRuns: propertyRuns(6) },
  );
  t.end();
});

t.test('it keeps texts readable in both themes', (t) => {
  for (const theme of PICTURE_THEMES) {
    const { ground, text, muted, line, mark } = PICTURE_COLOURS[theme];
    for (const [name, colour] of Object.entries({ text, muted }))
      t.ok(contrast(ground, colour) >= 4.5, `${theme} ${name} ${contrast(ground, colour).toFixed(1)}`);
    // Graphical objects need 3 to 1 (WCAG 2.2, 1.4.11).
    for (const [name, colour] of Object.entries({ line, mark }))
      t.ok(contrast(ground, colour) >= 3, `${theme} ${name} ${contrast(ground, colour).toFixed(1)}`);
  }
  t.end();
});

t.test('it sums samples up: percentiles as they are, uptime rounded down', (t) => {
  const bucket = (count: number, downCount: number): Bucket => ({
    startAt: 0,
    endAt: 1,
    count,
    upCount: count - downCount,
    slowCount: 0,
    downCount,
    suspectCount: 0,
    uptimeRatio: null,
    meanMs: 9,
    p50Ms: 10,
    p95Ms: 20,
    p99Ms: 30,
  });
  t.same(chartPoints([bucket(30_000, 1), bucket(0, 0)]), {
    points: [
      { p50Ms: 10, p95Ms: 20, count: 30_000, downCount: 1 },
      { p50Ms: 10, p95Ms: 20, count: 0, downCount: 0 },
    ],
    uptimeText: '99.99%',
  });
  t.equal(chartPoints([bucket(0, 0)]).uptimeText, null);
  t.end();
});

/** Contrast of two colours (WCAG 2.2, relative luminance). */
function contrast(a: number, b: number): number {
  const luminance = (colour: number) => {
    const [red = 0, green = 0, blue = 0] = [colour >>> 16, (colour >>> 8) & 255, colour & 255].map(
      (value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      },
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}
