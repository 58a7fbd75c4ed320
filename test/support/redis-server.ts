/** Real Redis servers on free loopback ports: single, with a replica and Sentinel, and a cluster of three. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { hasProgram } from './install-servers.ts';
import type { Scope } from './run-servers.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** Options of a test that needs Redis: says loudly that it is skipped where there is none. */
export const NEEDS_REDIS =
  hasProgram('redis-server') && hasProgram('redis-sentinel')
    ? {}
    : { skip: 'Redis is not there: apt-get install redis-server redis-sentinel' };

/** A server process. */
export interface RedisServer {
  readonly port: number;
  /** Sends a signal; for `SIGSTOP` and `SIGCONT`. */
  signal(name: NodeJS.Signals): void;
  /** Ends the process with a signal and waits. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on its port, with nothing in it. */
  start(): Promise<void>;
  /** A connection for the test's own look, closed after the test. */
  readonly client: Redis;
}

/** A master with a replica, watched by a Sentinel. */
export interface SentinelSet {
  readonly master: RedisServer;
  readonly replica: RedisServer;
  /** The line for `storage.redis.url`, without a query. */
  readonly url: string;
}

/** A master with a replica behind one address, as behind HAProxy, a Service of Kubernetes or of a managed server. */
export interface SwitchedPair {
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  readonly proxy: TcpProxy;
  /** Makes the replica the master and the former master its replica; new connections lead to the new master. */
  promote(): Promise<void>;
}

/** A cluster of three masters. */
export interface RedisCluster {
  readonly nodes: readonly RedisServer[];
  /** The line for `storage.redis.url`, without a query. */
  readonly url: string;
}

const READY_MS = 45_000;
const SLOTS = 16_384;

/** Starts a server that keeps nothing on disk; it is ended after the test. */
export async function startRedis(t: Scope, args: readonly string[] = []): Promise<RedisServer> {
  const port = await freePort();
  return await run(t, port, 'redis-server', [...settingsFor(port), ...args]);
}

/**
 * Starts a master, its replica and a Sentinel that calls it gone after half a second. One alone: several may split
 * their votes and take seconds to try again. The line names a second one that does not answer, before it.
 */
export async function startSentinelSet(t: Scope): Promise<SentinelSet> {
  const folder = makeFolder(t);
  const master = await startRedis(t);
  const replica = await startReplica(t, master);
  for (const { client } of [master, replica]) await restrictSentinel(client);
  const [port, silent] = [await freePort(), await freePort()];
  const file = join(folder, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor house 127.0.0.1 ${master.port} 1`,
    `user upbeat on >word ${readSentinelRules()}`,
    'sentinel auth-user house sentinel',
    'sentinel auth-pass house word',
    'sentinel down-after-milliseconds house 500',
    'sentinel failover-timeout house 2000',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const sentinel = await run(t, port, 'redis-sentinel', [file]);
  // A fail-over needs a Sentinel that knows the replica, and has heard from it that it is in order.
  await until(async () => (await sentinel.client.info('sentinel')).includes('slaves=1'));
  await until(async () => {
    const replicas = (await sentinel.client.call('SENTINEL', 'REPLICAS', 'house')) as string[][];
    const [known = []] = replicas;
    return (
      known[known.indexOf('master-link-status') + 1] === 'ok' && known[known.indexOf('flags') + 1] === 'slave'
    );
  });
  return { master, replica, url: `redis+sentinel://127.0.0.1:${silent},127.0.0.1:${port}/house` };
}

/** The rights that Upbeat's user needs at the Sentinels, as docs/cluster.md lists them. */
function readSentinelRules(): string {
  const text = readFileSync(join(import.meta.dirname, '../../docs/cluster.md'), 'utf8');
  return /`(allchannels -@all [^`]*sentinel[^`]*)`/.exec(text)?.[1] ?? '';
}

/** Gives the Sentinel and the replicas users with the least rights, as docs/cluster.md lists them. */
async function restrictSentinel(client: Redis): Promise<void> {
  const text = readFileSync(join(import.meta.dirname, '../../docs/cluster.md'), 'utf8');
  for (const [, name = '', rules = ''] of text.matchAll(/^ACL SETUSER (sentinel|replica) (.*)$/gm))
    await client.call('ACL', 'SETUSER', name, ...rules.replace('>…', '>word').split(' '));
  await client.config('SET', 'masteruser', 'replica');
  await client.config('SET', 'masterauth', 'word');
}

/** Starts a master and its replica behind a proxy. */
export async function startSwitchedPair(t: Scope): Promise<SwitchedPair> {
  const primary = await startRedis(t);
  const replica = await startReplica(t, primary);
  const proxy = await startTcpProxy(t, `http://127.0.0.1:${primary.port}`);
  return {
    primary,
    replica,
    proxy,
    async promote() {
      await replica.client.replicaof('NO', 'ONE');
      await primary.client.replicaof('127.0.0.1', String(replica.port));
      proxy.target = `http://127.0.0.1:${replica.port}`;
    },
  };
}

async function startReplica(t: Scope, { port }: RedisServer): Promise<RedisServer> {
  const replica = await startRedis(t, ['--replicaof', `127.0.0.1 ${port}`]);
  await until(async () => (await replica.client.info('replication')).includes('master_link_status:up'));
  return replica;
}

/** Starts a cluster; resolves when every slot is served. */
export async function startRedisCluster(t: Scope): Promise<RedisCluster> {
  const folder = makeFolder(t);
  const nodes = await Promise.all(
    [0, 1, 2].map(async (number) => {
      const port = await freePort();
      const bus = await freePort();
      const args = [
        '--cluster-enabled',
        'yes',
        '--cluster-port',
        String(bus),
        '--cluster-node-timeout',
        '2000',
      ];
      const file = ['--cluster-config-file', join(folder, `nodes-${number}.conf`)];
      const node = await run(t, port, 'redis-server', [...settingsFor(port), ...args, ...file]);
      return { ...node, bus };
    }),
  );
  for (const [index, { client, port, bus }] of nodes.entries()) {
    const [from, to] = [index, index + 1].map((third) => Math.floor((third * SLOTS) / nodes.length));
    await client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String((to ?? 0) - 1));
    await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
    // Each is told of all before it: gossip alone takes seconds.
    for (const earlier of nodes.slice(0, index))
      await earlier.client.call('CLUSTER', 'MEET', '127.0.0.1', String(port), String(bus));
  }
  await until(async () => {
    const reports = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'INFO')));
    return reports.every((report) => /cluster_state:ok[\s\S]*cluster_known_nodes:3/.test(String(report)));
  });
  return { nodes, url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}` };
}

/** Asks until it holds, every 20 ms; throws after 20 s. */
export async function until(condition: () => boolean | Promise<boolean>, what = 'it'): Promise<void> {
  for (const deadline = performance.now() + READY_MS; performance.now() < deadline; ) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${what} did not come true within ${READY_MS} ms`);
}

function settingsFor(port: number): string[] {
  return [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--repl-diskless-sync-delay',
    '0',
  ];
}

function makeFolder(t: Scope): string {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-redis-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function run(t: Scope, port: number, program: string, args: readonly string[]): Promise<RedisServer> {
  const folder = makeFolder(t);
  let child: ChildProcess | null = null;
  const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => 50 });
  client.on('error', () => {});
  const server: RedisServer = {
    port,
    client,
    signal: (name) => void child?.kill(name),
    async stop(signal = 'SIGTERM') {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
    async start() {
      // Its allocator asks for the time before a preloaded libfaketime can tell it.
      child = spawn(program, args, { cwd: folder, stdio: 'ignore', env: { ...process.env, LD_PRELOAD: '' } });
      const running = child;
      await until(async () => {
        if (running.exitCode !== null) throw new Error(`${program} ended with ${running.exitCode}`);
        return (await client.ping().catch(() => '')) === 'PONG';
      }, program);
    },
  };
  t.teardown(async () => {
    client.disconnect();
    // A process that is stopped obeys nothing else.
    await server.stop('SIGKILL');
  });
  await server.start();
  return server;
}
