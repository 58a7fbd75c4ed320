/**
 * The page of a service in every state, light, dark and as a phone: axe finds nothing to mend, and no text of others
 * becomes anything but text. `SCREENSHOTS=FOLDER` keeps the screenshots, to be looked at.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import t from 'tap';
import { type AxeRules, findFaults, launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';
import { headingJumps, openPage, overhangOf } from '../support/watched-page.ts';
import { ODD_ID, startServiceWorld } from '../web/service-world.ts';

const INCIDENT = `/status/hostile-example/incidents/${encodeURIComponent(ODD_ID)}`;
/** Pages by name, each with the rules that axe applies in this look: what a look cannot change is seen in another. */
const LOOKS: readonly [
  string,
  BrowserContextOptions,
  Readonly<Record<string, readonly [string, AxeRules]>>,
][] = [
  [
    'light',
    {},
    {
      down: ['/status/pier-example', 'all'],
      unknown: ['/status/newcomer-example', 'all'],
      heartbeat: ['/status/shop-example', 'all'],
      hostile: ['/status/hostile-example', 'all'],
    },
  ],
  [
    'dark',
    { colorScheme: 'dark' },
    {
      down: ['/status/pier-example', 'colours'],
      heartbeat: ['/status/shop-example', 'colours'],
      slow: ['/status/crawler-example', 'all'],
      incident: [INCIDENT, 'all'],
    },
  ],
  [
    'phone',
    { viewport: { width: 390, height: 844 } },
    {
      down: ['/status/pier-example', 'all but colours'],
      heartbeat: ['/status/shop-example', 'all but colours'],
      stale: ['/status/attic-example?lang=de', 'all'],
      hostile: ['/status/hostile-example', 'all but colours'],
    },
  ],
];

t.test('it shows a service to everybody, in any state', { ...NEEDS_BROWSER, timeout: 240_000 }, async (t) => {
  const world = await startServiceWorld();
  let browser: Browser | undefined;
  t.teardown(async () => {
    await browser?.close();
    await world.close();
  });
  browser = await launchBrowser();
  const pictures = process.env.SCREENSHOTS;
  if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
  for (const [look, options, pages] of LOOKS) {
    const { page, complaints, close } = await openPage(browser, options);
    for (const [name, [path, rules]] of Object.entries(pages)) {
      await page.goto(world.origin + path, { waitUntil: 'load' });
      if (pictures !== undefined)
        await page.screenshot({ path: join(pictures, `service-${name}-${look}.png`), fullPage: true });
      t.same(await findFaults(page, rules), [], `${name} ${look}`);
      t.equal(await overhangOf(page), 0, `${name} ${look}: nothing hangs over the edge`);
      t.same(await headingJumps(page), [], `${name} ${look}: headings leave no level out`);
      await page.emulateMedia({ media: 'print' });
      for (const pressed of ['.ranges', '.copy', 'header.site nav'])
        t.equal(
          await page.locator(pressed).filter({ visible: true }).count(),
          0,
          `${name}: no ${pressed} on paper`,
        );
      t.equal(await page.locator('h1').isVisible(), true);
      await page.emulateMedia({ media: null });
    }
    t.same(complaints, [], look);
    await close();
  }
});
