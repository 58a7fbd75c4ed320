/**
 * Markup planted in every text that strangers can write, and every page looked at in a real browser: no dialog opens,
 * no policy is violated, nothing planted becomes an element. And every answer carries the headers of its kind.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ConsoleMessage, Dialog, Page } from 'playwright-core';
import t from 'tap';
import { createApiKey } from '../../src/auth/api-keys.ts';
import { createSessions } from '../../src/auth/sessions.ts';
import { systemClock } from '../../src/clock.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';
import { pngOf } from '../support/pictures.ts';
import { install, type RunningProgram } from '../support/program.ts';

/** Breaks out of attributes, titles and text areas, if it can; short enough for every field. */
const EVIL = `"'></title><planted-x><img src=x onerror=alert(1)>`;
/** The same in an address: a writer of addresses escapes what opens markup. */
const EVIL_URL = `https://hooks.example/?"'><planted-x onclick=alert(1)>`;
const PATIENCE_MS = 45_000;
const ROOT = join(import.meta.dirname, '../..');

/** The secret of an invitation to the account. */
const INVITATION = 'I'.repeat(43);

/** Plants through a second registry beside the running program; returns whose session it is. */
async function plant(program: RunningProgram, folder: string, siteUrl: string): Promise<string> {
  const registry = await openRegistry({ dataDir: join(folder, 'data'), clock: systemClock, log: silentLog });
  const now = Date.now();
  try {
    const { id: accountId } = await registry.ensureAccount(EVIL, now);
    const { key } = await createApiKey(registry, { account: EVIL, name: EVIL, expiresAt: null, now });
    const beat = await fetch(`${siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        domain: 'shop.example.org',
        status: 'slow',
        checks: { [EVIL]: { status: 'down', latency: 5 } },
      }),
    });
    if (beat.status !== 200) throw new Error(`the heartbeat was answered ${beat.status}`);
    await registry.changeService('shop-example-org', {
      name: `${EVIL} of an owner`,
      publicDependencies: true,
    });
    await registry.addClaim(accountId, { domain: EVIL, kind: 'root', createdAt: now });
    const secret = `whsec_${'A'.repeat(32)}`;
    const hook = await registry.addWebhook({ accountId, url: EVIL_URL, secret, createdAt: now });
    const delivery = { message: 'msg_1', type: EVIL, body: EVIL, now };
    await registry.addDelivery(accountId, hook.id, delivery);
    const states = await registry.loadServices();
    const services = states.map(({ service }) => service.id);
    const target = states.find(({ service }) => service.slug === 'target')?.service.id ?? 0;
    const entry = { key: EVIL, title: EVIL, sourceUrl: EVIL_URL, components: [EVIL] };
    const updates = [{ at: now - 60_000, status: 'investigating' as const, text: EVIL }];
    await registry.putVendorReadings([
      {
        serviceId: target,
        slug: 'target',
        feed: 'https://vendor.example',
        kind: 'rss',
        document: 'd',
        listsOnlyOpen: false,
        readAt: now,
        entries: [
          {
            ...entry,
            kind: 'incident',
            severity: 'major',
            status: 'investigating',
            startedAt: now - 60_000,
            resolvedAt: null,
            updates,
          },
          {
            ...entry,
            key: 'm',
            kind: 'maintenance',
            startsAt: now + 3_600_000,
            endsAt: null,
            state: 'planned',
            updates,
          },
        ],
      },
    ]);
    const groups = [{ name: EVIL, services }];
    await registry.addPage({ accountId, slug: 'evil', title: EVIL, text: EVIL, groups, now });
    const logo = { type: 'image/png', width: 64, height: 64, mark: 'abc', bytes: pngOf(64, 64) } as const;
    await registry.putPictures({ accountId: accountId, slug: 'evil' }, { logo }, now);
    const database = new DatabaseSync(join(folder, 'data', 'registry.sqlite'), { timeout: 5_000 });
    database
      .prepare('INSERT INTO account_notices (account_id, at, text) VALUES (?, ?, ?)')
      .run(accountId, now, EVIL);
    database.close();
    await program.until<{ name: string }>(
      '/api/v1/status/shop-example-org',
      ({ name }) => name.startsWith(EVIL),
      PATIENCE_MS,
    );
    const identity = { provider: 'acme', subject: '1', name: EVIL };
    const person = await registry.linkIdentity(accountId, identity, now);
    // The other owner, whose session opens the invitation, is invited to an account with such a name too.
    const inviter = await registry.addPerson(EVIL, now);
    const [invitedTo] = await registry.membershipsOf(inviter.id);
    const sha256 = new Uint8Array(createHash('sha256').update(INVITATION).digest());
    const period = { createdAt: now, expiresAt: now + 3_600_000 };
    for (const [to, by, digest] of [
      [invitedTo?.accountId ?? 0, inviter.id, sha256],
      [accountId, person.id, new Uint8Array(32)],
    ] as const)
      await registry.addInvitation({
        accountId: to,
        inviterId: by,
        sha256: digest,
        role: 'viewer',
        ...period,
      });
    const { token } = await createSessions({ registry, clock: systemClock }).open(person.id);
    return token;
  } finally {
    await registry.close();
  }
}

/** What a visit must not leave behind. */
interface Harm {
  readonly path: string;
  readonly what: string;
}

/** Reads a page; one that reloads itself with the first check meanwhile is read again. */
async function read(page: Page): Promise<{ readonly planted: readonly string[]; readonly words: string }> {
  for (let left = 3; ; left--) {
    try {
      return (await page.evaluate(`(() => {
        const all = [...document.getElementsByTagName('*')];
        const planted = all
          .filter((element) => /planted/i.test(element.tagName) || element.getAttribute('src') === 'x'
            || [...element.attributes].some(({ name }) => /^on/i.test(name)))
          .map((element) => element.outerHTML.slice(0, 200));
        const fields = [...document.querySelectorAll('input, textarea')].map((field) => field.value);
        return { planted, words: (document.body ?? document.documentElement).textContent + fields.join(' ') };
      })()`)) as Awaited<ReturnType<typeof read>>;
    } catch (error) {
      if (left === 0 || !/because of a navigation/.test((error as Error).message)) throw error;
      await page.waitForLoadState('load');
    }
  }
}

/** Looks at a page as a browser does; returns what is wrong, and the words that a reader sees. */
async function visit(page: Page, siteUrl: string, path: string, search?: string) {
  const harms: Harm[] = [];
  const onDialog = async (dialog: Dialog) => {
    harms.push({ path, what: `a dialog: ${dialog.message()}` });
    await dialog.dismiss();
  };
  const onConsole = (message: ConsoleMessage) => {
    if (/Content.Security.Policy/i.test(message.text())) harms.push({ path, what: message.text() });
  };
  page.on('dialog', onDialog);
  page.on('console', onConsole);
  await page.goto(siteUrl + path, { waitUntil: 'load' });
  if (search !== undefined) {
    await page.locator('input[type="search"]').pressSequentially(search);
    await page.locator('.found li').first().waitFor();
  }
  const { planted, words } = await read(page);
  for (const what of planted) harms.push({ path, what: `an element: ${what}` });
  page.off('dialog', onDialog);
  page.off('console', onConsole);
  return { harms, words };
}

const PAGE = {
  'content-security-policy': /^default-src 'none';.*script-src 'self';.*frame-ancestors 'none'$/,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'strict-origin-when-cross-origin',
};
const DATA = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
};
const EMBED = {
  'content-security-policy': /^default-src 'none';.*form-action 'none';.*frame-ancestors \*$/,
  'x-frame-options': null,
  'x-content-type-options': 'nosniff',
};
const PICTURE = {
  'content-security-policy': /^default-src 'none';.*; sandbox; frame-ancestors 'none'$/,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
};

/** A drawing of ours, which needs no style. */
const DRAWING = { ...PICTURE, 'content-security-policy': "default-src 'none'; sandbox" };

/** Every route with an address that it answers, and what its answer carries. */
const HEADERS: Readonly<Record<string, readonly [path: string, headers: object]>> = {
  '/': ['/', PAGE],
  '/docs': ['/docs', PAGE],
  '/incidents': ['/incidents', PAGE],
  '/heatmap': ['/heatmap', PAGE],
  '/honesty': ['/honesty', PAGE],
  '/api/v1/honesty': ['/api/v1/honesty', DATA],
  '/design': ['/design', PAGE],
  '/status/:slug': ['/status/target-example', PAGE],
  '/status/:slug/incidents/:id': ['/status/target-example/incidents/none', PAGE],
  '/status/:slug/incidents.atom': ['/status/target-example/incidents.atom', DATA],
  '/status/:slug/response-times.json': ['/status/target-example/response-times.json', DATA],
  '/incidents.atom': ['/incidents.atom', DATA],
  '/incidents.json': ['/incidents.json', DATA],
  '/status/:slug/incidents.json': ['/status/target-example/incidents.json', DATA],
  '/p/:slug/incidents.json': ['/p/evil/incidents.json', DATA],
  '/badges': ['/badges', PAGE],
  '/badges/:slug': ['/badges/target-example', PAGE],
  '/badges/:slug/picture': ['/badges/target-example/picture', PICTURE],
  '/search.json': ['/search.json', DATA],
  '/sparklines.svg': ['/sparklines.svg', PICTURE],
  '/logos/:version/:slug': ['/logos/1/github', PICTURE],
  '/live': ['/live?of=nobody', DATA],
  '/embed.js': ['/embed.js', DATA],
  '/assets/:name': ['/assets/none.js', DATA],
  '/p/:slug': ['/p/evil', PAGE],
  '/p/:slug/embed': ['/p/evil/embed', EMBED],
  '/p/:slug/incidents/:id': ['/p/evil/incidents/owner-1', PAGE],
  '/about': ['/about', PAGE],
  '/maintenance': ['/maintenance', PAGE],
  '/p/:slug/unlock': ['/p/evil/unlock', DATA],
  '/p/:slug/logo': ['/p/evil/logo', PICTURE],
  '/p/:slug.json': ['/p/evil.json', DATA],
  '/p/:slug/incidents.atom': ['/p/evil/incidents.atom', DATA],
  '/sign-in': ['/sign-in', PAGE],
  '/sign-in/passkeys/challenge': ['/sign-in/passkeys/challenge', DATA],
  '/sign-in/:provider': ['/sign-in/nobody', DATA],
  '/sign-in/:provider/callback': ['/sign-in/nobody/callback', DATA],
  '/setup/:secret': ['/setup/nothing', { ...PAGE, 'referrer-policy': 'same-origin' }],
  '/setup/:secret/challenge': ['/setup/nothing/challenge', DATA],
  '/sign-out': ['/sign-out', DATA],
  '/sign-out/everywhere': ['/sign-out/everywhere', DATA],
  '/dashboard': ['/dashboard', PAGE],
  '/dashboard/services/:slug': ['/dashboard/services/shop-example-org', PAGE],
  '/dashboard/webhooks': ['/dashboard/webhooks', PAGE],
  '/dashboard/incidents': ['/dashboard/incidents', PAGE],
  '/dashboard/maintenances': ['/dashboard/maintenances', PAGE],
  '/dashboard/pages': ['/dashboard/pages', PAGE],
  '/dashboard/pages/:slug': ['/dashboard/pages/evil', PAGE],
  '/dashboard/keys': ['/dashboard/keys', PAGE],
  '/dashboard/members': ['/dashboard/members', PAGE],
  '/dashboard/switch': ['/dashboard/switch', DATA],
  '/invitations/:secret': [`/invitations/${INVITATION}`, { ...PAGE, 'referrer-policy': 'same-origin' }],
  '/invitations/:secret/accept': [`/invitations/${INVITATION}/accept`, DATA],
  '/invitations/:secret/setup': [`/invitations/${INVITATION}/setup`, DATA],
  '/api/badge/:slug': ['/api/badge/target-example?format=svg', DRAWING],
  '/probe': ['/probe?target=target.example', DATA],
  '/api/badge/:slug/:kind': ['/api/badge/target-example/status', DRAWING],
  '/api/badge/:slug/:kind/:duration': ['/api/badge/target-example/uptime/24', DRAWING],
  '/badge/:secret': ['/badge/1.nothing.svg', DATA],
  '/api/chart/:slug': ['/api/chart/target-example', PICTURE],
  '/api/heatmap.png': ['/api/heatmap.png', PICTURE],
  '/api/v1/openapi.json': ['/api/v1/openapi.json', DATA],
  '/api/v1/status/:slug': ['/api/v1/status/target', DATA],
  '/api/v1/services': ['/api/v1/services', DATA],
  '/api/v1/apply': ['/api/v1/apply', DATA],
  '/api/v1/keys': ['/api/v1/keys', DATA],
  '/api/v1/keys/:id': ['/api/v1/keys/1', DATA],
  '/api/v1/pages': ['/api/v1/pages', DATA],
  '/api/v1/webhooks': ['/api/v1/webhooks', DATA],
  '/status/:slug/calendar.ics': ['/status/target-example/calendar.ics', DATA],
  '/p/:slug/api/v2/summary.json': ['/p/evil/api/v2/summary.json', DATA],
  '/p/:slug/calendar.ics': ['/p/acme/calendar.ics', DATA],
  '/api/v1/incidents/:slug/updates': ['/api/v1/incidents/target/updates', DATA],
  '/api/v1/account/incidents': ['/api/v1/account/incidents', DATA],
  '/api/v1/account/incidents/:id': ['/api/v1/account/incidents/owner-1', DATA],
  '/api/v1/maintenances': ['/api/v1/maintenances', DATA],
  '/api/v1/maintenances/:id': ['/api/v1/maintenances/m1', DATA],
  '/api/v1/maintenances/:id/occurrence': ['/api/v1/maintenances/m1/occurrence', DATA],
  '/api/v1/alerts': ['/api/v1/alerts', DATA],
  '/api/v1/alerts/:thread/acknowledge': ['/api/v1/alerts/t1/acknowledge', DATA],
  '/p/:slug/brand.css': ['/p/evil/brand.css', DATA],
  '/alerts/acknowledge/:secret': [
    '/alerts/acknowledge/nothing',
    { ...PAGE, 'referrer-policy': 'no-referrer' },
  ],
  '/api/v1/webhooks/:id': ['/api/v1/webhooks/1', DATA],
  '/api/v1/services/:slug': ['/api/v1/services/target', DATA],
  '/api/v1/services/:slug/verify': ['/api/v1/services/target/verify', DATA],
  '/api/v1/services/:slug/badge-address': ['/api/v1/services/target/badge-address', DATA],
  '/api/v1/services/:slug/address': ['/api/v1/services/target/address', DATA],
  '/api/v1/services/:slug/history': ['/api/v1/services/target/history', DATA],
  '/api/v1/services/:slug/vendor': ['/api/v1/services/target/vendor', DATA],
  '/api/v1/services/:slug/dependencies': ['/api/v1/services/shop-example-org/dependencies', DATA],
  '/api/v1/incidents': ['/api/v1/incidents', DATA],
  '/api/v1/incidents/:slug': ['/api/v1/incidents/target', DATA],
  '/api/v1/incidents/:slug/:id': ['/api/v1/incidents/target/none', DATA],
  '/api/v1/maintenance': ['/api/v1/maintenance', DATA],
  '/api/v1/dependencies': ['/api/v1/dependencies', DATA],
  '/api/v1/pages/:slug': ['/api/v1/pages/evil', DATA],
  '/api/v1/pages/:slug/verify': ['/api/v1/pages/evil/verify', DATA],
  '/api/v1/regions': ['/api/v1/regions', DATA],
  '/api/v1/events': ['/api/v1/events?slug=nobody', DATA],
  '/api/v1/heartbeat': ['/api/v1/heartbeat', DATA],
  '/healthz': ['/healthz', DATA],
  '/readyz': ['/readyz', DATA],
  '/metrics': ['/metrics', DATA],
  unknown: ['/nothing/here', DATA],
};

t.test(
  'it lets nothing that strangers write become more than text',
  { ...NEEDS_BROWSER, timeout: 240_000 },
  async (t) => {
    const installation = await install([
      { slug: 'target', name: EVIL, statusPage: { url: 'https://vendor.example', kind: 'custom' } },
    ]);
    t.teardown(() => installation.remove());
    const program = await installation.start();
    t.teardown(() => program.killHard());
    const { siteUrl, folder } = installation;
    const token = await plant(program, folder, siteUrl);
    const { name } = createSiteCookie(siteUrl);
    const cookie = `${name}=${token}`;

    await t.test('it sends the headers of its kind with every answer', async (t) => {
      for (const [route, [path, wanted]] of Object.entries(HEADERS)) {
        // Errors are pages for clients that prefer pages alone.
        const accept = 'referrer-policy' in wanted ? 'text/html' : '*/*';
        const response = await fetch(siteUrl + path, { headers: { cookie, accept }, redirect: 'manual' });
        await response.body?.cancel();
        for (const [name, value] of Object.entries(wanted))
          t.match({ [name]: response.headers.get(name) }, { [name]: value }, `${route}: ${name}`);
      }
    });

    await t.test('it knows every route that there is', async (t) => {
      const written = ['src/api', 'src/web'].flatMap((folder) =>
        readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.ts'))
          .flatMap((name) => [
            ...readFileSync(join(ROOT, folder, name), 'utf8').matchAll(
              /^ +(?:return \{ )?\{? ?path: '(\/[^']*)',/gm,
            ),
          ])
          .map((found) => found[1] ?? ''),
      );
      t.ok(written.length > 30, `${written.length} routes`);
      t.same(
        written.filter((route) => !(route in HEADERS)),
        [],
        'a new route needs a line in the table above, and a page one in the list below',
      );
    });

    await t.test('it opens every page in a browser', async (t) => {
      const browser = await launchBrowser();
      t.teardown(() => browser.close());
      const context = await browser.newContext();
      context.setDefaultTimeout(PATIENCE_MS);
      await context.addCookies([{ name, value: token, url: siteUrl }]);
      const page = await context.newPage();
      const query = encodeURIComponent(EVIL);
      const incidents = (await program.get('/api/v1/incidents/target')).body as {
        incidents: { id: string }[];
      };
      const id = encodeURIComponent(incidents.incidents.find((one) => !one.id.startsWith('own'))?.id ?? '');
      t.not(id, '');
      /** Pages, and whether what was planted must be read there. */
      const pages: readonly (readonly [path: string, shown: boolean])[] = [
        ['/', true],
        [`/?q=${query}`, true],
        ['/status/target-example', true],
        [`/status/target-example/incidents/${id}`, true],
        ['/status/shop-example-org', true],
        [`/status/${query}`, true],
        [`/status/target-example/incidents/${query}`, false],
        ['/badges', false],
        ['/badges/target-example', true],
        [`/badges/${query}`, false],
        ['/docs', false],
        ['/incidents', true],
        ['/heatmap', false],
        ['/honesty', false],
        ['/design', false],
        ['/sign-in', false],
        ['/dashboard', true],
        ['/dashboard/services/shop-example-org', true],
        ['/dashboard/webhooks', true],
        ['/dashboard/pages', true],
        ['/dashboard/members', true],
        ['/dashboard/account', true],
        [`/invitations/${INVITATION}`, true],
        [`/dashboard/pages/evil?q=${query}`, true],
        ['/p/evil', true],
        [`/p/evil?service=${query}`, true],
        ['/p/evil/embed', true],
        [`/p/${query}`, true],
        [`/p/evil/embed?theme=${query}`, true],
        ['/p/evil.json', true],
        ['/p/evil/incidents.atom', true],
        ['/p/evil/api/v2/summary.json', true],
        ['/incidents.atom', true],
        ['/api/v1/services', true],
        ['/api/v1/incidents/target', true],
        ['/api/v1/services/shop-example-org/dependencies', true],
        [`/api/v1/status/${query}`, true],
        ['/search.json', true],
        ['/api/badge/target-example', false],
        ['/api/badge/target-example?format=svg', false],
        ['/api/badge/target-example?format=shields', false],
        ['/api/chart/target-example', false],
        ['/p/evil/logo', false],
      ];
      for (const [path, shown] of pages) {
        const { harms, words } = await visit(page, siteUrl, path);
        t.same(harms, [], path);
        if (shown) t.match(words, 'planted-x', `${path} shows what was planted, as text`);
      }
      const searched = await visit(page, siteUrl, '/', 'planted');
      t.same(searched.harms, [], 'what is found while one types');
    });
  },
);
