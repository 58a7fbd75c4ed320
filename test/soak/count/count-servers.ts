/** Redis and InfluxDB 1.6 as processes that a counting run may pause, kill and start again, each on its own port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../../support/free-port.ts';

/** A server. */
export interface CountedServer {
  readonly name: 'Redis' | 'InfluxDB';
  signal(name: NodeJS.Signals): void;
  /** Ends the process by a signal, and waits for its end. */
  stop(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again and waits until it answers; Redis is empty then, InfluxDB has what it had. */
  start(): Promise<void>;
}

/** Both servers. */
export interface CountedServers {
  readonly redis: CountedServer & { readonly url: string; readonly client: Redis };
  readonly influx: CountedServer & {
    readonly url: string;
    /** The rows of a statement's first series. */
    query(statement: string): Promise<readonly (readonly (string | number | null)[])[]>;
  };
  /** Ends both, and removes what they wrote. */
  close(): Promise<void>;
}

const READY_MS = 60_000;

/** Starts both, with the database `upbeat`. */
export async function startCountedServers(): Promise<CountedServers> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-count-'));
  const [redisPort, influxPort, rpcPort] = [await freePort(), await freePort(), await freePort()];
  const client = new Redis({ port: redisPort, host: '127.0.0.1', retryStrategy: () => 100 });
  client.on('error', () => {});
  const redis = server('Redis', folder, {
    command: 'redis-server',
    args: ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    env: {},
    answers: async () => (await client.ping()) === 'PONG',
  });
  const url = `http://127.0.0.1:${influxPort}`;
  const place = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  const influx = server('InfluxDB', folder, {
    command: 'influxd',
    args: ['-pidfile', join(folder, 'influx.pid')],
    env: {
      INFLUXDB_HTTP_BIND_ADDRESS: `127.0.0.1:${influxPort}`,
      INFLUXDB_BIND_ADDRESS: `127.0.0.1:${rpcPort}`,
      INFLUXDB_META_DIR: place('meta'),
      INFLUXDB_DATA_DIR: place('data'),
      INFLUXDB_DATA_WAL_DIR: place('wal'),
      INFLUXDB_REPORTING_DISABLED: 'true',
      INFLUXDB_HTTP_LOG_ENABLED: 'false',
      INFLUXDB_MONITOR_STORE_ENABLED: 'false',
    },
    answers: async () => (await fetch(`${url}/ping`)).ok,
  });
  const query = async (statement: string) => {
    const body = new URLSearchParams({ db: 'upbeat', epoch: 'ms', q: statement });
    const response = await fetch(`${url}/query`, { method: 'POST', body });
    const { results } = (await response.json()) as {
      results: { series?: { values: (string | number | null)[][] }[]; error?: string }[];
    };
    const [result] = results;
    if (result?.error !== undefined) throw new Error(`${statement}: ${result.error}`);
    return result?.series?.[0]?.values ?? [];
  };
  await Promise.all([redis.start(), influx.start()]);
  await query('CREATE DATABASE upbeat');
  return {
    redis: { ...redis, url: `redis://127.0.0.1:${redisPort}`, client },
    influx: { ...influx, url, query },
    async close() {
      client.disconnect();
      await Promise.all([redis.stop('SIGKILL'), influx.stop('SIGKILL')]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly answers: () => Promise<boolean>;
}

function server(
  name: CountedServer['name'],
  cwd: string,
  { command, args, env, answers }: ServerCommand,
): CountedServer {
  let child: ChildProcess | null = null;
  return {
    name,
    signal: (signal) => void child?.kill(signal),
    async stop(signal) {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
    async start() {
      const started = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'ignore' });
      child = started;
      for (const deadline = performance.now() + READY_MS; performance.now() < deadline; ) {
        if (started.exitCode !== null) throw new Error(`${command} ended with ${started.exitCode}`);
        if (await answers().catch(() => false)) return;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error(`${command} does not answer`);
    },
  };
}
