/** The page of a service and the pages of its incidents in a real browser, used with and without scripts. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import t from 'tap';
import { check, current, NOW } from '../site/site-world.ts';
import { launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';
import { openPage } from '../support/watched-page.ts';
import { SERVICES, startServiceWorld } from '../web/service-world.ts';

const PATIENCE = { timeout: 45_000 };

t.test('the page of a service shows its details', { ...NEEDS_BROWSER, timeout: 240_000 }, async (t) => {
  const world = await startServiceWorld();
  let browser: Browser | undefined;
  t.teardown(async () => {
    await browser?.close();
    await world.close();
  });
  const chromium = await launchBrowser();
  browser = chromium;
  const open = async (options: BrowserContextOptions = {}) => {
    const watched = await openPage(chromium, options);
    const goto = (path: string) => watched.page.goto(world.origin + path, { waitUntil: 'load' });
    return { ...watched, goto };
  };

  await t.test('it changes the range without a reload', async (t) => {
    const { page, complaints, goto, close } = await open();
    await goto('/status/wordy-example');
    await page.locator('#response-times canvas').waitFor(PATIENCE);
    await page.evaluate('window.stays = true');
    const before = await page.locator('#response-times tbody th').last().textContent();
    await page.getByRole('link', { name: '7 days' }).click();
    await page.getByText(/^Response time, 7 days: at most/).waitFor(PATIENCE);
    t.equal(await page.evaluate('window.stays'), true);
    t.match(page.url(), /\?range=7d$/);
    t.equal(await page.locator('.ranges [aria-current]').textContent(), '7 days');
    t.equal(await page.locator('.ranges [aria-current]').count(), 1);
    t.not(await page.locator('#response-times tbody th').last().textContent(), before);
    t.equal(await page.locator('#response-times canvas').count(), 1);
    await page.locator('#response-times .u-over').hover();
    await page.locator('[data-value="p50"]', { hasText: 'ms' }).waitFor(PATIENCE);
    // What cannot be loaded is said, and the chart that is there stays.
    await page.route('**/response-times.json*', (route) => route.abort());
    await page.getByRole('link', { name: '1 year' }).click();
    await page.getByText('This range could not be loaded').waitFor(PATIENCE);
    t.equal(await page.locator('#response-times canvas').count(), 1);
    t.same(
      complaints.filter((text) => !text.includes('ERR_FAILED')),
      [],
    );
    await close();
  });

  await t.test('it draws again in the colours of the other scheme', async (t) => {
    const { page, goto, close } = await open();
    await goto('/status/wordy-example');
    const canvas = page.locator('#response-times canvas');
    await canvas.waitFor(PATIENCE);
    await page.evaluate('document.querySelector("#response-times canvas").dataset.first = ""');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('#response-times canvas:not([data-first])').waitFor(PATIENCE);
    t.equal(await canvas.count(), 1);
    await close();
  });

  await t.test('it does the same by links and a drawing without scripts', async (t) => {
    const { page, complaints, goto, close } = await open({ javaScriptEnabled: false });
    await goto('/status/wordy-example');
    t.equal(await page.locator('#response-times svg[role="img"] path[class^="line"]').count(), 3);
    await page.getByRole('link', { name: '30 days' }).click();
    await page.waitForURL(/\?range=30d/);
    t.match(await page.locator('.label').textContent(), /^Response time, 30 days: at most/);
    t.equal(await page.locator('.ranges [aria-current]').textContent(), '30 days');
    await page.locator('.days details summary').click();
    t.equal(await page.locator('.days tbody').first().locator('tr').count(), 90);
    t.same(complaints, []);
    await close();
  });

  await t.test('it lets the keyboard walk through the days, one stop for all', async (t) => {
    const { page, goto, close } = await open();
    await goto('/status/pier-example');
    for (const [kind, days, keys] of [
      ['bars', 90, ['ArrowLeft', 'ArrowLeft', 'ArrowRight']],
      ['calendar', 365, ['ArrowUp']],
    ] as const) {
      const drawing = page.locator(`.${kind}`);
      t.equal(await drawing.locator('[role="img"][aria-label]').count(), days, kind);
      const stop = drawing.locator('[tabindex="0"]');
      t.equal(await stop.count(), 1, kind);
      t.match(await stop.getAttribute('aria-label'), /^2026-11-20: /, 'it begins today');
      await stop.focus();
      for (const key of keys) await page.keyboard.press(key);
      t.match(await stop.getAttribute('aria-label'), /^2026-11-19: /, kind);
      const tip = page.locator('.tip:visible');
      t.equal(await tip.textContent(), await stop.getAttribute('aria-label'), 'the tip says the same');
      await page.keyboard.press('Escape');
      t.equal(await tip.count(), 0, 'and can be sent away');
      await page.keyboard.press('Home');
      t.match(await stop.getAttribute('aria-label'), kind === 'bars' ? /^2026-08-23: / : /^2025-11-21: /);
      t.equal(await stop.evaluate('document.activeElement.getAttribute("tabindex")'), '0');
    }
    await close();
  });

  await t.test('it leads from incident to incident, and copies a badge', async (t) => {
    const { page, complaints, goto, close } = await open({
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await goto('/status/pier-example');
    await page.getByLabel('Markdown').locator('xpath=../..').getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied.').waitFor(PATIENCE);
    t.equal(
      await page.evaluate('navigator.clipboard.readText()'),
      '[![Pier status](https://upbeat.test/api/badge/pier-example)](https://upbeat.test/status/pier-example)',
    );
    await page.getByRole('link', { name: 'Pier cannot be reached securely' }).click();
    await page.getByRole('heading', { level: 1, name: 'Pier cannot be reached securely' }).waitFor(PATIENCE);
    await page.getByRole('link', { name: /Older incident/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Elevated errors in the EU' }).waitFor(PATIENCE);
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied.').waitFor(PATIENCE);
    t.equal(
      await page.evaluate('navigator.clipboard.readText()'),
      'https://upbeat.test/status/pier-example/incidents/statuspage-1-pier',
    );
    await page.locator('.trail').getByRole('link', { name: 'Pier' }).click();
    await page.waitForURL(/\/status\/pier-example$/);
    t.equal((await goto('/status/pier-example/incidents/none'))?.status(), 404);
    t.same(complaints, []);
    await close();
  });

  await t.test('it follows what happens to the service', async (t) => {
    const { page, complaints, goto, close } = await open();
    await goto('/status/bouncer-example');
    await page.locator('[data-live-state="connected"]').waitFor(PATIENCE);
    await page.evaluate('window.stays = true');
    const failure = {
      class: 'status',
      phase: 'first_byte',
      cause: { code: 'text', text: 'HTTP 503' },
    } as const;
    await world.status.put([
      current(SERVICES.blocked, check(NOW, { status: 'down', statusCode: 503, failure }), { seq: 2 }),
    ]);
    await world.clock.advance(1_000);
    await page.locator('.voice .pill.down', { hasText: 'Down' }).waitFor(PATIENCE);
    await page.locator('.voice .verdict', { hasText: 'HTTP 503' }).waitFor(PATIENCE);
    t.equal(await page.evaluate('window.stays'), true);
    // A service that had no check yet gets the rest of its page with the first.
    await goto('/status/newcomer-example');
    await page.locator('[data-live-state="connected"]').waitFor(PATIENCE);
    t.equal(await page.locator('#response-times').count(), 0);
    await world.status.put([current(SERVICES.unknown, check(NOW))]);
    await world.clock.advance(1_000);
    await page.locator('#response-times').waitFor(PATIENCE);
    t.same(complaints, []);
    await close();
  });
});
