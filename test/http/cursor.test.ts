/** Pages of lists by cursor, and their `Link` headers (RFC 8288). */
import fc from 'fast-check';
import t from 'tap';
import { SERVICE_SORTS } from '../../src/view/service-order.ts';
import { check, current, incident, NOW, service, startApi, type World } from '../site/site-world.ts';
import { at, listAt, textAt } from '../support/json.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** The pages that a response links to, by relation. */
async function fetchPage(world: World, path: string, list: string, name = 'slug') {
  const { status, json, headers } = await world.get(path);
  const links = new Map(
    [...(headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(
      ([, target = '', relation = '']) => [relation, target],
    ),
  );
  const names = status === 200 ? listAt(json, list).map((one) => textAt(one, name)) : [];
  return { status, json, links, names };
}

/** Follows a relation from a page on, at most 100 pages. `between` is called after each page. */
async function follow(
  world: World,
  path: string,
  list: string,
  { name = 'slug', relation = 'next', between = async (_names: readonly string[]) => {} } = {},
) {
  const pages: (readonly string[])[] = [];
  for (let target: string | undefined = path; target !== undefined && pages.length < 100; ) {
    const { names, links } = await fetchPage(world, target, list, name);
    pages.push(names);
    await between(names);
    target = links.get(relation);
  }
  return pages;
}

t.test('it links to the first, the next and the previous page of services', async (t) => {
  const services = ['a', 'b', 'c', 'd', 'e'].map((slug, index) => service(index + 1, slug));
  const world = await startApi({ services });
  t.teardown(world.close);
  const path = '/api/v1/services?limit=2&q=example&unknown=x';
  const first = await fetchPage(world, path, 'services');
  t.match(first, { names: ['a', 'b'], json: { total: 5, limit: 2, offset: 0 } });
  t.strictSame([...first.links.keys()], ['first', 'next']);
  t.equal(first.links.get('first'), '/api/v1/services?limit=2&q=example');
  const second = await fetchPage(world, first.links.get('next') ?? '', 'services');
  t.match(second, { names: ['c', 'd'], json: { total: 5, limit: 2, offset: 2 } });
  const last = await fetchPage(world, second.links.get('next') ?? '', 'services');
  t.match(last, { names: ['e'], json: { total: 5, limit: 2, offset: 4 } });
  t.strictSame([...last.links.keys()], ['first', 'prev']);
  t.strictSame((await fetchPage(world, last.links.get('prev') ?? '', 'services')).names, ['c', 'd']);
  t.strictSame(await follow(world, last.links.get('prev') ?? '', 'services', { relation: 'prev' }), [
    ['c', 'd'],
    ['a', 'b'],
  ]);
  const middle = await fetchPage(world, '/api/v1/services?limit=2&offset=1', 'services');
  t.strictSame(middle.names, ['b', 'c'], 'a page by offset leads to pages by cursor');
  t.strictSame((await fetchPage(world, middle.links.get('next') ?? '', 'services')).names, ['d', 'e']);
  const long = await fetchPage(world, `/api/v1/services?q=${'x'.repeat(3_000)}`, 'services');
  t.strictSame([long.status, long.links.size], [200, 0], 'a long query is not repeated');
  t.match(
    (await world.get('/api/v1/services')).headers.get('access-control-expose-headers'),
    /\bLink\b/,
    'pages of other sites can read it',
  );
});

t.test('it sorts services, and pages through every order', async (t) => {
  const names = ['Éclair', 'zeta', 'Alpha', 'alpha', 'Beta', 'never', 'silent'];
  const world = await startApi({
    services: names.map((name, index) => service(index + 1, `s${index + 1}`, { name })),
  });
  t.teardown(world.close);
  await world.status.put([
    current(1, check(NOW, { responseTimeMs: 300 })),
    current(2, check(NOW, { responseTimeMs: 20 })),
    current(3, check(NOW, { responseTimeMs: 4_000, status: 'slow' })),
    current(4, check(NOW, { responseTimeMs: null, status: 'down' })),
    current(5, check(NOW, { responseTimeMs: 20 })),
    current(7, check(NOW, { responseTimeMs: 90, status: 'down' })),
  ]);
  const table: Readonly<Record<string, readonly string[]>> = {
    slug: ['s1', 's2', 's3', 's4', 's5', 's6', 's7'],
    '-slug': ['s7', 's6', 's5', 's4', 's3', 's2', 's1'],
    name: ['s3', 's4', 's5', 's6', 's7', 's2', 's1'],
    '-name': ['s1', 's2', 's7', 's6', 's5', 's3', 's4'],
    status: ['s4', 's7', 's3', 's1', 's2', 's5', 's6'],
    '-status': ['s1', 's2', 's5', 's3', 's4', 's7', 's6'],
    response_time: ['s2', 's5', 's7', 's1', 's3', 's4', 's6'],
    '-response_time': ['s3', 's1', 's7', 's2', 's5', 's4', 's6'],
  };
  t.strictSame(Object.keys(table), [...SERVICE_SORTS]);
  for (const [sort, slugs] of Object.entries(table)) {
    const path = `/api/v1/services?sort=${sort}`;
    t.strictSame((await fetchPage(world, path, 'services')).names, slugs, sort);
    for (const limit of [1, 2, 3, 7]) {
      const pages = await follow(world, `${path}&limit=${limit}`, 'services');
      t.strictSame(pages.flat(), slugs, `${sort} by ${limit}`);
      t.equal(pages.length, Math.ceil(7 / limit), 'there is no empty page');
    }
    t.strictSame((await fetchPage(world, `${path}&offset=2&limit=2`, 'services')).names, slugs.slice(2, 4));
    const found = (await fetchPage(world, `${path}&status=down`, 'services')).names;
    t.strictSame(
      found,
      slugs.filter((slug) => slug === 's4' || slug === 's7'),
      `${sort} and a status`,
    );
  }
});

t.test('it neither repeats nor misses a service while others come and go', async (t) => {
  const world = await startApi({ services: [] });
  t.teardown(world.close);
  const slug = fc.stringMatching(/^[a-f]{1,3}$/);
  const change = fc.record({ slug, removed: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(slug, { maxLength: 12 }),
      fc.array(change, { maxLength: 12 }),
      fc.constantFrom(...SERVICE_SORTS.filter((sort) => !/status|time/.test(sort))),
      fc.integer({ min: 1, max: 4 }),
      async (slugs, changes, sort, limit) => {
        let id = 0;
        let revision = 1;
        const present = new Map(slugs.map((one) => [one, service(++id, one)]));
        world.directory.load([...present.values()]);
        const touched = new Set(changes.map((one) => one.slug));
        const rest = [...changes];
        const between = async () => {
          const next = rest.shift();
          const known = next && present.get(next.slug);
          if (next === undefined || (next.removed && known === undefined)) return;
          revision += 1;
          const changed = next.removed ? null : service(known?.id ?? ++id, next.slug, { revision });
          const serviceId = known?.id ?? id;
          if (changed === null) present.delete(next.slug);
          else present.set(next.slug, changed);
          world.directory.apply({ seq: revision, serviceId, slug: next.slug, service: changed });
        };
        const path = `/api/v1/services?sort=${sort}&limit=${limit}`;
        const seen = (await follow(world, path, 'services', { between })).flat();
        const untouched = slugs.filter((one) => !touched.has(one));
        return new Set(seen).size === seen.length && untouched.every((one) => seen.includes(one));
      },
    ),
    { numRuns: propertyRuns(12) },
  );
});

t.test('it pages through incidents and maintenances while new ones begin', async (t) => {
  const world = await startApi({ services: [service(1, 'shop'), service(2, 'bank')] });
  t.teardown(world.close);
  await world.putPage('acme', { groups: [{ name: 'All', services: [1, 2] }] });
  const times = [5, 4, 4, 4, 3, 2, 1];
  await world.putIncidents(
    ...times.map((hours, index) => incident(`i${index}`, 1, { startedAt: NOW + hours * 3_600_000 })),
  );
  const maintenance = (id: string, startsAt: number) => ({
    id,
    serviceId: 2,
    title: 'Upgrade',
    description: '',
    startsAt,
    endsAt: null,
    reportedState: 'planned' as const,
    phase: 'planned' as const,
    sourceUrl: 'https://status.bank.example/1',
    updates: [],
  });
  await world.putMaintenances(...times.map((hours, index) => maintenance(`m${index}`, NOW + hours)));
  const ids = ['i0', 'i1', 'i2', 'i3', 'i4', 'i5', 'i6'];
  const soonest = ['m6', 'm5', 'm4', 'm1', 'm2', 'm3', 'm0'];
  const table = [
    ['/api/v1/incidents?limit=', 'incidents', ids],
    ['/api/v1/incidents?status=investigating&limit=', 'incidents', ids],
    ['/api/v1/incidents/SHOP?limit=', 'incidents', ids],
    ['/api/v1/pages/acme?incidents=running&limit=', 'incidents', ids],
    ['/p/acme.json?limit=', 'incidents', ids],
    ['/api/v1/maintenance?limit=', 'maintenance', soonest],
  ] as const;
  for (const [path, list, expected] of table)
    for (const limit of [1, 2, 3, 7]) {
      const pages = await follow(world, path + limit, list, { name: 'id' });
      t.strictSame(pages.flat(), expected, path + limit);
      t.equal(pages.length, Math.ceil(expected.length / limit), `${path}${limit} has no empty page`);
    }
  let news = 0;
  for (const [path, , expected] of table.slice(0, 5)) {
    const between = async () => {
      news += 1;
      await world.putIncidents(incident(`new-${news}`, 1, { startedAt: NOW + 9 * 3_600_000 + news }));
    };
    const start = `${path}3`;
    const before = (await fetchPage(world, `${path}50`, 'incidents', 'id')).names;
    const seen = (await follow(world, start, 'incidents', { name: 'id', between })).flat();
    t.strictSame(seen, before, `${path}: what began meanwhile moves nothing`);
    t.ok(expected.every((id) => seen.includes(id)));
  }
  const { json } = await fetchPage(
    world,
    (await fetchPage(world, '/api/v1/incidents?limit=3', 'incidents', 'id')).links.get('next') ?? '',
    'incidents',
    'id',
  );
  t.match(json, { limit: 3, offset: 3 });
});

t.test('it refuses what is no cursor of the list', async (t) => {
  const world = await startApi({ services: [service(1, 'shop'), service(2, 'bank')] });
  t.teardown(world.close);
  await world.putPage('acme');
  const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { links } = await fetchPage(world, '/api/v1/services?limit=1', 'services');
  const good = new URL(links.get('next') ?? '', world.origin).searchParams.get('cursor') ?? '';
  const garbage = [
    '',
    'x',
    'null',
    `${good}=`,
    `${good} `,
    good.slice(0, -2),
    'A'.repeat(5_000),
    cursorOf(null),
    cursorOf({}),
    cursorOf([]),
    cursorOf(['services slug']),
    cursorOf(['services slug', 0, 0, 'a']),
    cursorOf(['services slug', 0, 0, 1, 'a']),
    cursorOf(['services slug', 2, 0, 'a', 'a']),
    cursorOf(['services slug', 0, -1, 'a', 'a']),
    cursorOf(['services slug', 0, 0.5, 'a', 'a']),
    cursorOf(['services slug', 0, 0, 'a', 'a', 'a']),
    cursorOf(['services slug', 0, 0, 'a', null]),
    cursorOf(['services slug', 0, 0, 'a', 'a\0']),
    cursorOf(['services name', 0, 0, 'a', 'a']),
    cursorOf(['incidents', 0, 0, '1', 'a']),
    cursorOf(['incidents', 0, 0, 1e300, 'a']),
    cursorOf(['incidents', 1, 0, 1, 'a']),
    cursorOf(['incidents', 0, 0, 1, 'a\0']),
  ];
  const paths = ['services', 'incidents', 'incidents/shop', 'maintenance', 'pages/acme'];
  for (const path of paths)
    for (const cursor of garbage) {
      const { status, json } = await world.get(`/api/v1/${path}?cursor=${encodeURIComponent(cursor)}`);
      t.match({ status, json }, { status: 400, json: { code: 'invalid_parameter', parameter: 'cursor' } });
      t.match(at(json, 'detail'), /begin without a cursor/, `${path}: ${cursor}`);
    }
  const both = await world.get(`/api/v1/services?cursor=${good}&offset=1`);
  t.match(both.json, { status: 400, parameter: 'cursor', detail: /together with "offset"/ });
  t.equal((await world.get(`/api/v1/services?cursor=${good}&offset=0`)).status, 200);
  const order = await world.get(`/api/v1/services?cursor=${good}&sort=name`);
  t.match(order.json, { status: 400, parameter: 'cursor', detail: /another list or order/ });
  t.match((await world.get('/api/v1/services?sort=size')).json, { parameter: 'sort', detail: /-status/ });
});
