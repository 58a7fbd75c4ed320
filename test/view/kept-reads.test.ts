import t from 'tap';
import type { HttpRequest, Route } from '../../src/http/route.ts';
import { keepReads } from '../../src/view/kept-reads.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const AWAY = Object.assign(new Error('the server is away'), { code: 'storage_unreachable' });

/** A registry whose server a test takes away, behind a route that shows what it reads. */
function makeWorld() {
  const clock = createFakeClock();
  const server = { isAway: false, error: AWAY as Error, reads: 0 };
  const registry = {
    async list(name: string, _since = 0) {
      server.reads += 1;
      if (server.isAway) throw server.error;
      return name === 'nothing' ? null : [`${name} ${server.reads}`];
    },
    async write() {
      if (server.isAway) throw server.error;
    },
  };
  const { store, kept } = keepReads(registry, ['list'], clock);
  const route = {
    path: '/list',
    bucket: 'api',
    access: 'everyone',
    handle: async ({ query }) => ({
      status: 200,
      headers: {} as Record<string, string>,
      body: (await store.list(query, clock.now()))?.join() ?? 'nothing',
    }),
  } satisfies Route;
  const [{ handle = route.handle } = route] = kept.withAge([route]);
  const get = async (query: string) => {
    const request: HttpRequest = { method: 'GET', params: {}, query, headers: {}, client: '' };
    const { body, headers } = await handle(request);
    return [body, headers.Age];
  };
  return { clock, server, store, kept, route, get };
}

t.test(
  'it reads anew while the server answers, and tells the age of what is kept while it is away',
  async (t) => {
    const { clock, server, store, get } = makeWorld();
    t.same(await get('a'), ['a 1', undefined]);
    await clock.advance(5_000);
    t.same(await get('a'), ['a 2', undefined]);
    server.isAway = true;
    await clock.advance(7_400);
    t.same(await get('a'), ['a 2', '7']);
    await t.rejects(get('b'), AWAY, 'never read');
    await t.rejects(store.write(), AWAY);
    server.isAway = false;
    t.same(await get('a'), ['a 5', undefined]);
  },
);

t.test('it keeps nothing of what does not exist', async (t) => {
  const { server, get } = makeWorld();
  t.same(await get('nothing'), ['nothing', undefined]);
  server.isAway = true;
  await t.rejects(get('nothing'), AWAY);
});

t.test('it hides no other fault', async (t) => {
  const { server, get } = makeWorld();
  await get('a');
  server.isAway = true;
  server.error = new Error('a fault of ours');
  await t.rejects(get('a'), { message: 'a fault of ours' });
});

t.test('it reads what it must respond with in advance, and again every minute', async (t) => {
  const { clock, server, kept, route, get } = makeWorld();
  kept.keepFresh([route], ['/list']);
  await clock.advance(60_000);
  t.equal(server.reads, 2);
  server.isAway = true;
  await clock.advance(61_000);
  t.same(await get(''), [' 2', '61']);
});

t.test('it makes the reads of a costly page without the page', async (t) => {
  const { clock, server, kept, route, store } = makeWorld();
  const handle = () => {
    throw t.fail('the page was made');
  };
  kept.keepFresh([{ ...route, handle, readAhead: () => store.list('') }], ['/list']);
  await clock.advance(60_000);
  t.equal(server.reads, 2);
});

t.test('it forgets the oldest reads of many', async (t) => {
  const { server, get } = makeWorld();
  for (let n = 0; n < 5_001; n++) await get(String(n));
  server.isAway = true;
  await t.rejects(get('0'), AWAY);
  t.same(await get('1'), ['1 2', '0']);
});
