/** Real InfluxDB servers (Debian's 1.6), VictoriaMetrics and Prometheus on free loopback ports, with their data in a folder of the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import type { Scope } from './run-servers.ts';
import type { SmallDisk } from './small-disk.ts';

/** A server. */
export interface TestServer {
  readonly url: string;
  readonly process: ChildProcess;
  /** Asks the server to end, or kills it, and waits. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** What a server is started with. */
export interface ServerOptions {
  /** Folder of its data; a second start on the same folder goes on with them. */
  readonly folder: string;
  /** Default: any free port. */
  readonly port?: number;
  /** A disk at the folder `points` in `folder`, where it keeps its points. */
  readonly disk?: SmallDisk;
}

const READY_MS = 60_000;

/** Starts InfluxDB 1.6; it is ended after the test. With `user`, only that one may come in, with the password `secret`. */
export async function startInflux(
  t: Scope,
  { folder, port, disk }: ServerOptions,
  user?: string,
): Promise<TestServer> {
  const [http, rpc] = [port ?? (await freePort()), await freePort()];
  const points = join(folder, 'points');
  mkdirSync(points, { recursive: true });
  const [program = '', ...args] = [...(disk?.enter ?? []), 'influxd', '-pidfile', join(folder, 'pid')];
  const server = start(t, program, args, http, {
    INFLUXDB_HTTP_BIND_ADDRESS: `127.0.0.1:${http}`,
    INFLUXDB_BIND_ADDRESS: `127.0.0.1:${rpc}`,
    INFLUXDB_META_DIR: join(folder, 'meta'),
    INFLUXDB_DATA_DIR: join(points, 'data'),
    INFLUXDB_DATA_WAL_DIR: join(points, 'wal'),
    INFLUXDB_REPORTING_DISABLED: 'true',
    INFLUXDB_HTTP_LOG_ENABLED: 'false',
    INFLUXDB_MONITOR_STORE_ENABLED: 'false',
    INFLUXDB_HTTP_AUTH_ENABLED: user === undefined ? 'false' : 'true',
  });
  await untilAnswers(server, '/ping');
  if (user !== undefined) {
    await ask(server.url, `CREATE USER ${user} WITH PASSWORD 'secret' WITH ALL PRIVILEGES`);
  }
  return server;
}

/** Starts VictoriaMetrics, with `more` arguments; it is ended after the test. */
export async function startVictoria(
  t: Scope,
  { folder, port }: ServerOptions,
  more: readonly string[] = [],
): Promise<TestServer> {
  const http = port ?? (await freePort());
  const server = start(
    t,
    'victoria-metrics',
    [
      `-httpListenAddr=127.0.0.1:${http}`,
      `-storageDataPath=${folder}`,
      '-search.latencyOffset=0s',
      // It drops what is older than a month otherwise, by the machine's clock: libfaketime sets no Go program's. Two
      // days is the most that a test's clock may be ahead.
      '-retentionPeriod=100y',
      ...more,
    ],
    http,
    {},
  );
  await untilAnswers(server, '/health');
  return server;
}

/** Starts Prometheus with a file of configuration; it is ended after the test. */
export async function startPrometheus(
  t: Scope,
  { folder, port }: ServerOptions,
  configFile: string,
): Promise<TestServer> {
  const http = port ?? (await freePort());
  const args = [
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${folder}`,
    `--web.listen-address=127.0.0.1:${http}`,
  ];
  const server = start(t, 'prometheus', args, http, {});
  await untilAnswers(server, '/-/ready');
  return server;
}

/** Runs a statement that changes something, as a test's administrator does. */
export async function ask(
  url: string,
  statement: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const body = new URLSearchParams({ q: statement });
  const response = await fetch(`${url}/query`, { method: 'POST', body, headers });
  const text = await response.text();
  if (!response.ok || text.includes('"error"')) throw new Error(`${statement}: ${text}`);
  return text;
}

function start(
  t: Scope,
  program: string,
  args: readonly string[],
  port: number,
  env: Record<string, string>,
): TestServer {
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  t.teardown(() => stop('SIGKILL'));
  return { url: `http://127.0.0.1:${port}`, process: child, stop };
}

async function untilAnswers(
  { url, process: child }: Pick<TestServer, 'url' | 'process'>,
  path: string,
): Promise<void> {
  for (const deadline = performance.now() + READY_MS; performance.now() < deadline; ) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    const response = await fetch(url + path).catch(() => null);
    await response?.arrayBuffer();
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} does not answer`);
}
