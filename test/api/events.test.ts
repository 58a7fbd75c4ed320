/** `GET /api/v1/events`: Server-Sent Events of status changes, resumable. */

import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import t from 'tap';
import { createEventIds } from '../../src/api/events.ts';
import { silentLog } from '../../src/log.ts';
import { from, service, startApi, transition, type World } from '../site/site-world.ts';
import { until } from '../support/loopback.ts';

const PATH = '/api/v1/events';
/** Longest time until changes that were recorded are sent, milliseconds. */
const ROUND_MS = 500;

/** An open stream. */
interface Stream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: () => string;
  /** Events so far, as `[id, data]`. */
  readonly events: () => [string, unknown][];
  readonly ended: () => boolean;
  leave(): void;
}

function open(world: World, path = PATH, headers: Record<string, string> = {}): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const asked: ClientRequest = request(world.origin + path, { headers, agent: false }, (response) => {
      let text = '';
      let ended = false;
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('close', () => {
        ended = true;
      });
      response.on('error', () => {});
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: () => world.withPositions(text),
        // An event whose end has not arrived yet is none.
        events: () =>
          [...world.withPositions(text).matchAll(/^id: (\d+)\nevent: status\ndata: (.*)\n\n/gm)].map(
            ([, id = '', data = '']) => [id, JSON.parse(data)],
          ),
        ended: () => ended,
        leave: () => asked.destroy(),
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

const ids = (stream: Stream) => stream.events().map(([id]) => Number(id));
/** The stream has begun: what is told from now on is told live. */
const begun = (stream: Stream) => until(() => stream.text().includes('retry:'));

t.test('it reports each change of status once, in order', async (t) => {
  const world = await startApi({ services: [service(1, 'shop'), service(2, 'other')] });
  t.teardown(world.close);
  world.tell(transition(1, 'shop'));
  const stream = await open(world);
  t.equal(stream.status, 200);
  t.match(stream.headers, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  t.equal(stream.headers['access-control-allow-origin'], '*');
  await begun(stream);
  world.tell(
    transition(2, 'shop'),
    transition(3, 'other', { serviceId: 2, from: 'unknown', to: 'up', reason: null }),
  );
  await until(() => stream.events().length === 2);
  t.strictSame(stream.events(), [
    [
      '2',
      {
        slug: 'shop',
        from: 'up',
        to: 'down',
        at: '2026-11-20T10:00:02.000Z',
        recorded_at: '2026-11-20T10:00:08.500Z',
        reason: 'it refused the connection',
      },
    ],
    [
      '3',
      {
        slug: 'other',
        from: 'unknown',
        to: 'up',
        at: '2026-11-20T10:00:03.000Z',
        recorded_at: '2026-11-20T10:00:09.500Z',
        reason: null,
      },
    ],
  ]);
  t.match(stream.text(), /^retry: \d+\n.*\nid: 1\n\n/, 'and where the client stands from the first moment');
});

t.test('it reports a change of scope as an event of its own', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const stream = await open(world);
  await begun(stream);
  world.tell(
    transition(1, 'shop', { to: 'up', scope: { from: null, to: 'partial', regions: ['eu'] } }),
    transition(2, 'shop', { scope: { from: 'partial', to: 'global', regions: ['eu', 'us'] } }),
  );
  await until(() => stream.events().length === 1);
  t.match(
    stream.text(),
    '\n\nid: 1\nevent: scope\ndata: {"slug":"shop","status":"up","from":null,"to":"partial","regions":["eu"],"at":"2026-11-20T10:00:01.000Z","recorded_at":"2026-11-20T10:00:07.500Z","reason":"it refused the connection"}\n\n',
  );
  t.strictSame(stream.events(), [
    [
      '2',
      {
        slug: 'shop',
        from: 'up',
        to: 'down',
        scope: 'global',
        regions: ['eu', 'us'],
        at: '2026-11-20T10:00:02.000Z',
        recorded_at: '2026-11-20T10:00:08.500Z',
        reason: 'it refused the connection',
      },
    ],
  ]);
});

t.test('it resumes after Last-Event-ID without a gap and without a repetition', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const count = 1_200;
  world.tell(...Array.from({ length: count }, (_, index) => transition(index + 1, 'shop')));
  const expected = Array.from({ length: count + 1 - 5 }, (_, index) => index + 6);
  for (const [path, headers] of [
    [PATH, { 'last-event-id': world.eventIds.ofEvent(5) }],
    [`${PATH}?last_event_id=${world.eventIds.ofPlace(5)}`, {}],
  ] as const) {
    const stream = await open(world, path, headers);
    await until(() => stream.events().length >= count - 5);
    if (path === PATH) world.tell(transition(count + 1, 'shop'));
    await world.clock.advance(ROUND_MS);
    await until(() => ids(stream).at(-1) === count + 1);
    t.strictSame(ids(stream), expected, path);
    stream.leave();
  }
  const ahead = await open(world, PATH, { 'last-event-id': world.eventIds.ofEvent(999_999) });
  await begun(ahead);
  world.tell(transition(count + 2, 'shop'));
  await world.clock.advance(ROUND_MS);
  await until(() => ahead.events().length === 1);
  t.strictSame(ids(ahead), [count + 2], 'an id that the feed has not reached counts as the newest');
});

t.test('it misses nothing that happens while it reads what was missed', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  for (let position = 1; position <= 3; position++) world.tell(transition(position, 'shop'));
  const { promise, resolve: release } = Promise.withResolvers<void>();
  world.gate.transitions = promise;
  const stream = await open(world, PATH, { 'last-event-id': '0' });
  await begun(stream);
  await until(() => world.reads.done === 1);
  world.tell(transition(4, 'shop'), transition(5, 'shop'));
  await world.clock.advance(ROUND_MS);
  t.strictSame(ids(stream), []);
  release();
  await until(() => ids(stream).at(-1) === 5);
  t.strictSame(ids(stream), [1, 2, 3, 4, 5]);
});

t.test('one stream at a time reads missed transitions, so that other queries are not delayed', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  world.tell(...Array.from({ length: 1_100 }, (_, index) => transition(index + 1, 'shop')));
  const { promise, resolve: release } = Promise.withResolvers<void>();
  world.gate.transitions = promise;
  const streams = await Promise.all(Array.from({ length: 8 }, () => open(world, `${PATH}?last_event_id=0`)));
  await Promise.all(streams.map(begun));
  release();
  await until(() => streams.every((stream) => stream.events().length === 1_100));
  t.equal(world.reads.most, 1);
});

t.test('it reports one service where the client wants one, and still moves on', async (t) => {
  const world = await startApi({ services: [service(1, 'shop'), service(2, 'other')] });
  t.teardown(world.close);
  world.tell(transition(1, 'shop'), transition(2, 'other', { serviceId: 2 }));
  const stream = await open(world, `${PATH}?slug=SHOP`, { 'last-event-id': '0' });
  await until(() => stream.events().length === 1);
  const other = { serviceId: 2 };
  world.tell(transition(3, 'other', other), transition(4, 'shop'), transition(5, 'other', other));
  await until(() => stream.events().length === 2);
  t.strictSame(ids(stream), [1, 4]);
  await world.clock.advance(15_000);
  await until(() => stream.text().endsWith('id: 5\n\n'));
  t.strictSame(ids(stream), [1, 4], 'the position alone is no event');
  t.match(await world.get(`${PATH}?slug=nobody`), { status: 404, json: { code: 'service_not_found' } });
});

t.test(
  'after an id that it cannot read, or a former one, the stream begins with the next event',
  async (t) => {
    const world = await startApi({ services: [service(1, 'shop')] });
    t.teardown(world.close);
    world.tell(transition(1, 'shop'), transition(2, 'shop'));
    const others = createEventIds(new Uint8Array(32).fill(1));
    const streams: Stream[] = [];
    // A former id was a position: whoever tried numbers would find those of events, and what lies between them.
    for (const id of ['1', '2', '999999', others.ofEvent(1), 'a'.repeat(22)])
      streams.push(await open(world, PATH, { 'last-event-id': id }));
    await Promise.all(streams.map(begun));
    world.tell(transition(3, 'shop'));
    await until(() => streams.every((stream) => stream.events().length > 0));
    for (const stream of streams) t.strictSame(ids(stream), [3]);
  },
);

t.test('it sends a comment every fifteen seconds, which keeps the connection open', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const stream = await open(world);
  await begun(stream);
  const comments = () => stream.text().match(/^: still here$/gm)?.length ?? 0;
  await world.clock.advance(14_999);
  t.equal(comments(), 0);
  await world.clock.advance(1);
  await until(() => comments() === 1);
  await world.clock.advance(15_000);
  await until(() => comments() === 2);
});

t.test('it refuses what is no position', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  for (const id of ['-1', 'abc', '1.5', '9'.repeat(20), 'a'.repeat(21), `${'a'.repeat(21)}+`]) {
    const answer = await world.get(PATH, { 'last-event-id': id });
    t.match(answer, { status: 400, json: { code: 'invalid_parameter', parameter: 'last_event_id' } }, id);
  }
});

t.test('it holds at most ten streams open for an address, and counts those that left no more', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const streams: Stream[] = [];
  for (let count = 0; count < 10; count++) {
    const stream = await open(world, PATH, from('203.0.113.1'));
    t.strictSame(
      [stream.headers['x-ratelimit-limit'], stream.headers['x-ratelimit-remaining']],
      ['10', String(9 - count)],
    );
    streams.push(stream);
  }
  const refused = await world.get(PATH, from('203.0.113.1'));
  t.match(refused, { status: 429, json: { code: 'too_many_streams' } });
  t.equal(refused.headers.get('retry-after'), '10');
  t.equal(refused.headers.get('x-ratelimit-remaining'), '0');
  t.equal((await open(world, PATH, from('203.0.113.2'))).status, 200, 'another address has its own');
  t.equal((await world.get('/api/v1/status/shop', from('203.0.113.1'))).status, 200);
  const head = await world.get(PATH, from('203.0.113.3'), 'HEAD');
  t.strictSame([head.status, head.headers.get('content-type')], [200, 'text/event-stream']);

  streams[0]?.leave();
  await until(() => world.api.openStreams === 10);
  const again = await open(world, PATH, from('203.0.113.1'));
  t.equal(again.status, 200);
  for (const stream of [again, ...streams]) stream.leave();
  await until(() => world.api.openStreams === 1);
  t.equal(world.listeners.size, 1, 'nothing is left of a stream that ended');
});

t.test('it counts eleven requests of one moment exactly', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const streams = await Promise.all(Array.from({ length: 15 }, () => open(world, PATH, from('203.0.113.1'))));
  t.equal(streams.filter(({ status }) => status === 200).length, 10);
  t.equal(streams.filter(({ status }) => status === 429).length, 5);
});

t.test('it frees the places of clients that leave at once', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  for (let count = 0; count < 30; count++) {
    const asked = request(world.origin + PATH, { headers: from('203.0.113.1'), agent: false });
    asked.on('error', () => {});
    asked.end();
    await new Promise((resolve) => asked.once('socket', (socket) => socket.once('connect', resolve)));
    // Some leave before their request is read, some while it is answered.
    if (count % 2 === 1) await new Promise((resolve) => setImmediate(resolve));
    asked.destroy();
  }
  await until(() => world.api.openStreams === 0 && world.listeners.size === 0);
  const stream = await open(world, PATH, from('203.0.113.1'));
  t.equal(stream.headers['x-ratelimit-remaining'], '9');
});

t.test('it frees the place of a client that left while its key was looked up', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const { promise, resolve: release } = Promise.withResolvers<void>();
  world.gate.keys = promise;
  const leaving = Array.from({ length: 3 }, () => {
    const headers = { ...from('203.0.113.1'), ...world.makeKey() };
    const asked = request(world.origin + PATH, { headers, agent: false });
    asked.on('error', () => {});
    asked.end();
    return asked;
  });
  await until(() => world.asked.keys === 3);
  for (const asked of leaving) asked.destroy();
  await until(() => world.connections() === 0);
  release();
  await world.get('/healthz');
  await until(() => world.api.openStreams === 0 && world.listeners.size === 0);
  const stream = await open(world, PATH, from('203.0.113.1'));
  t.equal(stream.headers['x-ratelimit-remaining'], '9');
});

t.test('it ends the streams when the API closes, and writes to none afterwards', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const stream = await open(world);
  await begun(stream);
  world.api.close();
  world.tell(transition(1, 'shop'));
  await world.clock.advance(15_000);
  await until(() => stream.ended());
  t.strictSame(stream.events(), []);
  t.equal(world.api.openStreams, 0);
});

t.test(
  'a stream says that it begins later while the registry cannot be read, and browsers connect again',
  async (t) => {
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_fields: object, message: string) => void warnings.push(message) };
    const world = await startApi({ services: [service(1, 'shop')], log });
    t.teardown(world.close);
    world.tell(transition(1, 'shop'));
    world.faults.events = Object.assign(new Error('it does not answer'), { code: 'storage_unreachable' });
    const later = await open(world, PATH, { 'last-event-id': '0' });
    await until(later.ended);
    t.match(later, { status: 200, headers: { 'content-type': 'text/event-stream' } });
    t.equal(later.text(), 'retry: 5000\n: changes cannot be read at present; connect again\n\n');
    t.same(warnings, [], 'the log tells of the registry, and not of each stream');
    world.faults.events = new Error('a fault');
    const faulty = await open(world);
    await until(faulty.ended);
    t.equal(faulty.text(), later.text());
    t.same(warnings, ['an event stream was closed']);
    world.faults.events = null;
    const stream = await open(world, PATH, { 'last-event-id': '0' });
    await until(() => stream.events().length === 1);
    t.same(ids(stream), [1], 'with what happened meanwhile');
    stream.leave();
  },
);
