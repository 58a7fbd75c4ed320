/** Real PostgreSQL servers on free loopback ports, each with a folder of its own. */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { type CertificatePair, TEST_CA_FILE } from './certificates.ts';
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
  /** Its folder, with the certificate and its key where it has one. */
  readonly folder: string;
  /** The line for `storage.postgres.url` of a database, as the superuser of the server. */
  url(database: string): string;
  /** Ends the server as `pg_ctl stop -m fast` does, and waits. */
  stop(): Promise<void>;
  /** Ends the server as a crash does: nothing is written or sent any more. */
  crash(): Promise<void>;
  /** Starts it again on its port, with what was in it. */
  start(): Promise<void>;
  /** Makes a standby the primary. */
  promote(): Promise<void>;
  /** Stops or continues every process of the server by a signal. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

/** What a server is like. */
export interface PostgresOptions {
  /** Commits wait for the disk. */
  readonly durable?: boolean;
  /** It asks for the password. */
  readonly password?: boolean;
  /** Pages of its files have checksums. */
  readonly checksums?: boolean;
  /** Settings of the server beside its usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
  /** It speaks TLS with this certificate, which must be for 127.0.0.1, and refuses clients without. */
  readonly certificate?: CertificatePair;
  /** It begins as a standby of this server, and copies it all the time. */
  readonly standbyOf?: PostgresServer;
  /** What starts it, such as in a namespace. */
  readonly enter?: readonly string[];
  /** It listens on all addresses of a network that this process may not reach, and it is not waited for. */
  readonly isRemote?: boolean;
  /** Folder of its data, on a disk that may be full; its write-ahead log is elsewhere. Default: one for all. */
  readonly data?: string;
}

const READY_MS = 45_000;
const execute = promisify(execFile);
/** The password of the superuser `upbeat`. A text that must be found nowhere. */
export const PASSWORD = 'p@ss/w0rd-of-a-test';
const PROGRAM_FOLDER = PROGRAMS ?? '';
/** What a URL says to trust the servers of tests. */
const TLS = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(TEST_CA_FILE)}`;

/** Starts a server; it is ended after the test. */
export async function startPostgres(scope: Scope, options: PostgresOptions = {}): Promise<PostgresServer> {
  const { durable = false, enter = [], isRemote = false, certificate, settings = {}, standbyOf } = options;
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-postgres-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? userOf('postgres') : null;
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const { data = join(folder, 'data') } = options;
  // What enters a namespace needs the rights of root until then.
  const enterAsUser =
    user === null || enter.length === 0
      ? enter
      : [...enter, 'setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const asUser = enter.length === 0 ? user : null;
  const commandOf = (program: string, args: readonly string[]): [string, string[]] => {
    const [first = '', ...rest] = [...enterAsUser, join(PROGRAM_FOLDER, program), ...args];
    return [first, rest];
  };
  // Other tests of the file go on meanwhile.
  const run = (program: string, ...args: readonly string[]) =>
    execute(...commandOf(program, args), {
      ...asUser,
      cwd: folder,
      env: { ...process.env, PGPASSWORD: PASSWORD },
    });
  if (options.data !== undefined && user !== null) {
    const words = ['install', '-d', '-m', '700', '-o', String(user.uid), '-g', String(user.gid), data];
    const [first = '', ...rest] = [...enter, ...words];
    execFileSync(first, rest);
  }
  if (standbyOf === undefined) await initialize(run, folder, data, options);
  else
    await run(
      'pg_basebackup',
      '-D',
      data,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '-d',
      standbyOf.url('postgres'),
    );
  if (certificate !== undefined) {
    for (const [name, text] of [
      ['server.crt', certificate.cert],
      ['server.key', certificate.key],
    ] as const) {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      if (user !== null) chownSync(join(folder, name), user.uid, user.gid);
    }
  }
  const port = await freePort();
  const all: Readonly<Record<string, string>> = {
    port: String(port),
    listen_addresses: isRemote ? '*' : '127.0.0.1',
    unix_socket_directories: '',
    ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off' }),
    ...(certificate === undefined
      ? {}
      : { ssl: 'on', ssl_cert_file: join(folder, 'server.crt'), ssl_key_file: join(folder, 'server.key') }),
    ...settings,
  };
  const words = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let child: ChildProcess | null = null;
  const tls = certificate === undefined ? '' : TLS;
  const url = (database: string) => postgresUrl(port, database) + tls;
  const end = async (signal: NodeJS.Signals) => {
    const running = child;
    child = null;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill(signal);
    await ended;
  };
  const server: PostgresServer = {
    port,
    folder,
    url,
    // Ends the connections too, and writes everything to its files.
    stop: () => end('SIGINT'),
    crash: () => end('SIGQUIT'),
    async start() {
      child = spawn(...commandOf('postgres', ['-D', data, ...words]), {
        ...asUser,
        cwd: folder,
        stdio: ['ignore', 'ignore', openSync(join(folder, 'log'), 'a')],
      });
      if (!isRemote) await untilReady(url('postgres'));
    },
    async promote() {
      await run('pg_ctl', 'promote', '-w', '-s', '-D', data);
    },
    signal(name) {
      for (const pid of processesOf(child?.pid ?? 0)) {
        try {
          process.kill(pid, name);
        } catch (error) {
          // It has ended by now.
          if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
        }
      }
    },
  };
  scope.teardown(async () => {
    if (child !== null) server.signal('SIGCONT');
    await server.stop();
  });
  await server.start();
  return server;
}

/** Where a run has the files of a new server, to be copied: `initdb` takes ten times as long. */
export const NEW_POSTGRES = 'UPBEAT_TEST_NEW_POSTGRES';

/** Makes the files of a new server for {@link NEW_POSTGRES}, and returns their folder. */
export async function makeNewPostgres(scope: Scope): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-new-postgres-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const user = process.getuid?.() === 0 ? userOf('postgres') : null;
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const run = (program: string, ...args: readonly string[]) =>
    execute(join(PROGRAM_FOLDER, program), args, { ...user, cwd: folder });
  await initialize(run, folder, data, {});
  return data;
}

/** Makes the files of a server. */
async function initialize(
  run: (program: string, ...args: readonly string[]) => Promise<unknown>,
  folder: string,
  data: string,
  { password = false, checksums = false, certificate, isRemote = false, data: separate }: PostgresOptions,
): Promise<void> {
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${PASSWORD}\n`);
  const method = password ? 'scram-sha-256' : 'trust';
  const locale = ['-E', 'UTF8', '--locale=C', '--no-sync', `--pwfile=${passwordFile}`];
  const log = separate === undefined ? [] : [`--waldir=${join(folder, 'wal')}`];
  const made = checksums || separate !== undefined ? undefined : process.env[NEW_POSTGRES];
  const rules = join(data, 'pg_hba.conf');
  if (made === undefined) {
    const words = ['-A', method, ...locale, ...(checksums ? ['-k'] : []), ...log];
    await run('initdb', '-D', data, '-U', 'upbeat', ...words);
  } else {
    await execute('cp', ['-a', made, data]);
    writeFileSync(rules, readFileSync(rules, 'utf8').replaceAll('trust', method));
  }
  if (certificate !== undefined) writeFileSync(rules, `hostssl all all all ${method}\n`);
  else if (isRemote) appendFileSync(rules, `host all all all ${method}\n`);
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

function userOf(name: string): { readonly uid: number; readonly gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Waits until a server takes connections. */
export async function untilReady(url: string): Promise<void> {
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
  // A status other than 0 says that there are none.
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return [
    pid,
    ...stdout
      .split('\n')
      .map(Number)
      .filter((one) => one > 0),
  ];
}

/** Executes statements, and returns the rows of the last one. */
export async function executeSql(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end().catch(() => {});
  return rows;
}
