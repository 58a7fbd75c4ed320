/**
 * The badge builder in a real browser: it comes alive with scripts, works without them, and axe finds nothing to mend
 * in any look. `SCREENSHOTS=FOLDER` keeps the screenshots, to be looked at.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import t from 'tap';
import { drawBadge } from '../../src/render/badge.ts';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';
import { findFaults, launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';

const PATIENCE_MS = 45_000;

let browser: Browser | undefined;
t.teardown(() => browser?.close());

async function start(t: Pick<typeof import('tap').t, 'teardown'>) {
  const api = await startApi({
    siteUrl: 'https://upbeat.example',
    renderBadge: async (text) => drawBadge(text),
    services: [
      service(1, 'github', { name: 'GitHub', domain: 'github.com' }),
      service(2, 'gitlab', { name: 'GitLab', domain: 'gitlab.com' }),
    ],
  });
  t.teardown(api.close);
  await api.status.put([current(1, check(NOW)), current(2, check(NOW))]);
  browser ??= await launchBrowser();
  return { api, browser };
}

/** A page that is patient with a busy machine; what it complains of is kept. */
async function open(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, complaints };
}

/** The picture of the badge, once it has arrived; rejects where it is none. */
async function pictureOf(page: Page): Promise<unknown> {
  return await page.evaluate(`(async () => {
    const picture = document.querySelector('.stage img');
    await picture.decode();
    return { src: picture.getAttribute('src'), width: picture.naturalWidth };
  })()`);
}

t.test('it follows every choice at once, and copies', { ...NEEDS_BROWSER, timeout: 240_000 }, async (t) => {
  const { api, browser } = await start(t);
  const { page, complaints } = await open(browser, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.goto(`${api.origin}/badges`);
  await page.getByRole('searchbox', { name: 'Service' }).fill('hub');
  await page.getByRole('link', { name: 'GitHub' }).click();
  await page.waitForURL('**/badges/github-com');
  t.same(await pictureOf(page), { src: '/badges/github-com/picture?format=svg', width: 280 });
  t.equal(await page.getByRole('button', { name: 'Show' }).count(), 0, 'no button is needed');
  t.equal(await page.getByLabel('Period').isVisible(), false, 'a status has no window');

  await page.getByLabel('Shows').selectOption('latency');
  await page.waitForURL(/variant=latency/);
  t.equal(await page.getByLabel('Period').isVisible(), true);
  await page.getByLabel('Statistic').selectOption('p95');
  await page.waitForURL(/measure=p95/);
  await page.getByLabel('Period').selectOption('24h');
  await page.waitForURL(/window=24h/);
  await page.getByLabel('Format').selectOption('png');
  await page.waitForURL(/format=png/);
  await page.getByLabel('Label').fill('The forge');
  await page.getByLabel('Label').blur();
  await page.waitForURL(/label=The/);
  t.same(await pictureOf(page), {
    src: '/badges/github-com/picture?variant=latency&window=24h&measure=p95&label=The+forge',
    width: 280,
  });
  const address =
    'https://upbeat.example/api/badge/github-com?variant=latency&window=24h&measure=p95&label=The+forge';
  t.equal(await page.getByRole('textbox', { name: 'URL' }).inputValue(), address);
  t.equal(
    await page.getByRole('textbox', { name: 'Markdown' }).inputValue(),
    `[![The forge response time, 24 hours](${address})](https://upbeat.example/status/github-com)`,
  );
  await page.getByRole('button', { name: 'Copy: URL' }).click();
  await page.getByText('Copied.').waitFor();
  t.equal(await page.evaluate('navigator.clipboard.readText()'), address);

  await page.getByRole('searchbox', { name: 'Service' }).fill('lab');
  await page.getByRole('link', { name: 'GitLab' }).click();
  await page.waitForURL(/gitlab-com\?/);
  t.equal(
    await page.getByRole('textbox', { name: 'URL' }).inputValue(),
    address.replace('github', 'gitlab'),
    'another service keeps the choice',
  );
  await page.getByRole('link', { name: 'Deutsch' }).click();
  await page.getByLabel('Antwortzeit').first().waitFor();
  t.equal(await page.getByLabel('Format').inputValue(), 'png', 'another language keeps it too');
  t.same(complaints, []);
});

t.test('it is a form where there are no scripts', { ...NEEDS_BROWSER, timeout: 240_000 }, async (t) => {
  const { api, browser } = await start(t);
  const { page } = await open(browser, { javaScriptEnabled: false });
  await page.goto(`${api.origin}/badges`);
  await page.getByRole('searchbox', { name: 'Service' }).fill('git');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByRole('link', { name: 'GitHub' }).click();
  await page.getByLabel('Shows').selectOption('uptime');
  await page.getByLabel('Period').selectOption('1y');
  await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark');
  await page.getByRole('button', { name: 'Show' }).click();
  t.equal(
    await page.getByRole('textbox', { name: 'URL' }).inputValue(),
    'https://upbeat.example/api/badge/github-com.svg?variant=uptime&window=1y&theme=dark',
  );
});

t.test('axe finds nothing to mend', { ...NEEDS_BROWSER, timeout: 240_000 }, async (t) => {
  const { api, browser } = await start(t);
  const pictures = process.env.SCREENSHOTS;
  if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
  const wide = { width: 1_280, height: 900 };
  const phone = { width: 390, height: 844 };
  const looks = [
    ['badges-phone', '/badges?q=git', { viewport: phone }],
    ['badge', '/badges/github-com?variant=latency&theme=dark', { viewport: wide }],
    ['badge-dark', '/badges/github-com?style=compact&format=png', { viewport: wide, colorScheme: 'dark' }],
    [
      'shields-phone',
      '/badges/github-com?variant=uptime&format=shields&label=A&lang=de',
      { viewport: phone },
    ],
  ] as const;
  for (const [name, path, options] of looks) {
    const { page, complaints } = await open(browser, options);
    await page.goto(api.origin + path, { waitUntil: 'load' });
    if (pictures !== undefined)
      await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
    t.same(await findFaults(page), [], name);
    const hanging = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    t.equal(hanging, 0, `${name}: nothing hangs over the edge`);
    t.same(complaints, [], name);
    await page.context().close();
  }
});
