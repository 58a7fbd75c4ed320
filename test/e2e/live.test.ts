/** A page that stays open over a change of status, and over a restart of the program. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import t from 'tap';
import { launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';
import { type Installation, install, type RunningProgram } from '../support/program.ts';

const PATIENCE_MS = 60_000;

t.test('it stays true without a reload', { ...NEEDS_BROWSER, timeout: 240_000 }, async (t) => {
  let answer = 200;
  const target = createServer((_request, response) => response.writeHead(answer).end()).listen(
    0,
    '127.0.0.1',
  );
  await once(target, 'listening');
  let installation: Installation | undefined;
  let program: RunningProgram | undefined;
  let browser: Browser | undefined;
  t.teardown(async () => {
    await browser?.close();
    await program?.killHard();
    installation?.remove();
    target.closeAllConnections();
    target.close();
  });
  const { port } = target.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  // The service is the control target, too: where it refuses connections, the prober counts as offline.
  installation = await install([{ slug: 'library', name: 'Library', check: { url } }], {
    checks: { controlTargets: [url] },
  });
  program = await installation.start();
  await program.until<{ status: string }>('/api/v1/status/library', ({ status }) => status === 'up');
  browser = await launchBrowser();
  const context = await browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);

  // A stranger's first minute: three letters, and why it is red.
  const page = await context.newPage();
  await page.goto(installation.siteUrl);
  await page.getByText('Nothing is down or slow right now.').waitFor();
  answer = 503;
  await page.locator('[data-live="troubled"]').getByText('Library').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('lib');
  await page.locator('#found strong').getByText('Library').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/status\/library-example$/);
  t.match(await page.locator('.verdict').first().textContent(), /Library has been down since .*503/);

  const home = await context.newPage();
  await home.goto(installation.siteUrl);
  for (const tab of [page, home]) {
    await tab.locator('main[data-live-state="connected"]').waitFor();
    await tab.evaluate('window.stays = true');
  }
  await program.stop();
  answer = 200;
  program = await installation.start();
  await program.until<{ status: string }>('/api/v1/status/library', ({ status }) => status === 'up');
  await page.locator('.verdict').getByText('has been operational since').first().waitFor();
  await home.getByText('Nothing is down or slow right now.').waitFor();

  // The prober loses its connection and gets it back.
  target.close();
  target.closeAllConnections();
  const notices = [page, home].map((tab) => tab.locator('[data-live="away"]'));
  for (const notice of notices) await notice.getByText('Our own connection has been down').waitFor();
  await home.getByText('Disconnected').waitFor();
  const pill = await page.locator('.big .pill').first().getAttribute('class');
  t.match(pill, /\bup\b/, 'nothing is called down');
  target.listen(port, '127.0.0.1');
  for (const notice of notices) await notice.waitFor({ state: 'hidden' });
  await home.getByText('Connected', { exact: true }).waitFor();
  for (const tab of [page, home])
    t.equal(await tab.evaluate('window.stays'), true, 'no page was loaded anew');
});
