/** The poller against real servers on loopback: how often it asks, and of what it reports. */
import t from 'tap';
import { INTERVAL, start } from './polled-servers.ts';

t.test('it reports what is new, and nothing when nothing changed', async (t) => {
  let body = '{"titles":["a"]}';
  const world = await start(t, ({ url }) => (url === '/0/incidents' ? { body } : {}));
  await world.pass(1_000, 1);
  t.match(world.news, [
    {
      kind: 'reading',
      feedId: 'feed 0',
      document: 'incidents',
      listsOnlyOpen: false,
      entries: [{ title: 'a' }],
    },
    { kind: 'reading', document: 'more', listsOnlyOpen: true, entries: [] },
    { kind: 'polled', feedId: 'feed 0', problem: null },
  ]);
  t.equal(world.asked[0]?.headers['user-agent'], 'Upbeat/test');
  await world.pass(INTERVAL, 2);
  body = '{"titles":["a"],"updated_at":"now"}';
  await world.pass(INTERVAL, 3);
  t.strictSame(
    world.news.slice(3).map(({ kind }) => kind),
    ['polled', 'polled'],
    'a time that ticks alone is no news',
  );
  body = '{"titles":["a","b"]}';
  await world.pass(INTERVAL, 4);
  t.match(world.news.slice(5), [
    { kind: 'reading', entries: [{ title: 'a' }, { title: 'b' }] },
    { kind: 'polled' },
  ]);
});

t.test('it never has two requests open at a host', async (t) => {
  const world = await start(t, () => ({}), 20);
  await world.pass(1_000, 20);
  t.equal(world.asked.length, 40);
  t.equal(world.maxOpen(), 1);
});

t.test('it ends the polls that it has begun before it begins others', async (t) => {
  const world = await start(t, () => ({}), 20);
  await world.pass(1_000, 20);
  t.same(
    world.asked.map(({ url }) => url),
    world.feeds.flatMap((_, index) => [`/${index}/incidents`, `/${index}/more`]),
  );
});

t.test('it reads anew what got lost, and follows the list of feeds', async (t) => {
  const world = await start(t, () => ({ body: '{"titles":["a"]}', headers: { etag: '"v"' } }));
  await world.pass(1_000, 1);
  world.poller.forget('feed 0');
  await world.pass(INTERVAL, 2);
  t.equal(world.news.filter(({ kind }) => kind === 'reading').length, 4);
  world.poller.setFeeds([]);
  await world.clock.advance(10 * INTERVAL);
  t.equal(world.asked.length, 4);
  world.poller.setFeeds(world.feeds);
  await world.pass(1_000, 3);
  t.equal(world.asked.length, 6);
});
