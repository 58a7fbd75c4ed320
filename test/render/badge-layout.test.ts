/** Badges that show a figure, and what all badges tell those who do not see them (decisions, Badge). */
import fc from 'fast-check';
import t from 'tap';
import { type BadgePicture, PICTURE_THEMES } from '../../src/domain/picture.ts';
import { SERVICE_STATUSES } from '../../src/domain/status.ts';
import { BADGE_WIDTH, drawBadge, drawBadgePixels, layOutBadge, wordFace } from '../../src/render/badge.ts';
import { BADGE_COLOURS } from '../../src/render/colours.ts';
import { measure } from '../../src/render/text.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { countColours, decodePng, pixelAt } from './decode-png.ts';
import { pngChunks, pngContent } from './png-chunks.ts';

const FIGURES = [
  { word: '99.98 % up', window: '30 d' },
  { word: '100 % up', window: '24 h' },
  { word: 'median 184 ms', window: '7 d' },
  { word: 'p95 12.3 s', window: '90 d' },
  { word: 'No data', window: '1 y' },
] as const;
const base: BadgePicture = {
  name: 'GitHub',
  status: 'up',
  theme: 'light',
  ageText: null,
  figure: FIGURES[0],
};
const hex = (colour: number) => `${colour.toString(16).padStart(6, '0')}ff`;

t.test('it draws each figure in each theme and state, in the size of the contract and 4 KB', async (t) => {
  const pictures = new Set<string>();
  for (const theme of PICTURE_THEMES) {
    for (const status of SERVICE_STATUSES) {
      for (const ageText of [null, '12 min ago']) {
        for (const figure of FIGURES) {
          const named = `${theme} ${status} ${figure.word} ${ageText}`;
          const png = drawBadge({
            ...base,
            theme,
            status,
            ageText,
            figure,
            asOf: '2026-11-20T10:00:00.000Z',
          });
          const badge = await decodePng(png);
          const { pills, stale } = BADGE_COLOURS[theme];
          const pill = ageText === null ? pills[status] : stale;
          t.same([badge.width, badge.height, pixelAt(badge, 268, 18)], [280, 36, hex(pill.fill)], named);
          const colours = countColours(badge, 0, 280);
          t.ok((colours.get(hex(pill.text)) ?? 0) > 10, `${named}: the figure is written`);
          t.ok((colours.get(hex(pill.shape)) ?? 0) > 3, `${named}: the shape is drawn`);
          t.ok(png.length <= 4_096, `${named}: ${png.length} bytes`);
          pictures.add(pngContent(png));
        }
      }
    }
  }
  // A stale figure has one look, however good it was: theme and figure are what is left.
  t.equal(pictures.size, 2 * FIGURES.length * (SERVICE_STATUSES.length + 1));
});

t.test('it says figure, window and age in words, the name shortened before them', async (t) => {
  const said = (change: Partial<BadgePicture>) =>
    layOutBadge({ ...base, ...change }).lines.map(({ text }) => text);
  t.same(said({}), ['99.98 % up', '30 d', 'GitHub']);
  t.same(said({ ageText: '12 min ago' }), ['99.98 % up · 12 min ago', '30 d', 'GitHub']);
  t.same(said({ name: 'Amazon Web Services', ageText: '12 min ago' }), [
    '99.98 % up · 12 min ago',
    '30 d',
    'Amaz…',
  ]);
});

t.test('it marks a stale figure by a clock, and nothing else by one', async (t) => {
  const { figure: _, ...statusBadge } = base;
  const mark = (change: Partial<BadgePicture>) => layOutBadge({ ...base, ...change }).mark.shape;
  t.same(
    SERVICE_STATUSES.map((status) => [mark({ status }), mark({ status, ageText: '1 h ago' })]),
    SERVICE_STATUSES.map((status) => [status, 'clock']),
  );
  t.same(
    SERVICE_STATUSES.map((status) => layOutBadge({ ...statusBadge, status, ageText: '1 h ago' }).mark.shape),
    SERVICE_STATUSES,
    'the status badge keeps its shape',
  );
});

t.test('it keeps texts apart: name, window, pill', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 60 });
  fc.assert(
    fc.property(text, text, text, fc.option(text), (name, word, window, ageText) => {
      const { lines, pill } = layOutBadge({
        ...base,
        name,
        figure: { word, window: window.slice(0, 8) },
        ageText,
      });
      const placed = [...lines].sort((a, b) => a.x - b.x);
      for (const [index, { face, text: shown, x }] of placed.entries()) {
        const next = placed[index + 1]?.x ?? BADGE_WIDTH - 7;
        if (x + measure(face, shown) > next) return false;
      }
      return pill.x > 60 && placed[0]?.x === 13;
    }),
    { numRuns: propertyRuns(60) },
  );
});

t.test('it keeps the window readable: a contrast of 4.5 to 1 on the card', async (t) => {
  for (const theme of PICTURE_THEMES) {
    const { card, stale } = BADGE_COLOURS[theme];
    const window = layOutBadge({ ...base, theme }).lines.find(({ text }) => text === '30 d');
    t.equal(window?.colour, stale.text);
    t.equal(window?.face, wordFace());
    t.ok(contrast(card, stale.text) >= 4.5, `${theme}: ${contrast(card, stale.text)}`);
  }
});

t.test('it keeps the time of a picture in the PNG, without changing the picture', async (t) => {
  const asOf = '2026-11-20T10:00:00.000Z';
  const png = drawBadge({ ...base, asOf });
  const chunks = pngChunks(png);
  t.same(
    chunks.map(({ type, sound }) => [type, sound]),
    ['IHDR', 'tEXt', 'PLTE', 'tRNS', 'IDAT', 'IEND'].map((type) => [type, true]),
  );
  t.equal(chunks[1]?.data.toString('latin1'), `As of\0${asOf}`);
  t.same(Buffer.from((await decodePng(png)).data), Buffer.from(drawBadgePixels(base).data));
});

function contrast(a: number, b: number): number {
  const light = (colour: number) => {
    const linear = (byte: number) =>
      byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4;
    return (
      0.2126 * linear(colour >>> 16) + 0.7152 * linear((colour >>> 8) & 255) + 0.0722 * linear(colour & 255)
    );
  };
  const [dark = 0, bright = 0] = [light(a), light(b)].sort((x, y) => x - y);
  return (bright + 0.05) / (dark + 0.05);
}
