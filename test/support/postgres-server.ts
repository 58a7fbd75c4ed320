/** Real PostgreSQL servers on free loopback ports, each with a folder of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';
import type { Scope } from './run-servers.ts';

/** Debian keeps the server's programs outside of the path, a folder for each version. */
const FOLDER = '/usr/lib/postgresql';
const PROGRAMS = existsSync(FOLDER)
  ? readdirSync(FOLDER)
      .sort((a, b) => Number(a) - Number(b))
      .map((version) => join(FOLDER, version, 'bin'))
      .findLast((folder) => existsSync(join(folder, 'initdb')))
  : undefined;

/** Options of a test that needs PostgreSQL: says loudly that it is skipped where there is none. */
export const NEEDS_POSTGRES =
  PROGRAMS === undefined ? { skip: 'PostgreSQL is not there: apt-get install postgresql' } : {};

/** A server process. */
export interface PostgresServer {
  readonly port: number;
  /** The line for `storage.postgres.url` of a database, as the superuser of the server. */
  url(database: string): string;
  /** Ends the server as `pg_ctl stop -m fast` does, and waits. */
  stop(): Promise<void>;
  /** Starts it again on its port, with what was in it. */
  start(): Promise<void>;
  /** Stops or continues every process of the server by a signal. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

const READY_MS = 45_000;
/** The password of the superuser `upbeat`. A text that must be found nowhere. */
export const PASSWORD = 'p@ss/w0rd-of-a-test';

/** Starts a server; it is ended after the test. `durable`: commits wait for the disk. `password`: it asks for one. */
export async function startPostgres(
  scope: Scope,
  { durable = false, password = false }: { readonly durable?: boolean; readonly password?: boolean } = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-postgres-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? userOf('postgres') : {};
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${PASSWORD}\n`);
  const programs = PROGRAMS ?? '';
  const settings = [
    '-D',
    data,
    '-U',
    'upbeat',
    '-A',
    password ? 'scram-sha-256' : 'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
  ];
  execFileSync(join(programs, 'initdb'), [...settings, `--pwfile=${passwordFile}`], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const port = await freePort();
  let child: ChildProcess | null = null;
  const url = (database: string) => postgresUrl(port, database);
  const server: PostgresServer = {
    port,
    url,
    async stop() {
      const running = child;
      child = null;
      // It may have been killed meanwhile.
      if (running === null || running.exitCode !== null || running.signalCode !== null) return;
      const ended = once(running, 'exit');
      // Ends the connections too, and writes everything to its files.
      running.kill('SIGINT');
      await ended;
    },
    async start() {
      const options = [
        '-c',
        `port=${port}`,
        '-c',
        'listen_addresses=127.0.0.1',
        '-c',
        `unix_socket_directories=`,
      ];
      const fast = durable ? [] : ['-c', 'fsync=off', '-c', 'synchronous_commit=off'];
      child = spawn(join(programs, 'postgres'), ['-D', data, ...options, ...fast], {
        ...user,
        cwd: folder,
        stdio: 'ignore',
      });
      await untilReady(url('postgres'));
    },
    signal(name) {
      for (const pid of processesOf(child?.pid ?? 0)) process.kill(pid, name);
    },
  };
  scope.teardown(() => server.stop());
  await server.start();
  return server;
}

/** The line for `storage.postgres.url` of a database on the server at `port`. */
export function postgresUrl(port: number, database: string): string {
  return `postgres://upbeat:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;
}

/** Makes an empty database on a server. */
export async function createDatabase(url: string, name: string, options = ''): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE "${name}" ${options}`);
  await client.end();
}

function userOf(name: string): { readonly uid?: number; readonly gid?: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** A server and the processes that it has started. */
function processesOf(pid: number): number[] {
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return [
    pid,
    ...children
      .split('\n')
      .map(Number)
      .filter((one) => one > 0),
  ];
}
