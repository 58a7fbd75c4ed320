/** The whole program with `storage.influx`: all that it observes is there once, over a power cut and a server that was away. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { NEEDS_INFLUX, rowsOf, until } from '../store/influx-world.ts';
import { freePort } from '../support/free-port.ts';
import { startInflux } from '../support/influx-server.ts';
import { install } from '../support/program.ts';

// Servers and the program are started again and again, beside whatever else the machine does.
t.setTimeout(300_000);

interface Status {
  readonly status: string;
}

interface Code {
  readonly code?: string;
}

/** A site and its Statuspage; a test sets what they say. */
async function startSite(t: Test) {
  const state = { code: 200, incidents: [] as object[] };
  const server = createServer((request, response) => {
    const about = { page: { id: 'abc', name: 'Shop', url: 'https://status.shop.example' } };
    if (request.url === '/') response.writeHead(state.code).end();
    else if (request.url === '/api/v2/incidents.json')
      response.end(JSON.stringify({ ...about, incidents: state.incidents }));
    else response.end(JSON.stringify({ ...about, scheduled_maintenances: [] }));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => server.close());
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

t.test('it writes all that it observes, once, whatever ends meanwhile', NEEDS_INFLUX, async (t) => {
  const { state, url: siteUrl } = await startSite(t);
  const port = await freePort();
  const influx = { url: `http://127.0.0.1:${port}`, api: 'v1', bucket: 'upbeat' };
  const entry = {
    slug: 'shop',
    check: { url: `${siteUrl}/` },
    statusPage: { url: siteUrl, kind: 'statuspage' },
  };
  const installation = await install([entry], {
    storage: { influx },
    incidents: { feedInterval: '1s' },
  });
  t.teardown(() => installation.remove());
  const folder = join(installation.folder, 'influx');
  let server = await startInflux(t, { folder, port });
  t.equal((await installation.runHere('doctor', '--setup')).status, 0);
  let program = await installation.start();
  t.teardown(() => program.killHard());
  const isStatus = (status: string) =>
    program.until('/api/v1/status/shop', (body: Status) => body.status === status);
  const rows = (measurement: string) => rowsOf(influx.url, 'upbeat', `SELECT * FROM ${measurement}`);
  const grows = (measurement: string, count: number) =>
    until(async () => (await rows(measurement)).length >= count, `${count} of ${measurement}`);

  await isStatus('up');
  const key = await installation.makeKey('ada');
  const beat = async (status: string) => {
    const response = await fetch(`${installation.siteUrl}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ domain: 'jobs.example.org', status, checks: { queue: { status, latency: 7 } } }),
    });
    return response.status;
  };
  t.equal(await beat('ok'), 200);
  t.equal(
    (await installation.runHere('services', 'set', 'jobs-example-org', '--public-dependencies')).status,
    0,
  );
  await until(async () => {
    await beat('ok');
    return (await rows('upbeat_dependency')).length > 0;
  }, 'dependencies are public');
  const now = new Date().toISOString();
  state.incidents = [
    {
      id: 'k1',
      name: 'Checkout fails',
      status: 'investigating',
      impact: 'critical',
      created_at: now,
      started_at: now,
      updated_at: now,
      resolved_at: null,
      shortlink: 'https://stspg.io/k1',
      components: [],
      incident_updates: [
        { id: 'u1', status: 'investigating', body: 'We look.', created_at: now, display_at: now },
      ],
    },
  ];
  await grows('upbeat_incident', 1);

  // The server goes, and then the power.
  await server.stop('SIGKILL');
  state.code = 503;
  await isStatus('down');
  await program.until<{ degraded: string[] }>('/readyz', ({ degraded }) => degraded.includes('influx'));
  // Who asks for a history sees what was measured before: it is on disk by then, not in a batch that is being gathered.
  await program.until('/api/v1/services/shop/history', ({ code }: Code) => code === 'history_unavailable');
  await program.killHard();
  program = await installation.start();
  server = await startInflux(t, { folder, port });
  state.code = 200;
  await isStatus('up');
  await program.until('/readyz', ({ degraded }: { degraded: string[] }) => degraded.length === 0);

  const registry = new DatabaseSync(join(installation.folder, 'data/registry.sqlite'), { readOnly: true });
  t.teardown(() => registry.close());
  const known = () =>
    registry
      .prepare("SELECT at || ' ' || from_status || ' ' || to_status AS line FROM transitions")
      .all()
      .map(({ line }) => String(line))
      .sort();
  const written = async () =>
    (await rows('upbeat_transition')).map(({ from, to, time }) => `${time} ${from} ${to}`).sort();
  await until(async () => (await written()).length >= known().length && known().length >= 4, 'all are there');
  t.equal(await program.stop(), 0);
  t.same(await written(), known());
  const checks = await rows('upbeat_check');
  t.match(
    checks.find(({ service, up }) => service === 'shop' && up === 1),
    { category: 'developer', status_code: 200, timed: 1, connect_ms: Number, first_byte_ms: Number },
  );
  t.match(
    checks.find(({ service, down }) => service === 'shop' && down === 1),
    { status_code: 503, failure: 'status' },
  );
  const incidents = await rows('upbeat_incident');
  t.same([...new Set(incidents.map(({ source }) => source))].sort(), ['own', 'vendor']);
  t.match(
    incidents.find(({ source }) => source === 'vendor'),
    { title: 'Checkout fails', status: 'investigating', severity: 'critical' },
  );
  t.match((await rows('upbeat_heartbeat'))[0], { service: 'jobs-example-org', status: 0, checks: 1 });
  t.match((await rows('upbeat_dependency'))[0], { dependency: 'queue', ok: 1, latency_ms: 7 });
  await server.stop();
});
