/** The home page in a real browser: searching by keys, news without a reload, times, and what it costs to open it. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import t from 'tap';
import { check, current, incident, NOW, service, startApi, type World } from '../site/site-world.ts';
import { findFaults, launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';
import { until } from '../support/loopback.ts';

/** A busy machine starts a browser slowly. */
const PATIENCE_MS = 45_000;

/** What the search has found; the categories are options too. */
const OPTION = '#found > [role="option"]';

const SERVICES = [
  service(1, 'gitorium', { name: 'Gitorium' }),
  service(2, 'ledgerly', { name: 'Ledgerly', category: 'finance' }),
  service(3, 'digital-ocean', { name: 'Digital Ocean', category: 'cloud' }),
];
/** As many as a public site has. */
const MANY = [
  ...SERVICES,
  ...Array.from({ length: 1_197 }, (_, index) => service(index + 10, `many-${index}`)),
];
const failure = { class: 'status', phase: 'first_byte', cause: { code: 'text', text: 'HTTP 503' } } as const;
const DOWN = check(NOW, { status: 'down', statusCode: 503, failure });

t.test('the home page in a browser', { ...NEEDS_BROWSER, timeout: 240_000 }, async (t) => {
  const browser = await launchBrowser();
  t.teardown(() => browser.close());

  await t.test('it finds a service by three letters and the keyboard', async (t) => {
    const { page, world } = await open(t, browser);
    await page.keyboard.press('/');
    t.equal(await page.evaluate('document.activeElement.name'), 'q');
    await page.keyboard.type('git');
    await page.locator(OPTION).first().waitFor();
    t.same(
      await page.locator(OPTION).allTextContents(),
      [
        'Gitoriumgitorium.example · DeveloperOperational',
        'Digital Oceandigital-ocean.example · CloudUnknown',
      ],
      'names that begin so come first',
    );
    t.match(await page.locator('[data-search-said]').textContent(), '2 services match.');
    const field = page.getByRole('combobox', { name: 'Name or domain' });
    t.equal(await field.getAttribute('aria-expanded'), 'true');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    t.equal(await page.locator(`${OPTION}[aria-selected="true"]`).count(), 1);
    const active = await field.getAttribute('aria-activedescendant');
    t.match(await page.locator(`#${active}`).textContent(), 'Digital Ocean');
    t.same(await findFaults(page), [], 'axe, with the list open');
    await page.keyboard.press('Escape');
    t.equal(await field.getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${world.origin}/status/gitorium-example`);
    t.match(await page.locator('h1').textContent(), 'Gitorium');
  });

  await t.test(
    'the last day of a category and of a service is reached by keyboard and by pointer',
    async (t) => {
      const { page } = await open(t, browser);
      await page.locator('.heat a').first().focus();
      await page.keyboard.press('Tab');
      const label = await page.evaluate<string>(
        'document.activeElement.matches(".strip") && document.activeElement.ariaLabel',
      );
      const tip = await page.evaluate<string>('getComputedStyle(document.activeElement, "::after").content');
      t.ok(tip.includes(label), `${label}: ${tip}`);
      const line = page.locator('ul.services svg').first();
      await line.scrollIntoViewIfNeeded();
      const box = await line.boundingBox();
      await page.mouse.click((box?.x ?? 0) + 5, (box?.y ?? 0) + 5);
      await page.waitForURL(/\/status\/\w/);
    },
  );

  await t.test('it says that nothing is found, and looks within a category', async (t) => {
    const { page } = await open(t, browser);
    const field = page.getByRole('combobox', { name: 'Name or domain' });
    await field.pressSequentially('zzzz');
    await page.locator('[data-search-nothing]').waitFor();
    t.equal(await page.locator(OPTION).count(), 0);
    await page.getByLabel('Category').focus();
    await page.getByLabel('Category').selectOption('finance');
    await page.evaluate("document.querySelector('[name=q]').value = 'e'");
    await page.getByLabel('Category').selectOption('');
    t.equal(await page.locator(OPTION).count(), 0, 'no list opens under a field that one has left');
    await page.getByLabel('Category').selectOption('finance');
    await field.fill('');
    await field.pressSequentially('e');
    await page.locator(OPTION).first().waitFor();
    t.same(await page.locator(`${OPTION} strong`).allTextContents(), ['Ledgerly']);
    await page.locator(OPTION).click();
    await page.waitForURL(/\/status\/ledgerly-example$/);
  });

  await t.test('it shows what changes without a reload', async (t) => {
    const { page, world } = await open(t, browser);
    await until(() => world.api.openStreams === 1, PATIENCE_MS);
    await page.evaluate('window.stays = true');
    await world.status.put([current(1, DOWN, { seq: 2 })]);
    await world.clock.advance(1_000);
    await page.locator('[data-live="troubled"]').getByText('Gitorium').waitFor();
    t.match(
      await page.locator('[data-live="troubled"] li').textContent(),
      /Gitorium: it is returning errors \(HTTP 503\).*for \d/s,
    );
    t.equal(await page.locator('[data-live="count:down"]').textContent(), '1');
    const item = page.locator('[data-live-list] > li', { hasText: 'Gitorium' });
    t.match(await item.getAttribute('class'), /\bdown\b/);
    await world.status.put([current(1, check(NOW + 1), { seq: 3 })]);
    await world.clock.advance(1_000);
    await world.putIncidents(incident('vendor-1', 2, { source: 'vendor', title: 'Payments fail' }));
    await page.getByText('Nothing is down or slow right now.').waitFor();
    t.match(await item.getAttribute('class'), /\bup\b/);
    world.state.prober = { online: false, offlineSince: NOW, reason: 'no answer' };
    await world.clock.advance(10_000);
    await page.getByText('Our own connection has been down', { exact: true }).waitFor();
    // Incidents are taken from the page itself, some seconds after a change.
    await page.locator('#incidents ~ .card').getByText('Payments fail').waitFor();
    t.equal(await page.evaluate('window.stays'), true);
  });

  await t.test('it keeps a page of a service true', async (t) => {
    const { page, world } = await open(t, browser, {}, '/status/gitorium-example');
    await until(() => world.api.openStreams === 1, PATIENCE_MS);
    await page.evaluate('window.stays = true');
    await world.status.put([current(1, DOWN, { seq: 2 })]);
    await world.clock.advance(250);
    await page
      .locator('.verdict')
      .getByText(/has been down since .*: it is returning errors \(HTTP 503\)/)
      .waitFor();
    t.match(await page.locator('[data-live-part="ours"]').getAttribute('class'), /\bdown\b/);
    // The parts that are taken from the page itself come within seconds.
    await page.locator('.facts').getByText('HTTP 503').waitFor({ timeout: PATIENCE_MS });
    t.match(await page.title(), 'Gitorium is down');
    t.equal(await page.evaluate('window.stays'), true);
  });

  await t.test('it holds no stream in a hidden tab, and catches up when it is seen again', async (t) => {
    const { page, world } = await open(t, browser);
    await until(() => world.api.openStreams === 1, PATIENCE_MS);
    const setHidden = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });` +
          `document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await setHidden(true);
    await until(() => world.api.openStreams === 0, PATIENCE_MS);
    await world.status.put([current(2, DOWN, { seq: 2 })]);
    await setHidden(false);
    await page.locator('[data-live="troubled"]').getByText('Ledgerly').waitFor();
  });

  await t.test('it offers to reload when the connection stays lost, and never before', async (t) => {
    const { page, world } = await open(t, browser, {}, '/', (tab) => tab.clock.install());
    await until(() => world.api.openStreams === 1, PATIENCE_MS);
    await page.locator('main[data-live-state="connected"]').waitFor();
    const line = page.locator('[data-live-lost]');
    t.equal(await line.isVisible(), false);
    await world.close();
    await until(() => world.api.openStreams === 0, PATIENCE_MS);
    const deadline = Date.now() + PATIENCE_MS;
    while (!(await line.isVisible()) && Date.now() < deadline) await page.clock.runFor(2_000);
    t.match(await line.textContent(), 'Reload to see the current status');
    t.same(await findFaults(page), []);
  });

  await t.test('it shows times in the zone of the reader, and UTC when pointed at', async (t) => {
    const reader = { timezoneId: 'America/New_York', locale: 'en-GB' };
    const { page } = await open(t, browser, reader, '/incidents');
    const time = page.locator('article time:not([data-length])').first();
    t.match(
      await page.locator('article time[data-length]').first().getAttribute('title'),
      '20 Nov 2026, 05:00 GMT-5 · 20 Nov 2026, 10:00 UTC',
    );
    t.match(await time.textContent(), /^20 Nov 2026, 05:00 /);
    t.equal(await time.getAttribute('title'), '20 Nov 2026, 10:00 UTC');
    t.equal(await time.getAttribute('datetime'), '2026-11-20T10:00:00.000Z');
    const germanReader = { timezoneId: 'Europe/Berlin', locale: 'de-DE' };
    const german = await open(t, browser, germanReader, '/incidents');
    t.match(
      await german.page.locator('article time:not([data-length])').first().textContent(),
      /^20\. Nov\. 2026, 11:00/,
    );
    t.match(await german.page.locator('footer').textContent(), 'Zeiten in Ihrer Zeitzone');
    t.equal(await german.page.locator('html').getAttribute('lang'), 'de');
    t.same(await findFaults(german.page), []);
    await german.page.getByRole('link', { name: 'English' }).click();
    await german.page.getByRole('heading', { name: 'Incidents', exact: true }).waitFor();
    await german.page.getByRole('link', { name: 'Upbeat' }).click();
    await german.page.getByRole('heading', { name: 'Is it up?' }).waitFor();
  });

  await t.test('it works without scripts', async (t) => {
    const { page } = await open(t, browser, { javaScriptEnabled: false });
    t.match(await page.locator('noscript').textContent(), 'Reload it to see the current status');
    await page.getByLabel('Name or domain').fill('ledger');
    await page.getByLabel('Category').selectOption('finance');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(/q=ledger/);
    t.same(await page.locator('ul.services a').allTextContents(), ['Ledgerly']);
    await page.getByRole('link', { name: 'Deutsch' }).click();
    await page.getByText('Ein Dienst passt. Alle zeigen').waitFor();
    t.same(await page.locator('ul.services a').allTextContents(), ['Ledgerly'], 'the search is kept');
  });

  await t.test('it opens 1,200 services with little, and moves nothing', async (t) => {
    for (const viewport of [
      { width: 1_280, height: 900 },
      { width: 390, height: 844 },
    ]) {
      const { page, requests } = await open(
        t,
        browser,
        { viewport, timezoneId: 'Europe/Berlin' },
        '/',
        observe,
        MANY,
      );
      await page.locator('main[data-live-state="connected"]').waitFor();
      const moved = (await page.evaluate('window.moved')) as number;
      t.ok(moved < 0.01, `layout shift ${moved}`);
      const bytes = (await page.evaluate(
        `performance.getEntries().reduce((sum, { transferSize = 0 }) => sum + transferSize, 0)`,
      )) as number;
      t.ok(bytes > 1_000 && bytes < 60_000, `${bytes} bytes`);
      t.ok(requests.length <= 9, requests.join(' '));
      t.equal(
        await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
        0,
      );
    }
  });
  t.same(complaints, [], 'the browser has nothing to complain of');
});

/** What the browser has to complain of, on any page. */
const complaints: string[] = [];

/** Opens a page of a world of its own. */
async function open(
  t: Tap,
  browser: Browser,
  options: BrowserContextOptions = {},
  path = '/',
  prepare: (page: Page) => Promise<unknown> = async () => {},
  services = SERVICES,
): Promise<{ page: Page; world: World; requests: readonly string[] }> {
  const world = await startApi({ services });
  await world.status.put([1, 2].map((id) => current(id, check(NOW - 60_000))));
  if (options.timezoneId !== undefined)
    await world.putIncidents(incident('own-1', 1, { title: 'Gitorium is not reachable' }));
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const requests: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // That a server has gone is said in the console too.
    if (message.type() === 'error' && !message.text().includes('net::')) complaints.push(message.text());
  });
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  t.teardown(async () => {
    await context.close();
    await world.close();
  });
  await prepare(page);
  await page.goto(world.origin + path, { waitUntil: 'load' });
  return { page, world, requests };
}

/** Adds up what moves by itself, from the first paint on. */
function observe(page: Page): Promise<unknown> {
  return page.addInitScript(`
    window.moved = 0;
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) window.moved += value;
    }).observe({ type: 'layout-shift', buffered: true });
  `);
}

/** The part of a test that this file uses. */
interface Tap {
  teardown(task: () => Promise<void>): void;
}
