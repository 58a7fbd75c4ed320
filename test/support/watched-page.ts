/** A page in the distribution's Chromium that notes what no reader may ever see, and what can be asked of it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { hasProgram } from './install-servers.ts';

/** Options of a test that cannot be without a browser. */
export const NEEDS_BROWSER = hasProgram('chromium')
  ? {}
  : { skip: 'chromium is missing: apt-get install chromium' };

/** Starts the browser. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-quic'] });
}

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

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds on the page, a line each. */
export async function findFaults(page: Page): Promise<string[]> {
  const violations = (await page.evaluate(
    `${AXE}; axe.run(document).then(({ violations }) => violations)`,
  )) as Finding[];
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html }) => `${id}: ${help}: ${html.slice(0, 200)}`),
  );
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
