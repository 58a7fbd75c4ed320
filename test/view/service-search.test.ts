/** `GET /api/v1/services` with `status` and `q` (decisions, Services). */
import fc from 'fast-check';
import t from 'tap';
import { CATEGORIES, type Service } from '../../src/domain/service.ts';
import { headOf } from '../../src/domain/status/current.ts';
import { SERVICE_STATUSES, type ServiceStatus } from '../../src/domain/status.ts';
import { silentLog } from '../../src/log.ts';
import { createMemoryStatusStore } from '../../src/store/status/memory-status-store.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { createServiceSearch, createStatusWords, foldText } from '../../src/view/service-search.ts';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';
import { double } from '../support/double.ts';
import { at, listAt, textAt } from '../support/json.ts';
import { propertyRuns } from '../support/property-runs.ts';

const slugs = (json: unknown) => listAt(json, 'services').map((one) => textAt(one, 'slug'));

async function startFive() {
  const world = await startApi({
    services: [
      service(1, 'github', { name: 'GitHub', domain: 'github.com' }),
      service(2, 'gitlab', { name: 'GitLab', domain: 'gitlab.com' }),
      service(3, 'huge', { name: 'Hugging Face', domain: 'huggingface.co', category: 'ai' }),
      service(4, 'strasse', { name: 'Die Straße', domain: 'xn--strae-oqa.example' }),
      service(5, 'cafe', { name: 'Cafe\u0301 Ολυμπος', domain: 'cafe.example' }),
    ],
  });
  await world.status.put([
    current(1, check(NOW)),
    current(2, check(NOW, { status: 'down', statusCode: 503 })),
    current(3, check(NOW, { status: 'down', statusCode: 503 })),
    current(4, check(NOW, { status: 'slow', responseTimeMs: 4_000 })),
  ]);
  return world;
}

t.test('it lists services with a status, alone and combined, and counts the matches', async (t) => {
  const world = await startFive();
  t.teardown(world.close);
  const table: readonly [string, readonly string[]][] = [
    ['status=down', ['gitlab', 'huge']],
    ['status=up', ['github']],
    ['status=slow', ['strasse']],
    ['status=unknown', ['cafe']],
    ['status=down&category=ai', ['huge']],
    ['status=slow&category=ai', []],
    ['status=down&q=git', ['gitlab']],
    ['status=down&q=git&category=ai', []],
  ];
  for (const [query, expected] of table) {
    const { json } = await world.get(`/api/v1/services?${query}`);
    t.strictSame([slugs(json), at(json, 'total')], [expected, expected.length], query);
    for (const one of listAt(json, 'services'))
      if (query.startsWith('status')) t.ok(query.includes(`status=${textAt(one, 'status')}`), query);
  }
  const page = (await world.get('/api/v1/services?status=down&limit=1&offset=1')).json;
  t.match(page, { services: [{ slug: 'huge' }], total: 2, limit: 1, offset: 1 });
});

t.test('it finds a part of a name, domain or slug, in any case and any form of Unicode', async (t) => {
  const world = await startFive();
  t.teardown(world.close);
  const table: readonly [string, readonly string[]][] = [
    ['', ['cafe', 'github', 'gitlab', 'huge', 'strasse']],
    ['  ', ['cafe', 'github', 'gitlab', 'huge', 'strasse']],
    ['HUB', ['github']],
    [' git ', ['github', 'gitlab']],
    ['.com', ['github', 'gitlab']],
    ['huggingface.co', ['huge']],
    ['hugging f', ['huge']],
    ['STRASSE', ['strasse']],
    ['straße', ['strasse']],
    ['STRAẞE.EXAMPLE', ['strasse']],
    ['xn--strae', ['strasse']],
    ['café', ['cafe']],
    ['cafe\u0301', ['cafe']],
    ['ΟΛΥΜΠΟΣ', ['cafe']],
    ['ολυμποσ', ['cafe']],
    ['ｇｉｔ', ['github', 'gitlab']],
    ['github\ngithub.com', []],
    ['github.com github', []],
    ['.*', []],
    ['%', []],
    ['\u0000', []],
    ['x'.repeat(5_000), []],
  ];
  for (const [text, expected] of table) {
    const { status, json } = await world.get(`/api/v1/services?q=${encodeURIComponent(text)}`);
    t.strictSame(
      [status, slugs(json), at(json, 'total')],
      [200, expected, expected.length],
      JSON.stringify(text),
    );
  }
});

t.test('it refuses a status that there is not, and a parameter given twice', async (t) => {
  const world = await startFive();
  t.teardown(world.close);
  for (const [query, parameter] of [
    ['status=', 'status'],
    ['status=DOWN', 'status'],
    ['status=degraded', 'status'],
    ['status=constructor', 'status'],
    ['status=up&status=down', 'status'],
    ['q=a&q=a', 'q'],
  ] as const) {
    const { status, json } = await world.get(`/api/v1/services?${query}`);
    t.match({ status, json }, { status: 400, json: { code: 'invalid_parameter', parameter } }, query);
    if (parameter === 'status') t.strictSame(at(json, 'allowed'), [...SERVICE_STATUSES], query);
  }
});

t.test('it sees a change of a status, a name or the list with the next read', async (t) => {
  const world = await startFive();
  t.teardown(world.close);
  const ask = async (query: string) => slugs((await world.get(`/api/v1/services?${query}`)).json);
  t.strictSame(await ask('status=down'), ['gitlab', 'huge']);
  await world.status.put([current(2, check(NOW + 1), { seq: 2 })]);
  t.strictSame(await ask('status=down'), ['huge']);
  t.strictSame(await ask('q=hub'), ['github']);
  const renamed = service(2, 'gitlab', { name: 'Not the Hub', domain: 'gitlab.com', revision: 2 });
  world.directory.apply({ seq: 1, serviceId: 2, slug: 'gitlab', service: renamed });
  t.strictSame(await ask('q=hub'), ['github', 'gitlab']);
  world.directory.apply({ seq: 2, serviceId: 1, slug: 'github', service: null });
  t.strictSame(await ask('q=hub'), ['gitlab']);
  t.strictSame(await ask('status=up'), ['gitlab']);
});

t.test('it shows no service with another status when a copy was replaced without a word', async (t) => {
  const directory = createServiceDirectory();
  directory.load([service(1, 'shop'), service(2, 'shoe')]);
  const words = new Map<number, ServiceStatus>([
    [1, 'down'],
    [2, 'down'],
  ]);
  const get = (id: number) => current(id, check(NOW), { status: words.get(id) ?? 'unknown' });
  const headOfId = (id: number) => headOf(get(id));
  let now = 0;
  const search = createServiceSearch({
    directory: directory.shown,
    status: double({ get, headOf: headOfId, watch: () => () => {} }),
    monotonic: () => now,
  });
  const find = (status: ServiceStatus) =>
    search.list({ category: null, status, text: null }, { sort: 'slug', from: 0, limit: 10 }).total;
  t.equal(find('down'), 2);
  t.equal(find('up'), 0);
  words.set(1, 'up');
  t.equal(find('down'), 1, 'a page that is wrong is made anew');
  now += 1_000;
  t.equal(find('up'), 1, 'and nothing is kept for longer than a second');
});

t.test('it finds what looking at every service finds', async (t) => {
  const names = fc.string({ unit: fc.constantFrom('a', 'B', 'ß', 'é', 'Σ', ' ', '.', 'İ'), maxLength: 6 });
  const word = fc.constantFrom(...SERVICE_STATUSES);
  const one = fc.record({ name: names, category: fc.constantFrom(...CATEGORIES.slice(0, 2)), status: word });
  const filter = fc.record({
    category: fc.option(fc.constantFrom(...CATEGORIES.slice(0, 2))),
    status: fc.option(word),
    text: fc.option(names),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(one, { maxLength: 12 }), fc.array(filter), async (given, filters) => {
      const directory = createServiceDirectory();
      const services = given.map(({ name, category }, index) =>
        service(index + 1, `s-${String.fromCharCode(97 + index)}`, { name, category }),
      );
      directory.load(services);
      const status = createMemoryStatusStore({ log: silentLog });
      const search = createServiceSearch({ directory: directory.shown, status, monotonic: () => 0 });
      await status.put(
        given.map((each, index) => current(index + 1, check(NOW), { status: each.status, seq: 2 })),
      );
      const isMatch = (each: Service, { category, status: wanted, text }: (typeof filters)[number]) => {
        const part = foldText(text ?? '').trim();
        return (
          (category === null || each.category === category) &&
          (wanted === null || given[each.id - 1]?.status === wanted) &&
          [each.name, each.domain, each.slug].some((known) => foldText(known).includes(part))
        );
      };
      for (const wanted of filters) {
        const expected = services.filter((each) => isMatch(each, wanted));
        const { services: found, total } = search.list(wanted, { sort: 'slug', from: 1, limit: 3 });
        t.strictSame([found, total], [expected.slice(1, 4), expected.length]);
      }
    }),
  );
});

t.test('it behaves as a map from services to statuses', async () => {
  const serviceId = fc.oneof(fc.nat(4), fc.integer({ min: 4_094, max: 4_098 }), fc.nat(2 ** 40));
  fc.assert(
    fc.property(fc.array(fc.tuple(serviceId, fc.constantFrom(...SERVICE_STATUSES))), (changes) => {
      const words = createStatusWords();
      const model = new Map<number, ServiceStatus>();
      return changes.every(([id, status]) => {
        const isKnown = words.get(id) === model.get(id) && words.get(id + 1) === model.get(id + 1);
        words.set(id, status);
        model.set(id, status);
        return isKnown && words.get(id) === status;
      });
    }),
    { numRuns: propertyRuns(50) },
  );
});
