/** Requests wait for past checks for a limited time only. */
import t from 'tap';
import { PICTURE_TIMEOUT_MS } from '../../src/images/picture.ts';
import { SampleReadError } from '../../src/store/ports/samples.ts';
import { createHistoryReads, HISTORY_TIMEOUT_MS, MAX_OVERDUE_READS } from '../../src/view/history-reads.ts';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/loopback.ts';
import { openSampleStore } from '../support/sample-store.ts';

t.test('it gives the reads of a page their time all together', async (t) => {
  const clock = createFakeClock();
  const beginHistory = createHistoryReads(clock);
  const readHistory = beginHistory();
  t.equal(await readHistory(async () => 7), 7);
  await clock.advance(HISTORY_TIMEOUT_MS - 1);
  const late = Promise.withResolvers<number>();
  const first = readHistory(() => late.promise);
  await clock.advance(1);
  t.equal(await first, null);
  t.equal(await readHistory(async () => t.fail('no read starts once the time of the page is up')), null);
  late.resolve(8);
  t.equal(await beginHistory()(async () => 9), 9, 'another page has time of its own');
});

t.test('it ignores how a read ends that no page waits for', async (t) => {
  const clock = createFakeClock();
  const late = Promise.withResolvers<number>();
  const read = createHistoryReads(clock)()(() => late.promise);
  await clock.advance(HISTORY_TIMEOUT_MS);
  t.equal(await read, null);
  late.reject(new Error('nobody reads this'));
  await clock.advance(1);
});

t.test('it has no history while the store is unavailable, and throws other errors', async (t) => {
  const readHistory = createHistoryReads(createFakeClock())();
  t.equal(await readHistory(() => Promise.reject(new SampleReadError('samples_away', 'away'))), null);
  await t.rejects(
    readHistory(() => Promise.reject(new RangeError('no bucket'))),
    { message: 'no bucket' },
  );
});

t.test('it begins no further read while many are unanswered, and does again afterwards', async (t) => {
  const clock = createFakeClock();
  const beginHistory = createHistoryReads(clock);
  const late = Promise.withResolvers<number>();
  const reads = Array.from({ length: MAX_OVERDUE_READS }, () => beginHistory()(() => late.promise));
  await clock.advance(HISTORY_TIMEOUT_MS);
  t.same(new Set(await Promise.all(reads)), new Set([null]));
  t.equal(await beginHistory()(async () => t.fail('begins no read')), null);
  late.resolve(1);
  await clock.advance(0);
  t.equal(await beginHistory()(async () => 2), 2);
});

t.test(
  'while the sample store hangs, pages have no history, and what is made of it alone is refused',
  async (t) => {
    const store = openSampleStore({ now: () => NOW });
    t.teardown(() => store.close());
    let asked = 0;
    const hang = () => {
      asked += 1;
      return new Promise<never>(() => {});
    };
    const world = await startApi({
      services: [service(1, 'shop')],
      samples: { ...store, query: hang, cells: hang, regionsOf: hang, newest: hang },
    });
    t.teardown(world.close);
    await world.status.put([current(1, check(NOW))]);
    /** What a client gets once its time is over. */
    const late = async (path: string, timeoutMs = HISTORY_TIMEOUT_MS) => {
      const before = asked;
      const answer = world.get(path);
      await until(() => asked > before);
      await world.clock.advance(timeoutMs);
      return await answer;
    };
    const page = await late('/status/shop-example');
    t.equal(page.status, 200);
    t.match(page.text, 'has been operational');
    t.match(page.text, 'Past checks cannot be read at the moment');
    for (const path of ['/status/shop-example/response-times.json', '/api/v1/services/shop/history']) {
      const refused = await late(path);
      t.match(refused, { status: 503, json: { code: 'history_unavailable' } }, path);
      t.equal(refused.headers.get('retry-after'), '60', path);
    }
    for (const path of ['/sparklines.svg', '/api/chart/shop-example']) {
      const refused = await late(path, path.startsWith('/api/') ? PICTURE_TIMEOUT_MS : HISTORY_TIMEOUT_MS);
      t.match(refused, { status: 503, json: { code: 'history_unavailable' } }, path);
      t.equal(refused.headers.get('retry-after'), '10', path);
    }
    for (const path of [
      '/api/badge/shop-example?variant=uptime',
      '/api/badge/shop-example?variant=latency&window=7d',
    ]) {
      const { status, headers } = await late(path);
      t.match([status, headers.get('content-type')], [200, 'image/png'], `${path} shows the status`);
    }
    t.equal((await world.get('/api/badge/shop-example')).status, 200, 'a status needs no history');
  },
);
