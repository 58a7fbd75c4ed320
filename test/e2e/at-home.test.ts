/**
 * From an empty folder to a watched home in a real browser, without scripts of the pages: the link that the start prints, a password, one
 * question, one channel, and the alert of an outage.
 */
import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import t from 'tap';
import { findFaults, LOOKS, launchBrowser, NEEDS_BROWSER, UNFILLED } from '../support/browser.ts';
import { makeCertificate } from '../support/certificates.ts';
import { listenOn, listenRaw, until } from '../support/loopback.ts';
import { install } from '../support/program.ts';
import { overhangOf } from '../support/watched-page.ts';

t.setTimeout(240_000);
const PATIENCE_MS = 60_000;
/** Screens from the link to the last button, the recovery codes included, which somebody with a passkey does not see. */
const MAX_SCREENS = 6;
/** Requests of pages and forms on the way; files aside. */
const MAX_REQUESTS = 12;

t.test('a home is watched after three questions', NEEDS_BROWSER, async (t) => {
  const serve = async (server: Server, host: string) => {
    const at = await listenOn(server, host);
    t.teardown(at.close);
    return at;
  };
  const web = await serve(
    createServer((_, response) => response.writeHead(401).end()),
    '127.0.0.11',
  );
  const api = await serve(
    createServer(({ url }, response) => response.writeHead(url === '/api/health' ? 200 : 404).end('{}')),
    '127.0.0.12',
  );
  const nas = await serve(
    createSecureServer(makeCertificate({ names: ['nas.example'] }), (_, response) => response.end()),
    '127.0.0.13',
  );
  const cache = await listenRaw((socket) => socket.on('data', () => socket.write('+PONG\r\n')), '127.0.0.14');
  t.teardown(cache.close);
  const printer = await listenRaw((socket) => socket.end(), '127.0.0.15');
  t.teardown(printer.close);
  const told: string[] = [];
  const phone = await serve(
    createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        told.push(text);
        response.end('{}');
      });
    }),
    '127.0.0.16',
  );

  const installation = await install([], {
    catalogue: { file: 'none' },
    site: { access: 'members' },
    checks: { trustedPrivate: ['127.0.0.0/8'] },
    limits: { minInterval: '1s' },
  });
  t.teardown(() => installation.remove());
  const program = await installation.start();
  t.teardown(() => program.killHard());
  const linkIn = () => /http:\/\/127\.0\.0\.1:\d+\/setup\/[\w-]{43}/.exec(program.output())?.[0] ?? '';
  await until(() => linkIn() !== '');

  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const context = await browser.newContext({ javaScriptEnabled: false });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const requests: string[] = [];
  const screens = new Set<string>();
  page.on('request', (request) => {
    if (request.resourceType() === 'document')
      requests.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  const look = async (name: string) => {
    screens.add(name);
    t.notMatch(await page.locator('body').innerText(), UNFILLED, name);
  };

  await page.goto(installation.siteUrl);
  t.match(page.url(), /\/sign-in$/, 'strangers are led to sign in');
  await page.goto(linkIn());
  await look('link');
  const key = (await page.locator('code').allInnerTexts()).find((text) => /^[A-Z2-7 ]{39}$/.test(text)) ?? '';
  const form = page.locator('form', { has: page.locator('input[value="password"]') });
  await form.locator('[name=name]').fill('Ada');
  await form.locator('[name=password]').fill('correct horse battery');
  await form.locator('[name=code]').fill(new TOTP({ secret: Secret.fromBase32(key) }).generate());
  await form.getByRole('button').click();
  await page.locator('textarea.key').waitFor();
  await look('codes');
  await page.locator('a.button').click();

  await page.getByRole('heading', { name: 'What do you want to watch?' }).waitFor();
  await look('question');
  await page
    .getByLabel('Addresses', { exact: true })
    .fill(
      [
        '# Home',
        `- Router: http://127.0.0.11:${web.port}`,
        `http://127.0.0.12:${api.port}/api/health`,
        `https://127.0.0.13:${nas.port} # NAS`,
        `redis://127.0.0.14:${cache.port}`,
        `127.0.0.15:${printer.port}`,
        'backup of the NAS',
        '192.168.1.0/24',
      ].join('\n'),
    );
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('.watched').waitFor();
  t.equal(
    await page.locator('h1').innerText(),
    '6 services are watched',
    await page.locator('main').innerText(),
  );
  await look('watched');
  const rows = await page.locator('.watched > li').allInnerTexts();
  const words = rows.map((row) => row.replaceAll(/\s+/g, ' '));
  t.match(words[0], /^Operational Router Custom HTTP request, 127\.0\.0\.11:\d+, HTTP 401/);
  t.match(words[1], /^Operational 127\.0\.0\.12:\d+\/api\/health Custom HTTP request/);
  t.match(words[2], /^Operational NAS .*Its certificate is not verified/);
  t.match(words[3], /^Operational 127\.0\.0\.14:\d+ Redis/);
  t.match(words[4], /^Operational 127\.0\.0\.15:\d+ TCP connection/);
  t.match(words[5], /^Unknown backup of the NAS .*Waits for its first heartbeat/);
  t.equal(
    await page.locator('textarea[name=addresses]').inputValue(),
    '192.168.1.0/24',
    'what is not understood stays typed',
  );
  t.match(await page.getByRole('alert').innerText(), /This is a range of addresses/);
  const beat = (await page.getByLabel('backup of the NAS').inputValue()).replace('curl -fsS ', '');
  const answer = await fetch(beat);
  t.equal(answer.status, 200, `a job reports although it has not signed in: ${await answer.text()}`);
  await page.getByRole('link', { name: 'Continue' }).click();

  await page.getByRole('heading', { name: 'Where should we notify you?' }).waitFor();
  await look('channels');
  await page.getByRole('link', { name: 'ntfy' }).click();
  await page.getByLabel('Server').fill(`http://127.0.0.16:${phone.port}`);
  await page.getByLabel('Topic').fill('home');
  await page.getByRole('button', { name: 'Add and send a test' }).click();
  await page.getByText('ntfy is notified of every outage of your services.').waitFor();
  await look('channels');
  await until(() => told.length > 0, PATIENCE_MS);
  await page.getByRole('link', { name: 'Done' }).click();
  await page.waitForURL(`${installation.siteUrl}/dashboard`);
  t.ok(screens.size <= MAX_SCREENS, [...screens].join(', '));
  t.ok(requests.length <= MAX_REQUESTS, requests.join(', '));

  t.equal((await fetch(`${installation.siteUrl}/api/v1/services`)).status, 401);
  const slugs = await installation.withRegistry(async (registry) => {
    const [account] = await registry.listAccounts();
    return (await registry.servicesOf(account?.id ?? 0)).map(({ slug }) => slug);
  });
  t.equal(slugs.length, 6);
  const headers = { authorization: `Bearer ${await installation.makeKey('Ada')}` };
  const isUp = async (slug: string) => {
    const { body } = await program.get(`/api/v1/status/${slug}`, headers);
    return (body as { status?: string }).status === 'up';
  };
  for (const slug of slugs) await until2(() => isUp(slug));
  await web.close();
  await until(() => told.some((text) => /Router/.test(text)), PATIENCE_MS);
  t.match(
    told.find((text) => /Router/.test(text)),
    /Router/,
  );

  await page.goto(installation.siteUrl);
  t.equal(
    await page.locator('[aria-labelledby=c-own] ul.services > li').count(),
    6,
    'the first page has them',
  );

  await lookAt(page, installation.siteUrl, await context.storageState());

  async function lookAt(
    _: Page,
    siteUrl: string,
    storageState: Awaited<ReturnType<typeof context.storageState>>,
  ): Promise<void> {
    const pictures = process.env.SCREENSHOTS;
    if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
    for (const { name, colorScheme, viewport, rules } of LOOKS)
      for (const [path, code] of [
        ['', 'en'],
        ['dashboard/start', 'en'],
        ['dashboard/start/notify', 'de'],
        ['dashboard/start/notify?kind=telegram', 'en'],
      ] as const) {
        const seen = await browser.newContext({ colorScheme, viewport, storageState });
        const tab = await seen.newPage();
        tab.setDefaultTimeout(PATIENCE_MS);
        await tab.goto(`${siteUrl}/${path}${path.includes('?') ? '&' : '?'}lang=${code}`);
        t.same(await findFaults(tab, rules), [], `${path}, ${name}`);
        t.equal(await overhangOf(tab), 0, `${path}, ${name}`);
        if (pictures !== undefined)
          await tab.screenshot({
            path: join(pictures, `${path.replaceAll(/\W/g, '-')}-${name}.png`),
            fullPage: true,
          });
        await seen.close();
      }
  }
});

/** Waits for a condition that takes requests. */
async function until2(condition: () => Promise<boolean>): Promise<void> {
  const limit = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > limit) throw new Error('it did not come');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
