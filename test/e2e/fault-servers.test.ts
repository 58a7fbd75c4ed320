/** PostgreSQL is away or hangs: what clients of each kind see is what the table says (`fault-table.ts`). */
import t from 'tap';
import { NEEDS_INFLUX } from '../store/influx-world.ts';
import { createDatabase, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { NEEDS_REDIS } from '../support/redis-server.ts';
import { useInflux, usePostgres, useRedis } from '../support/run-servers.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { SERVER_FAULTS } from './fault-table.ts';
import { startWorld, tryFault } from './fault-world.ts';

t.setTimeout(900_000);

t.test('servers', { ...NEEDS_POSTGRES, ...NEEDS_REDIS, ...NEEDS_INFLUX }, async (t) => {
  const [postgres, redis, influx] = await Promise.all([usePostgres(t), useRedis(t), useInflux(t)]);
  const name = redis.prefix;
  await createDatabase(postgres.url('postgres'), name);
  const url = new URL(postgres.url(name));
  const road = await startTcpProxy(t, `http://127.0.0.1:${url.port}`);
  url.port = new URL(road.url).port;
  const world = await startWorld(t, {
    storage: {
      postgres: { url: url.href },
      redis: { url: `${redis.url}?prefix=${name}` },
      influx: { url: influx.url, bucket: influx.database, api: 'v1' },
    },
  });
  /** Sets what befalls the road to PostgreSQL. */
  const on = (fault: 'isCut' | 'silent') => ({
    begin() {
      road[fault] = true;
    },
    end() {
      road[fault] = false;
    },
  });
  await tryFault(t, world, SERVER_FAULTS.away, on('isCut'));
  await tryFault(t, world, SERVER_FAULTS.hangs, on('silent'));
});
