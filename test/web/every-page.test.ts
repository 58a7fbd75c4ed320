/**
 * Every page of the route table in a real browser, with services in every state: axe finds nothing to mend in both themes and widths,
 * nothing hangs over the edge of a small phone, no text of others becomes anything but text, and each field of each form can be reached
 * and seen by keyboard. A page that is new fails here until it has an example.
 * `SCREENSHOTS=FOLDER` keeps the screenshots, to be looked at; `LANG_OF_PAGES=de` in German.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { HtmlValidate } from 'html-validate';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { createAcknowledgeLinks } from '../../src/auth/acknowledge-link.ts';
import { createSessions } from '../../src/auth/sessions.ts';
import type { Route } from '../../src/http/route.ts';
import { incidentChanges } from '../../src/resources/incidents/incidents.ts';
import { maintenanceChanges } from '../../src/resources/maintenances/maintenances.ts';
import { NOW } from '../site/site-world.ts';
import { channelOf, ruleOf } from '../store/alert-fixtures.ts';
import { launchBrowser, NEEDS_BROWSER, UNFILLED } from '../support/browser.ts';
import { findOverhangs, headingJumps, openPage } from '../support/watched-page.ts';
import { findFaultsOfUnlike } from './alike-elements.ts';
import { ODD_ID, SERVICES, startServiceWorld } from './service-world.ts';

const HTML_RULES = { extends: ['html-validate:standard'] };
/** Which the rules do not find. */
const EMPTY_OPTION = /<option(?![^>]*\slabel=)[^>]*>\s*<\/option>/;
const DAY = 86_400_000;
const WIDE = { width: 1_280, height: 900 };
const PHONE = { width: 390, height: 844 };
const SMALL_PHONE = { width: 320, height: 700 };

/**
 * Pages that are laid out as another one, which stands for them on a phone: forms as those of a service and of a webhook, and further
 * examples of a route as the first.
 */
const SAME_LAYOUT =
  /^\/dashboard\/(?!services\/|webhooks)|^\/\?|^\/status\/(?:crawler|pier|shop|newcomer)-example$/;

/** Forms that repeat each other, as in the API's documentation, need not all be walked through. */
const MAX_STOPS = 80;

t.setTimeout(600_000);

type World = Awaited<ReturnType<typeof startServiceWorld>>;

/** The paths of the pages that need more than their route says, by route. */
type Examples = Readonly<Record<string, readonly string[]>>;

/** Fills the account 1 with one of each that a page is about, and signs its owner in. */
async function furnish(world: World) {
  const { registry, clock } = world;
  const siteUrl = 'https://upbeat.test';
  const ada = await registry.linkIdentity(1, { provider: 'acme', subject: 'ada', name: 'Ada' }, NOW);
  await registry.setRole(1, ada.id, 'owner');
  const page = { name: 'Shops', services: [SERVICES.heartbeat, SERVICES.silent] };
  await world.putPage('acme', { text: 'Everything that we run.', colour: '#ffcc00', groups: [page] });
  await world.putPage('inner', { access: 'password', passwordHash: 'x', groups: [page] });
  const channel = await registry.addChannel(channelOf(1));
  await registry.addRule(ruleOf(1, [channel.id]));
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  await registry.addWebhook({ accountId: 1, url: 'https://hooks.example/upbeat', secret, createdAt: NOW });
  const words = { registry, siteUrl, now: clock.now };
  const owner = { role: 'owner', accountId: 1 } as const;
  const said = { title: 'New disks', pages: ['acme'] };
  const over = await incidentChanges.add(words, owner, {
    ...said,
    status: 'resolved',
    text: 'It is **over**.',
  });
  const work = await maintenanceChanges.add(words, owner, {
    ...said,
    duration: '1h',
    recurrence: 'FREQ=WEEKLY',
  });
  if (!over.ok || !work.ok) throw new Error('what the owner says is refused');
  const sha256 = (text: string) => new Uint8Array(createHash('sha256').update(text).digest());
  const expiresAt = NOW + DAY;
  const link = { kind: 'person', accountId: 1, personId: null, invitation: null, expiresAt } as const;
  await registry.addSetupLink({ ...link, sha256: sha256('setup') }, NOW);
  const invitation = { accountId: 1, inviterId: ada.id, role: 'viewer', createdAt: NOW, expiresAt } as const;
  await registry.addInvitation({ ...invitation, sha256: sha256('invitation') });
  const { token } = await createSessions({ registry, clock }).open(ada.id);
  const acknowledge = createAcknowledgeLinks(new Uint8Array(32), '').urlOf({ accountId: 1, thread: 't-1' });
  const examples: Examples = {
    '/': ['/', '/?q=wordy', '/?category=cloud'],
    '/status/:slug': [
      ...['wordy', 'crawler', 'pier', 'shop', 'newcomer', 'hostile'].map((slug) => `/status/${slug}-example`),
      '/status/attic-example?lang=de',
    ],
    '/status/:slug/incidents/:id': [
      '/status/pier-example/incidents/own-3-7',
      `/status/hostile-example/incidents/${encodeURIComponent(ODD_ID)}`,
    ],
    '/badges/:slug': ['/badges/wordy-example?variant=uptime&window=24h'],
    '/p/:slug': ['/p/acme', '/p/inner'],
    '/p/:slug/embed': ['/p/acme/embed'],
    '/p/:slug/incidents/:id': [`/p/acme/incidents/owner-${over.value.id}`],
    '/setup/:secret': ['/setup/setup'],
    '/invitations/:secret': ['/invitations/invitation'],
    '/alerts/acknowledge/:secret': [acknowledge],
    '/alerts/confirm/:secret': ['/alerts/confirm/none'],
    '/alerts/stop/:secret': ['/alerts/stop/none'],
    '/subscribe': ['/subscribe?page=acme'],
    '/subscribe/confirm/:secret': ['/subscribe/confirm/none'],
    '/subscribe/end/:secret': ['/subscribe/end/none'],
    '/dashboard/services/:slug': ['/dashboard/services/shop-example'],
    '/dashboard/channels/new/:kind': ['/dashboard/channels/new/webhook'],
    '/dashboard/channels/:id': [`/dashboard/channels/${channel.id}`],
    '/dashboard/rules/:id': ['/dashboard/rules/1'],
    '/dashboard/incidents/:id': [`/dashboard/incidents/owner-${over.value.id}`],
    '/dashboard/maintenances/:id': [`/dashboard/maintenances/m${work.value.id}`],
    '/dashboard/pages/:slug': ['/dashboard/pages/acme'],
  };
  return { examples, cookie: `__Host-upbeat=${token}` };
}

/** Routes with parameters that lead to no page of their own. */
const NO_PAGES: ReadonlySet<string> = new Set([
  '/assets/:name',
  '/badges/:slug/picture',
  '/dashboard/pages/:slug/favicon',
  '/dashboard/pages/:slug/logo',
  '/p/:slug/brand.css',
  '/p/:slug/favicon',
  '/p/:slug/logo',
  '/p/:slug/unlock',
  '/sign-in/:provider',
  '/sign-in/:provider/callback',
  '/sitemaps/:part',
  '/status/:slug/response-times.json',
]);

/** The paths of all pages. Asks each route without parameters whether it is one. */
async function listPages(t: Test, world: World, examples: Examples, cookie: string): Promise<string[]> {
  const paths: string[] = [];
  for (const route of world.api.routes) {
    if (!isReadByPeople(route) || NO_PAGES.has(route.path)) continue;
    const known = examples[route.path];
    if (known !== undefined) paths.push(...known);
    else if (route.path.includes(':')) {
      const asked = await ask(world, route.path.replace(/:\w+/g, 'x'), cookie);
      t.equal(asked.status, 405, `${route.path} has an example, unless it takes forms alone`);
    } else if ((await ask(world, route.path, cookie)).isPage) paths.push(route.path);
  }
  // Errors are pages too.
  return [...paths, '/status/nobody', '/dashboard/services/nobody'];
}

function isReadByPeople({ bucket, writes }: Route): boolean {
  return bucket === 'pages' && writes === undefined;
}

async function ask({ origin }: World, path: string, cookie: string) {
  const leave = new AbortController();
  const headers = { accept: 'text/html', cookie };
  const { status, headers: found } = await fetch(origin + path, {
    ...{ headers, redirect: 'manual', signal: leave.signal },
  });
  leave.abort();
  return { status, isPage: status === 200 && (found.get('content-type') ?? '').startsWith('text/html') };
}

/**
 * What cannot be reached in the forms of the page by the key Tab in the order in which it is written, or does not show that it has
 * the focus. A group of radio buttons is one stop. Of the fields that are not alike, the first {@link MAX_STOPS} are
 * looked at.
 */
async function walkForms(page: Page): Promise<string[]> {
  const faults: string[] = [];
  const stops = (await page.evaluate(`(() => {
    const groups = new Set();
    globalThis.stops = [...document.querySelectorAll('form')].flatMap((form) => [...form.elements]).filter((one) => {
      if (one.matches('fieldset, output, [type=hidden], [tabindex="-1"]') || one.disabled || !one.checkVisibility()) return false;
      if (one.closest('[data-alike]')) return false;
      if (one.type !== 'radio') return true;
      const isNew = !groups.has(one.name);
      groups.add(one.name);
      return isNew;
    }).slice(0, ${MAX_STOPS});
    return stops.map((one) => (one.name || one.textContent.trim() || one.type));
  })()`)) as string[];
  // The search for the next stop begins where the one before it is. What stands there meanwhile moves nothing else.
  const state = `((index) => {
    const focused = document.activeElement;
    let fault = '';
    if (index > 0) {
      document.getElementById('walk').remove();
      const stop = stops[index - 1];
      const same = focused === stop || (focused.type === 'radio' && focused.name === stop.name);
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(focused);
      if (!same) fault = 'is passed over for ' + focused.outerHTML.slice(0, 80);
      else if ((outlineStyle === 'none' || outlineWidth === '0px') && boxShadow === 'none') fault = 'shows no focus';
    }
    focused?.blur?.();
    if (index === stops.length) return fault;
    const before = document.createElement('span');
    before.id = 'walk';
    before.tabIndex = -1;
    before.style.position = 'fixed';
    stops[index].before(before);
    before.focus({ preventScroll: true });
    return fault;
  })`;
  for (const index of [...stops.keys(), stops.length]) {
    const fault = await page.evaluate(`${state}(${index})`);
    if (fault !== '') faults.push(`${stops[index - 1]} ${fault}`);
    if (index < stops.length) await page.keyboard.press('Tab');
  }
  return faults;
}

/** Which of the page's title and of what can be pressed is seen on paper. */
async function showOnPaper(page: Page): Promise<string[]> {
  await page.emulateMedia({ media: 'print' });
  const shown = await page
    .locator('h1, .ranges, .copy, header.site nav')
    .filter({ visible: true })
    .evaluateAll((all) => all.map(({ tagName }) => tagName));
  await page.emulateMedia({ media: null });
  return shown;
}

async function shoot(page: Page, path: string, look: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  const name = path.replaceAll(/[^a-z0-9-]+/gi, '_');
  await page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage: true });
}

t.test('every page', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const { examples, cookie } = await furnish(world);
  const paths = await listPages(t, world, examples, cookie);
  t.ok(paths.length > 45, `${paths.length} pages`);

  await t.test('is valid HTML', async (t) => {
    const validator = new HtmlValidate(HTML_RULES);
    for (const path of paths) {
      const { text } = await world.get(path, { accept: 'text/html', cookie });
      const { results } = await validator.validateString(text, path);
      const faults = results.flatMap(({ messages }) =>
        messages.map(({ line, column, ruleId, message }) => `${line}:${column} ${ruleId}: ${message}`),
      );
      t.same(faults, [], path);
      t.notMatch(text, EMPTY_OPTION, path);
    }
  });

  await t.test('looks and works in a browser', NEEDS_BROWSER, async (t) => {
    const browser = await launchBrowser();
    t.teardown(() => browser.close());
    const { page, complaints } = await openPage(browser, {
      extraHTTPHeaders: { cookie },
      locale: process.env.LANG_OF_PAGES ?? 'en',
    });
    const known = { wide: new Set<string>(), all: new Set<string>(), colours: new Set<string>() };
    for (const path of paths) {
      // A language that was chosen is a cookie, in place of which the browser would not send that of the session.
      await page.context().clearCookies();
      // The page before would be laid out once more.
      await page.goto('about:blank');
      await page.setViewportSize(WIDE);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(world.origin + path);
      if (path === '/dashboard/pages/acme') {
        await page.locator('input[type="color"]').fill('#123456');
        t.equal(await page.locator('input[name="colour"]').inputValue(), '#123456', 'a colour is picked');
      }
      if (path === '/dashboard') t.equal(await page.locator('nav.tabs').count(), 1, 'signed in');
      await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
      t.notMatch(await page.locator('body').innerText(), UNFILLED, `${path}: no value is missing`);
      t.same(await headingJumps(page), [], `${path}: no heading is left out`);
      t.same(await findFaultsOfUnlike(page, 'all', known.wide), [], `${path}: light and wide`);
      t.same(await walkForms(page), [], `${path}: by keyboard`);
      await shoot(page, path, 'light');
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize(PHONE);
      const rules = SAME_LAYOUT.test(path) ? 'colours' : 'all';
      t.same(await findFaultsOfUnlike(page, rules, known[rules]), [], `${path}: dark, on a phone`);
      await shoot(page, path, 'dark');
      await page.setViewportSize(SMALL_PHONE);
      t.same(await findOverhangs(page), [], `${path}: nothing hangs over the edge`);
      if (path.startsWith('/status/')) t.same(await showOnPaper(page), ['H1'], `${path}: on paper`);
    }
    t.same(
      complaints.filter((text) => !/status of 4\d\d/.test(text)),
      [],
    );
  });
});
