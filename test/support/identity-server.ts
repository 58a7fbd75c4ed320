/** A certified OpenID provider on loopback (`oidc-provider`), with one client and a login page that takes any name. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
// @ts-expect-error the package has no types
import Provider from 'oidc-provider';
import type { Test } from 'tap';

/** The provider. */
export interface IdentityServer {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Starts it for one client; it is closed after the test. */
export async function startIdentityServer(t: Test, redirectUri: string): Promise<IdentityServer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { clientId: 'upbeat', clientSecret: 'not-a-secret-of-anyone' };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    pkce: { required: () => true },
    cookies: { keys: ['only for tests'] },
    claims: { openid: ['sub'], profile: ['preferred_username'] },
    conformIdTokenClaims: false,
    async findAccount(_context: unknown, id: string) {
      return { accountId: id, claims: async () => ({ sub: id, preferred_username: id }) };
    },
  });
  provider.proxy = false;
  const handle = provider.callback();
  server.on('request', handle);
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { issuer, ...client };
}

/** Paths of forms that send the revision that their page shows, with that page. */
const REVISED_FORM =
  /^(.*\/dashboard\/(?:services|rules|channels|pages|incidents|maintenances)\/[^/]+)\/[^/]+$/;

/** A browser without a window: follows redirects and keeps cookies, host by host. */
export function createBrowser() {
  const jars = new Map<string, Map<string, string>>();
  const visit = async (
    url: string,
    form?: Record<string, string>,
  ): Promise<{ url: string; status: number; text: string }> => {
    const [, page] = form === undefined || 'revision' in form ? [] : (REVISED_FORM.exec(url) ?? []);
    const seen = page === undefined ? '' : (await visit(page)).text;
    const [, revision] = / name="revision" value="(\d+)"/.exec(seen) ?? [];
    let [next, body] = [url, form === undefined || revision === undefined ? form : { ...form, revision }];
    for (let hop = 0; hop < 20; hop++) {
      const { host } = new URL(next);
      const jar = jars.get(host) ?? new Map<string, string>();
      jars.set(host, jar);
      const response = await fetch(next, {
        redirect: 'manual',
        method: body === undefined ? 'GET' : 'POST',
        headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
        ...(body === undefined ? {} : { body: new URLSearchParams(body) }),
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [pair = ''] = cookie.split(';');
        const at = pair.indexOf('=');
        const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
        if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(name);
        else jar.set(name, value);
      }
      const text = await response.text();
      const location = response.headers.get('location');
      if (location === null || response.status < 300 || response.status > 399)
        return { url: next, status: response.status, text };
      next = new URL(location, next).href;
      body = undefined;
    }
    throw new Error('too many redirects');
  };
  return {
    visit,
    /** Fills in the provider's pages: the name, then the consent; ends where the provider sends the browser. */
    async signIn(startUrl: string, login: string): Promise<{ url: string; status: number; text: string }> {
      let page = await visit(startUrl);
      for (let turn = 0; turn < 4; turn++) {
        const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1];
        if (action === undefined || !page.text.includes('name="prompt"')) return page;
        const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1] ?? 'login';
        const form: Record<string, string> =
          prompt === 'login' ? { prompt, login, password: 'any' } : { prompt };
        page = await visit(new URL(action, page.url).href, form);
      }
      return page;
    },
    cookies: (url: string) => jars.get(new URL(url).host) ?? new Map<string, string>(),
  };
}
