/** A page in the distribution's Chromium that notes what no reader may ever see, and what can be asked of it. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** A page, and what went wrong in it: refused styles and scripts, errors, dialogs. */
export interface WatchedPage {
  readonly page: Page;
  readonly complaints: string[];
  close(): Promise<void>;
}

/** Opens a page in a context of its own; it waits as long for anything as a busy machine may need. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(45_000);
  const complaints: string[] = [];
  page.on('console', (message) => {
    // A page that is not found says so in the console too.
    if (message.type() === 'error' && !message.text().includes('404')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, complaints, close: () => context.close() };
}

/** How far the page hangs over the right edge, pixels. */
export function overhangOf(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

/** Headings that are more than one level below the one before. */
export async function headingJumps(page: Page): Promise<string[]> {
  const levels = await page.locator('h1, h2, h3, h4').evaluateAll((all) => all.map(({ tagName }) => tagName));
  return levels.filter((tag, index) => Number(tag[1]) > Number(levels[index - 1]?.[1] ?? 0) + 1);
}

/**
 * The page and the visible scrolling regions that are wider than their room, each with its label and both widths. A
 * chart takes some frames to follow a change of the window's size; what is too wide for 60 frames is reported.
 */
export async function findOverhangs(page: Page): Promise<readonly string[]> {
  const found = await page.evaluate(`(async () => {
    let wide = [];
    for (let frame = 0; frame < 60; frame++) {
      await new Promise(requestAnimationFrame);
      wide = [document.documentElement, ...document.querySelectorAll('.scroll')]
        .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth)
        .map((one) => (one.getAttribute('aria-label') ?? one.tagName) + ': ' + one.scrollWidth + ' > ' + one.clientWidth);
      if (wide.length === 0) break;
    }
    return wide;
  })()`);
  return found as string[];
}
