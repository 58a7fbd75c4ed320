/** What befalls PostgreSQL, Redis and InfluxDB: what clients of each kind see is what the table says (`fault-table.ts`). */
import t, { type Test } from 'tap';
import { errorCodeOf } from '../../src/error.ts';
import { NEEDS_INFLUX } from '../store/influx-world.ts';
import { executeSql, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { NEEDS_REDIS, startRedis } from '../support/redis-server.ts';
import { createRegistry, useInflux, usePostgres } from '../support/run-servers.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { type Fault, SERVER_FAULTS } from './fault-table.ts';
import { befall, type Mishap, type Switch, startWorld, tryFault } from './fault-world.ts';

t.setTimeout(900_000);
t.jobs = 2;
/** tap keeps the object: one for each test. */
const sideBySide = () => ({ ...NEEDS_POSTGRES, ...NEEDS_REDIS, ...NEEDS_INFLUX, buffered: true });

/** A program with the three servers behind roads, and what befalls each of them besides its road. */
async function startServers(t: Test) {
  const [postgres, redis, influx] = await Promise.all([
    usePostgres(t),
    startRedis(t, ['--maxmemory-policy', 'noeviction']),
    useInflux(t),
  ]);
  const name = influx.database;
  await createRegistry(postgres, name);
  const roadTo = (port: string | number) => startTcpProxy(t, `http://127.0.0.1:${port}`);
  const url = new URL(postgres.url(name));
  const roads = {
    postgres: await roadTo(url.port),
    redis: await roadTo(redis.port),
    influx: await roadTo(new URL(influx.url).port),
  };
  url.port = new URL(roads.postgres.url).port;
  const world = await startWorld(t, {
    storage: {
      postgres: { url: url.href },
      redis: { url: `${roads.redis.url.replace('http:', 'redis:')}?prefix=${name}` },
      influx: { url: roads.influx.url, bucket: name, api: 'v1' },
    },
  });
  const all = (statement: string) => executeSql(postgres.url('postgres'), statement);
  /** Takes locks of all tables, while the program writes: the server ends one of two that wait for each other. */
  const onAllTables = async (statement: string): Promise<void> => {
    for (let tries = 1; ; tries++)
      try {
        await executeSql(postgres.url(name), statement);
        return;
      } catch (error) {
        if (errorCodeOf(error) !== DEADLOCK || tries === MAX_TRIES) throw error;
      }
  };
  const endSessions = () =>
    all(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  const setDatabase = async (setting: string) => {
    await all(`ALTER DATABASE ${name} ${setting}`);
    await endSessions();
  };
  const setRedis = async (...setting: readonly [string, string]) => {
    await redis.client.config('SET', ...setting);
    // Connections that are open have what they had.
    roads.redis.isCut = true;
    roads.redis.isCut = false;
  };
  const answering = (answers: TcpProxy['answers']): Switch => ({
    begin: () => Object.assign(roads.influx, { answers }),
    end: () => Object.assign(roads.influx, { answers: () => null }),
  });
  const others: Readonly<Record<string, Readonly<Record<string, Switch>>>> = {
    postgres: {
      refuses: {
        begin: () => setDatabase('ALLOW_CONNECTIONS false'),
        end: () => setDatabase('ALLOW_CONNECTIONS true'),
      },
      readOnly: {
        begin: () => setDatabase('SET default_transaction_read_only = on'),
        end: () => setDatabase('SET default_transaction_read_only = off'),
      },
      full: {
        begin: () => onAllTables(REFUSE_AS_FULL),
        end: () => onAllTables('DROP FUNCTION full_disk CASCADE'),
      },
    },
    redis: {
      refuses: {
        async begin() {
          await setRedis('requirepass', 'other');
          await redis.client.auth('other');
        },
        end: () => setRedis('requirepass', ''),
      },
      full: { begin: () => setRedis('maxmemory', '1'), end: () => setRedis('maxmemory', '0') },
    },
    influx: {
      refuses: answering(() => answerOf('401 Unauthorized', 'authorization failed')),
      full: answering((request) => (request.startsWith('POST /write') ? FULL_INFLUX : null)),
    },
  };
  return {
    /** Tries all faults of a server. */
    async tryAll(t: Test, server: keyof typeof SERVER_FAULTS) {
      for (const [word, fault] of Object.entries<Fault>(SERVER_FAULTS[server]))
        await tryFault(t, world, fault, others[server]?.[word] ?? befall(word as Mishap, roads[server]));
    },
  };
}

const DEADLOCK = '40P01';
const MAX_TRIES = 20;

/** Refuses each write as a server does that has no room: `postgres-faults.test.ts` fills a disk. */
const REFUSE_AS_FULL = `
  CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
    END $$;
  DO $$
    DECLARE name text;
    BEGIN
      FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
        EXECUTE format('CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON %I EXECUTE FUNCTION full_disk()', name);
      END LOOP;
    END $$`;

/** As InfluxDB answers whose disk is full; `influx-faults.test.ts` fills one. */
const FULL_INFLUX = answerOf(
  '500 Internal Server Error',
  'engine: error writing WAL entry: no space left on device',
);

function answerOf(status: string, error: string): string {
  const body = JSON.stringify({ error });
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

t.test('PostgreSQL', sideBySide(), async (t) => {
  const { tryAll } = await startServers(t);
  await tryAll(t, 'postgres');
});

t.test('Redis and InfluxDB', sideBySide(), async (t) => {
  const { tryAll } = await startServers(t);
  await tryAll(t, 'redis');
  await tryAll(t, 'influx');
});
