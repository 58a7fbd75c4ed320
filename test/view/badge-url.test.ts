/** The signed addresses of the badges of private services: what they show to whom, and when they end. */
import t, { type Test } from 'tap';
import { createSessions } from '../../src/auth/sessions.ts';
import type { Service } from '../../src/domain/service.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';
import { createBadgeAddresses } from '../../src/view/badge-url.ts';
import { sendWith } from '../site/send-with.ts';
import { check, current, NOW, service, startApi, type WorldOptions } from '../site/site-world.ts';

/** A service of account 1 at a private address. */
function owned(id: number, name: string, more: Partial<Service> = {}): Service {
  const domain = `192.168.1.${id}`;
  const slug = `192-168-1-${id}`;
  return service(id, slug, {
    ...{ name, domain, origin: 'owner', accountId: 1, visibility: 'private', ...more },
  });
}

const [NAS, ROUTER, BARE, LONG] = [
  owned(1, 'Photos'),
  owned(2, 'Router'),
  owned(3, '192.168.1.3'),
  owned(4, 'NAS (192.168.1.4:5000)'),
] as const;
const [UNLISTED, OPEN] = [
  owned(5, 'Unlisted', { visibility: 'unlisted' }),
  service(6, 'open', { origin: 'owner', accountId: 1 }),
];

async function start(t: Test, options: WorldOptions = {}) {
  const world = await startApi({ services: [NAS, ROUTER, BARE, LONG, UNLISTED, OPEN], ...options });
  t.teardown(world.close);
  t.teardown(world.registry.watchChanges(await world.registry.lastChange(), world.directory.apply));
  await world.status.put([NAS, ROUTER, BARE, LONG].map(({ id }) => current(id, check(NOW))));
  const send = sendWith(world);
  const [reader, writer] = [world.makeKey({ scopes: ['read'] }), world.makeKey({ scopes: ['write'] })];
  const read = async (slug: string, key: Record<string, string> = reader) =>
    (await send('GET', `/api/v1/services/${slug}`, undefined, key)).json;
  /** The path of the address that the API shows to members. */
  const addressOf = async ({ slug }: Service): Promise<string> =>
    new URL((await read(slug)).badge_url).pathname;
  const renew = (slug: string, headers: Record<string, string> = writer) =>
    send('POST', `/api/v1/services/${slug}/badge-address`, undefined, headers);
  const seen = async (path: string) => (await world.get(path)).status;
  return { world, send, reader, writer, read, addressOf, renew, seen };
}

for (const isForMembers of [false, true])
  t.test(
    `the badge of a private service is shown at its signed address${isForMembers ? ' of a site for members' : ''}`,
    async (t) => {
      const { world, addressOf } = await start(t, { isForMembers });
      const address = await addressOf(NAS);
      t.match(address, /^\/badge\/[\w-]{40}$/);
      const { status, headers, text } = await world.get(address);
      t.strictSame([status, headers.get('cache-control')], [200, 'private, max-age=60']);
      t.strictSame([headers.get('content-type'), headers.get('x-robots-tag')], ['image/png', 'noindex']);
      const shown = { name: 'Photos', fallback: 'Status', status: 'up', theme: 'light', ageText: null };
      t.equal(text, `PNG ${JSON.stringify(shown)}`);
      for (const one of [
        `${address}.svg?style=compact`,
        `${address}@2x.png?theme=dark`,
        `${address}.png?variant=uptime&window=7d`,
        `${address}.json?label=Ours`,
      ]) {
        const answer = await world.get(one);
        t.equal(answer.status, 200, one);
        t.notMatch(answer.text, /192/, one);
        t.equal((await world.get(one, {}, 'HEAD')).status, 200, one);
        t.equal((await world.get(one, { 'if-none-match': answer.headers.get('etag') ?? '' })).status, 304);
      }
      t.match((await world.get(`${address}.json`)).json, { label: 'Photos', message: 'Operational' });
      t.match((await world.get(`${address}.json?label=Ours`)).json, { label: 'Ours' });
      t.equal((await world.get(`${address}?theme=blue`)).status, 400);
      for (const one of [BARE, LONG]) {
        const path = await addressOf(one);
        t.match(
          (await world.get(`${path}.json`)).json,
          { label: 'Status' },
          'a name with the host is not shown',
        );
        t.notMatch((await world.get(`${path}.svg`)).text, /192|5000/);
      }
    },
  );

t.test('members alone learn the address, and public services have none', async (t) => {
  const { world, read } = await start(t);
  t.match(await read(NAS.slug), { badge_url: /^https:\/\/upbeat\.test\/badge\// });
  for (const { slug } of [UNLISTED, OPEN]) t.notOk('badge_url' in (await read(slug)), slug);
  const other = world.makeKey({ accountId: 2, scopes: ['read', 'write'] });
  for (const headers of [{}, other]) {
    t.match(await read(NAS.slug, headers), { code: 'service_not_found' });
    t.notOk('badge_url' in (await read(UNLISTED.slug, headers)));
  }
  const person = await world.registry.linkIdentity(1, { provider: 'acme', subject: '1', name: 'Ada' }, NOW);
  const { token } = await createSessions({ registry: world.registry, clock: world.clock }).open(person.id);
  const written = createSiteCookie('https://upbeat.test').write(token, 60)['Set-Cookie'] ?? '';
  const page = `/badges/${NAS.slug}?variant=uptime`;
  const { text } = await world.get(page, { cookie: written.split(';')[0] ?? '' });
  const { badge_url } = await read(NAS.slug);
  t.match(text, '![Photos uptime, ');
  t.match(text, `](${badge_url}.svg?variant=uptime&amp;window=30d)<`, 'and it links to nothing');
  t.notMatch(text, '/api/badge/');
  t.equal((await world.get(page)).status, 404);
  t.match(await world.get('/api/v1/services', other), { text: /^((?!badge_url).)*$/s });
});

t.test('a renewed address is another one, and the former one is nothing any more', async (t) => {
  const { world, send, reader, writer, read, addressOf, renew, seen } = await start(t);
  const [first, others] = [await addressOf(NAS), await addressOf(ROUTER)];
  const tag = (await world.get(first)).headers.get('etag') ?? '';
  const renewed = await renew(NAS.slug);
  t.equal(renewed.status, 200);
  const second = new URL(renewed.json.badge_url).pathname;
  t.not(second, first);
  t.equal((await read(NAS.slug)).badge_url, renewed.json.badge_url);
  t.strictSame([await seen(first), await seen(second), await seen(others)], [404, 200, 200]);
  t.equal((await world.get(first, { 'if-none-match': tag })).status, 404, 'whoever has its picture');
  t.equal((await renew(NAS.slug, reader)).status, 403);
  const stranger = world.makeKey({ accountId: 2, scopes: ['write'] });
  t.equal((await renew(NAS.slug, stranger)).status, 404);
  t.equal((await renew(NAS.slug, { ...writer, 'if-match': '"99-x"' })).status, 412);
  t.equal(await seen(second), 200, 'what is refused renews nothing');
  const once = { ...writer, 'idempotency-key': 'once' };
  const [made, again] = [await renew(NAS.slug, once), await renew(NAS.slug, once)];
  t.equal(made.json.badge_url, again.json.badge_url, 'a repeated request renews once');

  // Other changes keep it; a service that is added again has no former address back.
  const third = await addressOf(NAS);
  t.equal((await send('PATCH', `/api/v1/services/${NAS.slug}`, { paused: true }, writer)).status, 200);
  t.equal(await addressOf(NAS), third);
  await world.registry.removeService(NAS.slug);
  t.equal(await seen(third), 404, 'of a service that is gone');
  const { id: _, revision: _r, ...definition } = NAS;
  await world.registry.addService(definition);
  t.equal(await addressOf(NAS), third);
  t.equal(await seen(first), 404);
});

t.test('an address that is not the present one is answered as an unknown badge', async (t) => {
  const { world, send, writer, addressOf } = await start(t);
  const [nas, router, bare] = [await addressOf(NAS), await addressOf(ROUTER), await addressOf(BARE)];
  const [token, other] = [nas, router].map((path) => path.slice('/badge/'.length)) as [string, string];
  const own = createBadgeAddresses(new Uint8Array(32).fill(1), '');
  const wrong: (readonly [what: string, path: string])[] = [
    ['the id of another one', `/badge/${other.slice(0, 8)}${token.slice(8)}`],
    ['the code of another one', `/badge/${token.slice(0, 8)}${other.slice(8)}`],
    ['truncated', nas.slice(0, -1)],
    ['more', `${nas}A`],
    ['another last character', `${nas.slice(0, -1)}${nas.endsWith('A') ? 'B' : 'A'}`],
    ['another first character', `/badge/${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`],
    ['upper case', `/badge/${token.toUpperCase()}`],
    ['nothing but letters', `/badge/${'A'.repeat(40)}`],
    ['a number', '/badge/1'],
    ['nothing', '/badge/.svg'],
    ['another installation', own.urlOf(NAS) ?? ''],
    ['a slug', `/badge/${NAS.slug}`],
  ];
  const open = { visibility: 'public' };
  t.equal((await send('PATCH', `/api/v1/services/${ROUTER.slug}`, open, writer)).status, 200);
  wrong.push(['a public service', router]);
  const handed = { ...BARE, accountId: 2, revision: 9 };
  world.directory.apply({ seq: 99, serviceId: BARE.id, slug: BARE.slug, service: handed });
  wrong.push(['a service of another account', bare]);
  const look = ({ status, headers, text }: Awaited<ReturnType<typeof world.get>>, name: string) => [
    status,
    [...headers].filter(([name]) => !/^(?:date|etag|content-length|x-ratelimit)/.test(name)),
    text.replace(name, 'NAME').replaceAll(/req_\w+|"request_id":"[^"]*"/g, ''),
  ];
  for (const [what, path] of wrong) {
    const name = path.slice('/badge/'.length).replace(/\.svg$/, '');
    const unknown = look(await world.get(path.replace(/^\/badge\//, '/api/badge/')), name);
    t.strictSame(look(await world.get(path), name), unknown, what);
    t.equal(unknown[0], 404, what);
  }
  t.equal((await world.get(nas)).status, 200);
});
