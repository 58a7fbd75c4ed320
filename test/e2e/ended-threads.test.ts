/** Threads of the running program end by a fault, or hang: each is handled as the table in docs/architecture.md says. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { listenOn, until } from '../support/loopback.ts';
import { install } from '../support/program.ts';
import { workerOf } from '../support/stall.ts';

interface Status {
  readonly status: string;
  readonly last_checked: string;
  readonly latest_check: { readonly reported: string | null } | null;
  readonly vendor: { readonly status: string; readonly stale: boolean } | null;
}

interface History {
  readonly buckets: readonly { readonly count: number }[];
}

t.setTimeout(240_000);
const SHOP = '/api/v1/status/shop';

t.test('threads of one program that end', async (t) => {
  t.jobs = 2;
  const page = { incidents: [] as object[], requests: 0 };
  const site = await listenOn(
    createServer((request, response) => {
      const about = { page: { id: 'abc', name: 'Shop', url: 'https://status.shop.example' } };
      if (request.url === '/api/v2/incidents.json') {
        page.requests++;
        response.end(JSON.stringify({ ...about, incidents: page.incidents }));
      } else if (request.url === '/api/v2/scheduled-maintenances.json')
        response.end(JSON.stringify({ ...about, scheduled_maintenances: [] }));
      else response.end();
    }),
  );
  const orders = t.testdir();
  const url = `http://127.0.0.1:${site.port}`;
  const installation = await install(
    [{ slug: 'shop', check: { url: `${url}/` }, statusPage: { url, kind: 'statuspage' } }],
    { incidents: { feedInterval: '1s' }, checks: { controlTargets: [`${url}/control`] } },
    {
      // The samples have a thread of their own, as with a large fleet.
      NODE_OPTIONS: `--max-semi-space-size=16 --import=${new URL('../support/end-thread.ts', import.meta.url).href}`,
      TEST_END_THREADS: orders,
    },
  );
  const program = await installation.start();
  t.teardown(async () => {
    await program.killHard();
    installation.remove();
    await site.close();
  });
  /** Ends the thread of an entry; resolves once the output tells of it. */
  const end = async (entry: string, told: RegExp) => {
    const before = program.output().length;
    writeFileSync(join(orders, entry), 'end');
    await until(() => told.test(program.output().slice(before)), 60_000);
  };
  /** Lets the thread of an entry hang during `work`. */
  const hang = async (entry: string, work: () => Promise<void>) => {
    const order = join(orders, entry);
    writeFileSync(order, 'hang');
    await until(() => readFileSync(order, 'utf8') === 'hangs', 60_000);
    await work().finally(() => rmSync(order));
  };
  const statusesOf = async (...paths: string[]) =>
    await Promise.all(paths.map(async (path) => (await program.get(path)).status));
  /** A request under way; whether it has been answered. */
  const begin = (answer: Promise<{ readonly status: number }>) => {
    const request = { status: null as number | null, answer };
    void answer.then(({ status }) => {
      request.status = status;
    });
    return request;
  };
  const beat = async (key: string, status: string) =>
    await fetch(`${program.siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ domain: 'jobs.example.org', status }),
    });
  const isChecked = async (after: number) =>
    await program.until<Status>(SHOP, ({ last_checked: at }) => Date.parse(at) > after, 60_000);
  const total = async () => {
    const { body } = await program.get('/api/v1/services/shop/history');
    return (body as History).buckets.reduce((sum, { count }) => sum + count, 0);
  };
  const first = workerOf(program.process);

  await t.test('a probe thread: the next one goes on with its services', async (t) => {
    await isChecked(0);
    await end('worker.js', /a probe thread is replaced/);
    t.match(await isChecked(Date.now()), { status: 'up' });
    t.equal(workerOf(program.process), first, 'the program was not restarted');
  });

  await t.test('the feed thread: the last known incidents stay, and the next one reads on', async (t) => {
    const now = new Date().toISOString();
    const incident = {
      ...{ id: 'k1', name: 'Checkout fails', status: 'investigating', impact: 'critical', components: [] },
      ...{ created_at: now, started_at: now, updated_at: now, resolved_at: null, incident_updates: [] },
      shortlink: 'https://stspg.io/k1',
    };
    page.incidents = [incident];
    await program.until<Status>(SHOP, ({ vendor }) => vendor?.status === 'critical');
    await end('feeds.ts', /the feed thread ended; restarting it/);
    const { requests } = page;
    t.match((await program.get(SHOP)).body, { vendor: { status: 'critical', stale: false } });
    await until(() => page.requests > requests + 1, 60_000);
    page.incidents = [{ ...incident, status: 'resolved', resolved_at: now }];
    await program.until<Status>(SHOP, ({ vendor }) => vendor?.status === 'operational', 60_000);
    t.equal(workerOf(program.process), first, 'the program was not restarted');
  });

  // Both wait for half a minute until a thread that hangs is replaced, so they wait together.
  const feedHangs = t.test(
    'the feed thread hangs: what the vendor said last stays, and all else goes on',
    { buffered: true },
    async (t) => {
      await hang('feeds.ts', async () => {
        const before = page.requests;
        const said = program.output().length;
        t.match(await isChecked(Date.now()), { status: 'up', vendor: { status: 'operational' } });
        t.same(await statusesOf('/', '/status/shop', '/api/v1/incidents', '/healthz'), [200, 200, 200, 200]);
        t.ok(page.requests <= before + 1, 'nothing is asked');
        await until(() => page.requests > before + 1, 120_000);
        t.match(program.output().slice(said), /the feed thread has not answered for 30 s/, 'it is replaced');
      });
      t.equal(workerOf(program.process), first, 'the program was not restarted');
    },
  );

  const drawingHangs = t.test(
    'the thread that draws hangs: what it has to draw is drawn by the next one',
    { buffered: true },
    async (t) => {
      const badge = (label: string) => program.get(`/api/badge/shop-example?label=${label}`);
      t.equal((await badge('before')).status, 200);
      await hang('render.ts', async () => {
        const drawn = badge('meanwhile');
        t.same(await statusesOf('/', SHOP, '/api/badge/shop-example?label=before'), [200, 200, 200]);
        t.equal((await drawn).status, 200);
        t.match(program.output(), /the render thread has not answered for 20 s/);
      });
      t.equal(workerOf(program.process), first, 'the program was not restarted');
    },
  );
  await Promise.all([feedHangs, drawingHangs]);

  await t.test('the samples thread hangs: history is refused, and all else goes on', async (t) => {
    await hang('samples.ts', async () => {
      const history = program.get('/api/v1/services/shop/history');
      t.match(await isChecked(Date.now()), { status: 'up' });
      t.same(await statusesOf('/api/v1/services', '/api/v1/incidents', '/healthz'), [200, 200, 200]);
      t.match(await history, { status: 503, body: { code: 'history_unavailable' } });
    });
    t.ok((await total()) > 0);
  });

  await t.test(
    'the registry thread hangs: statuses are served, and heartbeats wait for their commit',
    async (t) => {
      const key = await installation.makeKey('ada');
      t.equal((await beat(key, 'ok')).status, 200);
      let heartbeat = begin(Promise.resolve({ status: 0 }));
      await hang('registry.ts', async () => {
        heartbeat = begin(beat(key, 'degraded'));
        t.same(await statusesOf(SHOP, '/api/v1/services', '/healthz'), [200, 200, 200]);
        t.match(await isChecked(Date.now()), { status: 'up' }, 'checks go on');
        t.equal(heartbeat.status, null, 'it is not acknowledged before it is on disk');
      });
      t.match(await heartbeat.answer, { status: 200 });
      t.match((await program.get('/api/v1/status/jobs-example-org')).body, {
        latest_check: { reported: 'degraded' },
      });
      t.equal(workerOf(program.process), first, 'the program was not restarted');
    },
  );

  await t.test('the samples thread: the program starts again, and has what it measured', async (t) => {
    const known = await total();
    t.ok(known > 2, `${known} samples`);
    // What it took within the last second may be lost.
    await isChecked(Date.now() + 1_500);
    await end('samples.ts', /starting again in/);
    await isChecked(Date.now());
    t.not(workerOf(program.process), first);
    t.ok((await total()) >= known);
  });

  await t.test('the registry thread: the program starts again, and has what it answered', async (t) => {
    const key = await installation.makeKey('ada');
    t.equal((await beat(key, 'Critical')).status, 200);
    const before = workerOf(program.process);
    await end('registry.ts', /starting again in/);
    await isChecked(Date.now());
    t.not(workerOf(program.process), before);
    t.match((await program.get('/api/v1/status/jobs-example-org')).body, {
      status: 'down',
      latest_check: { reported: 'Critical' },
    });
  });

  t.equal(await program.stop(), 0);
});
