/** Checks of containers, against Podman, and doubles of Docker's Engine API at a socket and a port. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createRawServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openProbe, type Trial } from '../probe/try-probe.ts';
import { installServers } from '../support/install-servers.ts';
import { listenOn } from '../support/loopback.ts';

const isMissing = (await installServers(['podman'])).length > 0;
const NEEDS_PODMAN = isMissing ? { skip: 'Podman is not there: apt-get install podman' } : {};

const GOOD = { answered: true, statusCode: 200, failure: null, via: 'docker', suspect: null };
const content = (detail: string) => ({
  answered: true,
  failure: { class: 'content', detail },
  suspect: null,
});

function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-docker-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A double at a socket, whose containers have these states; what it was asked. */
async function startEngine(t: Test, states: Readonly<Record<string, unknown>>) {
  const socket = join(temporaryFolder(t), 'docker.sock');
  const asked: string[] = [];
  const server = createServer(answerOf(states, asked)).listen(socket);
  await once(server, 'listening');
  t.teardown(() => void server.close());
  return { socket, asked };
}

function answerOf(states: Readonly<Record<string, unknown>>, asked: string[]): RequestListener {
  return ({ method, url = '' }, response) => {
    asked.push(`${method} ${url}`);
    const name = /^\/containers\/([^/]+)\/json$/.exec(url)?.[1] ?? '';
    const State = states[name];
    response.writeHead(State === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
    response.end(
      JSON.stringify(State === undefined ? { message: 'No such container' } : { Id: name, State }),
    );
  };
}

/** The same at a port. */
async function listenAt(t: Test, states: Readonly<Record<string, unknown>>, asked: string[]) {
  const { port, close } = await listenOn(createServer(answerOf(states, asked)));
  t.teardown(close);
  return port;
}

const of = (container: string, more: object = {}): Trial => ({
  check: { kind: 'docker', settings: { container, ...more } },
});

t.test('a container that runs is up unless its health check says otherwise', async (t) => {
  const { socket, asked } = await startEngine(t, {
    plain: { Status: 'running', Running: true, ExitCode: 0 },
    none: { Status: 'running', Health: { Status: 'none', Log: null } },
    starting: { Status: 'running', Health: { Status: 'starting', Log: [] } },
    healthy: { Status: 'running', Health: { Status: 'healthy', Log: [{ Output: 'fine' }] } },
    sick: {
      Status: 'running',
      Health: { Status: 'unhealthy', Log: [{ Output: 'old' }, { Output: 'curl: (7)\nrefused' }] },
    },
    mute: { Status: 'running', Health: { Status: 'unhealthy' } },
    paused: { Status: 'paused', Paused: true, ExitCode: 0 },
    loops: { Status: 'restarting', ExitCode: 1 },
    ended: { Status: 'exited', ExitCode: 137 },
  });
  const probe = openProbe(t);
  for (const name of ['plain', 'none', 'starting', 'healthy'])
    t.match(await probe(null, of(name, { socket })), GOOD, name);
  const bad = {
    sick: 'the container is unhealthy (its health check says: curl: (7) refused)',
    mute: 'the container is unhealthy',
    paused: 'the container is not running (paused)',
    loops: 'the container is not running (restarting, exit code 1)',
    ended: 'the container is not running (exited, exit code 137)',
    gone: 'there is no container gone',
  };
  for (const [name, detail] of Object.entries(bad))
    t.match(await probe(null, of(name, { socket })), content(detail), name);
  t.equal(asked[0], 'GET /containers/plain/json');
  const { timing, responseTimeMs } = await probe(null, of('plain', { socket }));
  t.type(responseTimeMs, 'number');
  t.type(timing.connectMs, 'number');
});

t.test('what is wrong with the socket says nothing of the container', async (t) => {
  const probe = openProbe(t);
  const socket = join(temporaryFolder(t), 'none.sock');
  t.match(await probe(null, of('web', { socket })), {
    answered: false,
    suspect: 'own_fault',
    failure: { detail: `the socket ${socket} cannot be used here (ENOENT)` },
  });
});

t.test('an engine that does not answer, answers otherwise or without end is down, in time', async (t) => {
  const folder = temporaryFolder(t);
  const probe = openProbe(t);
  const rows: readonly (readonly [string, (socket: Socket) => void, object])[] = [
    ['silent', () => {}, { failure: { class: 'timeout' } }],
    ['no HTTP', (socket) => void socket.end('SSH-2.0-x\r\n'), { failure: { class: 'protocol' } }],
    [
      'a page',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>'),
      { failure: { class: 'protocol' } },
    ],
    [
      'another document',
      (socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n{"State":{"Status":[1]}}'),
      { failure: { class: 'protocol' } },
    ],
    [
      'a proxy that forbids it',
      (socket) => void socket.end('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n'),
      { suspect: 'own_fault' },
    ],
    [
      'an error',
      (socket) => void socket.end('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n'),
      { failure: { class: 'status' } },
    ],
    [
      'without end',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const timer = setInterval(() => socket.write(Buffer.alloc(100_000, 0x5b)), 1);
        socket.on('close', () => clearInterval(timer));
      },
      { failure: { class: 'protocol' } },
    ],
  ];
  for (const [name, speak, wanted] of rows) {
    const socket = join(folder, `${rows.findIndex(([one]) => one === name)}.sock`);
    const server = createRawServer((connection) => {
      connection.on('error', () => {});
      connection.once('data', () => speak(connection));
    }).listen(socket);
    await once(server, 'listening');
    const timeoutMs = name === 'silent' ? 300 : 20_000;
    t.match(await probe(null, { ...of('web', { socket }), timeoutMs }), { suspect: null, ...wanted }, name);
    server.close();
  }
});

t.test('the API at a port is asked as any server is', async (t) => {
  const port = await listenAt(t, { web: { Status: 'running' } }, []);
  const probe = openProbe(t);
  t.match(await probe(null, of('web', { port })), GOOD);
  t.match(await probe(null, of('other', { port })), content('there is no container other'));
});

t.test('an account that is not trusted reaches neither sockets nor ports', async (t) => {
  const { socket, asked } = await startEngine(t, { web: { Status: 'running' } });
  const port = await listenAt(t, { web: { Status: 'running' } }, asked);
  const probe = openProbe(t, { ownersMayProbePrivate: true });
  const refused = {
    answered: false,
    suspect: 'own_fault',
    failure: { detail: 'only checks of accounts that the operator trusts may ask for containers' },
  };
  for (const settings of [{ socket }, { port }])
    for (const trustedBy of [undefined, 2]) {
      const check = {
        kind: 'docker' as const,
        settings: { container: 'web', ...settings },
        ...(trustedBy === undefined ? {} : { trustedBy }),
      };
      t.match(await probe(null, { origin: 'owner', accountId: 1, check }), refused);
    }
  t.same(asked, []);
  const check = { kind: 'docker' as const, settings: { container: 'web', socket }, trustedBy: 1 };
  t.match(await probe(null, { origin: 'owner', accountId: 1, check }), GOOD);
});

t.test('Podman answers as Docker does', NEEDS_PODMAN, async (t) => {
  const folder = temporaryFolder(t);
  const socket = join(folder, 'podman.sock');
  const own = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  const podman = (...args: readonly string[]) =>
    spawn('podman', [...own, '--cgroup-manager', 'cgroupfs', ...args], { stdio: 'ignore' });
  const service = podman('system', 'service', '--time', '0', `unix://${socket}`);
  t.teardown(async () => {
    service.kill();
    await once(service, 'exit');
  });
  await once(podman('create', '--name', 'web', '--network', 'none', '--rootfs', folder, '/bin/true'), 'exit');
  while (!existsSync(socket)) {
    if (service.exitCode !== null) throw new Error('podman ended');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const probe = openProbe(t);
  t.match(await probe(null, of('web', { socket })), content('the container is not running (created)'));
  t.match(await probe(null, of('none', { socket })), content('there is no container none'));
});
