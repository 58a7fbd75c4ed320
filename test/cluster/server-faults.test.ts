/**
 * A cluster whose servers go away: what clients see meanwhile, and that everything is right afterwards. The long form, with
 * every fault and its times, is `npm run soak -- cluster servers`.
 */
import t from 'tap';
import { freePort } from '../support/free-port.ts';
import { createDatabase, NEEDS_POSTGRES, startPostgres } from '../support/postgres-server.ts';
import { NEEDS_REDIS, startSwitchedPair, until } from '../support/redis-server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { startWatchedCluster } from '../support/watched-cluster.ts';

/** For a busy machine; the long form measures the 10 s of the promise. */
const PATIENCE_MS = 60_000;
const SERVICES = 8;

t.setTimeout(300_000);

t.test('servers of a cluster go away and return', { ...NEEDS_POSTGRES, ...NEEDS_REDIS }, async (t) => {
  const [postgres, pair] = await Promise.all([startPostgres(t), startSwitchedPair(t)]);
  const { primary: redis, replica } = pair;
  await createDatabase(postgres.url('postgres'), 'upbeat');
  const way = await startTcpProxy(t, `http://127.0.0.1:${postgres.port}`);
  const ownUrl = postgres.url('upbeat').replace(`:${postgres.port}/`, `:${new URL(way.url).port}/`);
  const watched = await startWatchedCluster(t, {
    storage: {
      postgres: { url: postgres.url('upbeat') },
      redis: { url: pair.proxy.url.replace('http', 'redis') },
    },
    nodes: [
      { name: 'one', region: 'eu' },
      {
        ...{ name: 'two', region: 'eu', roles: ['probe', 'serve'] },
        settings: { storage: { postgres: { url: ownUrl } } },
      },
    ],
    services: SERVICES,
  });
  const { cluster, site, untilRight } = watched;
  const [one, two] = cluster.nodes;
  if (one === undefined || two === undefined) throw new Error('a node is missing');
  /** Resolves after further checks by a node. */
  const untilChecked = (node: typeof one, count: number) => {
    const from = site.requests.length;
    return until(() => site.requests.slice(from).filter((request) => request.node === node).length >= count);
  };

  // No shard moves while PostgreSQL is away.
  for (const node of [one, two]) await untilChecked(node, 1);

  await t.test('PostgreSQL is stopped', async (t) => {
    const seen = await watched.watch(async () => {
      await postgres.stop();
      for (const node of [one, two]) await untilChecked(node, SERVICES / 2);
      await postgres.start();
      await untilRight(PATIENCE_MS);
    });
    t.match(seen, { wrong: [], retryAfter: ['5'], degraded: ['storage'] });
    t.ok(seen.refused > 0 && seen.kept > 0, 'heartbeats are refused, and kept afterwards');
    t.ok(seen.maxAge > 0, 'what was read before is served with its age');
  });

  await t.test('Redis is stopped, and returns empty', async (t) => {
    const seen = await watched.watch(async () => {
      await redis.stop();
      await until(async () => (await two.program.get('/api/v1/status/steady-0')).headers.has('age'));
      await redis.start();
      await untilRight(PATIENCE_MS);
    });
    t.match(seen, { wrong: [], refused: 0 });
    // On a slow machine it takes longer than checks may stand still.
    t.same(new Set(['redis', ...seen.degraded, 'checks']), new Set(['redis', 'checks']));
    t.ok(seen.kept > 0);
  });

  await t.test('Redis is full for longer than claims last without a renewal', async (t) => {
    const before = [one, two].map(({ program }) => program.output().length);
    const seen = await watched.watch(async () => {
      const begun = Date.now();
      await redis.client.config('SET', 'maxmemory', '1');
      for (const { program } of [one, two])
        await until(async () => {
          const { body } = await program.get('/readyz');
          return /"degraded":\[[^\]]*"redis"/.test(JSON.stringify(body));
        }, 'it says so');
      await until(() => Date.now() - begun > 10_000);
      for (const node of [one, two]) await untilChecked(node, SERVICES);
      await redis.client.config('SET', 'maxmemory', '0');
      await untilRight(PATIENCE_MS);
    });
    t.match(seen, { wrong: [] });
    // Results wait while there is no room for them.
    t.same(new Set(['redis', ...seen.degraded, 'results']), new Set(['redis', 'results']));
    const lost = /shards were lost|checks that are due are not made/;
    for (const [at, { program }] of [one, two].entries())
      t.notOk(lost.test(program.output().slice(before[at])), 'claims were renewed');
  });

  await t.test('Redis fails over to a replica that is promoted late, behind one address', async (t) => {
    const seen = await watched.watch(async () => {
      pair.proxy.target = `http://127.0.0.1:${replica.port}`;
      // It answers reads, without a master.
      await redis.client.replicaof('127.0.0.1', String(await freePort()));
      for (const { program } of [one, two]) {
        const isReported = async () => {
          const { body } = await program.get('/readyz');
          return /"checks":\{"problem":"shards cannot be renewed: READONLY/.test(JSON.stringify(body));
        };
        await until(isReported, 'it says that it makes no checks');
        t.match(String((await program.get('/metrics')).body), /^upbeat_checks_stopped_seconds [1-9]/m);
      }
      await pair.promote();
      await untilRight(PATIENCE_MS);
    });
    t.match(seen, { wrong: [], refused: 0, degraded: ['checks', 'redis'] });
    t.match(one.program.output(), /"event":"checks_stopped"|checks that are due are not made/);
  });

  await t.test('PostgreSQL does not answer one node alone', async (t) => {
    const made = JSON.parse(
      (await one.installation.runHere('keys', 'create', '--account', 'bob', '--name', 'lost', '--json'))
        .stdout,
    ) as { readonly id: number; readonly key: string };
    const use = async () =>
      (await two.program.get('/api/v1/services?limit=1', { authorization: `Bearer ${made.key}` })).status;
    t.equal(await use(), 200);
    for (const { program } of [one, two])
      await until(async () => JSON.stringify((await program.get('/readyz')).body).includes('"degraded":[]'));
    const seen = await watched.watch(async () => {
      way.isCut = true;
      await until(async () => {
        const { body } = await two.program.get('/readyz');
        return JSON.stringify(body).includes('"degraded":["storage"]');
      });
      t.equal(await use(), 200, 'a key that it knows is accepted');
      await one.installation.runHere('keys', 'revoke', String(made.id));
      await until(async () => (await use()) === 401, 'it hears of the revocation');
      await until(async () => /^upbeat_services_probed 0$/m.test(await metricsOf(two)), 'it has no shards');
      await untilChecked(one, SERVICES);
      const nodes = await one.installation.runHere('nodes');
      t.match(nodes.stderr, 'warning: two does not reach PostgreSQL');
      way.isCut = false;
      await untilRight(PATIENCE_MS);
    });
    t.match(seen, { wrong: [] });
    // On a busy machine Redis may answer late meanwhile.
    t.same(new Set(['storage', ...seen.degraded, 'redis']), new Set(['storage', 'redis']));
    t.notMatch(two.program.output(), /has become the monitor/);
  });
});

async function metricsOf(node: { readonly program: { get(path: string): Promise<{ body: unknown }> } }) {
  return String((await node.program.get('/metrics')).body);
}
