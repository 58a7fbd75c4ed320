/**
 * Status pages of owners in a real browser: made by forms without scripts, read in every look, shown in the frames of
 * another site. `SCREENSHOTS=FOLDER` keeps the screenshots, to be looked at.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { findFaults, LOOKS, launchBrowser, NEEDS_BROWSER, signIn, UNFILLED } from '../support/browser.ts';
import { startIdentityServer } from '../support/identity-server.ts';
import { pngOf } from '../support/pictures.ts';
import { install } from '../support/program.ts';

/** The others differ in nothing that a look could change. */
const IN_EVERY_LOOK: ReadonlySet<string> = new Set(['own', 'own-embed', 'own-editor']);

/** Generous, for busy machines: nothing here takes a second otherwise. */
const PATIENCE_MS = 45_000;

t.test(
  'it makes a page without scripts, and shows it everywhere',
  { ...NEEDS_BROWSER, timeout: 240_000 },
  async (t) => {
    const listen = async (server: Server) => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.teardown(() => {
        server.closeAllConnections();
        server.close();
      });
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    };
    const up = await listen(createServer((_request, response) => response.writeHead(200).end()));
    const down = await listen(createServer((_request, response) => response.writeHead(503).end()));
    const installation = await install(
      [
        { slug: 'library', name: 'Library', check: { url: up } },
        { slug: 'post', name: 'Post', check: { url: down } },
        { slug: 'bakery', name: 'Bakery', check: { url: up } },
      ],
      async (siteUrl) => ({
        auth: {
          providers: [
            {
              id: 'acme',
              kind: 'oidc',
              ...(await startIdentityServer(t, `${siteUrl}/sign-in/acme/callback`)),
            },
          ],
        },
      }),
    );
    t.teardown(() => installation.remove());
    const program = await installation.start();
    t.teardown(() => program.killHard());
    const { siteUrl } = installation;
    for (const [slug, wanted] of [
      ['post', 'down'],
      ['library', 'up'],
    ])
      await program.until<{ status: string }>(
        `/api/v1/status/${slug}`,
        ({ status }) => status === wanted,
        PATIENCE_MS,
      );
    const browser = await launchBrowser();
    t.teardown(() => browser.close());
    const pictures = process.env.SCREENSHOTS;
    if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
    const shoot = async (tab: Page, name: string) => {
      t.notMatch(await tab.locator('body').innerText(), UNFILLED, `${name}: no value is missing in its text`);
      if (pictures === undefined) return;
      await tab.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
    };

    // A service of one's own, then a page with two groups, by forms alone.
    const plain = await browser.newContext({ javaScriptEnabled: false });
    plain.setDefaultTimeout(PATIENCE_MS);
    const tab = await plain.newPage();
    await signIn(tab, siteUrl, 'ada');
    await tab.goto(`${siteUrl}/dashboard/keys`);
    await tab.getByLabel('Name').fill('laptop');
    await tab.getByRole('button', { name: 'Create' }).click();
    const key = await tab.getByLabel('Your key').inputValue();
    const beat = async (status: string) => {
      const answer = await fetch(`${siteUrl}/api/v1/heartbeat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ domain: 'shop.example.org', status }),
      });
      t.equal(answer.status, 200);
    };
    await beat('slow');
    await tab.goto(`${siteUrl}/dashboard/pages`);
    await tab.getByLabel('Title').fill('Acme & friends');
    await tab.getByLabel('Address').fill('admin');
    await tab.getByRole('button', { name: 'Create' }).click();
    await tab.getByText('is a word of this site').waitFor();
    await shoot(tab, 'own-add-refused');
    await tab.getByLabel('Address').fill('acme');
    await tab.getByRole('button', { name: 'Create' }).click();
    await tab.waitForURL(/\/dashboard\/pages\/acme$/);
    await tab
      .getByLabel('Introduction')
      .fill('All that we run, and what we stand on.\nQuestions? Ask the desk.');
    await tab.getByRole('button', { name: 'Save', exact: true }).click();
    await tab.getByLabel('Brand colour').fill('#aa3377');
    await tab.getByRole('button', { name: 'Save appearance and access' }).click();
    t.equal(await tab.getByLabel('Brand colour').inputValue(), '#aa3377');
    for (const group of ['Public', 'Our own']) {
      await tab.getByLabel('Name of the new group').fill(group);
      await tab.getByRole('button', { name: 'Add the group' }).click();
    }
    for (const [name, group] of [
      ['Post', 'Public'],
      ['Library', 'Public'],
      ['shop.example.org', 'Our own'],
    ] as const) {
      await tab.getByLabel('Name or domain of a service').fill(name);
      await tab.getByRole('button', { name: 'Search' }).click();
      await tab.getByLabel('Into the group').selectOption({ label: group });
      await tab.getByRole('checkbox', { name }).check();
      await tab.getByRole('button', { name: 'Add the chosen services' }).click();
    }
    await tab.getByRole('button', { name: 'Move Library up' }).click();
    const logo = { name: 'logo.png', mimeType: 'image/png', buffer: pngOf(120, 60) };
    await tab.locator('input[name=logo]').setInputFiles({ ...logo, buffer: Buffer.from('<svg/>') });
    await tab.getByRole('button', { name: 'Upload: Logo' }).click();
    await tab.getByText('SVG is not taken').waitFor();
    await tab.locator('input[name=logo]').setInputFiles({ ...logo, buffer: Buffer.alloc(3_000_000, 1) });
    await tab.getByRole('button', { name: 'Upload: Logo' }).click();
    await tab.getByText('at most 256 KiB').waitFor();
    await tab.locator('input[name=logo]').setInputFiles(logo);
    await tab.getByRole('button', { name: 'Upload: Logo' }).click();
    await tab.getByRole('button', { name: 'Replace: Logo' }).waitFor();
    await tab.getByRole('link', { name: 'Show the page' }).click();
    const names = await tab.locator('.own-name a').allTextContents();
    t.same(names, ['Library', 'Post', 'shop.example.org'], 'in the order of their owner');
    t.same(await tab.locator('h2').allTextContents(), [
      'Open incidents',
      'Public',
      'Our own',
      'Past incidents',
      'Subscribe to this page',
    ]);
    t.match(await tab.locator('.overall').textContent(), '1 of 3 services is down.');
    t.equal(await tab.getByText('reported by its owner, not verified').count(), 1);
    await tab.locator('select[name="show"]').selectOption('past');
    await tab.getByRole('button', { name: 'Show', exact: true }).click();
    await tab.getByText('No matching incidents.').waitFor();
    const state = await plain.storageState();

    // Pages are made by the command line too, while the program runs.
    await installation.withRegistry((registry) => registry.ensureAccount('bob', Date.now()));
    const made = await installation.runHere(
      'pages',
      'add',
      'bread',
      '--account',
      'bob',
      '--title',
      'Bread',
      '--group',
      'bakery',
    );
    t.match(made, { status: 0, stdout: 'bread\n' });
    t.match((await program.get('/p/bread.json')).body, {
      groups: [{ name: '', services: [{ slug: 'bakery' }] }],
    });
    const listed = await installation.runHere('pages', 'list', '--json');
    t.match(JSON.parse(listed.stdout), [
      { slug: 'acme', account: 'ada', services: 3 },
      { slug: 'bread', account: 'bob', url: `${siteUrl}/p/bread` },
    ]);

    // Another site, on another origin, embeds the page both ways; a third one tries to lie about the height.
    const host = await listen(
      createServer((request, response) => {
        response.setHeader('content-type', 'text/html');
        if (request.url === '/liar')
          response.end(`<script>parent.postMessage({ upbeat: 'height', height: 1777 }, '*')</script>`);
        else if (request.url === '/page')
          response.end(`<!doctype html><iframe src="${siteUrl}/p/acme"></iframe>`);
        else
          response.end(
            `<!doctype html><html lang="en"><title>A shop</title><body><h1>A shop</h1><script src="${siteUrl}/embed.js" data-page="acme" async></script><iframe id="plain" title="Status, plain" src="${siteUrl}/p/acme/embed?theme=dark" width="100%" height="260" style="border:0"></iframe><iframe title="liar" src="/liar" hidden></iframe></body></html>`,
          );
      }),
    );
    // A page that stays open while the shop recovers.
    const watching = await browser.newContext();
    watching.setDefaultTimeout(PATIENCE_MS);
    const open = await watching.newPage();
    await open.goto(`${siteUrl}/p/acme`);
    await open.locator('.own-services .pill.slow').waitFor();
    await open.evaluate('window.isTheSame = true');
    await beat('ok');

    const pages = {
      own: '/p/acme',
      'own-small': '/p/bread',
      'own-missing': '/p/nobody',
      'own-embed': '/p/acme/embed',
      'own-list': '/dashboard/pages',
      'own-editor': '/dashboard/pages/acme?q=bak',
      'own-german': '/p/acme?lang=de',
    };
    for (const { name: look, colorScheme, viewport, rules } of LOOKS) {
      const context = await browser.newContext({ colorScheme, viewport, storageState: state });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().includes('404')) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.goto(host);
      const frame = page.frameLocator('iframe[title="Status"]');
      await frame.getByText('1 of 3 services is down.').waitFor();
      await page.waitForFunction(`(() => {
      const frame = document.querySelector('iframe[title="Status"]');
      return frame.style.height !== '160px' && frame.style.height !== '';
    })()`);
      const height = await page.evaluate(
        `parseInt(document.querySelector('iframe[title="Status"]').style.height)`,
      );
      t.ok(
        Number(height) > 60 && Number(height) < 600,
        `${look}: the frame is as high as what it shows: ${height}`,
      );
      await page.frameLocator('#plain').getByText('Acme & friends').waitFor();
      await shoot(page, `own-host-${look}`);
      for (const [name, path] of Object.entries(pages)) {
        if (look !== 'light' && !IN_EVERY_LOOK.has(name)) continue;
        let bytes = 0;
        page.on('response', async (response) => {
          const { length } = await response.body().catch(() => Buffer.alloc(0));
          bytes += length;
        });
        await page.goto(siteUrl + path);
        page.removeAllListeners('response');
        await shoot(page, `${name}-${look}`);
        // A phone shows the same colours and names as the light look.
        if (look !== 'phone') t.same(await findFaults(page, rules), [], `${name} ${look}`);
        const wide = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        t.equal(wide, 0, `${name} ${look}: nothing hangs over the edge`);
        t.ok(bytes < 100_000, `${name} ${look}: ${bytes} bytes`);
      }
      t.same(complaints, [], look);
      await context.close();
    }
    await open.locator('.own-services .pill.up').nth(1).waitFor();
    t.equal(await open.evaluate('window.isTheSame'), true, 'it came alive without being loaded anew');
    await watching.close();

    const foreign = await (await browser.newContext()).newPage();
    foreign.setDefaultTimeout(PATIENCE_MS);
    const refusal = foreign.waitForEvent('console', (message) =>
      /frame-ancestors|X-Frame-Options/i.test(message.text()),
    );
    await foreign.goto(`${host}page`);
    t.ok(await refusal, 'the page itself is in no frame of another site');

    // Copying is a help of scripts, one button for each snippet.
    const copying = await browser.newContext({
      storageState: state,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const copier = await copying.newPage();
    await copier.goto(`${siteUrl}/dashboard/pages/acme`);
    await copier.getByRole('button', { name: 'Copy the script' }).click();
    await copier.getByText('Copied.').waitFor();
    t.equal(
      await copier.evaluate('navigator.clipboard.readText()'),
      `<script src="${siteUrl}/embed.js" data-page="acme" async></script>`,
    );
    await copier.getByLabel('To delete the page').fill('acme');
    await copier.getByRole('button', { name: 'Delete' }).click();
    await copier.waitForURL(`${siteUrl}/dashboard/pages`);
    t.equal((await program.get('/p/acme')).status, 404);
  },
);
