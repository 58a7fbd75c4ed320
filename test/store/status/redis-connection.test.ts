/** One connection to Redis: what the client alone would not come back from. */
import t from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { requireRedisAddress } from '../../../src/domain/store-address.ts';
import { silentLog } from '../../../src/log.ts';
import type { RedisClient } from '../../../src/store/status/redis-client.ts';
import { openRedisConnection } from '../../../src/store/status/redis-connection.ts';
import { NEEDS_REDIS, startRedis, until } from '../../support/redis-server.ts';

t.test('it connects again after the client has stopped', NEEDS_REDIS, async (t) => {
  const address = requireRedisAddress(`redis://127.0.0.1:${(await startRedis(t)).port}`);
  const clients: RedisClient[] = [];
  const connection = openRedisConnection({
    address,
    purpose: 'test',
    timeoutMs: 1_000,
    prepare: async (client) => void clients.push(client),
    probe: (client) => client.exists('x'),
    clock: systemClock,
    log: silentLog,
  });
  t.teardown(connection.close);
  await until(() => connection.ready);
  const [client] = clients;
  client?.disconnect();
  await until(() => connection.state().reconnects === 1, 'it is ready again');
  t.equal(await connection.run((client) => client.exists('x')), 0);
  connection.close();
  await until(() => client?.status === 'end');
  t.equal(connection.ready, false, 'after its close it stays away');
});
