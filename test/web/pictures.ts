/**
 * `npm run pictures` makes the pictures of pages in `docs/pictures/` anew: each page in both themes, on a desk and on a phone, from
 * a world whose clock stands still. Look at them before you commit them.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { NOW } from '../site/site-world.ts';
import { launchBrowser } from '../support/browser.ts';
import { openPage } from '../support/watched-page.ts';
import { PICTURES, startPictureWorld } from './picture-world.ts';

/** Where the pictures are. */
export const PICTURE_FOLDER = join(import.meta.dirname, '../../docs/pictures');

const SIZES = [
  ['', { width: 1_280, height: 900 }],
  ['-phone', { width: 390, height: 844 }],
] as const;

/** A picture of a page. */
export interface Shot {
  /** Of its file in {@link PICTURE_FOLDER}. */
  readonly name: string;
  readonly png: Buffer;
}

/** Takes all pictures, one after the other. The browser shows the time at which the clock of the world stands. */
export async function* takePictures(): AsyncGenerator<Shot> {
  const world = await startPictureWorld();
  const browser = await launchBrowser();
  try {
    const { page } = await openPage(browser, {
      ...{
        extraHTTPHeaders: { cookie: world.cookie },
        locale: 'en',
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
      },
    });
    await page.clock.setFixedTime(NOW);
    for (const [name, path] of Object.entries(PICTURES)) {
      await page.goto(world.origin + path);
      await page.evaluate('document.fonts.ready');
      for (const [size, viewport] of SIZES) {
        await page.setViewportSize(viewport);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          yield { name: `${name}-${colorScheme}${size}.png`, png: await page.screenshot() };
        }
      }
    }
  } finally {
    await browser.close();
    await world.close();
  }
}

/** The same picture in fewer bytes: without transparency, and packed as tightly as can be. */
function pack(png: Buffer): Buffer {
  return PNG.sync.write(PNG.sync.read(png), { colorType: 2, deflateLevel: 9, filterType: -1 });
}

if (import.meta.main) {
  for await (const { name, png } of takePictures()) {
    const packed = pack(png);
    writeFileSync(join(PICTURE_FOLDER, name), packed);
    console.log(`docs/pictures/${name}  ${Math.ceil(packed.length / 1_024)} KB`);
  }
}
