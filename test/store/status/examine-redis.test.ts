/** What `upbeat doctor` says of Redis. */
import t from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { examineRedis } from '../../../src/store/status/examine-redis.ts';
import { freePort } from '../../support/free-port.ts';
import { NEEDS_REDIS, startRedis } from '../../support/redis-server.ts';

t.test('it reports the version of Redis, and what to fix', NEEDS_REDIS, async (t) => {
  const { port, client } = await startRedis(t);
  const look = (url: string) => examineRedis(url, systemClock);
  const well = await look(`redis://127.0.0.1:${port}`);
  t.match(well, {
    found: new RegExp(`^Redis \\d+\\.\\d[.\\d]* at 127\\.0\\.0\\.1:${port} answers in [\\d.]+ ms$`),
    advice: null,
  });

  await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  t.equal((await look(`redis://127.0.0.1:${port}`)).advice, null, 'without a bound nothing is thrown away');
  await client.config('SET', 'maxmemory', '100mb');
  t.match(
    (await look(`redis://127.0.0.1:${port}`)).advice,
    /^set maxmemory-policy to volatile-lru: with allkeys-lru/,
  );
  await client.config('SET', 'maxmemory-policy', 'volatile-ttl');
  t.match((await look(`redis://127.0.0.1:${port}`)).advice, /^set maxmemory-policy to volatile-lru: with/);
  await client.config('SET', 'maxmemory-policy', 'noeviction');
  t.equal((await look(`redis://127.0.0.1:${port}`)).advice, null);
  await client.config('SET', 'maxmemory', '1');
  t.match(await examineRedis(`redis://127.0.0.1:${port}`, systemClock, 500), {
    found: /OOM/,
    advice: /^raise maxmemory/,
  });
  await client.config('SET', 'maxmemory', '0');

  await client.replicaof('127.0.0.1', String(await freePort()));
  t.match(await examineRedis(`redis://127.0.0.1:${port}`, systemClock, 500), {
    found: /READONLY/,
    advice: /^storage\.redis\.url leads to a replica/,
  });
  await client.replicaof('NO', 'ONE');

  await client.config('SET', 'requirepass', 'right');
  const [wrong, away] = await Promise.all([
    examineRedis(`redis://:hunter2@127.0.0.1:${port}`, systemClock, 500),
    examineRedis(`redis://:hunter2@127.0.0.1:${await freePort()}`, systemClock, 500),
  ]);
  t.match(wrong, { found: /WRONGPASS/, advice: /^start Redis, or correct storage\.redis\.url/ });
  t.match(away, { found: /ECONNREFUSED/, advice: /^start Redis, or correct storage\.redis\.url/ });
  t.notMatch(JSON.stringify([wrong, away]), /hunter2/);
});
