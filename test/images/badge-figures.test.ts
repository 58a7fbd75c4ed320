/** How often, and how, badges read the samples. */
import t from 'tap';
import { HISTORY_TIMEOUT_MS } from '../../src/view/history-reads.ts';
import { check, current, from, NOW, service, startApi } from '../site/site-world.ts';
import { at } from '../support/json.ts';
import { startBadges } from './badge-world.ts';

const github = service(1, 'github', { name: 'GitHub', domain: 'github.com' });
const UPTIME = '/api/badge/github-com?variant=uptime';
const away = () => Promise.reject(Object.assign(new Error('InfluxDB is away'), { code: 'samples_away' }));

t.test('it reads a window once a minute, however often and at once it is asked for', async (t) => {
  const badges = startBadges(t, [github]);
  await badges.fill({ upCount: 10 });
  await Promise.all(Array.from({ length: 20 }, () => badges.get(UPTIME)));
  badges.now += 59_999;
  await badges.get(`${UPTIME}&theme=dark`);
  t.equal(badges.queries.length, 1);
  badges.now += 1;
  await badges.get(UPTIME);
  t.equal(badges.queries.length, 2);
  await badges.get(`${UPTIME}&window=7d`);
  t.equal(badges.queries.length, 3);
});

t.test('it keeps a picture as long as nothing on it changes, and draws a new one when it does', async (t) => {
  const badges = startBadges(t, [github]);
  await badges.fill({ upCount: 10 });
  await badges.status.put([current(1, check(NOW - 1_000))]);
  const first = await badges.get(UPTIME);
  badges.now += 61_000;
  t.equal(await badges.get(UPTIME), first, 'the same figures of the same check');
  await badges.status.put([current(1, check(badges.now - 10))]);
  const second = await badges.get(UPTIME);
  t.not(second.etag, first.etag, 'another check is another time');
  badges.now += 61_000;
  await badges.fill({ downCount: 1 });
  t.not((await badges.get(UPTIME)).etag, second.etag);
  badges.directory.apply({
    seq: 1,
    serviceId: 1,
    slug: 'github',
    service: { ...github, name: 'Hub', revision: 2 },
  });
  await badges.get(UPTIME);
  t.equal(badges.drawn.at(-1)?.name, 'Hub');
});

t.test(
  'it shows the last known figures with their age while the store is away, and nothing made up',
  async (t) => {
    const badges = startBadges(t, [github]);
    await badges.fill({ upCount: 10 });
    badges.fault = away;
    await badges.status.put([current(1, check(badges.now - 1_000))]);
    for (const theme of ['light', 'dark']) {
      t.equal((await badges.get(`${UPTIME}&theme=${theme}`)).status, 200);
      t.match(badges.drawn.at(-1), { status: 'up', ageText: null, figure: undefined }, 'the status');
    }
    t.equal(badges.queries.length, 1, 'a store that is away is asked once a minute');
    t.equal((await badges.get('/api/badge/github-com')).status, 200, 'the status needs no samples');
    badges.now += 60_000;
    badges.fault = null;
    await badges.get(UPTIME);
    badges.fault = away;
    badges.now += 12 * 60_000;
    await badges.status.put([current(1, check(badges.now - 1_000))]);
    await badges.get(UPTIME);
    t.match(badges.drawn.at(-1), { ageText: '12 min ago', figure: { word: '100% up' } });
    badges.fault = null;
    badges.now += 60_000;
    await badges.get(UPTIME);
    t.match(badges.drawn.at(-1), { ageText: null, figure: { word: '100% up' } });
  },
);

t.test('it shows what is known while the store does not answer', async (t) => {
  const badges = startBadges(t, [github]);
  await badges.fill({ upCount: 10 });
  await badges.get(UPTIME);
  const answer = Promise.withResolvers<never>();
  badges.fault = () => answer.promise;
  badges.now += 12 * 60_000;
  await badges.status.put([current(1, check(badges.now - 1_000))]);
  const show = async (path: string) => {
    const asked = badges.get(path);
    await badges.clock.advance(HISTORY_TIMEOUT_MS);
    await asked;
    return badges.drawn.at(-1);
  };
  t.match(await show(UPTIME), { ageText: '12 min ago', figure: { word: '100% up' } }, 'the last figures');
  const status = { status: 'up', ageText: null, figure: undefined };
  t.match(await show(`${UPTIME}&window=1y`), status, 'the status, where no figures were read');
  t.match(await show('/api/badge/github-com?variant=latency&window=7d'), status);
  answer.reject(new Error('too late'));
});

t.test('it hands a fault of the store on and reads again at the next request', async (t) => {
  const badges = startBadges(t, [github]);
  await badges.fill({ upCount: 10 });
  badges.fault = () => Promise.reject(new Error('disk full'));
  await t.rejects(badges.get(UPTIME), { message: 'disk full' });
  badges.fault = null;
  t.equal((await badges.get(UPTIME)).status, 200);
  badges.now += 60_000;
  badges.fault = async () => [];
  await t.rejects(badges.get(UPTIME), /no bucket/);
});

t.test('it is counted like every picture: a 304 costs nothing, errors are problems', async (t) => {
  const world = await startApi({ services: [github], anonymousPerMinute: 2 });
  t.teardown(world.close);
  const caller = from('203.0.113.1');
  const first = await world.get('/api/badge/github-com.svg?variant=uptime&window=1y', caller);
  t.match(first, { status: 200 });
  t.equal(first.headers.get('x-ratelimit-remaining'), '1');
  const again = await world.get('/api/badge/github-com.svg?variant=uptime&window=1y', {
    ...caller,
    'if-none-match': first.headers.get('etag') ?? '',
  });
  t.strictSame([again.status, again.text, again.headers.get('x-ratelimit-remaining')], [304, '', '1']);
  const refused = await world.get('/api/badge/github-com?variant=x', caller);
  t.match(refused, {
    status: 400,
    json: { code: 'invalid_parameter', parameter: 'variant', allowed: ['status', 'uptime', 'latency'] },
  });
  t.equal(refused.headers.get('content-type'), 'application/problem+json');
  t.equal((await world.get('/api/badge/github-com', caller)).status, 429);
  const preview = await world.get('/badges/github-com/picture?variant=uptime', caller);
  t.equal(preview.status, 200, 'the pages of this site use up nothing of it');
  t.equal(
    at((await world.get('/api/badge/nobody.json', from('203.0.113.2'))).json, 'code'),
    'service_not_found',
  );
  const head = await world.get('/api/badge/github-com.json', from('203.0.113.3'), 'HEAD');
  t.strictSame([head.status, head.text, head.headers.get('access-control-allow-origin')], [200, '', '*']);
  world.faults.samples = new Error('secret inside: disk full');
  const fault = await world.get('/api/badge/github-com?variant=latency&window=7d', from('203.0.113.3'));
  t.match(fault, { status: 500, json: { code: 'internal_error' } });
  t.notMatch(fault.text, /secret|disk/);
});
