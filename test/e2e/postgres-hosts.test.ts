/**
 * Processes on machines of their own, with nothing in common but PostgreSQL and Redis: each has its own network, host name,
 * process ids and data directory. The monitor is killed, stopped, and cut off; another one takes over, and what the former
 * one still does has no effect.
 */
import { createServer } from 'node:http';
import pg from 'pg';
import t, { type Test } from 'tap';
import { freePort } from '../support/free-port.ts';
import { type NetworkNamespace, openNetwork, withNamespaces } from '../support/network-namespaces.ts';
import {
  createDatabase,
  NEEDS_POSTGRES,
  postgresUrl,
  startPostgres,
  untilReady,
} from '../support/postgres-server.ts';
import { type Installation, install, type RunningProgram } from '../support/program.ts';
import { NEEDS_REDIS } from '../support/redis-server.ts';

const NEEDS = { ...NEEDS_POSTGRES, ...NEEDS_REDIS, ...withNamespaces };
/** A monitor's end costs at most this much of evaluation, milliseconds. */
const TAKEN_OVER_WITHIN_MS = 5_000;
const PATIENCE_MS = 90_000;
const REDIS_PORT = 6_379;

interface Ready {
  readonly role: string;
  readonly degraded: readonly string[];
}

interface Machine {
  readonly name: string;
  readonly network: NetworkNamespace;
  readonly installation: Installation;
  program: RunningProgram;
}

t.setTimeout(300_000);

const isRole = (role: string) => (body: Ready) => body.role === role;
const isStatus = (status: string) => (body: { status: string }) => body.status === status;

/** The servers that all machines share, on a machine of their own, and a service that answers there. */
async function startServers(t: Test) {
  const network = await openNetwork(t);
  const space = await network.add();
  const postgres = await startPostgres(t, { enter: space.enter, isRemote: true });
  const near = Number(new URL(await space.expose(postgres.port)).port);
  await untilReady(postgresUrl(near, 'postgres'));
  await createDatabase(postgresUrl(near, 'postgres'), 'upbeat');
  const quiet = ['--bind', '0.0.0.0', '--protected-mode', 'no', '--save', '', '--port', String(REDIS_PORT)];
  space.spawn('redis-server', quiet, { stdio: 'ignore' });
  const shop = { code: 200 };
  const site = createServer((_request, response) => response.writeHead(shop.code).end());
  await space.serve(site, 80);
  const reader = new pg.Client({ connectionString: postgresUrl(near, 'upbeat') });
  reader.on('error', () => {});
  await reader.connect();
  t.teardown(() => reader.end());
  return {
    shop,
    /** The first column of a query past the program. */
    async read(sql: string): Promise<unknown[]> {
      const { rows } = await reader.query<unknown[]>({ text: sql, rowMode: 'array' });
      return rows.map(([value]) => value);
    },
    /** A machine on which a node runs. */
    async addMachine(name: string): Promise<Machine> {
      const own = await network.add();
      const port = await freePort();
      // Its process ids begin at 1, like those of every other one.
      const namespaces = ['unshare', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc'];
      const enter = [...own.enter, ...namespaces, 'sh', '-c', `hostname ${name} && exec "$@"`, 'sh'];
      const url = postgresUrl(postgres.port, 'upbeat').replace('127.0.0.1', space.address);
      const installation = await install(
        [{ slug: 'shop', check: { url: `http://${space.address}/` } }],
        {
          storage: { postgres: { url }, redis: { url: `redis://${space.address}:${REDIS_PORT}` } },
          secrets: { key: 'ab'.repeat(32) },
          heartbeats: { silence: '10m' },
          checks: { controlTargets: [`http://${space.address}/`], allowPrivate: ['10.77.0.0/16'] },
          limits: { authenticatedPerMinute: 1_000_000, changesPerAccount: 1_000_000 },
        },
        {},
        enter,
      );
      t.teardown(() => installation.remove());
      await own.expose(port, port);
      const program = await installation.start(port);
      const machine = { name, network: own, installation, program };
      t.teardown(() => machine.program.killHard());
      return machine;
    },
  };
}

async function beat({ program }: Machine, key: string) {
  const response = await fetch(`${program.siteUrl}/api/v1/heartbeat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain: 'jobs.example.com', status: 'ok' }),
  });
  await response.arrayBuffer();
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
}

/** Heartbeats until one is taken; how many were taken before the monitor changed does not matter here. */
async function untilTaken(machine: Machine, key: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while ((await beat(machine, key)).status !== 200)
    if (performance.now() > deadline) throw new Error('no heartbeat was taken');
}

t.test('machines with nothing in common but PostgreSQL and Redis', NEEDS, async (t) => {
  const servers = await startServers(t);
  const a = await servers.addMachine('a');
  const [b, c] = await Promise.all([servers.addMachine('b'), servers.addMachine('c')]);
  const fence = async () => Number((await servers.read('SELECT fence FROM lease'))[0]);
  const holder = async () => (await servers.read('SELECT host FROM lease'))[0];
  const byName = new Map([a, b, c].map((machine) => [machine.name, machine]));
  const takeOvers: number[] = [];
  /** Waits until another machine holds the lease, and notes how long that took. */
  const untilTakenOver = async (before: number): Promise<Machine> => {
    const startedMs = performance.now();
    while ((await fence()) === before) {
      if (performance.now() - startedMs > PATIENCE_MS) throw new Error('no machine took over');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const tookMs = performance.now() - startedMs;
    const next = byName.get(String(await holder()));
    if (next === undefined) throw new Error('the holder is unknown');
    takeOvers.push(Math.round(tookMs));
    await next.program.until('/readyz', isRole('monitor'), PATIENCE_MS);
    return next;
  };
  await a.program.until('/api/v1/status/shop', isStatus('up'), PATIENCE_MS);
  const key = (
    await a.installation.run('keys', 'create', '--account', 'ada', '--name', 'laptop')
  ).stdout.trim();

  await t.test('each serves what the monitor knows, and takes heartbeats', async (t) => {
    t.equal(await holder(), 'a');
    for (const { program } of [b, c]) {
      await program.until('/readyz', isRole('serving'), PATIENCE_MS);
      await program.until('/api/v1/status/shop', isStatus('up'), PATIENCE_MS);
      for (const path of ['/', '/status/shop-example', '/api/v1/incidents', '/api/v1/services'])
        t.equal((await program.get(path)).status, 200, path);
    }
    t.equal((await beat(b, key)).status, 200, 'through the inbox');
    await c.program.until('/api/v1/status/jobs-example-com', isStatus('up'), PATIENCE_MS);
    servers.shop.code = 503;
    await c.program.until('/api/v1/status/shop', isStatus('down'), PATIENCE_MS);
    servers.shop.code = 200;
    await c.program.until('/api/v1/status/shop', isStatus('up'), PATIENCE_MS);
  });

  let monitor = a;
  await t.test('another one takes over from a monitor that is killed', async (t) => {
    const before = await fence();
    const taking = untilTakenOver(before);
    await a.program.killHard();
    monitor = await taking;
    await untilTaken(monitor, key);
    a.program = await a.installation.start(Number(new URL(a.program.siteUrl).port));
    t.match((await a.program.get('/readyz')).body, { role: 'serving' });
  });

  await t.test(
    'another one takes over from a monitor that hangs, and is not disturbed when it wakes',
    async (t) => {
      const stopped = monitor;
      const group = -(stopped.program.process.pid ?? 0);
      process.kill(group, 'SIGSTOP');
      monitor = await untilTakenOver(await fence());
      await untilTaken(monitor, key);
      servers.shop.code = 503;
      await monitor.program.until('/api/v1/status/shop', isStatus('down'), PATIENCE_MS);
      process.kill(group, 'SIGCONT');
      // Its writes are refused by the fence: it ends, and its parent starts it again.
      await stopped.program.until('/readyz', isRole('serving'), PATIENCE_MS);
      t.match(stopped.program.output(), /has become the monitor of this registry/);
      await stopped.program.until('/api/v1/status/shop', isStatus('down'), PATIENCE_MS);
      t.equal(await holder(), monitor.name);
    },
  );

  await t.test('a monitor that is cut off answers from what it has, and gives way', async (t) => {
    const cut = monitor;
    cut.network.cut();
    monitor = await untilTakenOver(await fence());
    t.match((await cut.program.get('/api/v1/status/shop')).body, { status: 'down' }, 'it answers');
    const refused = await beat(cut, key);
    t.match(refused, { status: 503, retryAfter: /^\d+$/ });
    servers.shop.code = 200;
    await monitor.program.until('/api/v1/status/shop', isStatus('up'), PATIENCE_MS);
    await untilTaken(monitor, key);
    cut.network.restore();
    const restoredMs = performance.now();
    await cut.program.until('/readyz', isRole('serving'), PATIENCE_MS);
    await cut.program.until('/api/v1/status/shop', isStatus('up'), PATIENCE_MS);
    t.comment(`right ${Math.round(performance.now() - restoredMs)} ms after the cut was mended`);
    t.match(cut.program.output(), /has become the monitor of this registry/);
  });

  // The machine of the test may be busy with others.
  t.ok(Math.min(...takeOvers) < TAKEN_OVER_WITHIN_MS, `within 5 s: ${takeOvers.join(', ')} ms`);

  await t.test(
    'every transition is there once, in order, and nothing is called down by all this',
    async (t) => {
      const positions = (await servers.read('SELECT position FROM transitions ORDER BY position')).map(
        Number,
      );
      t.same(
        positions,
        positions.map((_, index) => index + 1),
        'without gaps',
      );
      t.same(
        await servers.read(
          `SELECT to_status FROM transitions JOIN services ON services.id = service_id
         WHERE services.slug = 'shop' ORDER BY seq`,
        ),
        ['up', 'down', 'up', 'down', 'up'],
      );
      t.same(
        await servers.read(
          "SELECT to_status FROM transitions JOIN services ON services.id = service_id WHERE slug LIKE 'jobs%'",
        ),
        ['up'],
      );
    },
  );
});
