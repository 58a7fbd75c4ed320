/** The home page, its index for the search, and how both are sent. */

import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { CATEGORIES } from '../../../src/domain/service.ts';
import { chooseCoding } from '../../../src/http/compression.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import { check, current, incident, NOW, service, startApi, type World } from '../../site/site-world.ts';

const MANY = 1_200;

/** As many services as a public site has, with names and domains as long as theirs. */
function manyServices() {
  return Array.from({ length: MANY }, (_, index) =>
    service(index + 1, `some-service-${index}`, {
      name: `Some Service ${index}`,
      domain: `service-${index}.example.com`,
      category: CATEGORIES[index % CATEGORIES.length] ?? 'ai',
    }),
  );
}

/** A service that is down. */
const down = (id: number) => current(id, check(NOW, { status: 'down', statusCode: 503 }), { seq: 2 });

/** GET as it goes over the wire, not decoded. */
function raw(world: World, path: string, encoding: string) {
  return new Promise<{ headers: NodeJS.Dict<string | string[]>; status: number; body: Buffer }>(
    (resolve, reject) => {
      const asked = request(
        world.origin + path,
        { headers: { 'accept-encoding': encoding }, agent: false },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({
              headers: response.headers,
              status: response.statusCode ?? 0,
              body: Buffer.concat(chunks),
            }),
          );
        },
      );
      asked.on('error', reject);
      asked.end();
    },
  );
}

t.test(
  'it sends the home page of 1,200 services in 30 KB, and with its styles and scripts in 50 KB',
  async (t) => {
    const world = await startApi({ services: manyServices() });
    t.teardown(world.close);
    await world.status.put(
      Array.from({ length: MANY }, (_, index) =>
        current(index + 1, check(NOW, { status: index % 50 === 0 ? 'down' : 'up' })),
      ),
    );
    const { text } = await world.get('/');
    const loaded = [
      ...text.matchAll(/<(?:link rel="(?:stylesheet|icon)"|script|img)[^>]*(?:href|src)="([^"]+)"/g),
    ];
    const paths = ['/', ...new Set(loaded.map(([, path]) => path ?? ''))];
    t.equal(paths.length, 6, `the page, its styles, two scripts and the icon: ${paths}`);
    t.ok((await raw(world, '/', 'gzip, br')).body.length < 30_000);
    for (const [encoding, most] of [
      ['identity', 295_000],
      ['gzip, br', 50_000],
    ] as const) {
      let bytes = 0;
      for (const path of paths) bytes += (await raw(world, path, encoding)).body.length;
      t.ok(bytes < most, `${encoding}: ${bytes} bytes`);
    }
    t.ok((await raw(world, '/search.json', 'br')).body.length < 20_000);
  },
);

t.test('it shows no more rows of trouble than one reads, and counts the rest', async (t) => {
  const services = manyServices().slice(0, 40);
  const world = await startApi({ services });
  t.teardown(world.close);
  await world.status.put(services.map(({ id }) => current(id, check(NOW, { status: 'slow' }))));
  const { text } = await world.get('/');
  t.equal(text.match(/<li><span class="pill slow">/g)?.length, 6);
  t.match(text, '<a href="/?status=troubled">All 40</a>');
  const all = (await world.get('/?status=troubled')).text;
  t.match(all, '40 services match.');
  t.equal(all.match(/<li class="slow">/g)?.length, 40);
  await world.status.put(services.slice(0, 30).map(({ id }) => down(id)));
  t.match((await world.get('/?status=troubled')).text, '40 services match.');
  await world.status.put(services.map(({ id }) => down(id)).slice(24, 25));
  world.directory.load(services.slice(0, 25));
  t.match(
    (await world.get('/', { 'accept-language': 'de' })).text,
    '<a href="/?status=troubled">Alle 25</a>',
  );
});

t.test('it has no paused service among what is down now', async (t) => {
  const world = await startApi({
    services: [service(1, 'resting', { name: 'Resting', paused: true }), service(2, 'b')],
  });
  t.teardown(world.close);
  await world.status.put([down(1), current(2, check(NOW))]);
  const { text } = await world.get('/');
  t.match(text, 'Nothing is down or slow right now.');
  t.match(text, '<li class="down"><a href="/status/resting-example">Resting</a>', 'it stays in the list');
});

t.test('it counts one service as one, in each language', async (t) => {
  const world = await startApi({ services: [service(1, 'a')] });
  t.teardown(world.close);
  t.match((await world.get('/')).text, 'One service, checked continuously.');
  t.match((await world.get('/', { 'accept-language': 'de' })).text, 'Ein Dienst, laufend geprüft');
  for (const { texts } of Object.values(LANGUAGES)) {
    t.notMatch(texts.home.checkRate(1, '1'), /1|s a second|Prüfungen/);
    t.match(texts.home.checkRate(2.5, '2.5'), /^2\.5 (checks|Prüfungen)/);
  }
});

t.test('it says in the language of the reader that there is no such service', async (t) => {
  const world = await startApi({ services: [service(1, 'a')] });
  t.teardown(world.close);
  for (const path of ['/status/nobody', '/status/a-example/incidents/none', '/badges/nobody']) {
    const { status, text } = await world.get(path, { accept: 'text/html', 'accept-language': 'de' });
    t.equal(status, 404, path);
    t.match(text, /<h1>Nicht gefunden<\/h1>\s*<p>[^<]+<a href="\/">Alle Dienste durchsuchen</, path);
    t.notMatch(text, /Not found|Look for it|title="Incidents"/, path);
  }
});

t.test('it calls nothing well that is not known', async (t) => {
  const world = await startApi({ services: [service(1, 'a'), service(2, 'b')] });
  t.teardown(world.close);
  const [, signs = ''] = (await world.get('/')).text.split('<ul class="heat">');
  t.match(signs, '<span class="sign unknown">');
  t.notMatch(signs.split('</ul>')[0], 'sign up');
  t.match(signs, /aria-label="[^"]+, last 24 hours: no status known yet\. Open the heat map\."/);
  const calm = async (language = 'en') => {
    const { text } = await world.get('/', { 'accept-language': language });
    return /<p class="calm"[^>]*>([^<]*)</.exec(text)?.[1];
  };
  t.equal(await calm(), 'No service has been checked yet.');
  t.equal(await calm('de'), 'Noch wurde kein Dienst geprüft.');
  world.state.prober = { online: false, offlineSince: NOW, reason: 'no control target answers' };
  t.equal(await calm(), 'No service has been checked yet.');
  await world.status.put([current(1, check(NOW))]);
  t.equal(await calm(), 'We cannot tell what is down or slow right now: this monitor is offline.');
  world.state.prober = { online: true, offlineSince: null, reason: null };
  t.equal(await calm(), 'Nothing is down or slow right now. One service has not been checked yet.');
  t.match((await world.get('/')).text, ', last 24 hours: nothing down or slow now. Open the heat map."');
  await world.status.put([current(2, check(NOW))]);
  t.equal(await calm(), 'Nothing is down or slow right now.');
  await world.clock.advance(11 * 60_000);
  t.equal(await calm(), 'We cannot tell what is down or slow right now: every check is late.');
  world.directory.load([]);
  t.equal(await calm(), 'No services are monitored yet.');
});

t.test('it says so when nothing is down or slow, and filters by status', async (t) => {
  const world = await startApi({ services: [service(1, 'a'), service(2, 'b')] });
  t.teardown(world.close);
  await world.status.put([current(1, check(NOW))]);
  const home = (await world.get('/')).text;
  t.match(home, 'Nothing is down or slow right now.');
  t.match(home, '<meta property="og:image" content="https://upbeat.test/api/heatmap.png">');
  t.match(home, '<meta property="og:description" content="2 services, checked continuously.">');
  const { text } = await world.get('/?status=unknown');
  t.match(text, '/status/b-example');
  t.notMatch(text, '/status/a-example');
  t.match(text, 'One service matches.');
  t.equal((await world.get('/?status=fine')).status, 400);
});

t.test('it names a service once beside the title of its incident, which leads to its page', async (t) => {
  const world = await startApi({ services: [service(1, 'shop', { name: 'Shop' })] });
  t.teardown(world.close);
  await world.putIncidents(
    incident('own-1', 1),
    incident('own-2', 1, { title: 'Shopping is slow', resolvedAt: NOW + 60_000, status: 'resolved' }),
  );
  const { text } = await world.get('/');
  t.match(
    text,
    '<span class="grow"><a href="/status/shop-example/incidents/own-1">Shop is not reachable</a></span>',
  );
  t.match(
    text,
    '<a href="/status/shop-example">Shop</a>: <a href="/status/shop-example/incidents/own-2">Shopping is slow</a>',
  );
  t.match(text, /<strong class="lasted">Ongoing, <time [^>]*data-length[^>]*>[^<]+<\/time><\/strong>/);
  t.match(text, /<strong class="lasted">1 min<\/strong> · <time [^>]*data-age/);
});

t.test('it shows what goes on now once, with its reason, and news beside it', async (t) => {
  const world = await startApi({ services: [service(1, 'shop', { name: 'Shop' }), service(2, 'bank')] });
  t.teardown(world.close);
  const failure = {
    class: 'status',
    phase: 'first_byte',
    cause: { code: 'status', statusCode: 503 },
  } as const;
  await world.status.put([
    current(1, check(NOW, { status: 'down', statusCode: 503, failure })),
    current(2, check(NOW, { status: 'slow', responseTimeMs: 4_210 })),
  ]);
  await world.putIncidents(
    incident('own-1', 1),
    incident('vendor-1', 1, { source: 'vendor', title: 'Elevated error rates' }),
  );
  const { text } = await world.get('/');
  t.match(text, 'Shop</a>: it is returning errors (HTTP 503)<');
  t.match(text, 'BANK</a>: the last response took 4,210 ms<');
  t.notMatch(text, 'Shop is not reachable');
  t.match(text, /Shop<\/a>: <a [^>]*>Elevated error rates</);
  const german = await world.get('/?lang=de');
  t.match(german.text, 'Shop</a>: der Dienst antwortet mit Fehlern (HTTP 503)<');
});

t.test('it speaks German to who wants it, and keeps the choice', async (t) => {
  const world = await startApi({ services: [service(1, 'a')] });
  t.teardown(world.close);
  const german = await world.get('/', { 'accept-language': 'de' });
  t.match(german.text, /<html lang="de".*<h1>Läuft es\?<\/h1>/s);
  t.match(german.headers.get('vary'), /Accept-Language, Cookie/);
  t.equal(german.headers.get('set-cookie'), null);
  const chosen = await world.get('/?q=a&lang=de');
  t.match(chosen.text, 'href="?q=a&amp;lang=en"');
  const cookie = (chosen.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  t.match((await world.get('/', { cookie })).text, '<html lang="de"');
  t.match((await world.get('/docs', { cookie })).text, '<html lang="de"', 'on every page');
});

t.test('it gives the search every service with its status, and 304 while nothing changes', async (t) => {
  const world = await startApi({
    services: [
      service(1, 'shop'),
      service(2, 'shop-2', { domain: 'shop.example', origin: 'owner', accountId: 1 }),
      service(3, 'hidden', { origin: 'owner', accountId: 1, verified: false }),
    ],
  });
  t.teardown(world.close);
  await world.status.put([current(1, check(NOW, { status: 'slow' }))]);
  const { json, headers } = await world.get('/search.json');
  t.same(json, [
    ['SHOP', 'shop.example', 0, 'developer', 'slow'],
    ['SHOP-2', 'shop.example', 'shop-2', 'developer', 'unknown'],
  ]);
  const etag = headers.get('etag') ?? '';
  t.equal((await world.get('/search.json', { 'if-none-match': etag })).status, 304);
  await world.status.put([current(1, check(NOW), { seq: 2 })]);
  await world.clock.advance(1_000);
  t.equal((await world.get('/search.json', { 'if-none-match': etag })).status, 200);
});

t.test('it compresses what is worth it, each coding with a validator of its own', async (t) => {
  const world = await startApi({ services: manyServices().slice(0, 50) });
  t.teardown(world.close);
  const plain = await raw(world, '/search.json', 'identity');
  const [br, gzip] = await Promise.all([
    raw(world, '/search.json', 'br'),
    raw(world, '/search.json', 'gzip'),
  ]);
  t.same([br.headers['content-encoding'], gzip.headers['content-encoding']], ['br', 'gzip']);
  t.same(brotliDecompressSync(br.body), plain.body);
  t.same(gunzipSync(gzip.body), plain.body);
  t.equal(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size, 3);
  for (const { headers } of [plain, br, gzip]) t.match(headers.vary, /Accept-Encoding/);
  const again = await world.get('/search.json', {
    'accept-encoding': 'br',
    'if-none-match': String(br.headers.etag),
  });
  t.same([again.status, again.bytes.length], [304, 0]);
  const icon = /href="(\/assets\/favicon[^"]+)"/.exec((await world.get('/')).text)?.[1] ?? '';
  t.equal(
    (await raw(world, icon, 'br')).headers['content-encoding'],
    undefined,
    'a few bytes stay as they are',
  );
});

t.test('it takes the best coding that the client knows', async (t) => {
  const table: readonly [string | undefined, string | null][] = [
    [undefined, null],
    ['', null],
    ['identity', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['BR', 'br'],
    ['*', 'br'],
    ['*, br;q=0', 'gzip'],
    ['*;q=0', null],
    ['brotli', null],
  ];
  for (const [header, coding] of table) t.equal(chooseCoding(header), coding, header ?? 'none');
});

t.test('without public services it leads to those of the reader', async (t) => {
  const mine = service(1, 'nas', { origin: 'owner', accountId: 1, visibility: 'private' });
  const world = await startApi({ services: [mine] });
  t.teardown(world.close);
  const { text } = await world.get('/', { accept: 'text/html' });
  t.match(text, /There are no public services here\. <a href="\/dashboard">Your services<\/a>/);
  t.notMatch(text, 'NAS');
  const other = await startApi({ services: [service(1, 'shop')] });
  t.teardown(other.close);
  t.notMatch((await other.get('/', { accept: 'text/html' })).text, 'There are no public services');
});
