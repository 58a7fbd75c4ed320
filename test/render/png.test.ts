import fc from 'fast-check';
import t from 'tap';
import { encodePalettePng } from '../../src/render/png.ts';
import { decodePng } from './decode-png.ts';

const pixels = (colours: readonly number[], width: number) => ({
  width,
  height: colours.length / width,
  data: Uint8Array.from(colours.flatMap((c) => [c / 2 ** 24, (c >>> 16) % 256, (c >>> 8) % 256, c % 256])),
});

/** Colours without alpha are all one to the eye, and to us. */
const visible = (data: Uint8Array) => {
  const copy = Uint8Array.from(data);
  for (let at = 0; at < copy.length; at += 4) if (copy[at + 3] === 0) copy.fill(0, at, at + 4);
  return [...copy];
};

t.test('it keeps every pixel of a picture with at most 256 colours', async (t) => {
  const palette = fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { minLength: 1, maxLength: 256 });
  await fc.assert(
    fc.asyncProperty(palette, fc.integer({ min: 1, max: 20 }), async (colours, width) => {
      const whole = colours.concat(
        Array.from({ length: (width - (colours.length % width)) % width }, () => colours[0] ?? 0),
      );
      const picture = pixels(whole, width);
      const decoded = await decodePng(encodePalettePng(picture));
      t.same([decoded.width, decoded.height], [picture.width, picture.height]);
      t.same(visible(decoded.data), visible(picture.data));
    }),
    { numRuns: 40 },
  );
});

t.test('it drops the lowest bits of a picture with more colours', async (t) => {
  const many = Array.from({ length: 4_096 }, (_, index) => index * 1_048_583 * 256 + 255).map(
    (c) => c % 2 ** 32,
  );
  const picture = pixels(
    many.map((c) => (c | 255) >>> 0),
    64,
  );
  const decoded = await decodePng(encodePalettePng(picture));
  const colours = new Set(
    Array.from({ length: 4_096 }, (_, index) => decoded.data.subarray(index * 4, index * 4 + 4).join()),
  );
  t.ok(colours.size <= 256 && colours.size > 32, `${colours.size} colours`);
  let worst = 0;
  for (const [at, value] of decoded.data.entries())
    worst = Math.max(worst, Math.abs(value - (picture.data[at] ?? 0)));
  t.ok(worst <= 64, `the worst channel is off by ${worst}`);
  t.ok(
    [...decoded.data].every((value, at) => at % 4 !== 3 || value === 255),
    'what was opaque stays opaque',
  );
});
