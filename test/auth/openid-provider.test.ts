/** Sign-in against a certified provider on loopback, and everything that must end it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createIdentityProvider } from '../../src/auth/openid-provider.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { createBrowser, startIdentityServer } from '../support/identity-server.ts';

/** Where the provider sends the browser back to; answers nothing of interest. */
async function startCallback(t: Test) {
  const server = createServer((_request, response) => response.end('back')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/sign-in/acme/callback`;
}

function openWay(t: Test) {
  const outbound = createOutbound({ userAgent: 'Upbeat/test', nameservers: [] });
  t.teardown(() => outbound.close());
  return outbound;
}

t.test('it signs a person in by code, with PKCE, state and nonce', async (t) => {
  const redirectUri = await startCallback(t);
  const server = await startIdentityServer(t, redirectUri);
  const provider = createIdentityProvider({ id: 'acme', kind: 'oidc', ...server }, { outbound: openWay(t) });
  const { url, flow } = await provider.begin(redirectUri);
  const asked = new URL(url).searchParams;
  t.match(Object.fromEntries(asked), {
    client_id: 'upbeat',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid profile',
    state: flow.state,
    nonce: flow.nonce,
    code_challenge_method: 'S256',
  });
  const back = await createBrowser().signIn(url, 'ada');
  t.ok(back.url.startsWith(redirectUri), back.url);
  t.strictSame(await provider.finish(back.url, flow), { provider: 'acme', subject: 'ada', name: 'ada' });
  await t.rejects(provider.finish(back.url, flow), { code: 'sign_in_refused' }, 'a code works once');
});

t.test('it takes no answer that belongs to another beginning', async (t) => {
  const redirectUri = await startCallback(t);
  const server = await startIdentityServer(t, redirectUri);
  const provider = createIdentityProvider({ id: 'acme', kind: 'oidc', ...server }, { outbound: openWay(t) });
  const other = await provider.begin(redirectUri);
  const table = ['state', 'nonce', 'codeVerifier'] as const;
  for (const member of table) {
    const { url, flow } = await provider.begin(redirectUri);
    const back = await createBrowser().signIn(url, 'ada');
    const mixed = { ...flow, [member]: other.flow[member] };
    await t.rejects(provider.finish(back.url, mixed), { code: 'sign_in_refused' }, member);
  }
  const { flow } = await provider.begin(redirectUri);
  const said = `${redirectUri}?error=access_denied&state=${flow.state}&iss=${encodeURIComponent(server.issuer)}`;
  await t.rejects(provider.finish(said, flow), { code: 'sign_in_refused' }, 'the person said no');
});

t.test('it says that a provider is away, and asks it again the next time', async (t) => {
  const redirectUri = await startCallback(t);
  const server = await startIdentityServer(t, redirectUri);
  const outbound = openWay(t);
  let away = true;
  const provider = createIdentityProvider(
    { id: 'acme', kind: 'oidc', ...server },
    {
      outbound: {
        request: (request) => outbound.request(away ? { ...request, url: 'http://127.0.0.1:1/' } : request),
      },
    },
  );
  await t.rejects(provider.begin(redirectUri), { code: 'sign_in_away' });
  away = false;
  t.ok((await provider.begin(redirectUri)).url.startsWith(server.issuer));
});

t.test('it signs a person in by the OAuth of GitHub', async (t) => {
  const seen: { url: string; body: string; authorization: string | undefined }[] = [];
  let user: object = { id: 4711, login: 'ada', name: 'Ada Lovelace' };
  const gitHub = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      seen.push({ url: request.url ?? '', body, authorization: request.headers.authorization });
      const answer = request.url?.endsWith('/user')
        ? user
        : { access_token: 'token-1', token_type: 'bearer', scope: 'read:user' };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  await once(gitHub, 'listening');
  t.teardown(() => gitHub.close());
  const issuer = `http://127.0.0.1:${(gitHub.address() as AddressInfo).port}`;
  const settings = { id: 'hub', kind: 'github', issuer, clientId: 'c', clientSecret: 's' } as const;
  const provider = createIdentityProvider(settings, { outbound: openWay(t) });
  const redirectUri = 'http://127.0.0.1/sign-in/hub/callback';
  const { url, flow } = await provider.begin(redirectUri);
  t.ok(url.startsWith(`${issuer}/login/oauth/authorize?`));
  const back = `${redirectUri}?code=abc&state=${flow.state}`;
  t.strictSame(await provider.finish(back, flow), { provider: 'hub', subject: '4711', name: 'ada' });
  const form = new URLSearchParams(seen[0]?.body);
  t.match(Object.fromEntries(form), {
    code: 'abc',
    code_verifier: flow.codeVerifier,
    client_id: 'c',
    client_secret: 's',
  });
  t.match(seen[1], { url: '/api/v3/user', authorization: 'Bearer token-1' });
  user = { login: 'nobody' };
  await t.rejects(provider.finish(back, flow), { code: 'sign_in_refused' });
  await t.rejects(provider.finish(`${redirectUri}?code=abc&state=other`, flow), { code: 'sign_in_refused' });
});
