/** Pages in a real browser: on phones, in lists of pills, on paper; and the documentation's requests. */
import type { Browser } from 'playwright-core';
import t, { type Test } from 'tap';
import { LANGUAGES } from '../../src/web/language/language.ts';
import { incident, NOW } from '../site/site-world.ts';
import { launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';
import { findOverhangs, openPage } from '../support/watched-page.ts';
import { SERVICES, startServiceWorld } from './service-world.ts';

const PHONE_WIDTHS = [390, 320];
const PATHS = [
  '/',
  '/status/wordy-example',
  '/status/pier-example',
  '/status/crawler-example',
  '/status/shop-example',
  '/status/newcomer-example',
  '/status/pier-example/incidents/own-3-7',
  '/p/acme',
  '/p/acme/embed',
  '/docs',
  '/incidents',
  '/heatmap',
  '/honesty',
  '/maintenance',
  '/about',
  '/design',
  '/badges/wordy-example?variant=uptime&q=e',
];

/** Notes each text that is drawn on a canvas, with its left and right end and the canvas' width in pixels. */
const NOTE_CANVAS_TEXTS = `
  globalThis.canvasTexts = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
    const { actualBoundingBoxLeft, actualBoundingBoxRight } = this.measureText(text);
    const middle = this.getTransform().transformPoint(new DOMPoint(x, y)).x;
    canvasTexts.push([text, middle - actualBoundingBoxLeft, middle + actualBoundingBoxRight, this.canvas.width]);
    fillText.call(this, text, x, y, ...more);
  };`;

/** Words and figures in the cells of tables that are broken where they have no hyphen. */
const BROKEN_WORDS = `[...document.querySelectorAll('.scroll.tall :is(th, td)')].flatMap((cell) => {
  const text = cell.firstChild;
  return [...(text?.data ?? '').matchAll(/[^ \\n\\u00ad-]+/g)].flatMap(({ 0: word, index }) => {
    const range = new Range();
    const lines = [...word].map((_, place) => {
      range.setStart(text, index + place);
      range.setEnd(text, index + place + 1);
      // After a hyphen, a character has a place at the end of the line before, too.
      return [...range.getClientRects()].at(-1)?.top;
    });
    return new Set(lines).size > 1 ? [word] : [];
  });
})`;

/** What the page asks for of a service that was first checked so many minutes ago, a column each five minutes. */
function youngTimes(minutes: number) {
  const at = Array.from({ length: minutes / 5 + 1 }, (_, index) => NOW / 1_000 - minutes * 60 + index * 300);
  const all = (value: number) => at.map(() => value);
  const figures = { p50: all(120), p95: all(180), p99: all(210), failed: all(0) };
  return { range: '7d', at, ...figures, label: `Response time of ${minutes} minutes`, empty: false };
}

t.test('pages in a browser', { ...NEEDS_BROWSER, timeout: 240_000 }, async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  await world.putPage('acme', {
    text: 'Everything that we run.',
    colour: '#ffcc00',
    groups: [
      { name: 'Shops', services: [SERVICES.heartbeat, SERVICES.silent] },
      { name: 'A group with a name that is rather long', services: [SERVICES.down, SERVICES.slow] },
    ],
  });
  await world.putIncidents(
    incident('v-9', SERVICES.down, { source: 'vendor', status: 'monitoring', startedAt: NOW - 60_000 }),
  );
  const browser = await launchBrowser();
  t.teardown(() => browser.close());

  await t.test('nothing hangs over the edge of a phone, tables included', async (t) => {
    // German words are the longer ones.
    const { page, complaints, close } = await openPage(browser, { locale: 'de' });
    for (const path of PATHS) {
      await page.goto(world.origin + path);
      await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
      for (const width of PHONE_WIDTHS) {
        await page.setViewportSize({ width, height: 700 });
        t.same(await findOverhangs(page), [], `${path} ${width}`);
        t.same(await page.evaluate(BROKEN_WORDS), [], `${path} ${width}: words are broken at hyphens alone`);
      }
    }
    t.same(complaints, []);
    await close();
  });

  await t.test('a brand colour is an edge as it is, and readable in links of both themes', async (t) => {
    const { page, complaints, close } = await openPage(browser);
    const wanted = { light: 'rgb(138, 110, 0)', dark: 'rgb(255, 204, 0)' } as const;
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.goto(`${world.origin}/p/acme`);
      const link = await page.evaluate(`getComputedStyle(document.querySelector('.own-name a')).color`);
      const edge = await page.evaluate('getComputedStyle(document.body).borderTopColor');
      t.same([link, edge], [wanted[scheme], 'rgb(255, 204, 0)'], scheme);
    }
    t.same(complaints, []);
    await close();
  });

  await t.test('days and times are one stop of the keyboard for each service, with a tip', async (t) => {
    const { page, complaints, close } = await openPage(browser, { hasTouch: true });
    for (const [path, drawing, said] of [
      ['/p/acme', '.own-days', /^\d{4}-\d\d-\d\d: /],
      ['/heatmap?window=30d', '.cells svg', /^\d\d-\d\d .* UTC: /],
    ] as const) {
      await page.goto(world.origin + path);
      const walked = page.locator(`${drawing}:has([tabindex="-1"])`).first();
      const stop = walked.locator('[tabindex="0"]');
      t.equal(await stop.count(), 1, path);
      await stop.focus();
      const tip = page.locator('.tip:visible');
      const last = await tip.textContent();
      t.match(last, said, path);
      await page.keyboard.press('ArrowLeft');
      t.not(await tip.textContent(), last, path);
      t.equal(await stop.count(), 1, path);
      await page.keyboard.press('Escape');
      t.equal(await tip.count(), 0, path);
      await page.keyboard.press('End');
      await stop.dispatchEvent('pointerdown', { pointerType: 'touch' });
      t.equal(await tip.textContent(), last, `${path}: by finger`);
    }
    t.same(complaints, []);
    await close();
  });

  await t.test('the documentation shows the response of each kind of request', async (t) => {
    const { page, complaints, close } = await openPage(browser);
    await page.goto(`${world.origin}/docs`);
    const tryIt = async (operation: string, values: Readonly<Record<string, string>>) => {
      const section = page.locator(`section[aria-labelledby="${operation}"]`);
      for (const [name, value] of Object.entries(values))
        await section.locator(`form [name="${name}"]`).fill(value);
      await section.getByRole('button', { name: 'Try it' }).click();
      await section.locator('output', { hasText: 'requests left this minute' }).waitFor();
      return await section.locator('output').innerText();
    };
    t.match(
      await tryIt('getIncident', { slug: 'pier', id: 'own-3-7' }),
      /^GET \/api\/v1\/incidents\/pier\/own-3-7\n200 OK,[\s\S]*"id": "own-3-7"/,
    );
    t.match(await tryIt('followIncidents', {}), /^GET \/incidents\.atom\n200 OK,[\s\S]*<feed /);
    t.match(await tryIt('listServices', { limit: '0' }), /^GET \/api\/v1\/services\?limit=0\n400 /);
    await tryIt('getBadge', { slug: 'pier-example' });
    t.equal(await page.locator('output img').count(), 1);
    t.same(
      complaints.filter((text) => !text.includes('400')),
      [],
    );
    await close();
  });

  await t.test('the chart of a young service shows every label whole', async (t) => {
    const { page, complaints, close } = await openPage(browser);
    await page.addInitScript(NOTE_CANVAS_TEXTS);
    await page.goto(`${world.origin}/status/wordy-example`);
    await page.locator('#response-times canvas').waitFor();
    for (const minutes of [0, 5, 60]) {
      const json = youngTimes(minutes);
      await page.route('**/response-times.json*', (route) => route.fulfill({ json }));
      await page.evaluate('canvasTexts.length = 0');
      await page.getByRole('link', { name: '7 days' }).click();
      await page.locator('#response-times').getByText(json.label, { exact: true }).waitFor();
      await page.evaluate('new Promise(requestAnimationFrame)');
      const texts = (await page.evaluate('canvasTexts')) as readonly [string, number, number, number][];
      t.ok(texts.length >= 4, `${minutes} minutes: ${texts.length} labels`);
      t.same(
        texts.filter(([, from, to, width]) => from < 0 || to > width),
        [],
        `${minutes} minutes`,
      );
      t.same(
        texts.filter(([text]) => !/^\d\d:\d\d|\bms$/.test(text)),
        [],
        `${minutes} minutes: an axis of minutes, not of years`,
      );
      await page.unroute('**/response-times.json*');
    }
    t.same(complaints, []);
    await close();
  });

  await t.test('the pills of a list are of one width', (t) => checkPills(t, browser, world.origin));

  await t.test('a printed page shows all texts, and no controls', async (t) => {
    const { page, close } = await openPage(browser, { colorScheme: 'dark' });
    await page.goto(`${world.origin}/status/pier-example`);
    await page.emulateMedia({ media: 'print', colorScheme: 'light' });
    for (const gone of ['header.site nav', '.ranges', '.languages', '.links', '[data-times-note]', '.copy'])
      for (const one of await page.locator(gone).all()) t.equal(await one.isVisible(), false, gone);
    for (const kept of ['h1', '.verdict', '.facts', '.figures', '.bars', '.calendar', '.plot', '#incidents'])
      t.equal(await page.locator(kept).first().isVisible(), true, kept);
    t.equal((await page.locator('footer.site').innerText()).trim(), 'Upbeat 1.2.3.');
    await close();
  });
});

/** Every pill that a list can hold, in each language: those of incidents have no shape. */
async function checkPills(t: Test, browser: Browser, origin: string): Promise<void> {
  for (const { code, texts } of Object.values(LANGUAGES)) {
    const { status, incidentStatus, statusPage } = texts;
    const shaped = (all: object) => Object.values(all).map((word) => SHAPE + word);
    const { maintenanceRunning, maintenanceAhead } = statusPage;
    const lists = {
      rows: [
        ...shaped(status),
        ...shaped({ maintenanceRunning, maintenanceAhead }),
        ...Object.values(incidentStatus),
      ],
      'own-services': shaped(statusPage.standing),
    };
    const { page, close } = await openPage(browser, { locale: code });
    await page.goto(`${origin}/p/acme`);
    for (const [list, pills] of Object.entries(lists)) {
      const items = pills.map((pill) => `<li><span class="pill">${pill}</span></li>`).join('');
      const widths = await page.evaluate(`
        document.querySelector('main').innerHTML = ${JSON.stringify(`<ul class="${list}">${items}</ul>`)};
        [...document.querySelectorAll('.pill')].map((pill) => pill.getBoundingClientRect().width)`);
      t.equal(new Set(widths as number[]).size, 1, `${code} ${list}: ${widths}`);
    }
    await close();
  }
}

const SHAPE = '<svg viewBox="0 0 10 10"><path d="M1 1h8v8H1z"/></svg>';
