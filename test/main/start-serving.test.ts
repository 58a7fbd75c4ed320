/** A process that only serves, while Redis goes away and comes back: on one server, with Sentinel, on a cluster. */
import t, { type Test } from 'tap';
import type { Transition } from '../../src/domain/status/current.ts';
import type { MonitorRole } from '../../src/main/start-monitor.ts';
import type { ServingRole } from '../../src/main/start-serving.ts';
import {
  NEEDS_REDIS,
  type RedisServer,
  startRedis,
  startRedisCluster,
  startSentinelSet,
  until,
} from '../support/redis-server.ts';
import { createRoleWorld, type RoleWorld } from './role-world.ts';

t.setTimeout(300_000);
/** They mostly wait, each for servers of its own. */
t.jobs = 4;

/** A Redis, how it goes away, and how it comes back. */
interface Installation {
  readonly url: string;
  readonly leave: () => Promise<void>;
  readonly back: () => Promise<void>;
  /** Whether it stays away until `back`, so that the copy grows old. */
  readonly stays: boolean;
  /** Every server that may have the transitions. */
  readonly servers: readonly RedisServer[];
  /** What else is tried on the same processes, in subtests. */
  readonly tryMore?: (
    t: Test,
    world: RoleWorld,
    monitor: MonitorRole,
    serving: ServingRole,
  ) => Promise<unknown>;
}

async function homeOf(servers: readonly RedisServer[], key: string): Promise<RedisServer> {
  for (const server of servers) {
    const there = await server.client.exists(key).catch(() => 0);
    if (there === 1) return server;
  }
  throw new Error(`no server has ${key}`);
}

const KINDS: Readonly<Record<string, (t: Test) => Promise<Installation>>> = {
  async 'a server that is killed and comes back empty'(t) {
    const server = await startRedis(t);
    return {
      url: `redis://127.0.0.1:${server.port}`,
      leave: () => server.stop('SIGKILL'),
      back: () => server.start(),
      stays: true,
      servers: [server],
      tryMore: (t, world, monitor) =>
        t.test(
          'it drops results of a monitor that may have lost its lease while it was suspended',
          async (t) => {
            const checkedAt = () => monitor.status.get(1)?.latest?.checkedAt ?? 0;
            world.isFresh = false;
            const fresh = world.requests;
            await until(() => world.requests > fresh + 2, 'what was found before is judged');
            const before = checkedAt();
            world.code = 503;
            const asked = world.requests;
            await until(() => world.requests > asked + 3, 'it probes still');
            t.equal(checkedAt(), before, 'and nothing comes of it');
            t.equal(monitor.status.get(1)?.status, 'up');
            world.isFresh = true;
            await until(() => monitor.status.get(1)?.status === 'down');
          },
        ),
    };
  },
  async 'a server that hangs'(t) {
    const server = await startRedis(t);
    return {
      url: `redis://127.0.0.1:${server.port}`,
      leave: async () => server.signal('SIGSTOP'),
      back: async () => server.signal('SIGCONT'),
      stays: true,
      servers: [server],
      tryMore: (t, world, _monitor, serving) =>
        t.test('it ends when waiting clients have the response of the monitor', async (t) => {
          const answered = t.resolveMatch(serving.heartbeats.takeHeartbeat(await world.heartbeat('down')), {
            status: 'down',
          });
          await serving.stop();
          await answered;
        }),
    };
  },
  async 'a master whose replica takes over'(t) {
    const { master, replica, url } = await startSentinelSet(t);
    return {
      url,
      leave: () => master.stop('SIGKILL'),
      back: async () => {},
      stays: false,
      servers: [replica],
    };
  },
  async 'a cluster whose node with the statuses is killed'(t) {
    const { nodes, url } = await startRedisCluster(t);
    let home: RedisServer | null = null;
    return {
      url,
      async leave() {
        home = await homeOf(nodes, 'upbeat:{status}:records');
        await home.stop('SIGKILL');
      },
      async back() {
        await home?.start();
      },
      stays: true,
      servers: nodes,
    };
  },
};

for (const [kind, install] of Object.entries(KINDS)) {
  t.test(`it serves beside ${kind}`, { ...NEEDS_REDIS, buffered: true }, async (t) => {
    const { tryMore, ...redis } = await install(t);
    const world = await createRoleWorld(t, redis.url);
    const monitor = await world.startMonitor();
    await until(() => monitor.status.get(1)?.status === 'up');
    const serving = await world.startServing();
    const told: Transition[] = [];
    serving.watchTransitions((transition) => void told.push(transition));
    const isShown = (status: string) => until(() => serving.status.get(1)?.status === status, status);
    const isJudged = (status: string) => until(() => monitor.status.get(1)?.status === status, status);
    const age = () => serving.status.ageMs?.() ?? Number.NaN;
    const inRedis = async () => {
      const lists = await Promise.all(
        redis.servers.map(({ client }) =>
          client.xrange('upbeat:{events}:transitions', '-', '+').catch(() => []),
        ),
      );
      return lists.flat().map(([id]) => id);
    };

    await isShown('up');
    const first = await serving.heartbeats.takeHeartbeat(await world.heartbeat('ok'));
    t.match(first, { service: { domain: 'jobs.example.com' }, status: 'up', responseTimeMs: null });
    t.equal(serving.status.get(first.service.id)?.status, 'up', 'visible to the next read');
    // Its judgement was on disk before the sender was answered; that the monitor heard of it may take a moment more.
    await until(() => monitor.status.get(first.service.id)?.status === 'up', 'at the monitor too');
    await until(async () => (await inRedis()).length === 2);

    await redis.leave();
    world.code = 503;
    await isJudged('down');
    if (redis.stays) {
      await until(() => age() > 1_000, 'the copy grows old');
      t.equal(serving.status.get(1)?.status, 'up', 'the last copy answers');
    }
    const second = await serving.heartbeats.takeHeartbeat(await world.heartbeat('down'));
    t.equal(second.status, 'down', 'heartbeats are taken all the same');
    t.equal(serving.status.get(second.service.id)?.status, 'down', 'and shown');
    world.code = 200;
    await isJudged('up');
    await until(() => told.length === 4, 'changes are told without Redis');

    await redis.back();
    await until(() => age() < 1_000, 'the copy is current again');
    await isShown('up');
    await until(() => serving.status.get(1)?.seq === 3);
    const third = await serving.heartbeats.takeHeartbeat(await world.heartbeat('ok'));
    t.equal(third.status, 'up');
    await until(async () => (await inRedis()).length === 6, 'the stream is whole');
    t.same(await inRedis(), ['1-0', '2-0', '3-0', '4-0', '5-0', '6-0'], 'each once');
    await until(() => told.length === 5);
    t.same(
      told.map(({ position, to }) => `${position} ${to}`),
      ['2 up', '3 down', '4 down', '5 up', '6 up'],
      'each told once, in order',
    );
    t.equal(
      (await world.registry.recentHeartbeats(third.service.id)).length,
      3,
      'each heartbeat judged once',
    );
    await tryMore?.(t, world, monitor, serving);
  });
}
