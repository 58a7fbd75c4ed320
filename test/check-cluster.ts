/**
 * `npm run check:cluster`: runs the commands of "Three machines from nothing" in docs/cluster.md, word for word, on three
 * machines: network namespaces with the addresses 10.0.0.1 to 10.0.0.3, of which the first one has fresh files of
 * PostgreSQL and Redis. Needs root, and Debian's packages of both servers; says so and does nothing without them. Only
 * `apt-get`, `systemctl` and `npm ci` are stood in for. Nothing of it outlives the script. `npm run check:cluster -- moving`
 * first runs a single process on the first machine, and moves it over as the document says.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasProgram } from './support/install-servers.ts';
import { withNamespaces } from './support/network-namespaces.ts';

const ROOT = join(import.meta.dirname, '..');
const MAX_COMMANDS = 10;
/** Of each step, on a machine that is busy with other things. */
const READY_MS = 300_000;
const POLL_MS = 1_000;
/** Names and regions; the document has the first. */
const MACHINES = [
  { name: 'eu-1', region: 'eu' },
  { name: 'us-1', region: 'us' },
  { name: 'ap-1', region: 'ap' },
] as const;
/** What packages and servers write to: fresh on the first machine. */
const FRESH = [
  '/etc/postgresql',
  '/var/lib/postgresql',
  '/var/log/postgresql',
  '/run/postgresql',
  '/run/netns',
];

if (process.argv[2] === 'inside') await tryCommands(process.argv[3] ?? '');
else enter();

/** Runs this script again in namespaces of its own: network, mounts and processes. */
function enter(): void {
  const missing = ['pg_createcluster', 'redis-server', 'ip'].filter((program) => !hasProgram(program));
  const obstacle = missing.length > 0 ? `${missing.join(', ')} is not there` : withNamespaces.skip;
  if (obstacle !== undefined) {
    console.log(`docs/cluster.md: the commands were NOT run: ${obstacle}`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-machines-'));
  chmodSync(folder, 0o755);
  const own = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const command = [
    ...own,
    process.execPath,
    import.meta.filename,
    'inside',
    folder,
    ...process.argv.slice(2),
  ];
  process.exitCode = spawnSync('unshare', command, { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
  rmSync(folder, { recursive: true, force: true });
}

async function tryCommands(folder: string): Promise<void> {
  const [servers = [], nodes = [], list = []] = readCommands('Three machines from nothing');
  const count = servers.length + nodes.length + list.length;
  check(count <= MAX_COMMANDS, `the document has ${count} commands, not ${MAX_COMMANDS}`);
  makeMachines(folder);

  let key = '';
  for (const command of servers) key = run(0, folder, command).trim();
  check(/^[0-9a-f]{64}$/.test(key), `the last command prints a key, not ${key}`);
  const moved = process.argv[4] === 'moving';
  if (moved) key = move(folder);
  const [install = '', settings = '', start = ''] = nodes.map((command) => command.replace('the-key', key));
  check(install === 'npm ci', `no rule runs "${install}"`);
  for (const [machine, { name, region }] of MACHINES.entries()) {
    const own = start.replace('=eu-1', `=${name}`).replace('=eu ', `=${region} `);
    open(machine, folder, `${settings}\n${own}`);
  }

  const rolesOf = () => MACHINES.map((_, machine) => readRole(machine, folder));
  const isMonitor = (role: string | null) => role === 'monitor';
  await until(folder, 'all nodes serve', () => !rolesOf().includes(null));
  await until(folder, 'one of them is the monitor', () => rolesOf().filter(isMonitor).length === 1);
  let shown = '';
  await until(folder, 'all nodes are listed', () => {
    shown = run(1, folder, `${settings}\n${list.join('\n')}`);
    return MACHINES.every(({ name }) => shown.includes(`\n${name} `));
  });
  if (moved) {
    const keys = run(2, folder, `${settings}\nnpx upbeat keys list`);
    check(keys.includes('laptop'), `the key was not moved: ${keys}`);
  }
  console.log(`${shown}docs/cluster.md: ${count} commands, ${MACHINES.length} nodes, one monitor`);
  // Its processes end with this one, the first of their namespace.
  process.exit(0);
}

/** The commands of each block of a chapter. */
function readCommands(title: string): string[][] {
  const text = readFileSync(join(ROOT, 'docs/cluster.md'), 'utf8');
  const [, chapter = ''] = text.split(`\n## ${title}\n`);
  const [own = ''] = chapter.split('\n##');
  return [...own.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block.trim().split('\n'));
}

/**
 * "Moving": the first machine has run a single process. Copies its registry as the document says, and returns its key.
 */
function move(folder: string): string {
  run(
    0,
    folder,
    `node bin/upbeat.mjs start > /dev/null & program=$!
     until curl -sf localhost:8080/readyz > /dev/null; do sleep 1; done
     node bin/upbeat.mjs keys create --account me --name laptop
     kill $program; wait $program`,
  );
  const [[copy = ''] = []] = readCommands('Moving');
  run(0, folder, copy.replace('password@db.example.net', 'pg-word@10.0.0.1'));
  return readFileSync(join(folder, 'data-0', 'secret.key'), 'utf8').trim();
}

/** Makes the machines, and what stands in for the commands of the system. */
function makeMachines(folder: string): void {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  // What the installation of Debian's packages does at first.
  writeScript(join(bin, 'apt-get'), [
    '/usr/bin/apt-get --simulate "$@" > /dev/null',
    'pg_createcluster "$(ls /usr/lib/postgresql | sort -n | tail -1)" main > /dev/null',
    'systemctl restart postgresql redis-server',
  ]);
  writeScript(join(bin, 'systemctl'), [
    '[ "$*" = "restart postgresql redis-server" ]',
    'pg_ctlcluster "$(ls /etc/postgresql)" main restart',
    `[ ! -f ${folder}/redis.pid ] || { kill "$(cat ${folder}/redis.pid)"; while [ -f ${folder}/redis.pid ]; do sleep 0.1; done; }`,
    `redis-server /etc/redis/redis.conf --daemonize yes --dir ${folder} --pidfile ${folder}/redis.pid --logfile ${folder}/redis.log > /dev/null`,
  ]);
  const lines = [
    ...FRESH.map((path) => `mkdir -p ${path}; mount -t tmpfs -o mode=755 tmpfs ${path}`),
    'chown postgres:postgres /var/lib/postgresql /run/postgresql',
    `cp -r /etc/redis ${folder}/redis; mount --bind ${folder}/redis /etc/redis`,
    'ip link add bridge type bridge; ip link set bridge up',
  ];
  for (const number of MACHINES.keys())
    lines.push(
      `ip netns add m${number}; ip link add port${number} type veth peer name eth0 netns m${number}`,
      `ip link set port${number} master bridge up; ip -n m${number} link set lo up; ip -n m${number} link set eth0 up`,
      `ip -n m${number} address add 10.0.0.${number + 1}/24 dev eth0`,
    );
  const { status, stderr } = spawnSync('sh', ['-ec', lines.join('\n')], { encoding: 'utf8' });
  check(status === 0, stderr);
}

function writeScript(file: string, lines: readonly string[]): void {
  writeFileSync(file, ['#!/bin/sh', 'set -e', ...lines, ''].join('\n'), { mode: 0o755 });
}

/** How a shell is started on a machine. */
function shellOn(machine: number, folder: string, script: string) {
  const { UPBEAT_TEST_INSTALL: _, ...rest } = process.env;
  const env = {
    ...rest,
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    // All machines share this checkout.
    UPBEAT_STORAGE_DATADIR: join(folder, `data-${machine}`),
  };
  return { args: ['netns', 'exec', `m${machine}`, 'bash', '-ec', script], options: { cwd: ROOT, env } };
}

/** Runs commands on a machine to their end; returns what they print. */
function run(machine: number, folder: string, script: string): string {
  const { args, options } = shellOn(machine, folder, script);
  const { status, stdout, stderr } = spawnSync('ip', args, {
    ...options,
    encoding: 'utf8',
    timeout: READY_MS,
  });
  check(status === 0, `"${script}" ended with ${status}: ${stderr.slice(-1_000)}`);
  return stdout;
}

/** Starts commands that do not end, among processes of their own: no other machine can end a monitor that hangs. */
function open(machine: number, folder: string, script: string): void {
  const { args, options } = shellOn(machine, folder, script);
  const [netns = '', exec = '', name = '', ...command] = args;
  const own = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const log = openSync(logOf(folder, machine), 'w');
  spawn('ip', [netns, exec, name, ...own, ...command], { ...options, stdio: ['ignore', log, log] });
}

/** What a machine's program prints. */
function logOf(folder: string, machine: number): string {
  return join(folder, `machine-${machine}.log`);
}

/** The role that a machine reports; null: it does not answer. */
function readRole(machine: number, folder: string): string | null {
  const { args, options } = shellOn(machine, folder, 'curl -s -m 2 http://localhost:8080/readyz');
  const { status, stdout } = spawnSync('ip', args, { ...options, encoding: 'utf8' });
  return status === 0 ? (/"role":"(\w+)"/.exec(stdout)?.[1] ?? null) : null;
}

async function until(folder: string, what: string, isSo: () => boolean): Promise<void> {
  for (const deadline = performance.now() + READY_MS; !isSo(); await sleep(POLL_MS)) {
    if (performance.now() < deadline) continue;
    for (const machine of MACHINES.keys())
      console.error(readFileSync(logOf(folder, machine), 'utf8').slice(-2_000));
    check(false, `not within ${READY_MS / 1_000} s: ${what}`);
  }
}

function check(isSo: boolean, problem: string): void {
  if (isSo) return;
  console.error(`docs/cluster.md: ${problem}`);
  process.exit(1);
}
