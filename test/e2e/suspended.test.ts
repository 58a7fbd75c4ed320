/**
 * The whole program is stopped, as a laptop or a virtual machine that sleeps, and its clock is eight hours later when it goes on. Nothing is
 * down, heartbeats get their whole time again, and missed checks are not made up for.
 */
import { createServer } from 'node:http';
import t from 'tap';
import { HOUR_MS, SECOND_MS } from '../../src/domain/durations.ts';
import { listenOn, until } from '../support/loopback.ts';
import { install } from '../support/program.ts';
import { createWallClock, NEEDS_WALL_CLOCK } from '../support/wall-clock.ts';

interface Listed {
  readonly services: readonly { readonly slug: string; readonly status: string }[];
}

interface Status {
  readonly status: string;
  readonly last_checked: string | null;
}

interface History {
  readonly buckets: readonly { readonly start: string; readonly count: number; readonly down: number }[];
}

const SERVICES = 40;
const INTERVAL_MS = SECOND_MS;
const SILENCE_MS = 8 * SECOND_MS;
/** `UPBEAT_TEST_SUSPENDED_S`: seconds, for the long form. */
const STOPPED_MS = Number(process.env.UPBEAT_TEST_SUSPENDED_S ?? 12) * SECOND_MS;
const ASLEEP_MS = 8 * HOUR_MS;
/** Responses are under way when the program is stopped. */
const ANSWER_MS = 150;
const JOBS = '/api/v1/status/jobs-example-org';

t.setTimeout(180_000 + STOPPED_MS);

t.test('a program that was asleep for eight hours', NEEDS_WALL_CLOCK, async (t) => {
  const requests: { readonly path: string; readonly atMs: number }[] = [];
  const site = await listenOn(
    createServer((request, response) => {
      requests.push({ path: request.url ?? '', atMs: performance.now() });
      setTimeout(() => response.end(), ANSWER_MS);
    }),
  );
  const clock = createWallClock(t, Date.now(), 'UTC');
  const entries = Array.from({ length: SERVICES }, (_, index) => ({
    slug: `s${index}`,
    check: { url: `http://127.0.0.1:${site.port}/s${index}` },
  }));
  const installation = await install(
    entries,
    {
      checks: { interval: `${INTERVAL_MS}ms`, controlTargets: [`http://127.0.0.1:${site.port}/control`] },
      heartbeats: { silence: `${SILENCE_MS}ms` },
    },
    clock.environment,
  );
  const program = await installation.start();
  t.teardown(async () => {
    await program.killHard();
    installation.remove();
    await site.close();
  });
  const key = await installation.makeKey('ada');
  const beat = async () => {
    const response = await fetch(`${program.siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"domain":"jobs.example.org","status":"ok"}',
    });
    await response.arrayBuffer();
    return response.status;
  };
  const signal = (name: NodeJS.Signals) => process.kill(-(program.process.pid ?? 0), name);
  const notUp = async () => {
    // On a busy machine, a program that has just woken may refuse a request.
    const { services } = await program.until<Listed>(
      '/api/v1/services?limit=500',
      (body) => 'services' in body,
    );
    return services.filter(({ status }) => status !== 'up');
  };
  await program.until<Listed>('/api/v1/services?limit=500', ({ services }) =>
    services.every(({ status }) => status === 'up'),
  );
  t.equal(await beat(), 200);

  const asleepAt = Date.now();
  signal('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, STOPPED_MS));
  clock.set(Date.now() + ASLEEP_MS);
  const awakeMs = performance.now();
  const awakeAt = Date.now() + ASLEEP_MS;
  signal('SIGCONT');

  await program.until<Status>('/api/v1/status/s0', ({ last_checked: at }) => Date.parse(at ?? '') >= awakeAt);
  t.same(await notUp(), [], 'nothing is down');
  t.match(program.output(), /the monitor or its clock stood still; heartbeat deadlines start again/);

  await until(() => performance.now() > awakeMs + 3 * INTERVAL_MS);
  const since = requests.filter(({ path, atMs }) => atMs >= awakeMs && path !== '/control');
  const most = Math.floor((performance.now() - awakeMs) / INTERVAL_MS) + 2;
  const counts = Map.groupBy(since, ({ path }) => path);
  t.equal(counts.size, SERVICES, 'each service is checked');
  t.same(
    [...counts].filter(([, list]) => list.length > most).map(([path, list]) => [path, list.length]),
    [],
    `at most ${most} checks each: what was missed is not made up for`,
  );

  const { last_checked: deadline } = await program.until<Status>(JOBS, ({ status }) => status === 'down');
  // The clock of libfaketime is right to a second.
  const listenedMs = Date.parse(deadline ?? '') - awakeAt;
  t.ok(listenedMs >= SILENCE_MS - SECOND_MS, `heartbeats get their whole time again: ${listenedMs} ms`);
  t.equal(await beat(), 200);
  await program.until<Status>(JOBS, ({ status }) => status === 'up');
  const { body } = await program.get('/api/v1/incidents');
  t.match(body, { incidents: [], total: 0 }, 'no service that is checked had one');

  const span = `from=${asleepAt - HOUR_MS}&to=${awakeAt + HOUR_MS}&step=1h`;
  const { buckets } = (await program.get(`/api/v1/services/s0/history?${span}`)).body as History;
  t.equal(
    buckets.reduce((sum, { down }) => sum + down, 0),
    0,
    'it was never down',
  );
  const asleep = buckets.filter(
    ({ start }) => Date.parse(start) > asleepAt && Date.parse(start) + HOUR_MS < awakeAt,
  );
  t.ok(asleep.length >= 6);
  t.ok(
    asleep.every(({ count }) => count === 0),
    'the time asleep is told as unknown',
  );
  t.equal(await program.stop(), 0);
});
