/** Signing in without a provider, through the whole program: from the first link on, with every attack that was thought of. */
import { Secret, TOTP } from 'otpauth';
import t from 'tap';
import { createSiteCookie } from '../../src/http/cookies.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { findFaults, LOOKS, launchBrowser, NEEDS_BROWSER } from '../support/browser.ts';
import { until } from '../support/loopback.ts';
import { install } from '../support/program.ts';

t.setTimeout(180_000);

const installation = await install([], (siteUrl) => ({
  http: { siteUrl: siteUrl.replace('127.0.0.1', 'localhost'), trustedProxies: ['127.0.0.1'] },
  checks: { interval: '1h' },
}));
t.teardown(() => installation.remove());
const program = await installation.start();
t.teardown(() => program.killHard());
const { siteUrl: base } = installation;
const site = new URL(base.replace('127.0.0.1', 'localhost'));

const PASSWORD = 'correct horse battery';

interface Sent {
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

/** Requests a page, or sends a form, without following redirects. */
async function send(path: string, fields: Record<string, string> | string | null, sent: Sent = {}) {
  const response = await fetch(`${base}${path}`, {
    redirect: 'manual',
    method: sent.method ?? (fields === null ? 'GET' : 'POST'),
    headers: { cookie: sent.cookie ?? '', ...sent.headers },
    ...(fields === null ? {} : { body: typeof fields === 'string' ? fields : new URLSearchParams(fields) }),
  });
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '');
  const { status, headers } = response;
  return { status, headers, cookies, location: headers.get('location') ?? '', text: await response.text() };
}

const get = (path: string, sent?: Sent) => send(path, null, sent);
const sessionIn = (cookies: readonly string[]) => cookies.find((one) => /^upbeat-\d+=/.test(one)) ?? '';
const tokenIn = (html: string) => /name="token" value="([^"]+)"/.exec(html)?.[1] ?? '';

/** The authenticator app that has read the key of a page. */
function appOf(html: string) {
  const shown = /<code>([A-Z2-7 ]{39})<\/code>/.exec(html)?.[1] ?? '';
  const totp = new TOTP({ secret: Secret.fromBase32(shown) });
  // Each code counts once: later ones are of later periods, and the one of the next period is accepted too.
  return { shown, code: (periods = 0) => totp.generate({ timestamp: Date.now() + periods * 30_000 }) };
}

/** The path of the link in a text. */
const linkIn = (text: string) => /http:\/\/localhost:\d+(\/setup\/[\w-]{43})/.exec(text)?.[1] ?? '';

await until(() => linkIn(program.output()) !== '');
const first = linkIn(program.output());
let codes: string[] = [];
let ada = '';
let mark = '';

t.test('it prints a link for the first account, which works once', async (t) => {
  t.ok(first, 'in the log');
  t.match((await get('/dashboard')).location, '/sign-in');
  const empty = await get('/sign-in');
  t.match(empty.text, /There is no account yet.*accounts setup-link/s);
  t.notMatch(empty.text, /type="password"|data-passkey/);

  const page = await get(first);
  t.match(page, { status: 200, text: /autocomplete="new-password".*autocomplete="one-time-code"/s });
  t.equal(page.headers.get('cache-control'), 'no-store');
  t.equal(page.headers.get('referrer-policy'), 'same-origin');
  t.match(page.headers.get('content-security-policy'), /frame-ancestors 'none'/);
  const app = appOf(page.text);
  t.equal(appOf((await get(`${first}?lang=de`)).text).shown, app.shown, 'looking at it changes nothing');
  const form = { way: 'password', name: 'Ada', password: PASSWORD, code: app.code() };
  const refused: readonly (readonly [fields: Record<string, string>, problem: RegExp])[] = [
    [{ password: 'short' }, /12 to 256 characters/],
    [{ password: 'ada is not a good one' }, /easy to guess/],
    [{ code: '000000' }, /code is not right/],
    [{ code: '' }, /code is not right/],
    [{ name: 'a\u202eb' }, /must not contain U\+202E/],
    [{ way: 'passkey' }, /must have 1 to 100|not accepted/],
    [{ way: 'constructor', password: '' }, /12 to 256/],
  ];
  for (const [fields, problem] of refused)
    t.match(await send(first, { ...form, ...fields }), { status: 400, text: problem });
  for (const wrong of [`${first}x`, first.slice(0, -1), `${first.slice(0, -1)}-`, '/setup/constructor'])
    t.equal((await get(wrong)).status, 404);
  t.equal((await send(first, null, { method: 'DELETE' })).status, 405);
  const elsewhere = { headers: { origin: 'https://evil.example' } };
  t.equal(
    (await send(first, form, elsewhere)).status,
    403,
    'another site cannot sign a visitor in with its link',
  );

  const [made, again] = await Promise.all([send(first, form), send(first, { ...form, name: 'Eve' })]);
  const [winner, loser] = made.status === 200 ? [made, again] : [again, made];
  t.equal(winner.status, 200);
  t.match(loser, { status: 404, text: /not valid any more/ });
  t.equal(sessionIn(loser.cookies), '');
  codes = (/<textarea[^>]*>([^<]+)</.exec(winner.text)?.[1] ?? '').split('\n');
  t.equal(codes.length, 10);
  ada = sessionIn(winner.cookies);
  t.match((await get('/dashboard', { cookie: ada })).text, /<span class="soft">(Ada|Eve), [^<]+<\/span>/);
  t.equal((await get(first)).status, 404);
  t.equal((await installation.runHere('accounts', 'list')).stdout.split('\n').length, 3);
});

t.test('name, password and code sign in, and nothing else does', async (t) => {
  const reset = await installation.runHere('accounts', 'reset', 'Nobody');
  t.match(reset, { status: 1, stderr: /no person Nobody/ });
  const again = await installation.runHere('accounts', 'setup-link');
  t.equal(again.stdout.trim().split('\n').length, 1, 'the link stands alone');
  const link = linkIn(again.stdout);
  const app = appOf((await get(link)).text);
  const enrol = { way: 'password', name: 'Grace H.', password: PASSWORD, code: app.code() };
  const taken = (await get('/dashboard', { cookie: ada })).text.includes('>Ada, ') ? 'ADA' : 'eve';
  t.match(await send(link, { ...enrol, name: taken }), { status: 400, text: /is taken/ });
  const grace = await send(link, enrol);
  t.equal(grace.status, 200);
  const graceCodes = (/<textarea[^>]*>([^<]+)</.exec(grace.text)?.[1] ?? '').split('\n');

  // Failures of another client do not delay this one.
  const signIn = (fields: Record<string, string>, client: string, cookie = '') =>
    send(
      '/sign-in',
      { way: 'password', name: 'grace h.', password: PASSWORD, ...fields },
      { cookie, headers: { 'x-forwarded-for': client } },
    );
  const wrong = [
    await signIn({ name: 'nobody', code: app.code(1) }, '192.0.2.1'),
    await signIn({ password: 'wrong horse battery', code: app.code(1) }, '192.0.2.1'),
    await signIn({ code: '000000' }, '192.0.2.1'),
    await signIn({ code: enrol.code }, '192.0.2.1'),
  ];
  const bare = ({ status, text, cookies }: (typeof wrong)[number]) => ({
    status,
    cookies,
    text: text.replaceAll(/value="(nobody|grace h\.)"|data-now="\d+"/g, ''),
  });
  for (const answer of wrong) t.same(bare(answer), bare(wrong[0] ?? answer));
  t.match(wrong[0]?.text, /The name, the password or the code is not right/);
  t.match(wrong[0]?.text, /autocomplete="username[^"]*".*autocomplete="current-password".*"one-time-code"/s);

  // A planted session ends, and the new token is another one.
  const planted = sessionIn(grace.cookies);
  const signedIn = await signIn({ code: app.code(1) }, '192.0.2.2', planted);
  t.match(signedIn, { status: 303, location: '/dashboard' });
  t.not(sessionIn(signedIn.cookies), planted);
  t.equal((await get('/dashboard', { cookie: planted })).location, '/sign-in');
  mark = signedIn.cookies.find((one) => one.startsWith('upbeat-browser-')) ?? '';
  t.ok(mark);
  t.equal((await signIn({ code: app.code(1) }, '192.0.2.2')).status, 400, 'no code twice');
  const byRecovery = await signIn({ code: graceCodes[0] ?? '' }, '192.0.2.2');
  t.match(byRecovery, { status: 303, location: '/dashboard/account' });
  t.match((await get('/dashboard/account', { cookie: sessionIn(byRecovery.cookies) })).text, /9 are unused/);

  // A stranger's guesses delay strangers, not the browser in which Grace was before.
  let guess = await signIn({ code: '1' }, '198.51.100.1');
  for (let number = 0; guess.status !== 429 && number < 10; number++)
    guess = await signIn({ code: '1' }, `198.51.100.${number}`);
  t.match(guess, { status: 429, text: /Too many attempts have failed. Try again in \d+ seconds/ });
  t.match(guess.headers.get('retry-after'), /^\d+$/);
  t.equal((await signIn({ code: graceCodes[1] ?? '' }, '203.0.113.9')).status, 429);
  t.equal((await signIn({ code: graceCodes[1] ?? '' }, '203.0.113.9', mark)).status, 303);
  t.equal((await signIn({ code: graceCodes[1] ?? '' }, '203.0.113.9', mark)).status, 400, 'no code twice');
});

t.test('forms of other sites and odd requests sign nobody in', async (t) => {
  const form = { way: 'password', name: 'Ada', password: 'x', code: 'x' };
  const { host } = new URL(base);
  const rows: readonly (readonly [headers: Record<string, string>, status: number])[] = [
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '192.0.2.50' }, 400],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: `http://${host}`, 'x-forwarded-for': '192.0.2.51' }, 400],
    [{ origin: site.origin, 'x-forwarded-for': '192.0.2.52' }, 400],
    [{ 'content-type': 'text/plain' }, 415],
  ];
  for (const [headers, status] of rows)
    t.equal((await send('/sign-in', form, { headers })).status, status, JSON.stringify(headers));
  const long = await send('/sign-in', { ...form, password: 'x'.repeat(1_000_000) });
  t.match(long, { status: 413, text: /body_too_large/ });
  t.equal((await send('/sign-in', null, { method: 'PUT' })).headers.get('allow'), 'GET, HEAD, POST');
  t.equal((await get('/sign-in/passkeys/challenge')).status, 405);
  // Nothing that a request says decides where links and redirects lead.
  const spoofed = await get('/sign-in?to=//evil.example&next=https://evil.example', {
    headers: { 'x-forwarded-host': 'evil.example', host: 'evil.example' },
  });
  t.notMatch(spoofed.text, /(?:href|action|src)="(?:https?:)?\/\/(?!localhost)/);
  for (const path of ['/dashboard/account/password', '/dashboard/account/passkeys/challenge'])
    t.equal((await send(path, { token: 'x' }, { cookie: ada })).status, 403, path);
});

t.test('a person adds a passkey, signs in with it, and keeps a way in', async (t) => {
  const account = (await get('/dashboard/account', { cookie: ada })).text;
  const token = tokenIn(account);
  const sent = { cookie: ada };
  const post = (path: string, fields: Record<string, string>) =>
    send(`/dashboard/account/${path}`, { token, confirmed: 'yes', ...fields }, sent);
  t.match(await post('password/remove', {}), { status: 400, text: /could not sign in any more/ });
  const begun = JSON.parse((await post('passkeys/challenge', {})).text);
  const authenticator = createAuthenticator();
  const browser = { origin: site.origin, rpId: 'localhost' };
  const answer = authenticator.register(
    { ...browser, challenge: begun.options.challenge },
    begun.options.user.id,
  );
  const other = authenticator.register(
    { ...browser, origin: base, challenge: begun.options.challenge },
    begun.options.user.id,
  );
  t.match(await post('passkeys', { passkey: 'phone', state: begun.state, answer: other }), {
    status: 400,
    text: /passkey was not accepted/,
  });
  const added = await post('passkeys', { passkey: '<b>phone', state: begun.state, answer });
  t.match(added, { status: 303, location: '/dashboard/account' });
  t.match((await get('/dashboard/account', sent)).text, /value="&lt;b&gt;phone"/);

  const ask = async () => JSON.parse((await send('/sign-in/passkeys/challenge', {})).text);
  const { options, state } = await ask();
  const signed = authenticator.signIn({ ...browser, challenge: options.challenge });
  const form = { way: 'passkey', state, answer: signed };
  const [one, two] = await Promise.all([send('/sign-in', form), send('/sign-in', form)]);
  t.same([one.status, two.status].sort(), [303, 400], 'the same answer twice');
  const fresh = sessionIn([...one.cookies, ...two.cookies]);
  const page = (await get('/dashboard/account', { cookie: fresh })).text;
  t.equal(page.match(/this browser/g)?.length, 1);

  // Without the password, the passkey is the last way in. Its removal ends the sessions elsewhere.
  const freshToken = tokenIn(page);
  const as = (path: string, fields: Record<string, string> = {}) =>
    send(`/dashboard/account/${path}`, { token: freshToken, confirmed: 'yes', ...fields }, { cookie: fresh });
  t.equal((await as('password/remove')).status, 303);
  t.equal((await get('/dashboard', { cookie: ada })).location, '/sign-in', 'the other session has ended');
  t.match(await as('passkeys/remove', { id: authenticator.id }), { status: 400, text: /could not sign in/ });
  t.match(await as('passkeys/remove', { id: 'constructor' }), { status: 400, text: /no such passkey/ });
  t.match(await as('passkeys/rename', { id: authenticator.id, name: 'a\u0007' }), {
    status: 400,
    text: /U\+0007/,
  });
  t.match(await as('passkeys/rename', { id: authenticator.id, name: 'x'.repeat(101) }), {
    status: 400,
    text: /value="x{101}"[^>]*aria-invalid="true"[\s\S]*id="problem-passkeys\/rename-name"/,
  });
  t.equal((await as('passkeys/rename', { id: authenticator.id, name: 'laptop' })).status, 303);
  t.match(await as('sessions/end', { id: '00' }), { status: 400, text: /no such session/ });
  ada = fresh;
});

t.test('a person who has lost everything gets a link, which ends the rest', async (t) => {
  const name =
    /<span class="soft">(Ada|Eve), [^<]+<\/span>/.exec(
      (await get('/dashboard', { cookie: ada })).text,
    )?.[1] ?? '';
  const printed = await installation.runHere('accounts', 'reset', name, '--json');
  const link = linkIn(printed.stdout);
  const page = await get(link);
  t.match(page.text, new RegExp(`For ${name}\\. What you signed in with before ends`));
  t.equal((await get('/dashboard', { cookie: ada })).status, 200, 'until it is used');
  const begun = JSON.parse((await send(`${link}/challenge`, {})).text);
  const authenticator = createAuthenticator();
  const parts = { origin: site.origin, rpId: 'localhost', challenge: begun.options.challenge };
  const answer = authenticator.register(parts, begun.options.user.id);
  const used = await send(link, { way: 'passkey', passkey: 'new', state: begun.state, answer });
  t.match(used, { status: 303, location: '/dashboard' });
  t.equal((await get('/dashboard', { cookie: ada })).location, '/sign-in');
  const now = (await get('/dashboard/account', { cookie: sessionIn(used.cookies) })).text;
  t.match(now, /value="new"/);
  t.notMatch(now, /value="laptop"/);
  t.equal((await get(link)).status, 404);
  t.match(await installation.runHere('accounts', 'setup-link', '--account', 'nobody'), { status: 1 });
  t.match(await installation.runHere('accounts', 'list'), { stdout: new RegExp(` ${name} +passkey `) });
  t.match(await installation.runHere('doctor'), { stdout: /sign-in +by passkeys, passwords/ });
});

t.test('the session of before a sign-in is never the one after, by any way', async (t) => {
  const makeLink = async () => linkIn((await installation.runHere('accounts', 'setup-link')).stdout);
  const enrol = async (name: string, cookie = '') => {
    const link = await makeLink();
    const app = appOf((await get(link)).text);
    const form = { way: 'password', name, password: PASSWORD, code: app.code() };
    const answer = await send(link, form, { cookie });
    const codes = (/<textarea[^>]*>([^<]+)</.exec(answer.text)?.[1] ?? '').split('\n');
    return { answer, app, codes };
  };
  const { answer: kays, app, codes: recovery } = await enrol('Kay');
  const account = (await get('/dashboard/account', { cookie: sessionIn(kays.cookies) })).text;
  const post = (path: string, fields: Record<string, string>) =>
    send(
      `/dashboard/account/${path}`,
      { token: tokenIn(account), ...fields },
      { cookie: sessionIn(kays.cookies) },
    );
  const begun = JSON.parse((await post('passkeys/challenge', {})).text);
  const authenticator = createAuthenticator();
  const parts = { origin: site.origin, rpId: 'localhost' };
  const made = authenticator.register(
    { ...parts, challenge: begun.options.challenge },
    begun.options.user.id,
  );
  t.equal((await post('passkeys', { passkey: 'phone', state: begun.state, answer: made })).status, 303);

  const byPassword = (code: string) => (cookie: string) =>
    send('/sign-in', { way: 'password', name: 'Kay', password: PASSWORD, code }, { cookie });
  const ways: Readonly<Record<string, (cookie: string) => ReturnType<typeof send>>> = {
    'password and code': byPassword(app.code(1)),
    'password and recovery code': byPassword(recovery[0] ?? ''),
    async passkey(cookie) {
      const { options, state } = JSON.parse((await send('/sign-in/passkeys/challenge', {}, { cookie })).text);
      const answer = authenticator.signIn({ ...parts, challenge: options.challenge });
      return await send('/sign-in', { way: 'passkey', state, answer }, { cookie });
    },
    'setup link': async (cookie) => (await enrol('Lou', cookie)).answer,
  };
  /** An attacker's own session, which the attacker has put into the browser of the victim. */
  const attackers = sessionIn((await enrol('Mallory')).answer.cookies);
  let planted = attackers;
  for (const [way, signIn] of Object.entries(ways)) {
    t.equal((await get('/dashboard', { cookie: planted })).status, 200, `${way}: the planted session is one`);
    const after = sessionIn((await signIn(planted)).cookies);
    t.match(after, /^upbeat-\d+=.{20,}/, way);
    t.not(after, planted, way);
    t.equal((await get('/dashboard', { cookie: after })).status, 200, way);
    t.equal((await get('/dashboard', { cookie: planted })).location, '/sign-in', `${way}: it has ended`);
    planted = after;
  }
  const invented = `${createSiteCookie(installation.siteUrl).name}=${'A'.repeat(43)}`;
  const signed = await ways.passkey?.(invented);
  t.not(sessionIn(signed?.cookies ?? []), invented);
  t.equal(
    (await get('/dashboard', { cookie: invented })).location,
    '/sign-in',
    'no token of a client becomes one',
  );
});

t.test('somebody who is invited makes a way in, and is a member and nothing else', async (t) => {
  const link = linkIn((await installation.runHere('accounts', 'setup-link')).stdout);
  const host = appOf((await get(link)).text);
  const owner = await send(link, { way: 'password', name: 'Host', password: PASSWORD, code: host.code() });
  const cookie = sessionIn(owner.cookies);
  const token = tokenIn((await get('/dashboard/members', { cookie })).text);
  const invited = await send('/dashboard/members/invite', { token, role: 'viewer' }, { cookie });
  const path = /(\/invitations\/[\w-]+)/.exec(invited.text)?.[1] ?? '';
  const opened = await get(path);
  t.match(opened.text, new RegExp(`action="${path}/setup"`));
  const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } };
  t.equal((await send('/invitations/nothing/setup', '', form)).status, 404);
  t.equal((await get(`${path}/setup`)).status, 405);
  const setup = (await send(`${path}/setup`, '', form)).location;
  t.match(setup, /^\/setup\/[\w-]{43}$/);
  const second = (await send(`${path}/setup`, '', form)).location;
  const app = appOf((await get(setup)).text);
  const guest = await send(setup, { way: 'password', name: 'Guest', password: PASSWORD, code: app.code() });
  t.ok(opened.cookies.length > 0);
  t.ok(
    guest.cookies.some((one) => /^upbeat-invitation-\d+=$/.test(one)),
    'nothing leads back to the invitation',
  );
  t.match((await get('/dashboard', { cookie: sessionIn(guest.cookies) })).text, /Host, Viewer<\/span>/);
  const people = await installation.withRegistry((registry) => registry.findPeople('Guest', 'guest'));
  t.match(people, [{ name: 'Guest', accounts: ['Host'] }], 'there is no account of their own');
  t.equal((await get(second)).status, 404, 'an invitation makes one person');
  t.equal((await get(path)).status, 404, 'and is used up');
});

t.test('the data and the log hold no secret of anybody', async (t) => {
  const { readdirSync, readFileSync } = await import('node:fs');
  const data = `${installation.folder}/data`;
  const kept = readdirSync(data)
    .filter((name) => name.startsWith('registry.sqlite'))
    .map((name) => readFileSync(`${data}/${name}`).toString('latin1'))
    .join('');
  const log = program.output();
  for (const [what, secret] of [
    ['the password', PASSWORD],
    ['the link', first.slice('/setup/'.length)],
    ['the session', ada.replace(/^[^=]*=/, '')],
    ['a recovery code', (codes[0] ?? '').replaceAll('-', '')],
    ['the mark of the browser', mark.replace(/^[^=]*=/, '')],
  ] as const) {
    t.ok(secret, what);
    t.notOk(kept.includes(secret), `${what} in the registry`);
    if (what !== 'the link') t.notOk(log.includes(secret), `${what} in the log`);
  }
  t.equal(log.split(first).length, 2, 'the link stands in the log once, where the operator was told');
});

t.test(
  'in a browser a person makes a passkey and signs in with it, by keyboard too',
  NEEDS_BROWSER,
  async (t) => {
    const browser = await launchBrowser();
    t.teardown(() => browser.close());
    const context = await browser.newContext({ locale: 'en-GB', viewport: LOOKS[0].viewport });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (/Content.Security.Policy|Uncaught/i.test(message.text())) complaints.push(message.text());
    });
    const device = await context.newCDPSession(page);
    await device.send('WebAuthn.enable');
    const { authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true },
        ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      },
    });
    // The authenticator would answer at once when the sign-in page asks for an offer in its field.
    await page.addInitScript(
      "if (localStorage.getItem('offers') === null) PublicKeyCredential.isConditionalMediationAvailable = async () => false",
    );
    const look = async (what: string) => {
      t.same(await findFaults(page), [], `axe on ${what}`);
      await page.setViewportSize(LOOKS[2].viewport);
      const overhang = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      t.equal(overhang, 0, `${what} on a phone`);
      await page.setViewportSize(LOOKS[0].viewport);
    };

    const link = linkIn((await installation.runHere('accounts', 'setup-link')).stdout);
    await page.goto(`${site.origin}${link}`);
    t.equal(await page.getByRole('img', { name: /Scan this picture/ }).count(), 1);
    await look('the page of a link');
    await page.getByLabel('Your name').fill('Hedy');
    await page.getByRole('button', { name: 'Create a passkey' }).press('Enter');
    await page.waitForURL(`${site.origin}/dashboard`);
    await page.getByRole('link', { name: 'Your sign-in' }).click();
    await page.waitForURL(`${site.origin}/dashboard/account`);
    await page.getByText('Set the password').first().click();
    await look('the page of the sign-in');
    // The authenticator knows that the person has a passkey here.
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.getByText('That did not work, or was cancelled').waitFor();

    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.waitForURL(`${site.origin}/`);
    await page.goto(`${site.origin}/sign-in`);
    await look('the sign-in page');
    const button = page.getByRole('button', { name: 'Sign in with a passkey' });
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await button.click();
    await page.getByText('That did not work, or was cancelled').waitFor();
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await button.press('Enter');
    await page.waitForURL(`${site.origin}/dashboard`);
    t.match(await page.textContent('h1'), 'Dashboard');

    // With its offers the browser takes the passkey as soon as the field for the name asks for one.
    await page.evaluate("localStorage.setItem('offers', 'yes')");
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL(`${site.origin}/`);
    await page.goto(`${site.origin}/sign-in`, { waitUntil: 'commit' });
    await page.waitForURL(`${site.origin}/dashboard`);
    t.match(await page.textContent('h1'), 'Dashboard', 'without the button');
    t.same(complaints, []);

    // Without scripts the password is the way.
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const still = await plain.newPage();
    await still.goto(`${site.origin}/sign-in?lang=de`);
    t.equal(await still.getByRole('button', { name: 'Mit einem Passkey anmelden' }).isVisible(), false);
    t.equal(await still.getByLabel('Passwort').isVisible(), true);
  },
);
