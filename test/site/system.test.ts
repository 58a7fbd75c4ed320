/** `/metrics` has no limit; what it costs has one. */
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import type { HttpRequest } from '../../src/http/route.ts';
import { systemRoutes } from '../../src/site/system.ts';
import { double } from '../support/double.ts';
import { check, current, NOW, service } from './site-world.ts';

const REQUEST: HttpRequest = { method: 'GET', params: {}, query: '', client: '203.0.113.1', headers: {} };

/** The route over figures whose gathering takes `tookMs` by a clock that a test moves. */
function metricsRoute(tookMs: number) {
  const state = { now: 1_000, gathered: 0, fails: false };
  const metrics = {
    contentType: 'text/plain',
    async render() {
      state.gathered += 1;
      state.now += tookMs;
      if (state.fails) throw new Error('a figure cannot be read');
      return `gathered ${state.gathered}`;
    },
  };
  const readiness = () => {
    throw new Error('not of this test');
  };
  const page = { services: [service(1, 'shop')], total: 3, offset: 0, first: null, last: null };
  const search = { list: () => page };
  const status = { get: (id: number) => current(id, check(NOW)) };
  const clock = { ...systemClock, monotonic: () => state.now };
  const directory = { withdrawals: 0 };
  const routes = systemRoutes({
    readiness,
    metrics: double(metrics),
    search,
    directory: double(directory),
    status: double(status),
    clock,
  });
  const route = routes.find(({ path }) => path === '/metrics');
  return { state, ask: async (query = '') => (await route?.handle?.({ ...REQUEST, query }))?.body };
}

t.test(
  'it gathers the figures once for all who ask at a time, and takes a tenth of the time for it',
  async (t) => {
    const { state, ask } = metricsRoute(20);
    t.same(await Promise.all([ask(), ask(), ask()]), ['gathered 1', 'gathered 1', 'gathered 1']);
    t.equal(await ask(), 'gathered 1');
    state.now += 179;
    t.equal(await ask(), 'gathered 1');
    state.now += 1;
    t.equal(await ask(), 'gathered 2');
  },
);

t.test('it shows no figures that are older than a quarter of a second', async (t) => {
  const { state, ask } = metricsRoute(100);
  t.equal(await ask(), 'gathered 1');
  state.now += 249;
  t.equal(await ask(), 'gathered 1');
  state.now += 1;
  t.equal(await ask(), 'gathered 2');
});

t.test('it shows figures that cost nothing anew each time, and keeps no failure', async (t) => {
  const { state, ask } = metricsRoute(0);
  t.equal(await ask(), 'gathered 1');
  t.equal(await ask(), 'gathered 2');
  state.fails = true;
  await t.rejects(ask(), { message: 'a figure cannot be read' });
  state.fails = false;
  t.equal(await ask(), 'gathered 4');
});

t.test('it adds the series of services where they are asked for', async (t) => {
  const { ask } = metricsRoute(0);
  t.notMatch(await ask('services=0'), /upbeat_service_up/);
  const figures = String(await ask('services=1&category=developer'));
  t.match(figures, /^gathered 2/);
  const labels = '{service="shop",domain="shop.example",category="developer"}';
  t.match(figures.split('\n'), [
    /gathered 2# HELP upbeat_service_up /,
    '# TYPE upbeat_service_up gauge',
    `upbeat_service_up${labels} 1`,
  ]);
  t.match(figures, /^upbeat_services_without_series 2$/m);
  await t.rejects(ask('services=2'), { code: 'invalid_parameter' });
});
