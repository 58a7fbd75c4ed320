/** Who may do what: every method of every route of the URL table, asked with each kind of key and without one. */
import t from 'tap';
import { KEY_SCOPES } from '../../src/domain/role.ts';
import { type Access, methodsOf, type Route, scopeOf } from '../../src/http/route.ts';
import { from, service, startApi, type World } from '../site/site-world.ts';

/** Values of the parameters of paths; most lead to nothing. */
const PARAMETERS: Readonly<Record<string, string>> = {
  slug: 'shop',
  id: '9',
  name: 'none.css',
  signal: 'start',
};
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const WRONG_KEY = `Bearer upb_${'A'.repeat(38)}`;

/** The keys that a request is sent with, and their scopes. */
function makeClients(world: World) {
  return [
    { name: 'no key', headers: {}, isValid: true, scopes: null },
    { name: 'a wrong key', headers: { authorization: WRONG_KEY }, isValid: false, scopes: null },
    { name: 'a revoked key', headers: world.makeKey({ revokedAt: 1 }), isValid: false, scopes: null },
    ...KEY_SCOPES.map((scope) => ({
      name: `a key for ${scope}`,
      headers: world.makeKey({ scopes: [scope] }),
      isValid: true,
      scopes: [scope],
    })),
  ];
}

type Client = ReturnType<typeof makeClients>[number];

/** What a client must be answered. `admitted`: whatever the handler says, but no refusal of the key. */
function expectationOf(access: Access, { bucket, answerError }: Route, { isValid, scopes }: Client): string {
  // Routes without a limit read no keys, and errors in the form of other programs have no code: their tests ask with keys.
  if (bucket === 'none' || answerError !== undefined) return 'admitted';
  if (!isValid) return '401 invalid_key';
  const scope = scopeOf(access);
  if (scope === null || (scopes === null && access === 'everyone')) return 'admitted';
  if (scopes === null) return '401 invalid_key';
  const isEnough = (one: string) => one === scope || (scope === 'read' && one === 'write');
  return scopes.some(isEnough) ? 'admitted' : `403 insufficient_scope ${scope}`;
}

/** Whether people need to be signed in; `test/web/roles.test.ts` tries their roles. */
function isForMembers(access: Access): boolean {
  return access === 'members' || (typeof access === 'object' && 'member' in access);
}

t.test('it admits to each method of each route those that the route declares, and no others', async (t) => {
  const world = await startApi({ services: [service(1, 'shop', { publicDependencies: true })] });
  t.teardown(world.close);
  const clients = makeClients(world);
  let sent = 0;
  const ask = async (method: string, { path }: Route, headers: Record<string, string>) => {
    sent += 1;
    const leave = new AbortController();
    const url = world.origin + path.replace(/:(\w+)/g, (_, name: string) => PARAMETERS[name] ?? 'none');
    const address = from(`10.${sent >> 16}.${(sent >> 8) & 255}.${sent & 255}`);
    const body = ['POST', 'PUT', 'PATCH'].includes(method) ? '{}' : null;
    const type: Record<string, string> = body === null ? {} : { 'content-type': 'application/json' };
    const sending = { method, headers: { ...type, ...address, ...headers }, body, signal: leave.signal };
    const response = await fetch(url, { ...sending, redirect: 'manual' });
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const problem = isJson ? ((await response.json()) as { code?: string; scope?: string }) : {};
    leave.abort();
    return { status: response.status, headers: response.headers, ...problem };
  };
  const wrong: object[] = [];
  const compare = (what: string, found: unknown, wanted: unknown): void => {
    if (found !== wanted) wrong.push({ what, found, wanted });
  };
  for (const route of world.api.routes) {
    const allowed = methodsOf(route);
    // Pages cost more, and few programs ask for them.
    const isPage = route.bucket === 'pages' && route.writes === undefined;
    for (const method of isPage ? ['GET', 'POST'] : METHODS) {
      const what = `${method} ${route.path}`;
      const operation = route.writes?.[method as keyof NonNullable<Route['writes']>];
      if (!allowed.includes(method) && route.anyMethod !== true) {
        const { status, headers } = await ask(method, route, {});
        compare(what, `${status} ${headers.get('allow')}`, `405 ${allowed.join(', ')}`);
        continue;
      }
      for (const client of isPage ? [...clients.slice(0, 2), ...clients.slice(-2)] : clients) {
        const { status, headers, code, scope } = await ask(method, route, client.headers);
        const isKeyRefused = code === 'invalid_key' || code === 'insufficient_scope';
        const words = [status, code, scope].filter((word) => word !== undefined).join(' ');
        const wanted = expectationOf(operation?.access ?? route.access, route, client);
        compare(`${what} with ${client.name}`, isKeyRefused ? words : 'admitted', wanted);
        if (status === 401) compare(`${what} names the scheme`, headers.get('www-authenticate'), 'Bearer');
      }
      if (!isForMembers(route.access) || operation !== undefined) continue;
      const { status, headers } = await ask(method, route, {});
      const isSent = status === 303 && headers.get('location') === '/sign-in';
      compare(`${what} without a session`, isSent || [403, 405, 415].includes(status), true);
    }
  }
  t.same(wrong, []);
  t.ok(sent > 300);
  const open = world.api.routes.filter(
    ({ anyMethod, access }) => anyMethod === true && !isForMembers(access),
  );
  const paths = open.map(({ path }) => path);
  for (const path of ['/mcp', '/sign-in', '/sign-in/passkeys/challenge', '/setup/:secret'])
    t.ok(paths.includes(path), `${path} takes every method, and was asked`);
});
