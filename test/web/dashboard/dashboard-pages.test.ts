/** The overview of the dashboard: the table of services, the first steps, and the tabs of each role. */
import t from 'tap';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import { channelOf } from '../../store/alert-fixtures.ts';
import { owned } from '../../store/registry-fixtures.ts';
import { dashboard } from '../dashboard-world.ts';

t.test('it lists the first steps of an account until it has a service and a channel', async (t) => {
  const { registry, ada, call, post } = await dashboard(t);
  const steps = async () => {
    const { text } = await call('/dashboard', ada);
    const [list] = /<ol class="steps">.*?<\/ol>/.exec(text) ?? [];
    return list === undefined
      ? null
      : [...list.matchAll(/<li( class="done")?>/g)].map(([, done]) => done !== undefined);
  };
  t.same(await steps(), [false, false, false, false]);
  await post('/dashboard/pages/add', ada, { slug: 'acme', title: 'Acme' });
  t.same(await steps(), [false, false, false, true]);
  await registry.addChannel(channelOf(ada.id));
  t.same(await steps(), [false, false, true, true]);
  await registry.addService(owned('shop.example.com', ada.id));
  t.equal(await steps(), null);
});

t.test('it takes the host of a pasted URL, and keeps what is none', async (t) => {
  const { registry, ada, post } = await dashboard(t);
  const table: readonly (readonly [typed: string, domain: string | null])[] = [
    ['https://shop.example.com/cart?id=7#top', 'shop.example.com'],
    [' HTTP://Blog.Example.com:8080 ', 'blog.example.com'],
    ['api.example.com', 'api.example.com'],
    ['https://', null],
    ['api.example.com/v1', null],
    ['ftp://files.example.com/', null],
  ];
  for (const [typed, domain] of table) {
    const before = await registry.servicesOf(ada.id);
    const answer = await post('/dashboard/services/new/save', ada, { domain: typed, kind: 'root' });
    const added = (await registry.servicesOf(ada.id)).filter(
      (one) => !before.some((old) => old.domain === one.domain),
    );
    t.same(
      added.map((one) => one.domain),
      domain === null ? [] : [domain],
      typed,
    );
    t.equal(answer.status, domain === null ? 400 : 303, typed);
    if (domain === null) t.ok(answer.text.includes(`value="${typed}"`), 'what was typed stays');
  }
});

t.test('it shows each role the tabs that it can open, and which one it is on', async (t) => {
  const { ada, call, join } = await dashboard(t);
  const tabs = async (path: string, who: typeof ada) => {
    const { text } = await call(path, who);
    const [nav = ''] = /<nav class="tabs".*?<\/nav>/.exec(text) ?? [];
    return [...nav.matchAll(/<a href="([^"]+)"( aria-current="page")?>/g)].map(([, href, here]) =>
      here ? `> ${href}` : href,
    );
  };
  const all = [
    '/dashboard',
    '/dashboard/rules',
    '/dashboard/channels',
    '/dashboard/pages',
    '/dashboard/incidents',
  ];
  const rest = ['/dashboard/maintenances', '/dashboard/keys', '/dashboard/webhooks', '/dashboard/members'];
  t.same(await tabs('/dashboard', ada), ['> /dashboard', ...all.slice(1), ...rest]);
  t.same(
    (await tabs('/dashboard/incidents', ada)).filter((one) => one?.startsWith('>')),
    ['> /dashboard/incidents'],
  );
  const viewer = await join(ada.id, 'viewer');
  t.same((await tabs('/dashboard/rules', viewer)).length, all.length + rest.length - 2);
});

t.test('it finds services by a text, and sorts them', async (t) => {
  const { registry, ada, call } = await dashboard(t);
  for (const domain of ['b.shop.example', 'a.shop.example', 'blog.example'])
    await registry.addService(owned(domain, ada.id));
  const names = async (query: string) => {
    const { text } = await call(`/dashboard${query}`, ada);
    return [...text.matchAll(/<a href="\/dashboard\/services\/[^"]+">([^<]+)<\/a> <span class="soft">/g)].map(
      ([, name]) => name,
    );
  };
  t.equal((await names('')).length, 3);
  t.match((await call('/dashboard', ada)).text, '3 services: 3 unknown. No open alerts.');
  t.same(await names('?q=SHOP&sort=name'), ['a.shop.example', 'b.shop.example']);
  t.same(await names('?q=nothing'), []);
  t.match((await call('/dashboard?q=nothing', ada)).text, /No service matches[\s\S]*Show all/);
  t.match((await call('/dashboard?sort=uptime', ada)).text, /<option value="uptime" selected>/);
});

t.test('it says that checks are late because the account has used up its share', async (t) => {
  const { ada, grace, call } = await dashboard(t, undefined, {
    shareOf: (accountId) => (accountId === 1 ? { held: 64, waiting: 900 } : null),
  });
  t.match(
    (await call('/dashboard', ada)).text,
    /hold all 64 slots that one account may have, and 900 more are waiting/,
  );
  t.notMatch((await call('/dashboard', grace)).text, /slots that one account/);
});

t.test('the page of a service shows its days, its response times and its newest incidents', async (t) => {
  const { registry, ada, call, post } = await dashboard(t, [], {
    query: async ({ from, to, stepMs }) =>
      Array.from({ length: Math.ceil((to - from) / stepMs) }, (_, n) => {
        const isLast = from + (n + 1) * stepMs >= to;
        return {
          ...{
            startAt: from + n * stepMs,
            endAt: Math.min(to, from + (n + 1) * stepMs),
            count: isLast ? 4 : 0,
          },
          ...{ upCount: isLast ? 3 : 0, uptimeRatio: isLast ? 0.75 : null, meanMs: null },
          ...{ slowCount: 0, downCount: isLast ? 1 : 0, suspectCount: 0, p50Ms: isLast ? 40 : null },
          ...{ p95Ms: isLast ? 50 : null, p99Ms: isLast ? 60 : null },
        };
      }),
  });
  const made = await registry.addService(owned('shop.example', ada.id));
  const path = `/dashboard/services/${made.slug}`;
  const said = {
    title: 'Orders are late',
    text: 'We look.',
    severity: 'minor',
    [`service:${made.slug}`]: 'on',
  };
  t.match(await post('/dashboard/incidents/add', ada, said), { status: 303 });
  const { text } = await call(path, ada);
  t.match(text, /<strong>75% today/);
  t.match(text, /<title>\d{4}-\d\d-\d\d: 75% up/);
  t.match(text, /class="line-p50" d="[^"]+"/);
  t.match(text, /Recent incidents[\s\S]*Orders are late/);
});

t.test(
  'it says that the account is trusted, and that a private host is not checked when it no longer is',
  async (t) => {
    const { registry, ada, grace, call } = await dashboard(t);
    await registry.trustAccount(ada.id, 'setup-link', 1);
    const check = { ...DEFAULT_CHECK, url: 'http://nas.local:5000/' };
    const service = {
      domain: 'nas.local',
      name: 'NAS',
      category: 'developer',
      paused: false,
      check,
    } as const;
    await registry.registerService(ada.id, service, { isProven: false, now: 1 });
    t.match((await call('/dashboard', ada)).text, /ada, [^<]*, trusted by the operator</);
    t.notMatch((await call('/dashboard', grace)).text, /trusted/);
    const page = async () => (await call('/dashboard/services/nas-local', ada)).text;
    t.notMatch(await page(), /Verify the domain|does not trust/);
    await registry.trustAccount(ada.id, null, 1);
    t.match(await page(), /does not trust the account any more: it is not checked/);
    t.notMatch(await page(), /_upbeat\.nas\.local/, 'nobody can prove it');
    const listening = { check: { ...DEFAULT_CHECK, kind: 'heartbeat' } } as const;
    await registry.changeService('nas-local', listening);
    t.notMatch(await page(), /does not trust|api\/v1\/heartbeat/, 'heartbeats need no trust, but an address');
  },
);
