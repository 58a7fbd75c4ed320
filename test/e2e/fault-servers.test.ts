/** PostgreSQL, Redis or InfluxDB is away, hangs, is slow or sends garbage: what clients of each kind see is what the table says (`fault-table.ts`). */
import t from 'tap';
import { NEEDS_INFLUX } from '../store/influx-world.ts';
import { createDatabase, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { NEEDS_REDIS } from '../support/redis-server.ts';
import { useInflux, usePostgres, useRedis } from '../support/run-servers.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { type Fault, SERVER_FAULTS } from './fault-table.ts';
import { type Switch, startWorld, tryFault } from './fault-world.ts';

t.setTimeout(900_000);

/** What can befall the road to a server: what is set then, and what otherwise. */
const MISHAPS = {
  isCut: [true, false],
  silent: [true, false],
  garbles: [true, false],
  delayMs: [40, 0],
} as const;
type Mishap = keyof typeof MISHAPS;

t.test('servers', { ...NEEDS_POSTGRES, ...NEEDS_REDIS, ...NEEDS_INFLUX }, async (t) => {
  const [postgres, redis, influx] = await Promise.all([usePostgres(t), useRedis(t), useInflux(t)]);
  const name = redis.prefix;
  await createDatabase(postgres.url('postgres'), name);
  const roadTo = (port: string) => startTcpProxy(t, `http://127.0.0.1:${port}`);
  const url = new URL(postgres.url(name));
  const roads = {
    postgres: await roadTo(url.port),
    redis: await roadTo(new URL(redis.url).port),
    influx: await roadTo(new URL(influx.url).port),
  };
  url.port = new URL(roads.postgres.url).port;
  const world = await startWorld(t, {
    storage: {
      postgres: { url: url.href },
      redis: { url: `${roads.redis.url.replace('http:', 'redis:')}?prefix=${name}` },
      influx: { url: roads.influx.url, bucket: influx.database, api: 'v1' },
    },
  });
  for (const server of ['postgres', 'redis', 'influx'] as const)
    for (const [word, fault] of Object.entries<Fault>(SERVER_FAULTS[server]))
      await tryFault(t, world, fault, befall(roads[server], word as Mishap));
});

/** The road with that mishap. */
function befall(road: TcpProxy, mishap: Mishap): Switch {
  const [fault, none] = MISHAPS[mishap];
  return {
    begin: () => Object.assign(road, { [mishap]: fault }),
    end: () => Object.assign(road, { [mishap]: none }),
  };
}
