/** A service that is down by silence stays as it is for as long as the monitor listens, in every answer (decisions, Services). */
import t from 'tap';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';
import { at } from '../support/json.ts';
import { samplesOfSteps } from '../support/sample-store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const INTERVAL = 5 * MINUTE;
const HEARTBEAT = { kind: 'heartbeat', url: null, method: null, accept: null, caFile: null } as const;

/** A service that has been silent for five hours; `ageMs`: that of the copy that is served from. */
async function startSilent(ageMs?: () => number) {
  const world = await startApi({
    services: [service(1, 'shop', { check: HEARTBEAT })],
    ...(ageMs === undefined ? {} : { ageMs }),
  });
  const silence = { source: 'silence', status: 'down', statusCode: 0, responseTimeMs: null } as const;
  await world.status.put([current(1, check(NOW - 5 * HOUR, silence))]);
  const heard = { serviceId: 1, from: NOW - 24 * HOUR, to: NOW - 5 * HOUR, stepMs: HOUR };
  await world.addSamples(samplesOfSteps(heard, [{ status: 'up', latencyMs: 90 }]));
  await world.putPage('acme', { groups: [{ name: '', services: [1] }] });

  const look = async () => {
    const get = world.get;
    const status = (await get('/api/v1/status/shop')).json;
    const list = (await get('/api/v1/services')).json;
    const page = (await get('/api/v1/pages/acme')).json;
    await get('/api/badge/shop-example');
    await get('/api/chart/shop-example');
    const badge = (await get('/api/badge/shop-example?format=shields')).json;
    const uptime = (await get('/api/badge/shop-example?format=shields&variant=uptime')).json;
    return {
      stale: [
        at(status, 'stale'),
        at(list, 'services', 0, 'stale'),
        at(page, 'groups', 0, 'services', 0, 'stale'),
      ],
      checkedAt: at(status, 'latest_check', 'checked_at'),
      badge: (world.asked.badges.at(-1) as { ageText: string | null }).ageText,
      chart: world.asked.charts.at(-1)?.ageText,
      shields: [at(badge, 'color'), at(badge, 'message')],
      isUptimeOld: at(uptime, 'color') === '#838c96',
      servicePage: (await get('/status/shop-example')).text.includes('The last check was'),
      statusPage: (await get('/p/acme')).text.includes('last check is old'),
    };
  };
  return { world, look };
}

const RED = {
  stale: [false, false, false],
  checkedAt: '2026-11-20T05:00:00.000Z',
  badge: null,
  chart: null,
  shields: ['#cf222e', 'Down'],
  isUptimeOld: false,
  servicePage: false,
  statusPage: false,
};
const GREY = (age: string) => ({
  stale: [true, true, true],
  checkedAt: '2026-11-20T05:00:00.000Z',
  badge: `as of ${age}`,
  chart: `as of ${age}`,
  shields: ['#838c96', `Down · as of ${age}`],
  isUptimeOld: true,
  servicePage: true,
  statusPage: true,
});

t.test('it stays red however long the silence lasts', async (t) => {
  const { world, look } = await startSilent();
  t.teardown(world.close);
  t.same(await look(), RED);
  await world.clock.advance(3 * HOUR);
  t.same(await look(), RED);
});

t.test('it turns grey when the monitor has not listened for two intervals', async (t) => {
  const { world, look } = await startSilent();
  t.teardown(world.close);
  world.state.prober = { online: false, offlineSince: NOW, reason: 'no control target answers' };
  await world.clock.advance(2 * INTERVAL);
  t.same(await look(), RED, 'two intervals are not over yet');
  await world.clock.advance(MINUTE);
  t.same(await look(), GREY('11 min ago'));
  world.state.prober = { online: true, offlineSince: null, reason: null };
  t.same(await look(), RED, 'it listens again');
});

t.test('it turns grey where a copy has not heard of the monitor for two intervals', async (t) => {
  let ageMs = 2_000;
  const { world, look } = await startSilent(() => ageMs);
  t.teardown(world.close);
  t.same(await look(), RED);
  ageMs = 12 * MINUTE;
  await world.clock.advance(2 * MINUTE);
  t.same(await look(), GREY('12 min ago'));
});

t.test('it turns grey as ever where a check is missing', async (t) => {
  const { world, look } = await startSilent();
  t.teardown(world.close);
  await world.status.put([
    current(1, check(NOW - 5 * HOUR, { status: 'down', statusCode: 503 }), { seq: 2 }),
  ]);
  t.same(await look(), GREY('5 h ago'));
});
