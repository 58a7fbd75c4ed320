/** Three regions over real processes, PostgreSQL and Redis: a service that fails from one place, from two, and recovers. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { at, listAt } from '../support/json.ts';
import { createDatabase, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { install } from '../support/program.ts';
import { NEEDS_REDIS, until } from '../support/redis-server.ts';
import { usePostgres, useRedis } from '../support/run-servers.ts';

const NEEDS = { ...NEEDS_POSTGRES, ...NEEDS_REDIS };
const REGIONS = ['ap', 'eu', 'us'];
/** The turns of the regions are 6 s apart. */
const INTERVAL_MS = 18_000;
/** A question to another region is answered within this time (design, Places). */
const ASKED_MS = 5_000;

t.setTimeout(300_000);

/** A server that fails for some regions. It knows them by the site that the client names. */
async function startTarget(t: Test) {
  const regionOf = new Map<string, string>();
  const failing = new Set<string>();
  /** When each region was first refused since the last change, monotonic milliseconds. */
  const refusedAt = new Map<string, number>();
  const server = createServer((request, response) => {
    const [, site = ''] = /\(\+(.*)\)/.exec(request.headers['user-agent'] ?? '') ?? [];
    const region = regionOf.get(site) ?? '';
    const fails = request.url === '/shop' && failing.has(region);
    if (fails && !refusedAt.has(region)) refusedAt.set(region, performance.now());
    response.writeHead(fails ? 503 : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const fail = (...regions: readonly string[]) => {
    failing.clear();
    refusedAt.clear();
    for (const region of regions) failing.add(region);
  };
  return { url: `http://127.0.0.1:${port}`, regionOf, fail, refusedAt };
}

t.test('a service is down where the quorum of the regions says so', NEEDS, async (t) => {
  const [postgres, redis] = await Promise.all([usePostgres(t), useRedis(t)]);
  await createDatabase(postgres.url('postgres'), redis.prefix);
  const target = await startTarget(t);
  const entries = [{ slug: 'shop', check: { url: `${target.url}/shop`, method: 'GET' } }];
  const start = async (region: string, roles: readonly string[]) => {
    const installation = await install(entries, {
      storage: {
        postgres: { url: postgres.url(redis.prefix) },
        redis: { url: `${redis.url}?prefix=${redis.prefix}` },
      },
      secrets: { key: 'ab'.repeat(32) },
      node: { name: `node-${region}`, region, roles },
      checks: {
        interval: `${INTERVAL_MS}ms`,
        confirmAfter: ['200ms'],
        firstSpread: '1s',
        controlTargets: [`${target.url}/control`],
      },
    });
    t.teardown(() => installation.remove());
    const program = await installation.start();
    t.teardown(() => program.killHard());
    target.regionOf.set(program.siteUrl, region);
    return program;
  };
  const judge = await start('eu', ['judge', 'probe', 'serve']);
  await Promise.all([start('ap', ['probe']), start('us', ['probe'])]);

  const events: string[] = [];
  const stream = new AbortController();
  t.teardown(() => stream.abort());
  void follow(`${judge.siteUrl}/api/v1/events?last_event_id=0`, stream.signal, (text) => events.push(text));
  const path = '/api/v1/status/shop';
  const failingIn = (body: unknown) =>
    listAt(body, 'regions').flatMap((one) => (at(one, 'status') === 'down' ? [at(one, 'region')] : []));
  const untilScope = async (scope: string | null, regions: readonly string[]) => {
    const body = await judge.until<unknown>(
      path,
      (one) =>
        at(one, 'scope') === scope &&
        listAt(one, 'regions').length === REGIONS.length &&
        JSON.stringify(failingIn(one)) === JSON.stringify(regions),
    );
    t.comment(`${scope} of ${regions.join(', ')}`);
    return body;
  };

  const fresh = await untilScope(null, []);
  t.match(fresh, { status: 'up', regions: REGIONS.map((region) => ({ region, status: 'up' })) });

  target.fail(...REGIONS);
  const down = await untilScope('global', REGIONS);
  t.match(down, { status: 'down', latest_check: { failure: { class: 'status' } } });
  const [first = 0, second = 0] = [...target.refusedAt.values()].sort((a, b) => a - b);
  t.ok(second - first < ASKED_MS, `another region was asked: after ${Math.round(second - first)} ms`);
  t.match((await judge.get('/api/v1/incidents')).body, { incidents: [{ status: 'investigating' }] });

  target.fail('us');
  const partial = await untilScope('partial', ['us']);
  t.match(partial, { status: 'up', latest_check: { status: 'up' } });
  const page = await (await fetch(`${judge.siteUrl}/status/shop`)).text();
  t.match(page, 'Fails from us.');

  target.fail();
  t.match(await untilScope(null, []), { status: 'up' });
  // With its line break: the stream may have delivered a part of the last event.
  const received = () =>
    [...events.join('').matchAll(/^event: (\w+)\ndata: (.*)\n/gm)].map(([, event, data = '']) => {
      const { from, to } = JSON.parse(data);
      return `${event} ${from} to ${to}`;
    });
  await until(() => received().length >= 5, 'the stream has every event');
  t.same(received(), [
    'status unknown to up',
    'scope null to partial',
    'status up to down',
    'status down to up',
    'scope partial to null',
  ]);
});

async function follow(url: string, signal: AbortSignal, onText: (text: string) => void): Promise<void> {
  try {
    const { body } = await fetch(url, { signal });
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) onText(text);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
