/** What changed when, and how the monitor itself is. */

import { EventEmitter } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import type { Service } from '../../../src/domain/service.ts';
import type { StatusHead } from '../../../src/domain/status/current.ts';
import { silentLog } from '../../../src/log.ts';
import { createMemoryStatusStore } from '../../../src/store/status/memory-status-store.ts';
import { createServiceDirectory } from '../../../src/view/service-directory.ts';
import { createReaderWatch, createServiceFinder } from '../../../src/view/service-finder.ts';
import { createLiveChanges } from '../../../src/web/live/live-changes.ts';
import { LiveStreams } from '../../../src/web/live/live-streams.ts';
import { check, current, NOW, service } from '../../site/site-world.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const INTERVAL_MS = 300_000;

function world(services: readonly Service[] = [service(1, 'a'), service(2, 'b')]) {
  const clock = createFakeClock(NOW);
  const status = createMemoryStatusStore({ log: silentLog });
  const make = () =>
    createLiveChanges({
      directory: { all: () => services, byId: (id) => services.find((one) => one.id === id) ?? null },
      status,
      intervalMs: INTERVAL_MS,
      listenedAt: clock.now,
      clock,
    });
  return { clock, status, make };
}

t.test('it reports which services changed since a position, and which were only checked', async (t) => {
  const { status, make } = world();
  await status.put([current(1, check(NOW)), current(2, check(NOW))]);
  const changes = make();
  const before = changes.read(changes.position());
  t.equal(before, 0);
  await status.put([current(1, check(NOW + 1))]);
  const between = changes.read(changes.position());
  t.same(
    [changes.changedSince(0), changes.checkedAt(1), changes.checkedAt(2)],
    [[], 1, 0],
    'a check is no change',
  );
  await status.put([current(2, check(NOW + 2, { status: 'down' }), { seq: 2 })]);
  t.same([changes.changedSince(0), changes.changedSince(between ?? -1)], [[2], [2]]);
  t.same(changes.changedSince(changes.read(changes.position()) ?? -1), []);
  changes.close();
});

t.test('it does not take the positions of another start for its own', async (t) => {
  const { make } = world();
  const [one, other] = [make(), make()];
  t.equal(one.read(other.position()), null);
  for (const position of [
    '',
    '-',
    'x',
    one.position().replace(/\d+$/, '-1'),
    one.position().replace(/\d+$/, 'x'),
  ])
    t.equal(one.read(position), null, position);
  t.equal(one.read(one.position().replace(/\d+$/, '99')), 0, 'nor one that it has not reached');
  one.close();
  other.close();
});

t.test('it tells its watchers every record, until they leave', async (t) => {
  const { status, make } = world();
  const changes = make();
  const heard: [number, boolean][] = [];
  const stop = changes.watch((head: StatusHead, changed) => heard.push([head.serviceId, changed]));
  await status.put([current(1, check(NOW))]);
  await status.put([current(1, check(NOW + 1))]);
  stop();
  await status.put([current(1, check(NOW + 2))]);
  t.same(heard, [
    [1, true],
    [1, false],
  ]);
  changes.close();
  await status.put([current(1, check(NOW + 3))]);
  t.equal(changes.checkedAt(1), 3, 'and follows no more once it is closed');
});

t.test('it counts checks a second over the last minute, and what is late', async (t) => {
  const services = [
    service(1, 'a'),
    service(2, 'b', { paused: true }),
    service(3, 'c', { verified: false }),
    service(4, 'd'),
  ];
  const { clock, status, make } = world(services);
  await status.put([1, 2, 3].map((id) => current(id, check(NOW - 3 * INTERVAL_MS))));
  const changes = make();
  t.same(changes.monitor(), { checksPerSecond: 0, newestCheckAt: NOW - 3 * INTERVAL_MS, late: 1 });
  for (let second = 1; second <= 90; second++) {
    await clock.advance(1_000);
    await status.put([1, 4].map((id) => current(id, check(clock.now()))));
  }
  t.same(changes.monitor(), { checksPerSecond: 2, newestCheckAt: clock.now(), late: 0 });
  await clock.advance(30_000);
  t.equal(changes.monitor().checksPerSecond, 1);
  await clock.advance(600_000);
  t.same(changes.monitor(), { checksPerSecond: 0, newestCheckAt: NOW + 90_000, late: 2 });
  changes.close();
});

t.test('among very many services it counts those that are late once a second', async (t) => {
  const services = Array.from({ length: 10_001 }, (_, index) => service(index + 1, `s${index + 1}`));
  const { clock, status, make } = world(services);
  const changes = make();
  t.equal(changes.monitor().late, 0);
  await status.put([current(1, check(NOW - 3 * INTERVAL_MS))]);
  t.equal(changes.monitor().late, 0);
  await clock.advance(1_000);
  t.equal(changes.monitor().late, 1);
  changes.close();
});

t.test('it counts the checks of the last minute from before its first reader', async (t) => {
  const services = Array.from({ length: 80 }, (_, index) => service(index + 1, `s${index + 1}`));
  const { clock, status, make } = world(services);
  // Two a second for 40 seconds.
  await status.put(services.map(({ id }) => current(id, check(NOW - 500 * (id - 1)))));
  const changes = make();
  t.equal(changes.monitor().checksPerSecond, 2);
  await clock.advance(59_000);
  t.equal(changes.monitor().checksPerSecond, 2 / 60, 'the newest of them');
  await clock.advance(1_000);
  t.equal(changes.monitor().checksPerSecond, 0);
  changes.close();
});

t.test('it counts no copy that is filled from elsewhere', async (t) => {
  const { status, make } = world();
  const changes = make();
  await status.put([current(1, check(NOW - 61_000))]);
  t.same(changes.monitor().checksPerSecond, 0);
  changes.close();
});

t.test('it makes the lists of the home page once for all streams that begin together', async (t) => {
  const clock = createFakeClock(NOW);
  const directory = createServiceDirectory();
  directory.load([service(1, 'shop')]);
  const status = createMemoryStatusStore({ log: silentLog });
  const made: string[] = [];
  const make = (what: string) => {
    made.push(what);
    return { html: { made: String(made.length) } };
  };
  const live = new LiveStreams({
    changes: createLiveChanges({ directory, status, intervalMs: 300_000, listenedAt: clock.now, clock }),
    directory: directory.shown,
    finder: createServiceFinder(directory.shown, async () => new Set()),
    readers: createReaderWatch(clock),
    status,
    clock,
    servicesOfPage: async () => [],
    isOnline: () => true,
    homeUpdate: ({ code }, _shown, ids) => make(`home ${code} ${ids?.join() ?? 'all'}`),
    whyUnreached: () => null,
    monitorUpdate: ({ code }) => make(`monitor ${code}`),
  });
  const server = createServer(async (request, response) => {
    const answer = await live.route.handle({
      method: 'GET',
      params: {},
      query: (request.url ?? '').split('?')[1] ?? '',
      headers: request.headers,
      client: 'one',
    });
    answer.stream?.(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  t.teardown(() => live.close());
  const { port } = server.address() as AddressInfo;
  /** Opens a stream, and gives what it was told at its beginning. */
  const begin = (language = 'en') =>
    new Promise<string>((resolve, reject) => {
      const path = `/live?after=before-0&lang=${language}`;
      get({ port, host: '127.0.0.1', path, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk;
          if (text.match(/^data: /gm)?.length !== 2) return;
          response.destroy();
          resolve(text.replaceAll(/^(?:id|:).*\n/gm, ''));
        });
      }).on('error', reject);
    });
  const first = await begin();
  for (let count = 0; count < 20; count++) t.equal(await begin(), first);
  t.strictSame(made.splice(0), ['home en all', 'monitor en']);
  await begin('de');
  t.strictSame(made.splice(0), ['home de all', 'monitor de'], 'each in its language');
  await status.put([current(1, check(NOW))]);
  await begin();
  t.strictSame(made.splice(0), ['home en all', 'monitor en'], 'anew after a check');
  await clock.advance(1_000);
  await begin();
  t.strictSame(made.splice(0), ['home en all', 'monitor en'], 'and anew after a second');
});

t.test(
  'it answers others while a change is told to a thousand streams, each of which hears it once',
  async (t) => {
    const STREAMS = 1_000;
    const clock = createFakeClock(NOW);
    const directory = createServiceDirectory();
    directory.load([service(1, 'shop')]);
    const status = createMemoryStatusStore({ log: silentLog });
    let turns = 0;
    const live = new LiveStreams({
      changes: createLiveChanges({ directory, status, intervalMs: 300_000, listenedAt: clock.now, clock }),
      directory: directory.shown,
      finder: createServiceFinder(directory.shown, async () => new Set()),
      readers: createReaderWatch(clock),
      status,
      clock,
      servicesOfPage: async () => [],
      isOnline: () => true,
      homeUpdate: (_language, _shown, ids) => ({ html: { ids: ids?.join() ?? 'all' } }),
      whyUnreached: () => null,
      monitorUpdate: () => ({ html: {} }),
    });
    const heard = Array.from({ length: STREAMS }, () => ({ turns: [] as number[], text: '' }));
    for (const [index, one] of heard.entries()) {
      const query = 'after=before-0';
      const answer = await live.route.handle({
        method: 'GET',
        params: {},
        query,
        headers: {},
        client: String(index),
      });
      const response = Object.assign(new EventEmitter(), {
        writableLength: 0,
        write(text: string | Buffer) {
          one.turns.push(turns);
          one.text = String(text);
        },
        end: () => response.emit('close'),
      });
      answer.stream?.(response as unknown as ServerResponse);
      one.turns = [];
    }
    await status.put([current(1, check(NOW, { status: 'down' }))]);
    const count = () => {
      turns++;
      if (heard.some((one) => one.turns.length === 0)) setImmediate(count);
    };
    setImmediate(count);
    await clock.advance(1_000);
    while (heard.some((one) => one.turns.length === 0)) await new Promise(setImmediate);
    t.ok(heard.every((one) => one.turns.length === 1 && one.text.includes('"ids":"1"')));
    t.ok(new Set(heard.flatMap((one) => one.turns)).size > 5, 'not all in one turn');
    live.close();
    t.equal(live.open, 0);
  },
);

t.test('the id of an update is before the changes that are still gathered for its reader', async (t) => {
  const clock = createFakeClock(NOW);
  const directory = createServiceDirectory();
  const own = { origin: 'owner', accountId: 7, visibility: 'private' } as const;
  directory.load([service(1, 'shop'), service(2, 'own', own)]);
  const status = createMemoryStatusStore({ log: silentLog });
  const live = new LiveStreams({
    changes: createLiveChanges({ directory, status, intervalMs: 300_000, listenedAt: clock.now, clock }),
    directory: directory.shown,
    finder: createServiceFinder(directory.shown, async () => new Set([7])),
    readers: createReaderWatch(clock),
    status,
    clock,
    servicesOfPage: async () => [],
    isOnline: () => true,
    homeUpdate: (_language, _shown, ids) => ({ html: { ids: ids?.join() ?? 'all' } }),
    whyUnreached: () => null,
    monitorUpdate: () => ({ html: {} }),
  });
  const listen = async (headers: Readonly<Record<string, string>>) => {
    const request = { method: 'GET', params: {}, query: 'after=before-0', headers, client: '' } as const;
    const answer = await live.route.handle(request);
    const heard: string[] = [];
    const write = (text: string | Buffer) => {
      const [, number, ids] = /^id: \w+-(\d+)\ndata: .*"ids":"([^"]*)"/.exec(String(text)) ?? [];
      if (ids !== undefined && ids !== 'all') heard.push(`${ids} up to ${number}`);
    };
    const response = Object.assign(new EventEmitter(), { writableLength: 0, write, end: () => {} });
    answer.stream?.(response as unknown as ServerResponse);
    return heard;
  };
  const [owner, stranger] = [await listen({ cookie: 'session' }), await listen({})];
  const put = async (id: number, word: 'up' | 'down') => {
    await status.put([current(id, check(clock.now(), { status: word }))]);
    await clock.advance(400);
    await new Promise(setImmediate);
  };
  // Of each audience what changes within a second is sent together: that of the own service first, then that of the other.
  await put(2, 'down');
  await put(1, 'down');
  await put(1, 'up');
  await put(2, 'up');
  await clock.advance(2_000);
  await new Promise(setImmediate);
  t.strictSame(owner, ['2 up to 0', '1 up to 2', '2 up to 2']);
  t.strictSame(stranger, ['1 up to 2']);
  live.close();
});
