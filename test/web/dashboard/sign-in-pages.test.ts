/** Signing in by a provider where nobody gets an account of their own: invitations alone let people in. */
import t, { type Test } from 'tap';
import type { IdentityProvider } from '../../../src/auth/identity-provider.ts';
import { createLocalSignIn } from '../../../src/auth/password-sign-in.ts';
import { createSessions } from '../../../src/auth/sessions.ts';
import { createSiteCookie } from '../../../src/http/cookies.ts';
import type { HttpRequest } from '../../../src/http/route.ts';
import { silentLog } from '../../../src/log.ts';
import { inviteMember } from '../../../src/resources/members/members.ts';
import { openRegistryMethods } from '../../../src/store/registry/registry-thread.ts';
import { providerPages, signInPage } from '../../../src/web/dashboard/sign-in-pages.ts';
import { createAssets } from '../../../src/web/parts/assets.ts';
import { createViews } from '../../../src/web/parts/views.ts';
import { NOW } from '../../site/site-world.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { registryHere } from '../../support/registry-here.ts';
import { dashboard } from '../dashboard-world.ts';

const SITE = 'http://upbeat.test';

async function world(t: Test, mayAddAccounts: boolean) {
  const clock = createFakeClock(NOW);
  const registry = registryHere(
    await openRegistryMethods({ dataDir: t.testdir(), domainsPerAccount: 9 }),
    clock,
  );
  t.teardown(() => registry.close());
  const provider: IdentityProvider = {
    id: 'acme',
    title: 'Acme',
    begin: async () => ({ url: 'http://acme.test/', flow: { state: 's', nonce: 'n', codeVerifier: 'v' } }),
    finish: async (url) => ({
      provider: 'acme',
      subject: new URL(url).searchParams.get('who') ?? '',
      name: 'eve',
    }),
  };
  const { now } = clock;
  const render = createViews({
    assets: createAssets().addresses,
    version: '1.2.3',
    readiness: () => ({
      ...{ phase: 'serving', role: 'monitor', node: { name: 'one', region: 'local', roles: [] }, nodes: [] },
      ...{ prober: { online: true, offlineSince: null, reason: null }, parts: {}, events: [] },
    }),
    now,
  }).renderPage;
  const sources = {
    ...{ providers: [provider], registry, siteUrl: SITE, now, log: silentLog },
    about: { operator: { name: 'Acme Ltd', url: null, contact: 'mailto:ops@acme.test' } },
    sessions: createSessions({ registry, clock, mayAddAccounts }),
    local: createLocalSignIn({
      registry,
      secretKey: new Uint8Array(32),
      siteUrl: SITE,
      now,
      log: silentLog,
    }),
    cookie: createSiteCookie(SITE, 'upbeat'),
  };
  const page = signInPage(render, sources);
  const [begin, callback] = providerPages(page, sources);
  /** Signs somebody in; `secret`: of the invitation that they opened before. */
  const signIn = async (who: string, secret = '', language = 'en') => {
    const params = { provider: 'acme' };
    const request = (query: string, cookie = '') =>
      ({
        method: 'GET',
        params,
        query,
        headers: { cookie, 'accept-language': language },
        client: '',
      }) as unknown as HttpRequest;
    const begun = await begin?.handle?.(request(''));
    const cookie = String(begun?.headers['Set-Cookie']).split(';')[0] ?? '';
    const cookies = secret === '' ? cookie : `${cookie}; upbeat-invitation=${secret}`;
    const answer = await callback?.handle?.(request(`who=${who}`, cookies));
    const accounts = (await registry.listAccounts()).length;
    return {
      status: answer?.status,
      text: String(answer?.body),
      cookie: String(answer?.headers['Set-Cookie']).split(';')[0] ?? '',
      cleared: answer?.cookies?.length ?? 0,
      accounts,
    };
  };
  const ada = await registry.addPerson('ada', NOW);
  const accountId = (await registry.membershipsOf(ada.id))[0]?.accountId ?? 0;
  const invite = async () => {
    const owner = { role: 'owner', accountId } as const;
    const made = await inviteMember({ registry, now }, owner, { inviterId: ada.id, role: 'viewer' });
    return made.ok ? made.value.secret : '';
  };
  const leave = async () => {
    for (const { personId, role } of await registry.membersOf(accountId))
      if (role === 'viewer') await registry.removeMember(accountId, personId, NOW);
  };
  /** The page for signing in, as a browser with that cookie sees it. */
  const look = async (cookie: string) =>
    String(
      (await page({ method: 'GET', params: {}, query: '', headers: { cookie }, client: '' }, null)).body,
    );
  return { signIn, invite, leave, look };
}

t.test('it makes no account where accounts are closed, and says so', async (t) => {
  const { signIn, invite, leave, look } = await world(t, false);
  const refused = { status: 403, text: /<h1>You are a member of no account<\/h1>/, accounts: 1 };
  const { text } = await signIn('eve');
  t.match(text, /Ask an owner of an account[\s\S]*<a href="mailto:ops@acme.test">Acme Ltd<\/a>/);
  t.notMatch(text, /href="\/sign-in\/acme"/, 'the same way leads to the same page');
  t.match(await signIn('eve', '', 'de'), {
    status: 403,
    text: /<h1>Sie sind in keinem Konto Mitglied<\/h1>/,
  });
  t.match(await signIn('eve'), refused);
  const secret = await invite();
  t.match(await signIn('eve', secret), { status: 303, cleared: 1, accounts: 1 });
  const { cookie, ...again } = await signIn('eve');
  t.match(again, { status: 303, accounts: 1 });
  const gone = /You are signed out: [^<]*an owner has removed you from the account/;
  t.notMatch(await look(cookie), gone);
  t.match(await signIn('bob', secret), refused, 'the invitation is used up');
  await leave();
  t.match(await look(cookie), gone, 'whose session is no more');
  t.notMatch(await look(''), gone);
  t.match(await signIn('eve'), refused, 'a member who has left');
  t.match(await signIn('eve', await invite()), { status: 303, cleared: 1, accounts: 1 });
});

t.test(
  'who comes from an invitation becomes a member and has no account, also where accounts are open',
  async (t) => {
    const { signIn, invite, leave } = await world(t, true);
    t.match(await signIn('eve', await invite()), { status: 303, cleared: 1, accounts: 1 });
    await leave();
    t.match(await signIn('eve', await invite()), { status: 303, cleared: 1, accounts: 1 });
    t.match(await signIn('bob'), { status: 303, cleared: 0, accounts: 2 });
  },
);

t.test('a visitor who asks to be told of a service returns to its form after signing in', async (t) => {
  const { ada, call } = await dashboard(t);
  const asked = await call('/dashboard/rules/new?service=post', null);
  t.match(asked, { location: '/sign-in', cookie: /^upbeat-return=/ });
  const { cookie } = ada;
  const back = await call('/dashboard', ada, { headers: { cookie: `${cookie}; ${asked.cookie}` } });
  t.match(back, { location: '/dashboard/rules/new?service=post', cookie: 'upbeat-return=' });
  const planted = encodeURIComponent('//evil.example/');
  const headers = { cookie: `${cookie}; upbeat-return=${planted}` };
  t.match(await call('/dashboard', ada, { headers }), { status: 200 });
});
