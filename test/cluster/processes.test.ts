/** Processes of a cluster on one PostgreSQL and one Redis: their roles, their names, and who is alive. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { openPostgresDatabase } from '../../src/store/database/postgres/postgres-database.ts';
import { createCluster, type NodeOptions } from '../support/cluster.ts';
import { startCountedSite } from '../support/counted-site.ts';
import { NEEDS_POSTGRES } from '../support/postgres-server.ts';
import type { RunningProgram } from '../support/program.ts';
import { NEEDS_REDIS, until } from '../support/redis-server.ts';
import { createWallClock, NEEDS_WALL_CLOCK } from '../support/wall-clock.ts';

interface Ready {
  readonly status: string;
  readonly role: string;
  readonly nodes: Readonly<Record<string, number>>;
}

/** A node that was killed is gone from all lists within this, milliseconds. */
const GONE_WITHIN_MS = 10_000;
/** Bound of two starts, on a machine that is busy with other things, milliseconds. */
const TWO_STARTS_MS = 180_000;
const NEEDS = { ...NEEDS_POSTGRES, ...NEEDS_REDIS, ...NEEDS_WALL_CLOCK };

const LOG_MODULES = join(import.meta.dirname, '../support/log-modules.mjs');

t.setTimeout(300_000);

/** Whether the program has loaded BullMQ. */
function loadsBullmq(file: string): boolean {
  return readFileSync(file, 'utf8').includes('/bullmq/');
}

const sees = (program: RunningProgram, nodes: Ready['nodes'], withinMs?: number) =>
  program.until('/readyz', (body: Ready) => JSON.stringify(body.nodes) === JSON.stringify(nodes), withinMs);

t.test('a node that loses the lease while it starts begins again', NEEDS, async (t) => {
  const cluster = await createCluster(t, { entries: [{ slug: 'shop' }] });
  const url = cluster.postgresUrl ?? '';
  await openPostgresDatabase(url);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  // The first transaction that writes services is the last one of the first holder: as if it had stood still after it.
  await client.query(`
    CREATE FUNCTION take_lease() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN UPDATE lease SET fence = fence + 1 WHERE fence = 1; RETURN NULL; END $$;
    CREATE TRIGGER take_lease AFTER INSERT ON services FOR EACH STATEMENT EXECUTE FUNCTION take_lease()`);
  const { installation } = await cluster.install({ name: 'one', region: 'eu', roles: ['judge'] });
  const program = await installation.start(undefined, TWO_STARTS_MS);
  t.teardown(() => program.killHard());
  t.match((await program.get('/readyz')).body, { role: 'monitor' });
  t.match(program.output(), /has become the monitor of this registry/);
  t.same((await client.query('SELECT fence FROM lease')).rows, [{ fence: '3' }]);
});

t.test('nodes play their roles, see each other, and stand in for one that is killed', NEEDS, async (t) => {
  const { url } = await startCountedSite(t);
  const cluster = await createCluster(t, { entries: [{ slug: 'shop', check: { url } }] });
  const start = async (node: NodeOptions) => (await cluster.start(node)).program;
  const { installation: first, program: one } = await cluster.start({ name: 'one', region: 'eu' });
  t.match((await one.get('/readyz')).body, {
    role: 'monitor',
    node: 'one',
    region: 'eu',
    roles: ['judge', 'probe', 'serve'],
    nodes: { eu: 1 },
  });

  const same = await cluster.install({ name: 'one', region: 'us' });
  const clock = createWallClock(t, Date.now() + 90_000, 'UTC');
  const { environment } = clock;
  const loaded = join(t.testdir(), 'loaded');
  const logged = { LOADED_MODULES: loaded, NODE_OPTIONS: `--import ${LOG_MODULES}` };
  const [refused, standby, serving] = await Promise.all([
    same.installation.run('start'),
    start({ name: 'two', region: 'eu', roles: ['judge'], environment: logged }),
    start({ name: 'three', region: 'us', roles: ['serve'], environment }),
  ]);
  t.equal(refused.status, 1, 'a second process of the name does not start');
  t.match(
    refused.stdout,
    /The node name one is taken by process \d+ on \S+, which runs since 20\S+Z\. Set node\.name to a name that no other node has\./,
  );

  for (const program of [one, standby, serving]) await sees(program, { eu: 2, us: 1 });
  t.match((await standby.get('/readyz')).body, { role: 'standby', roles: ['judge'], degraded: [] });
  t.match((await serving.get('/readyz')).body, { role: 'serving', roles: ['serve'] });
  t.equal((await standby.get('/healthz')).status, 200);
  await until(() => loadsBullmq(loaded), 'what a takeover needs is loaded before');
  t.match(String((await standby.get('/metrics')).body), /^upbeat_nodes\{region="eu",role="judge"\} 2$/m);
  t.match(
    [await standby.get('/'), await standby.get('/api/v1/status/shop')],
    [{ status: 404 }, { status: 404 }],
  );
  await serving.until('/api/v1/status/shop', ({ status }: Ready) => status === 'up');
  t.same((await serving.get('/api/v1/regions')).body, {
    regions: [{ region: 'eu', online: true, nodes: 1 }],
  });
  t.match(String((await serving.get('/metrics')).body), /^upbeat_clock_offset_seconds (?:8|9)\d/m);
  t.match(serving.output(), /the clock of this machine is (?:8|9)\d\.\d s ahead of Redis' clock/);

  const told = await first.runHere('nodes');
  t.match(
    told.stdout,
    /^NAME +REGION +ROLES +VERSION +SINCE +SEEN +SERVICES +CHECKS\/S +CONNECTION +CLOCK\n/,
  );
  t.match(told.stdout, /^one +eu +judge,probe,serve +\S+ +20\S+ \S+ +\d\.\d s ago +1 +\S+ +online +ok$/m);
  t.match(told.stdout, /^three +us +serve .* online +\+(?:8|9)\d\.\d s$/m);
  t.match(
    told.stderr,
    /^warning: the clock of three is (?:8|9)\d\.\d s ahead of Redis' clock; synchronize it by NTP\n$/,
  );

  const killed = performance.now();
  await one.killHard();
  await standby.until('/readyz', ({ role }: Ready) => role === 'monitor');
  for (const program of [standby, serving]) await sees(program, { eu: 1, us: 1 }, GONE_WITHIN_MS);
  t.comment(`gone after ${Math.round(performance.now() - killed)} ms`);
  t.match(
    [(await serving.get('/readyz')).body, (await serving.get('/api/v1/regions')).body],
    [{ role: 'serving' }, { regions: [] }],
    'a node without the role judge does not take over',
  );
  t.match((await serving.get('/api/v1/status/shop')).body, { status: 'up' });

  const examined = await first.runHere('doctor', '--json');
  const findings = JSON.parse(examined.stdout) as { readonly what: string }[];
  t.match(
    findings.filter(({ what }) => /^node/.test(what)),
    [
      {
        state: 'FIX',
        what: 'nodes',
        found: '1 in eu, 1 in us alive',
        advice: 'no node has the role probe; start one that has it',
      },
      { state: 'ok', what: 'node clock', found: "agrees with Redis' clock" },
    ],
  );

  const probing = await start({ name: 'one', region: 'asia', roles: ['probe'] });
  t.match((await probing.get('/readyz')).body, { role: 'probing', node: 'one' }, 'the name is free');
  t.equal((await probing.get('/api/v1/services')).status, 404);
  await sees(serving, { asia: 1, eu: 1, us: 1 });
  for (const program of [probing, serving, standby]) t.equal(await program.stop(), 0);
});
