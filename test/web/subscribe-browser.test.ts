/** The way of a subscriber in a browser: the form, the confirmation and the end, as people look at them, and by keyboard alone. */
import t, { type Test } from 'tap';
import { service, startApi } from '../site/site-world.ts';
import { findFaults, LOOKS, launchBrowser, NEEDS_BROWSER, UNFILLED } from '../support/browser.ts';

const ADDRESS = 'ada@example.com';
/** What a page may need on a busy machine, milliseconds. */
const PATIENCE_MS = 60_000;

t.setTimeout(240_000);

async function start(t: Test) {
  const api = await startApi({ services: [service(1, 'known', { name: 'Known' })] });
  t.teardown(api.close);
  await api.putPage('acme', { title: 'Acme', groups: [{ name: '', services: [1] }] });
  /** The secret in the newest letter to an address, as its link has it. */
  const secretIn = async (address: string) => {
    const letters = await api.registry.dueLetters(api.clock.now(), 100);
    const secret = letters.findLast(({ to }) => to === address)?.secret;
    if (secret === undefined) throw new Error(`no letter to ${address}`);
    return secret;
  };
  return { api, secretIn };
}

t.test(
  'a visitor subscribes, confirms and unsubscribes, and every step can be read by all',
  NEEDS_BROWSER,
  async (t) => {
    const { api, secretIn } = await start(t);
    const browser = await launchBrowser();
    t.teardown(() => browser.close());
    const steps = LOOKS.map((look) => ({ ...look, lang: look.name === 'dark' ? 'de' : 'en' }));
    for (const [index, { name, lang, rules, colorScheme, viewport }] of steps.entries()) {
      const address = `${index}-${ADDRESS}`;
      const context = await browser.newContext({ colorScheme, viewport, locale: lang });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      // axe needs scripts; the pages do not, which the last test shows.
      const look = async (step: string) => {
        t.same(await findFaults(page, rules), [], `${name}: ${step}`);
        t.notMatch(await page.locator('main').innerText(), UNFILLED, `${name}: ${step}`);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        t.ok(Number(width) <= viewport.width, `${name}: ${step} fits`);
      };
      await page.goto(`${api.origin}/p/acme?lang=${lang}`);
      await page.locator('.own-subscribe').click();
      await page.locator('#follow ~ p a').first().click();
      await page.waitForURL(/\/subscribe\?page=acme/);
      await look('the form');
      await page.locator('input[name=address]').fill(address);
      await page.locator('main form button').click();
      await page.locator('main .card > [role=status]').waitFor();
      await look('the letter is sent');
      const secret = await secretIn(address);
      await page.goto(`${api.origin}/subscribe/confirm/${secret}`);
      await look('the question');
      await page.locator('main form button').click();
      await page.locator('main form').waitFor({ state: 'detached' });
      await look('it is confirmed');
      t.match(await api.registry.findSubscription(secret), { isConfirmed: true, language: lang });
      await page.goto(`${api.origin}/subscribe/end/${secret}`);
      await look('the end');
      await page.locator('main form button').click();
      await page.locator('main form').waitFor({ state: 'detached' });
      await look('it has ended');
      t.equal(await api.registry.findSubscription(secret), null);
      await page.goto(`${api.origin}/subscribe/confirm/${secret}`);
      await look('an old link');
      await context.close();
      await api.clock.skip(60_000);
    }
  },
);

t.test('it works by keyboard and without scripts, also on the narrowest screen', NEEDS_BROWSER, async (t) => {
  const { api, secretIn } = await start(t);
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width: 320, height: 640 },
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  await page.goto(`${api.origin}/subscribe?page=acme`);
  await page.locator('input[name=address]').focus();
  await page.keyboard.type(ADDRESS);
  await page.keyboard.press('Enter');
  await page.locator('main .card > [role=status]').waitFor();
  const secret = await secretIn(ADDRESS);
  for (const [path, isConfirmed] of [
    ['confirm', true],
    ['end', null],
  ] as const) {
    await page.goto(`${api.origin}/subscribe/${path}/${secret}`);
    await page.locator('main form button').focus();
    await page.keyboard.press('Enter');
    await page.locator('main form').waitFor({ state: 'detached' });
    const found = await api.registry.findSubscription(secret);
    t.equal(found?.isConfirmed ?? null, isConfirmed, path);
  }
});
