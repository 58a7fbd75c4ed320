/**
 * Pages of the running program in a real browser: light and dark, wide and as a phone, with and without scripts. What axe says of
 * every page is in `every-page.test.ts`. `SCREENSHOTS=FOLDER` keeps the screenshots, to be looked at.
 */

import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page, Response } from 'playwright-core';
import t from 'tap';
import { findFaults, LOOKS, launchBrowser, NEEDS_BROWSER, signIn, UNFILLED } from '../support/browser.ts';
import { startIdentityServer } from '../support/identity-server.ts';
import { type Installation, install, type RunningProgram } from '../support/program.ts';
import { findOverhangs } from '../support/watched-page.ts';

t.test('it shows every page to everybody', { ...NEEDS_BROWSER, timeout: 240_000 }, async (t) => {
  const up = createServer((_request, response) => response.writeHead(200).end()).listen(0, '127.0.0.1');
  const down = createServer((_request, response) => response.writeHead(503).end()).listen(0, '127.0.0.1');
  await Promise.all([up, down].map((server) => once(server, 'listening')));
  const urlOf = (server: typeof up) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  let installation: Installation | undefined;
  let program: RunningProgram | undefined;
  let browser: Browser | undefined;
  t.teardown(async () => {
    await browser?.close();
    await program?.killHard();
    installation?.remove();
    up.close();
    down.close();
  });
  const page = (kind: string) => ({ url: 'https://status.example', kind });
  installation = await install(
    [
      { slug: 'library', name: 'Library', check: { url: urlOf(up) }, category: 'education' },
      {
        slug: 'post',
        name: 'Post',
        check: { url: urlOf(down) },
        category: 'delivery',
        statusPage: page('custom'),
      },
    ],
    async (siteUrl) => ({
      auth: {
        providers: [
          { id: 'acme', kind: 'oidc', ...(await startIdentityServer(t, `${siteUrl}/sign-in/acme/callback`)) },
        ],
      },
    }),
  );
  program = await installation.start();
  const { siteUrl } = installation;
  await program.until<{ status: string }>('/api/v1/status/post', ({ status }) => status === 'down');
  await program.until<{ status: string }>('/api/v1/status/library', ({ status }) => status === 'up');
  const chromium = await launchBrowser();
  browser = chromium;
  const pictures = process.env.SCREENSHOTS;
  if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
  const shoot = async (page: Page, name: string) => {
    t.notMatch(await page.locator('body').innerText(), UNFILLED, `${name}: no value is missing in its text`);
    if (pictures !== undefined)
      await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
  };

  // A key and a heartbeat, made as a person makes them, without scripts.
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const first = await plain.newPage();
  await signIn(first, siteUrl, 'ada');
  await first.goto(`${siteUrl}/dashboard/keys`);
  await first.getByLabel('Name').fill('laptop');
  await first.getByRole('button', { name: 'Create' }).click();
  const key = await first.getByLabel('Your key').inputValue();
  t.match(key, /^upb_[A-Za-z0-9]{38}$/);
  const beat = await fetch(`${siteUrl}/api/v1/heartbeat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"domain":"shop.example.org","status":"ok","checks":{"database":{"status":"ok","latency":12}}}',
  });
  t.equal(beat.status, 200);
  await first.goto(`${siteUrl}/dashboard`);
  await first.getByRole('textbox', { name: 'Domain' }).fill('blog.example.org');
  await first.getByRole('button', { name: 'Continue' }).click();
  await first.getByRole('button', { name: 'Save the service', exact: true }).click();
  await first.getByText('The service is saved.').waitFor();
  await first.goto(`${siteUrl}/dashboard/webhooks`);
  await first.getByLabel('URL').fill('https://hooks.example/upbeat');
  await first.getByRole('button', { name: 'Add' }).click();
  await first.getByRole('button', { name: /^Send a test/ }).click();
  const state = await plain.storageState();

  const pages = {
    home: '/',
    'home-search': '/?q=lib',
    up: '/status/library-example',
    down: '/status/post-example',
    reported: '/status/shop-example-org',
    missing: '/status/nobody',
    docs: '/docs',
    design: '/design',
    badge: '/badges/library-example?variant=uptime&window=24h',
    'sign-in': '/sign-in',
    dashboard: '/dashboard',
    service: '/dashboard/services/shop-example-org',
    webhooks: '/dashboard/webhooks',
  };
  const complaints: string[] = [];
  const openTab = async (options: BrowserContextOptions) => {
    const context = await chromium.newContext({ ...options, storageState: state });
    context.setDefaultTimeout(60_000);
    const tab = await context.newPage();
    tab.on('console', (message) => {
      // A page that is not found says so in the console too.
      if (message.type() === 'error' && !message.text().includes('404')) complaints.push(message.text());
    });
    tab.on('pageerror', (error) => complaints.push(error.message));
    return tab;
  };
  /** Opens a page; returns how many bytes and requests that took. */
  const openPage = async (tab: Page, path: string) => {
    let bytes = 0;
    const bodies: Promise<void>[] = [];
    const count = (response: Response) => {
      // What a page asks for while it is open is no cost of opening it.
      if (['fetch', 'eventsource'].includes(response.request().resourceType())) return;
      const read = async () => {
        const { length } = await response.body().catch(() => Buffer.alloc(0));
        bytes += length;
      };
      bodies.push(read());
    };
    tab.on('response', count);
    await tab.goto(siteUrl + path);
    tab.off('response', count);
    await Promise.all(bodies);
    return { bytes, requests: bodies.length };
  };
  for (const { name: look, colorScheme, viewport } of LOOKS) {
    const tab = await openTab({ colorScheme, viewport });
    for (const [name, path] of Object.entries(pages)) {
      const { bytes, requests } = await openPage(tab, path);
      await shoot(tab, `${name}-${look}`);
      t.same(await findOverhangs(tab), [], `${name} ${look}: nothing hangs over the edge`);
      if (look === 'phone') {
        await tab.setViewportSize({ width: 320, height: 700 });
        t.same(await findOverhangs(tab), [], `${name}: nor of a small phone`);
        await tab.setViewportSize(viewport);
      }
      // The page of the API grows with its document.
      const mostBytes = name === 'docs' ? 300_000 : 200_000;
      t.ok(bytes < mostBytes && requests <= 12, `${name} ${look}: ${bytes} bytes in ${requests} requests`);
    }
    t.same(complaints.splice(0), [], look);
    await tab.context().close();
  }

  // Copying is a help of scripts: with them there is a button.
  const copying = await browser.newContext({
    storageState: state,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const copier = await copying.newPage();
  await copier.goto(`${siteUrl}/dashboard/keys`);
  await copier.getByLabel('Name').fill('desk');
  await copier.getByRole('button', { name: 'Create' }).click();
  await copier.getByRole('button', { name: 'Copy' }).click();
  await copier.getByText('Copied.').waitFor();
  t.equal(
    await copier.evaluate('navigator.clipboard.readText()'),
    await copier.getByLabel('Your key').inputValue(),
  );
  await shoot(copier, 'key-light');
  t.same(await findFaults(copier), [], 'key');

  const keyboard = await (await browser.newContext()).newPage();
  await keyboard.goto(siteUrl);
  await keyboard.keyboard.press('Tab');
  t.equal(await keyboard.evaluate('document.activeElement.textContent'), 'Skip to the content');
  for (let presses = 0; presses < 5; presses++) await keyboard.keyboard.press('Tab');
  await keyboard.getByLabel('Name or domain').fill('post');
  await keyboard.keyboard.press('Enter');
  await keyboard.waitForURL(/q=post/);
  t.equal(await keyboard.getByText('Library').count(), 0);
});
