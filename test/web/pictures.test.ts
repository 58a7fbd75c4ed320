/** The pages look as the pictures of the documentation show them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import t from 'tap';
import { NEEDS_BROWSER } from '../support/browser.ts';
import { comparePictures, type PictureDifference } from '../support/picture-difference.ts';
import { PICTURE_FOLDER, takePictures } from './pictures.ts';

/** Share of a picture that may look different on another machine, 0 to 1. */
const TOLERANCE = 0.01;
/** Where pictures are left that look different. */
const SEEN_FOLDER = join(tmpdir(), 'upbeat-pictures');

t.test('it sees what people would see, and not how letters are smoothed', async (t) => {
  const page = paint(() => 255);
  const text = paint((x, y) => (x % 3 === 0 && y % 16 < 10 ? 60 : 255));
  t.equal(comparePictures(text, text).share, 0, 'the same');
  const smoothed = paint((x, y) => (x % 3 === 0 && y % 16 < 10 ? 75 : 250));
  t.equal(comparePictures(text, smoothed).share, 0, 'other smoothing');
  t.equal(
    comparePictures(
      page,
      paint(() => 200),
    ).share,
    1,
    'another colour',
  );
  const box = paint((x, y) => (x < 80 && y < 32 ? 120 : 255));
  t.ok(comparePictures(page, box).share > TOLERANCE, 'a new box');
  const small = PNG.sync.write(new PNG({ width: 80, height: 80 }));
  t.same(comparePictures(page, small), { share: 1, squares: null }, 'another size');
});

t.test('every page looks as its picture', { ...NEEDS_BROWSER, timeout: 240_000 }, async (t) => {
  for await (const { name, png } of takePictures()) {
    const file = join(PICTURE_FOLDER, name);
    if (!existsSync(file)) {
      t.fail(`docs/pictures/${name} is missing: "npm run pictures" makes it`);
      continue;
    }
    const found = comparePictures(readFileSync(file), png);
    if (found.share <= TOLERANCE) t.pass(name);
    else t.fail(describe(name, found, keep(name, png, found)));
  }
});

/** Leaves the picture, and what differs, to be looked at. Returns the path of the picture. */
function keep(name: string, png: Buffer, { squares }: PictureDifference): string {
  mkdirSync(SEEN_FOLDER, { recursive: true });
  const seen = join(SEEN_FOLDER, name);
  writeFileSync(seen, png);
  if (squares !== null) writeFileSync(seen.replace(/\.png$/, '-difference.png'), squares);
  return seen;
}

function describe(name: string, { share }: PictureDifference, seen: string): string {
  return `${(100 * share).toFixed(1)} % of docs/pictures/${name} looks different: compare it with ${seen}. If the page is meant to look so now, "npm run pictures" renews the pictures`;
}

/** A grey picture of 320 by 160 pixels, as PNG. */
function paint(greyAt: (x: number, y: number) => number): Buffer {
  const picture = new PNG({ width: 320, height: 160 });
  for (let y = 0; y < 160; y++)
    for (let x = 0; x < 320; x++) picture.data.fill(greyAt(x, y), (y * 320 + x) * 4, (y * 320 + x) * 4 + 3);
  for (let at = 3; at < picture.data.length; at += 4) picture.data[at] = 255;
  return PNG.sync.write(picture);
}
