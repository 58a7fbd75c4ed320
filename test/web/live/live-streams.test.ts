/** The stream of news for open pages, over real HTTP. */

import { get, type IncomingMessage } from 'node:http';
import t from 'tap';
import { type HomeView, readHomeView } from '../../../src/web/home/home-view.ts';
import { LIVE_BOUNDS } from '../../../src/web/live/live-streams.ts';
import type { LiveUpdate } from '../../../src/web/parts/page-messages.ts';
import { check, current, from, NOW, service, startApi, type World } from '../../site/site-world.ts';
import { at } from '../../support/json.ts';

const WITHIN_MS = 45_000;

/** An event as it came. */
interface Heard {
  readonly id: string;
  readonly news: LiveUpdate;
}

/** Opens a stream; `heard` grows as events come. */
async function listen(world: World, path: string, headers: Record<string, string> = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(world.origin + path, { headers, agent: false }, resolve).on('error', reject);
  });
  const heard: Heard[] = [];
  let ended = false;
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    const events = (rest + chunk).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const id = /^id: (.*)$/m.exec(event)?.[1] ?? '';
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) heard.push({ id, news: JSON.parse(data) as LiveUpdate });
    }
  });
  response.on('error', () => {});
  response.on('close', () => {
    ended = true;
  });
  return {
    response,
    heard,
    isEnded: () => ended,
    until: (what: string, accept: () => boolean) => until(what, accept),
    close: () => response.destroy(),
  };
}

async function until(what: string, accept: () => boolean): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  while (!accept()) {
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const SERVICES = [
  service(1, 'alpha', { name: 'Al <b>' }),
  service(2, 'beta'),
  service(3, 'hidden', { origin: 'owner', accountId: 1, verified: false }),
];

async function start(t: { teardown(task: () => Promise<void>): void }) {
  const world = await startApi({ services: SERVICES });
  t.teardown(world.close);
  await world.status.put([1, 2, 3].map((id) => current(id, check(NOW - 10_000))));
  return world;
}

/** Up to where a page that is loaded now knows. */
async function positionOf(world: World, path = '/'): Promise<string> {
  return /data-live-at="([^"]+)"/.exec((await world.get(path)).text)?.[1] ?? 'none';
}

const down = (id: number, at: number) =>
  current(id, check(at, { status: 'down', statusCode: 503, responseTimeMs: 80 }), { seq: 2, since: at });

t.test('it tells the home page what changed, as markup that is ready', async (t) => {
  const world = await start(t);
  const stream = await listen(world, `/live?after=${await positionOf(world)}`);
  t.match(stream.response.headers, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  await stream.until('the monitor', () => stream.heard.length === 1);
  t.same(
    Object.keys(stream.heard[0]?.news.html ?? {}),
    ['calm', 'verdict', 'monitor', 'away'],
    'nothing was missed',
  );
  await world.status.put([current(2, check(NOW))]);
  await world.clock.advance(1_000);
  await world.status.put([down(1, NOW), down(3, NOW)]);
  await world.clock.advance(1_000);
  await stream.until('a change', () => stream.heard.length === 2);
  const { news } = stream.heard[1] as Heard;
  t.same(news.statuses, { down: ['alpha-example'] }, 'who is not verified is not told');
  t.equal(news.others, undefined);
  t.match(news.html, { 'count:up': '1', 'count:down': '1' });
  t.match(
    news.html?.troubled,
    /Al &lt;b&gt;<\/a><\/span><span class="soft">for <time datetime="2026-11-20T10:00:00\.000Z" data-length/,
  );
  stream.close();
});

t.test('it tells a page of services every check of theirs, and of no others', async (t) => {
  const world = await start(t);
  const position = await positionOf(world);
  const [one, both] = await Promise.all([
    listen(world, `/live?of=alpha-example&after=${position}`),
    listen(world, `/live?of=alpha-example,beta-example,nobody&after=${position}&lang=de`),
  ]);
  await until('both', () => one.heard.length === 1 && both.heard.length === 1);
  await world.status.put([current(2, check(NOW, { responseTimeMs: 1_234 }))]);
  await world.clock.advance(250);
  await both.until('beta', () => both.heard.length === 2);
  await world.status.put([down(1, NOW)]);
  await world.clock.advance(250);
  await until('alpha', () => one.heard.length === 2 && both.heard.length === 3);
  t.same(one.heard[1]?.news.checks, [
    { page: 'alpha-example', status: 'down', at: '2026-11-20T10:00:00.000Z' },
  ]);
  t.match(one.heard[1]?.news.html, {
    'pill:alpha-example': /<\/svg>Down$/,
    'said:alpha-example': /^has been down since <time/,
    'checked:alpha-example': /<time [^>]*data-age/,
    'took:alpha-example': /^80 ms$/,
    'code:alpha-example': /^HTTP 503$/,
  });
  t.match(both.heard[1]?.news.html, {
    'took:beta-example': /^1\.234 ms$/,
    'pill:beta-example': /In Ordnung$/,
  });
  for (const stream of [one, both]) stream.close();
});

t.test('it goes on where a page left off, and tells all where it cannot know', async (t) => {
  const world = await start(t);
  const old = await positionOf(world);
  await world.status.put([down(1, NOW)]);
  const resumed = await listen(world, '/live?after=nonsense', { 'last-event-id': old });
  await resumed.until('what was missed', () => resumed.heard.length === 2);
  t.same(resumed.heard[0]?.news.statuses, { down: ['alpha-example'] });
  t.equal(resumed.heard[0]?.news.others, undefined);
  const again = await listen(world, `/live?after=${resumed.heard[0]?.id}`);
  await again.until('the monitor', () => again.heard.length === 1);
  t.ok(again.heard[0]?.news.html?.monitor, 'nothing twice');
  const stranger = await listen(world, '/live?after=deadbeef-3');
  await stranger.until('all', () => stranger.heard.length === 2);
  t.match(stranger.heard[0]?.news, { statuses: { down: ['alpha-example'] }, others: 'up' });
  const page = await listen(world, '/live?of=beta-example&after=deadbeef-3');
  await page.until('all of the page', () => page.heard.length === 2);
  t.same(page.heard[0]?.news.statuses, { up: ['beta-example'] });
  for (const stream of [resumed, again, stranger, page]) stream.close();
});

t.test(
  'it says how the monitor is every ten seconds, and within a second when its connection goes away or returns',
  async (t) => {
    const world = await start(t);
    const stream = await listen(world, '/live');
    await stream.until('the beginning', () => stream.heard.length === 2);
    world.state.prober = { online: false, offlineSince: NOW, reason: 'no control target answers' };
    await world.clock.advance(1_000);
    await stream.until('that it is away', () => stream.heard.length === 3);
    t.match(stream.heard[2]?.news.html, {
      monitor: /Disconnected/,
      away: /Our own connection has been down<\/strong> since <time/,
    });
    world.state.prober = { online: true, offlineSince: null, reason: null };
    await world.clock.advance(1_000);
    await stream.until('that it is back', () => stream.heard.length === 4);
    t.match(stream.heard[3]?.news.html, { monitor: /Connected/, away: /^$/ });
    await world.clock.advance(9_000);
    await world.clock.advance(1_000);
    await stream.until('the same after ten seconds', () => stream.heard.length === 5);
    stream.close();
  },
);

t.test('it uses up no limit of the API, and bounds the streams of an address', async (t) => {
  const world = await start(t);
  const streams = await Promise.all(
    Array.from({ length: LIVE_BOUNDS.perClient }, () => listen(world, '/live', from('192.0.2.1'))),
  );
  t.ok(streams.every(({ response }) => response.statusCode === 200));
  t.equal(world.api.openStreams, LIVE_BOUNDS.perClient);
  const over = await world.get('/live', from('192.0.2.1'));
  t.same(
    [over.status, at(over.json, 'code'), over.headers.get('retry-after')],
    [429, 'too_many_streams', '30'],
  );
  const api = await world.get('/api/v1/services', from('192.0.2.1'));
  t.equal(api.headers.get('x-ratelimit-remaining'), '99999');
  const other = await listen(world, '/live', from('192.0.2.2'));
  t.equal(other.response.statusCode, 200, 'others are not concerned');
  other.close();
  streams[0]?.close();
  await until('a place', () => world.api.openStreams === LIVE_BOUNDS.perClient - 1);
  const next = await listen(world, '/live', from('192.0.2.1'));
  t.equal(next.response.statusCode, 200);
  for (const stream of [...streams, next]) stream.close();
  await until('none is left', () => world.api.openStreams === 0);
});

t.test('it ends its streams at the stop', async (t) => {
  const world = await start(t);
  const stream = await listen(world, '/live');
  await stream.until('the beginning', () => stream.heard.length === 2);
  world.api.close();
  await stream.until('the end', stream.isEnded);
  t.equal(world.api.openStreams, 0);
});

t.test('it answers HEAD, and refuses what is given twice', async (t) => {
  const world = await start(t);
  const head = await world.get('/live', {}, 'HEAD');
  t.same([head.status, head.headers.get('content-type')], [200, 'text/event-stream']);
  t.equal((await world.get('/live?of=a&of=b')).status, 400);
});

t.test('it puts what is down before what is slow, the newest change first', async (t) => {
  const world = await start(t);
  const since = (id: number, status: 'down' | 'slow', at: number) =>
    current(id, check(NOW, { status }), { seq: 2, since: at });
  world.directory.load([1, 2, 3, 4].map((id) => service(id, `s${id}`)));
  await world.status.put([
    since(1, 'slow', NOW - 1),
    since(2, 'down', NOW - 9),
    since(3, 'slow', NOW - 5),
    since(4, 'down', NOW - 2),
  ]);
  const shown: HomeView = readHomeView(world.directory.shown, world.status, {
    text: '',
    category: '',
    status: '',
  });
  t.same(
    shown.troubled.map(({ service: { id } }) => id),
    [4, 2, 1, 3],
  );
});
