/** What streams are told that begin together, and how many of them are told of a change. */

import { EventEmitter } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { silentLog } from '../../src/log.ts';
import { createMemoryStatusStore } from '../../src/store/status/memory-status-store.ts';
import { createServiceDirectory } from '../../src/view/service-directory.ts';
import { createReaderWatch, createServiceFinder } from '../../src/view/service-finder.ts';
import { createLiveChanges } from '../../src/web/live/live-changes.ts';
import { LiveStreams } from '../../src/web/live/live-streams.ts';
import { check, current, NOW, service } from '../site/site-world.ts';
import { createFakeClock } from '../support/fake-clock.ts';

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
