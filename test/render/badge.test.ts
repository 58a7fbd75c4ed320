import { createHash } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { type BadgePicture, PICTURE_THEMES, STATUS_LABELS } from '../../src/domain/picture.ts';
import { SERVICE_STATUSES } from '../../src/domain/status.ts';
import { BADGE_HEIGHT, BADGE_WIDTH, drawBadge } from '../../src/render/badge.ts';
import { BADGE_COLOURS, type Colour } from '../../src/render/colours.ts';
import { anyText } from '../support/any-text.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { countColours, decodePng, pixelAt } from './decode-png.ts';
import { pngContent } from './png-chunks.ts';

const base: BadgePicture = { name: 'GitHub', status: 'up', theme: 'light', ageText: null };
const draw = (change: Partial<BadgePicture>) => decodePng(drawBadge({ ...base, ...change }));
const hex = (colour: Colour) => `${colour.toString(16).padStart(6, '0')}ff`;
const bytes = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

t.test(
  'it draws 280 by 36 pixels with the card, the name and the pill of the status in the theme',
  async (t) => {
    for (const theme of PICTURE_THEMES) {
      for (const status of SERVICE_STATUSES) {
        const png = drawBadge({ ...base, theme, status });
        const badge = await decodePng(png);
        const colours = BADGE_COLOURS[theme];
        const name = countColours(badge, 8, 60);
        const pill = countColours(badge, 160, 279);
        t.same(
          {
            size: [badge.width, badge.height],
            corner: pixelAt(badge, 0, 0),
            border: pixelAt(badge, 140, 0),
            card: pixelAt(badge, 140, 18),
            pill: pixelAt(badge, 268, 18),
          },
          {
            size: [280, 36],
            corner: '00000000',
            border: hex(colours.border),
            card: hex(colours.card),
            pill: hex(colours.pills[status].fill),
          },
          `${theme} ${status}`,
        );
        t.ok((name.get(hex(colours.name)) ?? 0) > 20, 'the name is written in its colour');
        t.ok((pill.get(hex(colours.pills[status].text)) ?? 0) > 10, 'the word is written in its colour');
        t.ok((pill.get(hex(colours.pills[status].shape)) ?? 0) > 5, 'the shape is drawn in its colour');
        t.ok(png.length <= 4_096, `${png.length} bytes`);
      }
    }
    t.same([BADGE_WIDTH, BADGE_HEIGHT], [280, 36]);
  },
);

/** Digests of what the status badges hold: chunks, palette and pixels, not how zlib packed them. */
const CONTRACT: readonly (readonly [BadgePicture['theme'], BadgePicture['status'], string | null, string])[] =
  [
    ['light', 'up', null, '42c3dba613ae4369'],
    ['light', 'up', '12 min ago', 'a302f014dbf2ebde'],
    ['light', 'slow', null, '60ef749a7034df69'],
    ['light', 'slow', '12 min ago', '27454993b27f000c'],
    ['light', 'down', null, 'f83f479bf7633ecf'],
    ['light', 'down', '12 min ago', 'e9d2272120daabdb'],
    ['light', 'unknown', null, '7c2a4766754d6bef'],
    ['light', 'unknown', '12 min ago', '8c49c80597a897d4'],
    ['dark', 'up', null, 'd0cbaf917fb6b46a'],
    ['dark', 'up', '12 min ago', 'ff8bb6ad00bb230a'],
    ['dark', 'slow', null, '2d12bc61a2cf1f41'],
    ['dark', 'slow', '12 min ago', '6dedb9e44b17a4f3'],
    ['dark', 'down', null, '7fe8d4852ccc44e7'],
    ['dark', 'down', '12 min ago', '87271464c9a4a128'],
    ['dark', 'unknown', null, 'ff28cef4fe8c09fb'],
    ['dark', 'unknown', '12 min ago', 'bdd2e76378bff04a'],
  ];

t.test('it draws the status badges of the contract as they have always been', async (t) => {
  const drawn = CONTRACT.map(([theme, status, ageText]) => {
    const png = drawBadge({ ...base, fallback: 'github.com', theme, status, ageText });
    return [theme, status, ageText, pngContent(png)];
  });
  t.same(drawn, CONTRACT);
  t.equal(
    pngContent(drawBadge({ ...base, name: '微信', fallback: 'weixin.qq.com' })),
    '94817375a04d2440',
    'a domain for a name',
  );
});

t.test('it says one of the four words', async (t) => {
  t.same(STATUS_LABELS, { up: 'Operational', slow: 'Slow', down: 'Down', unknown: 'Unknown' });
});

t.test('it distinguishes each status from the others without colours', async (t) => {
  const pictures = await Promise.all(
    SERVICE_STATUSES.map(async (status) => {
      const badge = await draw({ status, ageText: '1 min ago' });
      // The same age in grey: what is left of the differences is shape and word.
      return bytes(badge.data);
    }),
  );
  t.equal(new Set(pictures).size, SERVICE_STATUSES.length);
});

t.test('it draws a stale status in grey, with its age and in the same size', async (t) => {
  for (const theme of PICTURE_THEMES) {
    for (const status of SERVICE_STATUSES) {
      const stale = await draw({ theme, status, ageText: '12 min ago' });
      const { stale: grey, pills } = BADGE_COLOURS[theme];
      t.same([stale.width, stale.height, pixelAt(stale, 268, 18)], [280, 36, hex(grey.fill)]);
      const colours = countColours(stale, 0, 280);
      t.notOk(colours.has(hex(pills[status].text)), 'nothing of the status colour is left');
      const fresh = countColours(await draw({ theme, status }), 0, 280);
      const word = fresh.get(hex(pills[status].text)) ?? 0;
      t.ok((colours.get(hex(grey.text)) ?? 0) > word, 'more is written than the word');
      t.not(bytes(stale.data), bytes((await draw({ theme, status, ageText: '13 min ago' })).data));
    }
  }
});

t.test('it writes the name: the same pixels for the same name, others for another', async (t) => {
  const strip = async (name: string) => {
    const badge = await draw({ name });
    return (
      Array.from({ length: 36 }, (_, y) => pixelAt(badge, 20, y) + pixelAt(badge, 40, y)).join() +
      bytes(badge.data)
    );
  };
  t.equal(await strip('GitHub'), await strip('GitHub'));
  const names = ['GitHub', 'GitLab', 'Gitea', 'Почта', 'Ελτα', 'Łódź'];
  t.equal(new Set(await Promise.all(names.map(strip))).size, names.length);
});

t.test('it draws the domain where the script of the name is not in the fonts', async (t) => {
  const shown = await draw({ name: '微信', fallback: 'weixin.qq.com' });
  t.equal(bytes(shown.data), bytes((await draw({ name: 'weixin.qq.com' })).data));
});

t.test('it shortens a long name with an ellipsis and keeps a gap before the pill', async (t) => {
  const long = 'An extraordinarily long name of a service that nobody could ever remember';
  for (const status of SERVICE_STATUSES) {
    for (const ageText of [null, '12 min ago', '3 days ago and some more words than anybody needs']) {
      const badge = await draw({ name: long, status, ageText });
      const pill = ageText === null ? BADGE_COLOURS.light.pills[status] : BADGE_COLOURS.light.stale;
      let edge = 0;
      for (let x = 1; x < 272; x++) if (pixelAt(badge, x, 8) === hex(pill.fill)) edge = edge === 0 ? x : edge;
      const gap = countColours(badge, edge - 12, edge - 9);
      t.same([...gap.keys()].sort(), [hex(BADGE_COLOURS.light.card), hex(BADGE_COLOURS.light.border)].sort());
      t.not(bytes(badge.data), bytes((await draw({ name: long.slice(0, 4), status, ageText })).data));
    }
  }
});

t.test('it keeps every text readable: a contrast of 4.5 to 1, and 3 to 1 for shapes', async (t) => {
  for (const theme of PICTURE_THEMES) {
    const { card, name, pills, stale } = BADGE_COLOURS[theme];
    t.ok(contrast(card, name) >= 7, `${theme} name`);
    for (const [status, pill] of Object.entries({ ...pills, stale })) {
      t.ok(
        contrast(pill.fill, pill.text) >= 4.5,
        `${theme} ${status} text ${contrast(pill.fill, pill.text)}`,
      );
      t.ok(
        contrast(pill.fill, pill.shape) >= 3,
        `${theme} ${status} shape ${contrast(pill.fill, pill.shape)}`,
      );
    }
  }
});

t.test('it draws any name in at most 4 KB', async (t) => {
  const text = fc.oneof(
    anyText({ maxLength: 60 }),
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(...'ßẞÅŁĐЖЩЮΩΨ&@%#Ẫữ□8'), maxLength: 60 }),
  );
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.option(text),
      fc.constantFrom(...SERVICE_STATUSES),
      fc.constantFrom(...PICTURE_THEMES),
      fc.option(text),
      async (name, fallback, status, theme, ageText) => {
        const png = drawBadge({ name, status, theme, ageText, ...(fallback === null ? {} : { fallback }) });
        const badge = await decodePng(png);
        return badge.width === 280 && badge.height === 36 && png.length <= 4_096;
      },
    ),
    { numRuns: propertyRuns(50) },
  );
  t.pass();
});

/** Contrast of two colours by WCAG 2.2. */
function contrast(a: Colour, b: Colour): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: Colour): number {
  const linear = (byte: number) =>
    byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4;
  return (
    0.2126 * linear(colour >>> 16) + 0.7152 * linear((colour >>> 8) & 0xff) + 0.0722 * linear(colour & 0xff)
  );
}
