/**
 * Several processes over one data directory and one Redis: one probes, the others serve, and take over when it ends, is
 * stopped, or is stopped inside a transaction, where it keeps SQLite's lock.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { freePort } from '../support/free-port.ts';
import { freezeInTransaction, keptBeats, monitorPid, sendBeats } from '../support/frozen-monitor.ts';
import { type Installation, install, type RunningProgram } from '../support/program.ts';
import { NEEDS_REDIS, startRedis, until } from '../support/redis-server.ts';

interface Status {
  readonly slug: string;
  readonly status: string;
  readonly last_checked: string;
}

interface Ready {
  readonly role: string;
  readonly degraded: readonly string[];
}

t.setTimeout(300_000);
const PATIENCE_MS = 60_000;
const SENDERS = 4;
/** As many as each service keeps, and a few that were answered in between. */
const CHECKED = 100 * SENDERS - 50;
const FAULTS = /uncaught exception|taking over from the monitor has failed/;
const isStatus = (status: string) => (body: Status) => body.status === status;
const isRole = (role: string) => (body: Ready) => body.role === role;

/** A site whose answer a test sets, and that counts who asks. */
async function startSite(t: Test) {
  const state = { code: 200, requests: [] as number[] };
  const server = createServer((_request, response) => {
    state.requests.push(Date.now());
    response.writeHead(state.code).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` });
}

async function start(t: Test, installation: Installation, port?: number): Promise<RunningProgram> {
  const program = await installation.start(port);
  t.teardown(() => program.killHard());
  return program;
}

async function beat({ siteUrl }: RunningProgram, key: string, status: string, more: object = {}) {
  const response = await fetch(`${siteUrl}/api/v1/heartbeat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain: 'jobs.example.com', status, ...more }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Everything that an event stream tells. */
function listen(t: Test, { siteUrl }: RunningProgram): { readonly heard: string[] } {
  const heard: string[] = [];
  const controller = new AbortController();
  t.teardown(() => controller.abort());
  const read = async () => {
    const response = await fetch(`${siteUrl}/api/v1/events`, { signal: controller.signal });
    let rest = '';
    for await (const chunk of response.body ?? []) {
      rest += Buffer.from(chunk).toString();
      const parts = rest.split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const [, data] = /event: status\ndata: (.*)/.exec(part) ?? [];
        if (data !== undefined) heard.push((JSON.parse(data) as { to: string }).to);
      }
    }
  };
  read().catch(() => {});
  return { heard };
}

t.test('processes over one data directory', NEEDS_REDIS, async (t) => {
  const redis = await startRedis(t);
  const site = await startSite(t);
  const control = await startSite(t);
  const installation = await install([{ slug: 'shop', check: { url: site.url } }], {
    storage: { redis: { url: `redis://127.0.0.1:${redis.port}` } },
    heartbeats: { silence: '10m' },
    checks: { controlTargets: [control.url] },
    limits: { authenticatedPerMinute: 1_000_000, changesPerAccount: 1_000_000 },
  });
  t.teardown(() => installation.remove());
  const dataDir = join(installation.folder, 'data');
  const key = await installation.makeKey('ada');
  const transitions = async () => {
    const entries = await redis.client.xrange('upbeat:{events}:transitions', '-', '+');
    return entries.map(([id, fields]) => `${id} ${(JSON.parse(fields[1] ?? '{}') as { to: string }).to}`);
  };
  const launch = (port?: number) => start(t, installation, port);
  const first = await launch();
  await first.until('/api/v1/status/shop', isStatus('up'), PATIENCE_MS);
  const second = await launch(await freePort());
  // In place of the first one, which is killed.
  let third = first;

  await t.test('a process beside the monitor serves everything, and becomes the monitor', async (t) => {
    t.match((await first.get('/readyz')).body, { status: 'ready', role: 'monitor' });
    t.match((await second.get('/readyz')).body, { status: 'ready', role: 'serving' });
    await second.until('/readyz', ({ degraded }: Ready) => degraded.length === 0, PATIENCE_MS);
    t.match(second.output(), /another process is the monitor; this process serves/);
    t.match((await second.get('/metrics')).body?.toString(), /^upbeat_monitor 0$/m);
    for (const path of ['/api/v1/status/shop', '/api/v1/services']) {
      t.match(await second.get(path), { status: 200 }, path);
      await until(async () => (await second.get(path)).headers.get('age') === null, `${path} is current`);
    }
    for (const path of [
      '/',
      '/status/shop-example',
      '/api/badge/shop-example',
      '/docs',
      '/api/v1/incidents',
      '/api/v1/incidents/shop',
      '/api/v1/openapi.json',
    ])
      t.equal((await second.get(path)).status, 200, path);

    const told = listen(t, second);
    site.code = 503;
    await first.until('/api/v1/status/shop', isStatus('down'), PATIENCE_MS);
    await second.until('/api/v1/status/shop', isStatus('down'), PATIENCE_MS);
    for (const process of [first, second]) {
      const listed = async (query: string) =>
        ((await process.get(`/api/v1/services?${query}`)).body as { total: number }).total;
      t.strictSame(
        [await listed('status=down&q=SHO'), await listed('status=up'), await listed('q=no')],
        [1, 0, 0],
      );
    }
    await second.until('/api/v1/incidents', (body: { incidents: unknown[] }) => body.incidents.length === 1);
    await until(() => told.heard.length === 1);
    interface History {
      readonly buckets: readonly { readonly down: number }[];
    }
    await second.until(
      '/api/v1/services/shop/history',
      ({ buckets }: History) => buckets.some(({ down }) => down > 0),
      PATIENCE_MS,
    );

    // What owners write through the one that serves takes effect at the monitor.
    t.match(await beat(second, key, 'ok', { checks: { db: { status: 'ok', latency: 42 } } }), {
      status: 200,
      body: { ok: true, service: 'jobs.example.com', status: 'up', response_time: 42, checked_at: /Z$/ },
    });
    t.match(await second.get('/api/v1/status/jobs-example-com'), {
      status: 200,
      body: { status: 'up', response_time: 42, latest_check: { source: 'heartbeat' } },
    });
    // Its judgement was on disk before the sender was answered; that the monitor heard of it may take a moment more.
    await first.until('/api/v1/status/jobs-example-com', isStatus('up'), PATIENCE_MS);
    t.match(await beat(second, key, 'down'), { status: 200, body: { status: 'down' } });
    t.match(
      (await second.get('/api/v1/services?status=down&q=jobs')).body,
      { total: 1 },
      'as answered, so listed',
    );
    t.match(await beat(second, 'upb_nothing', 'ok'), { status: 401 });
    t.match(await beat(second, key, 'sideways'), { status: 400, body: { code: 'invalid_body' } });
    t.match(await beat(first, key, 'ok'), { status: 200, body: { status: 'up' } });
    await second.until('/api/v1/status/jobs-example-com', isStatus('up'), PATIENCE_MS);
    await until(async () => (await redis.client.zcard('upbeat:{heartbeats}:deadlines')) === 1);

    // The monitor dies; the other process takes over, and no service is checked twice.
    await until(() => told.heard.length === 4);
    const diedAt = Date.now();
    await first.killHard();
    t.equal((await second.get('/api/v1/status/shop')).status, 200, 'it serves meanwhile');
    await second.until('/readyz', isRole('monitor'), PATIENCE_MS);
    site.code = 200;
    await second.until('/api/v1/status/shop', isStatus('up'), PATIENCE_MS);
    t.ok(site.requests.some((at) => at > diedAt));
    await until(() => told.heard.length === 5, 'the stream goes on over the change');
    t.same(told.heard, ['down', 'up', 'down', 'up', 'up'], 'each transition once, in order');
    t.match(await beat(second, key, 'warn'), { status: 200, body: { status: 'slow' } });
    t.match((await second.get('/metrics')).body?.toString(), /^upbeat_monitor 1$/m);

    // The first comes back beside it.
    third = await launch();
    t.match((await third.get('/readyz')).body, { role: 'serving' });
    t.match((await third.get('/api/v1/status/jobs-example-com')).body, { status: 'slow' });
    t.same(
      (await transitions()).map((line) => line.split(' ')[0]),
      ['1-0', '2-0', '3-0', '4-0', '5-0', '6-0', '7-0'],
    );
    for (const program of [first, second, third]) t.notMatch(program.output(), FAULTS);
  });

  await t.test('a monitor that sleeps loses its place, and serves when it wakes', async (t) => {
    const group = -(second.process.pid ?? 0);
    process.kill(group, 'SIGSTOP');
    // It waits in the inbox for the next monitor.
    const waiting = beat(third, key, 'ok');
    await third.until('/readyz', isRole('monitor'), PATIENCE_MS);
    const answered = await waiting;
    t.ok([200, 503].includes(answered.status), 'judged, or waited for as long as a sender can wait');
    await third.until('/api/v1/status/jobs-example-com', isStatus('up'), PATIENCE_MS);
    site.code = 503;
    await third.until('/api/v1/status/shop', isStatus('down'), PATIENCE_MS);
    process.kill(group, 'SIGCONT');
    await second.until('/readyz', isRole('serving'), PATIENCE_MS);
    t.match(second.output(), /ended by SIGKILL; starting again/);
    t.match((await third.get('/readyz')).body, { role: 'monitor' });
    await second.until('/api/v1/status/shop', isStatus('down'), PATIENCE_MS);
    const dashboards = [await second.get('/api/v1/incidents'), await third.get('/api/v1/incidents')];
    t.same(dashboards[0]?.body, dashboards[1]?.body);
    await until(async () => (await redis.client.xlen('upbeat:{events}:transitions')) === 9);
    t.same((await transitions()).slice(7), ['8-0 up', '9-0 down']);
  });

  await t.test('it takes over from a monitor that is stopped inside a transaction', async (t) => {
    const [before, stopped] = [second.output().length, third.output().length];
    const beats = sendBeats(second.siteUrl, key, SENDERS);
    const takes = async (count: number) => {
      const enough = beats.taken.length + count;
      await until(() => beats.taken.length >= enough, `${count} heartbeats are taken`);
    };
    await takes(20);
    await freezeInTransaction(dataDir, monitorPid(dataDir));
    const frozenAt = performance.now();
    await second.until('/readyz', isRole('monitor'), PATIENCE_MS);
    t.comment(`taken over after ${Math.round(performance.now() - frozenAt)} ms`);
    await takes(20);
    await beats.stop();

    const kept = keptBeats(dataDir);
    t.same(
      beats.taken.slice(-CHECKED).filter((number) => !kept.has(number)),
      [],
      'every heartbeat that was answered is kept',
    );
    t.same(
      [...beats.refused.keys()].filter((status) => status !== 503),
      [],
      'no other refusal than 503',
    );
    t.equal(beats.withoutRetry, 0, 'each with Retry-After');
    t.match(second.output().slice(before), /the former monitor hangs and was ended/);
    t.match(third.output().slice(stopped), /ended by SIGKILL; starting again/);
    await second.until('/readyz', ({ degraded }: Ready) => !degraded.includes('storage'), PATIENCE_MS);
    await third.until('/readyz', isRole('serving'), PATIENCE_MS);
  });

  t.equal(await second.stop(), 0);
  await third.until('/readyz', isRole('monitor'), PATIENCE_MS);
  t.equal(await third.stop(), 0);
  for (const program of [first, second, third]) t.notMatch(program.output(), FAULTS);
});
