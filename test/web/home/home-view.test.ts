import t from 'tap';
import type { CurrentStatus } from '../../../src/domain/status/current.ts';
import type { HttpRequest } from '../../../src/http/route.ts';
import type { StatusReads } from '../../../src/store/ports/status.ts';
import { createServiceDirectory } from '../../../src/view/service-directory.ts';
import { createServiceFinder } from '../../../src/view/service-finder.ts';
import { searchIndex } from '../../../src/web/home/home-page.ts';
import { findSimilar, NO_FILTER, readHomeView } from '../../../src/web/home/home-view.ts';
import { check, current, NOW, service, startApi } from '../../site/site-world.ts';
import { double } from '../../support/double.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { CATALOGUE } from './catalogue-services.ts';

/** A site with so many services, of which the one with that id is down. */
function worldOf(count: number, downId: number) {
  const directory = createServiceDirectory();
  directory.load(
    Array.from({ length: count }, (_, index) =>
      service(index + 1, `service-${String(index + 1).padStart(6, '0')}`, {
        category: index % 2 === 0 ? 'ai' : 'cloud',
      }),
    ),
  );
  const statusOf = (id: number): CurrentStatus =>
    id === downId
      ? current(id, check(NOW, { status: 'down', statusCode: 503 }), { seq: 2 })
      : current(id, check(NOW));
  const headOf = (id: number) => ({ ...statusOf(id), checkedAt: NOW });
  return { directory, status: double<StatusReads>({ get: statusOf, headOf }), clock: createFakeClock() };
}

function searchWorld(count: number) {
  const { directory, ...rest } = worldOf(count, 1);
  const finder = createServiceFinder(directory.shown, async () => new Set());
  return { ...rest, directory: directory.shown, finder };
}

t.test('it lists the first services of each category where there are very many', async (t) => {
  const { directory, status } = worldOf(6_000, 5_999);
  const { groups, troubled, total } = readHomeView(directory.shown, status, NO_FILTER);
  t.same(
    groups.map(({ group, count, entries }) => [group, count, entries.length]),
    [
      ['ai', 3_000, 200],
      ['cloud', 3_000, 200],
    ],
  );
  t.equal(groups[0]?.entries[0]?.service.id, 1);
  t.same(
    [troubled.map(({ service: { id } }) => id), total],
    [[5_999], 6_000],
    'one in trouble is always named',
  );
  const found = readHomeView(directory.shown, status, { ...NO_FILTER, text: 'service-0059' });
  t.same(
    found.groups.map(({ count, entries }) => [count, entries.length]),
    [
      [50, 50],
      [50, 50],
    ],
  );
});

t.test('it lists all of five thousand', async (t) => {
  const { directory, status } = worldOf(5_000, 1);
  const { groups } = readHomeView(directory.shown, status, NO_FILTER);
  t.same(
    groups.map(({ entries }) => entries.length),
    [2_500, 2_500],
  );
});

t.test('the index of very many services is empty, and that for a text has the first ones', async (t) => {
  const rowsOf = async (count: number, query: string) => {
    const response = await searchIndex(searchWorld(count)).handle?.({ query, headers: {} } as HttpRequest);
    return JSON.parse(String((response as { readonly body: unknown }).body)).length;
  };
  t.equal(await rowsOf(20_000, ''), 20_000);
  t.equal(await rowsOf(20_001, ''), 0);
  t.equal(await rowsOf(20_001, 'like=service-0100'), 100);
});

t.test('what no list is read of sorts no names, as the updates of open pages of many members', (t) => {
  const { status } = worldOf(0, 1);
  let reads = 0;
  const named = (id: number) =>
    Object.defineProperty(service(id, `service-${id}`), 'name', {
      get() {
        reads += 1;
        return `Service ${id}`;
      },
    });
  const directory = createServiceDirectory();
  directory.load([1, 2, 3, 4, 5].map(named));
  const view = readHomeView(directory.shown, status, NO_FILTER);
  t.equal(view.troubled.length, 1);
  t.equal(reads, 1, 'the name of the one that is down');
  t.equal(view.groups[0]?.entries.length, 5);
  t.ok(reads > 5);
  t.end();
});

t.test('it finds names with a slip of the finger', async (t) => {
  const table: readonly [text: string, names: readonly string[]][] = [
    ['githbu', ['GitHub']],
    ['gihtub', ['GitHub']],
    ['gthub', ['GitHub']],
    ['githhub', ['GitHub']],
    ['gitlsb', ['GitLab']],
    ['GitHab', ['GitHub', 'GitLab']],
    ['sptoi', ['Spotify']],
    ['digitalocaen', ['Digital Ocean']],
    ['dgital ocaen', ['Digital Ocean']],
    ['occean', ['Digital Ocean']],
    ['y', []],
    ['zzzzzz', []],
    ['', []],
    ['%_\n', []],
  ];
  for (const [text, names] of table)
    t.same(
      findSimilar(CATALOGUE, (one) => one, text, 8).map(({ name }) => name),
      names,
      text,
    );
  t.equal(findSimilar(CATALOGUE, (one) => one, 'githab', 1).length, 1);
});

t.test('the search page and the search while typing show similar names where nothing matches', async (t) => {
  const world = await startApi({ services: CATALOGUE });
  t.teardown(world.close);
  const { text } = await world.get('/?q=githbu');
  t.match(text, 'No service has exactly this name. Did you mean one of these?');
  t.same(
    [...text.matchAll(/<li class="unknown"><a href="([^"]+)">/g)].map(([, path]) => path),
    ['/status/github-com'],
  );
  t.match((await world.get('/?q=zzzz')).text, 'No service matches.');
  t.match((await world.get('/?q=git')).text, '3 services match.');
  t.match((await world.get('/?q=githbu', { 'accept-language': 'de' })).text, 'Meinten Sie einen von diesen?');
  t.same((await world.get('/search.json?like=githbu')).json, [
    ['GitHub', 'github.com', 0, 'developer', 'unknown'],
  ]);
});
