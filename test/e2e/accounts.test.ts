/** Members and accounts that another process changes while the program runs. */
import { createServer } from 'node:http';
import t from 'tap';
import { createSessions } from '../../src/auth/sessions.ts';
import { systemClock } from '../../src/clock.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import { listenOn } from '../support/loopback.ts';
import { install } from '../support/program.ts';

t.setTimeout(300_000);

/** The first event of the feed, from its beginning, as it is sent. */
async function firstEvent(siteUrl: string): Promise<string> {
  const response = await fetch(`${siteUrl}/api/v1/events`, { headers: { 'Last-Event-ID': '0' } });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const event = /^id: .*\nevent: [\s\S]*?\n\n/m.exec(text);
    if (event !== null) return event[0];
  }
  throw new Error(`the stream has ended after ${text}`);
}

t.test('the running program follows what other processes do to members and accounts', async (t) => {
  const requests = { '/nas': 0, '/other': 0 };
  const server = createServer(({ url = '' }, response) => {
    if (url === '/nas' || url === '/other') requests[url]++;
    response.end();
  });
  const nas = await listenOn(server);
  t.teardown(nas.close);
  const url = `http://127.0.0.1:${nas.port}`;
  const installation = await install([{ slug: 'other', check: { url: `${url}/other` } }], {
    checks: { trustedPrivate: ['loopback'] },
    accounts: { trusted: ['nobody'] },
  });
  t.teardown(() => installation.remove());
  const program = await installation.start();
  t.teardown(() => program.killHard());
  const { siteUrl, withRegistry } = installation;
  const key = await installation.makeKey('ops');
  const beat = async () => {
    const response = await fetch(`${siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ domain: 'shop.example.com', status: 'ok' }),
    });
    await response.body?.cancel();
    return response.status;
  };
  t.equal(await beat(), 200);
  const before = await firstEvent(siteUrl);

  const acme = await withRegistry((registry) => registry.ensureAccount('acme', Date.now()));
  /** Signs a member of acme in. */
  const signIn = async (registry: Registry, subject: string) => {
    const person = await registry.linkIdentity(
      acme.id,
      { provider: 'acme', subject, name: subject },
      Date.now(),
    );
    const { token } = await createSessions({ registry, clock: systemClock }).open(person.id);
    return { id: person.id, cookie: `${createSiteCookie(siteUrl).name}=${token}` };
  };
  const [ada, grace] = await withRegistry(async (registry) => [
    await signIn(registry, 'ada'),
    await signIn(registry, 'grace'),
  ]);
  const see = async (who: typeof ada, path = '/dashboard') => {
    const { status, body } = await program.get(path, who === undefined ? {} : { cookie: who.cookie });
    return { status, text: String(body) };
  };
  t.match(await see(grace), { status: 200, text: /API keys/ });
  await withRegistry((registry) => registry.setRole(acme.id, grace?.id ?? 0, 'viewer'));
  const asViewer = await see(grace);
  t.match(asViewer, { status: 200, text: /acme, Viewer/ }, 'a lesser role counts at once');
  t.notMatch(asViewer.text, /API keys/);
  t.match(await see(grace, '/dashboard/webhooks'), { status: 403 });
  await withRegistry((registry) => registry.removeMember(acme.id, grace?.id ?? 0));
  t.match(await see(grace), { status: 303 }, 'a member who is removed is signed out at once');

  const merged = await installation.runHere('accounts', 'merge', 'ops', 'acme');
  t.match(merged, { status: 0, stdout: /^merged "ops"/ });
  t.match(
    (await see(ada)).text,
    /shop\.example\.com.*The account ops was merged|The account ops was merged.*shop\.example\.com/s,
  );
  // The program remembers for half a second whose key it is.
  while ((await beat()) !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
  t.match(await see(ada, '/dashboard/services/shop-example-com'), { status: 200 });
  await program.until('/api/v1/status/shop-example-com', ({ status }: { status: string }) => status === 'up');
  t.equal(await firstEvent(siteUrl), before, 'ids of events stay');

  const add = () =>
    installation.runHere(
      ...['services', 'add', '127.0.0.1', '--account', 'acme', '--kind', 'http', '--visibility', 'public'],
      ...['--setting', 'plain=true', '--setting', `port=${nas.port}`, '--setting', 'path=/nas'],
    );
  t.match(await add(), { status: 1, stderr: /must not be an IP address/ });
  t.match(await installation.runHere('accounts', 'trust', 'acme'), { status: 0, stderr: /is trusted/ });
  t.match(await add(), { status: 0 });
  t.match((await see(ada)).text, /acme, [^<]*, trusted by the operator</);
  type Nas = { readonly status: string; readonly self_reported?: boolean };
  await program.until('/api/v1/status/127-0-0-1', ({ status }: Nas) => status === 'up');
  t.match(await installation.runHere('accounts', 'trust', 'acme', '--off'), { status: 0 });
  await program.until('/api/v1/status/127-0-0-1', (one: Nas) => one.self_reported === true);
  const [asked, others] = [requests['/nas'], requests['/other']];
  while (requests['/other'] < others + 4) await new Promise((resolve) => setTimeout(resolve, 100));
  t.ok(requests['/nas'] <= asked + 1, 'no check after the one that may have been under way');
  t.equal(await program.stop(), 0);
});
