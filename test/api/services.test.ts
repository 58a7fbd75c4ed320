/** `GET /api/v1/services` and the rules of query parameters (contract 4.2; decisions, Services). */

import { Ajv } from 'ajv';
import t from 'tap';
import { createServiceJson, ServicesSchema } from '../../src/api/services.ts';
import { CATEGORIES } from '../../src/domain/service.ts';
import { silentLog } from '../../src/log.ts';
import { createMemoryStatusStore } from '../../src/store/status/memory-status-store.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';
import { double } from '../support/double.ts';
import { at, listAt, textAt } from '../support/json.ts';

const isList = new Ajv({ allErrors: true, strict: false }).compile(ServicesSchema);
const slugs = (json: unknown) => listAt(json, 'services').map((one) => textAt(one, 'slug'));

t.test('it lists services in the order of slugs with the members of the contract', async (t) => {
  const world = await startApi({
    services: [service(3, 'b'), service(1, 'c', { category: 'ai' }), service(2, 'a'), service(4, 'a-b')],
  });
  t.teardown(world.close);
  await world.status.put([current(2, check(NOW))]);
  const answer = await world.get('/api/v1/services');
  t.match(answer.json, { total: 4, limit: 100, offset: 0 });
  t.strictSame(slugs(answer.json), ['a', 'a-b', 'b', 'c']);
  t.strictSame(at(answer.json, 'services', 0), {
    slug: 'a',
    name: 'A',
    domain: 'a.example',
    category: 'developer',
    status: 'up',
    response_time: 123,
    last_checked: '2026-11-20T10:00:00.000Z',
    stale: false,
    since: '2026-11-20T10:00:00.000Z',
    self_reported: false,
  });
  t.ok(isList(answer.json), JSON.stringify(isList.errors));
  const ai = (await world.get('/api/v1/services?category=ai')).json;
  t.match(ai, { total: 1, services: [{ slug: 'c' }] }, 'total counts the matches of the filter');
  t.match((await world.get('/api/v1/services?category=vpn')).json, { total: 0, services: [] });
});

t.test('it cuts pages that neither overlap nor miss a service', async (t) => {
  const services = Array.from({ length: 620 }, (_, index) => service(index + 1, `s${(index * 7919) % 620}`));
  const world = await startApi({ services });
  t.teardown(world.close);
  const seen: string[] = [];
  for (let offset = 0; offset < 700; offset += 70) {
    const { json } = await world.get(`/api/v1/services?limit=70&offset=${offset}`);
    t.match(json, { total: 620, limit: 70, offset });
    seen.push(...slugs(json));
  }
  t.strictSame(seen, services.map(({ slug }) => slug).sort());
});

t.test('it lowers a limit over the maximum and says which it used', async (t) => {
  const services = Array.from({ length: 501 }, (_, index) => service(index + 1, `s${index}`));
  const world = await startApi({ services });
  t.teardown(world.close);
  const table: readonly [string, number, number][] = [
    ['', 100, 0],
    ['?limit=1', 1, 0],
    ['?limit=500', 500, 0],
    ['?limit=501', 500, 0],
    ['?limit=99999999999999999999999', 500, 0],
    ['?limit=007', 7, 0],
    ['?offset=500', 100, 500],
    ['?unknown=1&unknown=2&limit=3', 3, 0],
  ];
  for (const [query, limit, offset] of table) {
    const { status, json } = await world.get(`/api/v1/services${query}`);
    t.strictSame([status, at(json, 'limit'), at(json, 'offset')], [200, limit, offset], query);
    t.equal(at(json, 'services', 'length'), Math.min(limit, 501 - offset), query);
  }
  const far = (await world.get('/api/v1/services?offset=99999999999999999999999')).json;
  t.match(far, { services: [], total: 501 });
});

t.test('it refuses what is not a parameter, names it and lists what is allowed', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const table: readonly [string, string, RegExp][] = [
    ['/api/v1/services?limit=0', 'limit', /1 to 500/],
    ['/api/v1/services?limit=', 'limit', /1 to 500/],
    ['/api/v1/services?limit', 'limit', /1 to 500/],
    ['/api/v1/services?limit=-1', 'limit', /1 to 500/],
    ['/api/v1/services?limit=+1', 'limit', /1 to 500/],
    ['/api/v1/services?limit=%201', 'limit', /1 to 500/],
    ['/api/v1/services?limit=1.5', 'limit', /1 to 500/],
    ['/api/v1/services?limit=1e3', 'limit', /1 to 500/],
    ['/api/v1/services?limit=0x10', 'limit', /1 to 500/],
    ['/api/v1/services?limit=%D9%A1', 'limit', /1 to 500/],
    ['/api/v1/services?limit=ten', 'limit', /1 to 500/],
    ['/api/v1/services?offset=-1', 'offset', /0 and more/],
    ['/api/v1/services?offset=', 'offset', /0 and more/],
    ['/api/v1/services?offset=2.0', 'offset', /0 and more/],
    ['/api/v1/services?limit=1&limit=2', 'limit', /once/],
    ['/api/v1/services?category=ai&category=ai', 'category', /once/],
    ['/api/v1/services?category=', 'category', new RegExp(CATEGORIES.join(', '))],
    ['/api/v1/services?category=AI', 'category', /ai, social-media/],
    ['/api/v1/services?category=games', 'category', /gaming/],
    ['/api/v1/incidents?status=open', 'status', /investigating, identified, monitoring, resolved/],
    ['/api/v1/incidents?limit=0', 'limit', /1 to 100/],
    ['/api/v1/incidents?offset=x', 'offset', /0 and more/],
    ['/api/v1/incidents/shop?limit=0', 'limit', /1 to 50/],
    ['/api/badge/shop-example?theme=blue', 'theme', /light, dark/],
    ['/api/badge/shop-example?theme=', 'theme', /light, dark/],
    ['/api/badge/shop-example?theme=dark&theme=dark', 'theme', /once/],
  ];
  for (const [path, parameter, allowed] of table) {
    const answer = await world.get(path);
    t.match(answer.json, { code: 'invalid_parameter', status: 400, parameter, detail: allowed }, path);
    t.match(at(answer.json, 'detail'), `"${parameter}"`, path);
    t.equal(answer.status, 400, path);
    t.equal(answer.headers.get('content-type'), 'application/problem+json', path);
  }
  t.strictSame(at((await world.get('/api/v1/services?category=games')).json, 'allowed'), [...CATEGORIES]);
});

t.test('a service that is down says because of which one, to those who may know of it', async (t) => {
  const router = service(1, 'router');
  const nas = service(2, 'nas', { dependsOn: ['router'] });
  const camera = service(3, 'camera', { dependsOn: ['nas'] });
  const world = await startApi({ services: [router, nas, camera] });
  t.teardown(world.close);
  const down = (id: number) => current(id, check(NOW, { status: 'down' }));
  const causes = async () =>
    listAt((await world.get('/api/v1/services')).json, 'services').map((one) => at(one, 'because', 'slug'));
  await world.status.put([down(1), down(2), down(3)]);
  t.strictSame(await causes(), ['router', 'router', undefined]);
  t.match((await world.get('/api/v1/status/camera')).json, {
    status: 'down',
    because: { name: 'ROUTER', slug: 'router' },
  });
  const up = current(1, check(NOW + 1));
  await world.status.put([{ ...up, seq: 2 }]);
  t.strictSame(await causes(), ['nas', undefined, undefined], 'it is known of the present');
});

t.test(
  'pages say because of what a service cannot be reached, and name nothing that is private',
  async (t) => {
    const router = service(1, 'router');
    const nas = service(2, 'nas', { dependsOn: ['router'] });
    const hidden = service(3, 'vault', { origin: 'owner', accountId: 7, visibility: 'private' });
    const shop = service(4, 'shop', { dependsOn: ['vault'] });
    const world = await startApi({ services: [router, nas, hidden, shop] });
    t.teardown(world.close);
    await world.status.put([1, 2, 3, 4].map((id) => current(id, check(NOW, { status: 'down' }))));
    const textOf = async (path: string) => (await world.get(path)).text;
    const named = await textOf('/status/nas-example');
    t.match(named, /<title>NAS is down: not reachable, because of ROUTER/);
    t.match(named, /og:description" content="[^"]*not reachable, because of ROUTER/);
    t.match(await textOf('/status/nas-example?lang=de'), /nicht erreichbar wegen ROUTER/);
    const page = await textOf('/status/shop-example');
    t.match(page, /SHOP is down: not reachable, because of something in front of it/);
    t.notMatch(page, /vault/i);
    const home = await textOf('/');
    t.match(home, /because of ROUTER/);
    t.match(home, /because of something in front of it/);
    t.notMatch(home, /vault/i);
    t.equal(at((await world.get('/api/v1/status/shop')).json, 'because'), undefined);
    await world.putPage('ours', { groups: [{ name: '', services: [2, 4] }] });
    for (const [path, words] of [
      ['/p/ours', 'because of something in front of it'],
      ['/p/ours?lang=de', 'wegen einer Störung davor'],
      ['/p/ours.json', '"because":{"name":"ROUTER","slug":"router"}'],
    ] as const) {
      const text = await textOf(path);
      t.match(text, words, path);
      t.notMatch(text, /vault/i, path);
    }
  },
);

t.test(
  'the JSON of a service is made once for each observation, whichever object the store gives',
  async (t) => {
    const one = service(1, 'a');
    let reads = 0;
    let observed = current(1, check(NOW));
    const json = createServiceJson(
      double({
        directory: createServiceDirectory().shown,
        status: {
          ...createMemoryStatusStore({ log: silentLog }),
          get: () => ({
            ...observed,
            get since() {
              reads++;
              return observed.since;
            },
          }),
        },
        intervalMs: 300_000,
        now: () => NOW,
        listenedAt: () => NOW,
        vendorOf: () => null,
      }),
    );
    const first = json.status(one);
    t.equal(json.status(one), first);
    t.equal(json.listItem(one), json.listItem(one));
    const made = reads;
    t.equal(json.status(one).etag, first.etag);
    t.equal(reads, made);
    observed = { ...observed, observedAt: observed.observedAt + 1, since: NOW - 60_000 };
    t.not(json.status(one).etag, first.etag);
    t.ok(reads > made);
  },
);

t.test('of a service that nothing new is known of only the head of the status is read', async (t) => {
  const store = createMemoryStatusStore({ log: silentLog });
  const one = service(1, 'a');
  let reads = 0;
  const json = createServiceJson(
    double({
      directory: createServiceDirectory().shown,
      status: {
        ...store,
        get(serviceId) {
          reads++;
          return store.get(serviceId);
        },
      },
      intervalMs: 300_000,
      now: () => NOW,
      listenedAt: () => NOW,
      vendorOf: () => null,
    }),
  );
  const readTwice = () => [json.status(one), json.status(one)].map(({ etag }) => etag);
  const [unknown] = readTwice();
  await store.put([current(1, check(NOW))]);
  reads = 0;
  const [first, again] = readTwice();
  t.not(first, unknown);
  t.equal(again, first);
  t.equal(reads, 1);
  const newer = current(1, check(NOW + 1));
  await store.put([{ ...newer, observedAt: NOW + 1 }]);
  const [next] = readTwice();
  t.not(next, first);
  t.equal(reads, 2);
  const failing = { ...newer, observedAt: NOW + 2, regions: [] };
  await store.put([failing]);
  t.not(readTwice()[0], next);
});
