/** The poller against real servers on loopback: how often it asks, and of what it reports. */
import t from 'tap';
import { FeedFormatError, type FeedKind } from '../../src/feeds/feed-kind.ts';
import { type Answer, entry, INTERVAL, SIMPLE, start } from './polled-servers.ts';

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

t.test('it asks conditionally, and takes 304 for a good answer', async (t) => {
  const world = await start(t, ({ headers, url }) => {
    if (headers['if-none-match'] === '"v1"' || headers['if-modified-since'] !== undefined)
      return { status: 304, body: '' };
    return url === '/0/more'
      ? { headers: { 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' } }
      : { headers: { etag: '"v1"' } };
  });
  await world.pass(1_000, 1);
  t.notOk(world.asked[0]?.headers['if-none-match']);
  await world.pass(INTERVAL, 2);
  t.match(world.asked.slice(2), [
    { headers: { 'if-none-match': '"v1"' } },
    { headers: { 'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' } },
  ]);
  t.match(world.news.at(-1), { kind: 'polled', problem: null });
  t.equal(world.news.filter(({ kind }) => kind === 'reading').length, 2);
  for (let polls = 3; polls <= 62; polls++) await world.pass(INTERVAL, polls);
  const full = world.asked
    .slice(4)
    .filter(
      ({ headers }) => headers['if-none-match'] === undefined && headers['if-modified-since'] === undefined,
    );
  t.equal(full.length, 2, 'once an hour it reads everything anew');
});

t.test(
  'it says why a poll failed, leaves the rest of a host in trouble alone, and waits as it was asked to',
  async (t) => {
    let answer: Answer = { status: 503, headers: { 'retry-after': '600' } };
    const world = await start(t, () => answer);
    await world.pass(1_000, 1);
    t.match(world.news, [{ kind: 'polled', problem: '127.0.0.1 answered with HTTP 503' }]);
    t.equal(world.asked.length, 1, 'the second document is not asked for');
    await world.clock.advance(599_000);
    t.equal(world.asked.length, 1);
    const table: readonly [Answer, RegExp][] = [
      [{ body: '<html>' }, /^127\.0\.0\.1: a page for people$/],
      [{ body: '!' }, /the reader failed: a fault of the reader at /],
      [{ body: '{"titles":' }, /the reader failed: /],
      [{ status: 401 }, /HTTP 401/],
      [{ status: 302, headers: { location: 'http://10.0.0.1/' } }, /not public/],
      [{ body: 'x'.repeat(3 * 1024 * 1024) }, /longer than 2097152 bytes/],
      [{ headers: { 'content-encoding': 'gzip' } }, /cannot be decoded \(gzip\)/],
    ];
    for (const [next, problem] of table) {
      answer = next;
      // On a busy machine the poll that ends first may have had the answer before.
      const last = () => world.news.findLast((one) => one.kind === 'polled');
      let attempts = 0;
      do await world.pass(4_000_000, world.polls() + 1);
      while (++attempts < 3 && !problem.test(last()?.problem ?? ''));
      t.match(last(), { problem }, String(problem));
    }
  },
);

t.test('it does not need every further document of a kind', async (t) => {
  for (const [answer, page, problem] of [
    [{ status: 404 }, '', null],
    [{ status: 403 }, '', /HTTP 403/],
    [{ body: '<html>' }, '', /page for people/],
    [{ status: 403 }, '/optional', null],
    [{ body: '<html>' }, '/optional', null],
    [{ body: '!' }, '/optional', /a fault of the reader/],
  ] as const) {
    const world = await start(t, ({ url }) => (url?.endsWith('/more') ? answer : {}), 1, page);
    await world.pass(1_000, 1);
    t.match(world.news, [
      { kind: 'reading', document: 'incidents' },
      { kind: 'polled', problem },
    ]);
  }
});

t.test('it requests all documents in full where one says what others refer to', async (t) => {
  const joined: FeedKind = {
    addresses(source) {
      let names: string[] = [];
      return SIMPLE.addresses(source).map((address) =>
        address.name === 'more'
          ? { ...address, read: () => names.map(entry) }
          : {
              ...address,
              isReference: true,
              read(body) {
                if (body.toString().startsWith('<')) throw new FeedFormatError('a page for people');
                names = JSON.parse(body.toString()).titles;
                return [];
              },
            },
      );
    },
  };
  let body = '{"titles":["a"]}';
  const answers = () => ({ headers: { etag: '"1"' }, body });
  const world = await start(t, answers, 1, '', joined);
  await world.pass(1_000, 1);
  await world.pass(INTERVAL, 2);
  const readings = () => world.news.filter(({ kind }) => kind === 'reading');
  t.match(readings(), [{ document: 'more', entries: [{ key: 'a' }] }]);
  t.equal(readings().length, 1, 'what has not changed is no news');
  body = '{"titles":["b"]}';
  await world.pass(INTERVAL, 3);
  t.match(readings()[1], { entries: [{ key: 'b' }] });
  t.ok(world.asked.every(({ headers }) => headers['if-none-match'] === undefined));
  body = '<html>';
  await world.pass(INTERVAL, 4);
  t.equal(readings().length, 2, 'nothing is read without what it refers to');
  t.match(world.news.at(-1), { kind: 'polled', problem: /page for people/ });
});
