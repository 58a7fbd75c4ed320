/** Checks of SSH servers against OpenSSH, and doubles that turn the client away. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openProbe } from '../probe/try-probe.ts';
import { freePort } from '../support/free-port.ts';
import { installServers } from '../support/install-servers.ts';
import { listenRaw } from '../support/loopback.ts';

const GOOD = { answered: true, statusCode: 0, failure: null, via: 'ssh', suspect: null, blocked: false };
const ssh = (port: number) => ({ check: { kind: 'ssh', settings: { port } } as const });

const isMissing = (await installServers(['openssh-server'])).length > 0 || process.getuid?.() !== 0;
const NEEDS_SSH = isMissing ? { skip: 'OpenSSH is not there: apt-get install openssh-server, as root' } : {};

/** Starts OpenSSH; `log` returns what it has written. */
async function startSsh(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-ssh-'));
  const key = join(folder, 'key');
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const port = await freePort();
  const lines = [`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${key}`, 'PidFile none', 'UsePAM no'];
  writeFileSync(join(folder, 'config'), `${lines.join('\n')}\n`);
  const server = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(folder, 'config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  t.teardown(async () => {
    const ended = once(server, 'exit');
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  while (!log.includes('Server listening')) await once(server.stderr, 'data');
  return { port, log: () => log };
}

t.test('it begins a session with OpenSSH, and ends it', NEEDS_SSH, async (t) => {
  const { port, log } = await startSsh(t);
  const probe = openProbe(t);
  const attempt = await probe(null, ssh(port));
  t.match(attempt, { ...GOOD, certificateExpiresAt: null });
  t.ok((attempt.timing.firstByteMs ?? 0) > 0 && attempt.responseTimeMs !== null);
  while (!/disconnect/i.test(log())) await new Promise((resolve) => setTimeout(resolve, 20));
  t.match(log(), /(?:Received disconnect|Disconnected) from 127\.0\.0\.1/, 'in its own words');
  t.notMatch(log(), /error:|Bad packet|invalid format|Corrupted/i);
});

t.test('a server that turns the client away is not down', async (t) => {
  const probe = openProbe(t);
  const rows = [
    ['Not allowed at this time\r\n', { failure: null, blocked: true }],
    [
      'Exceeded MaxStartups\r\n',
      { failure: { class: 'content', detail: 'the server answers with an error: Exceeded MaxStartups' } },
    ],
    [
      'SSH-1.5-old\r\n',
      { failure: { class: 'protocol', detail: 'the answer is not SSH (it begins with "SSH-1.5-old")' } },
    ],
    ['SSH-2.0-x\r\n\u0000\u0000\u0000\u0010\u0004\u0015aaaaaaaaaaaaaaaa', { failure: { class: 'protocol' } }],
    [
      'Gr\u00fc\u00dfe vom\r\nHost\r\nSSH-2.0-x\r\n\u0000\u0000\u0000\u0010\u0004\u0014aaaaaaaaaaaaaaaa',
      GOOD,
    ],
    ['Welcome\r\nto the host\r\nSSH-2.0-x\r\n\u0000\u0000\u0000\u0010\u0004\u0014aaaaaaaaaaaaaaaa', GOOD],
  ] as const;
  for (const [greeting, expected] of rows) {
    const { port, close } = await listenRaw((socket) => void socket.write(greeting));
    t.teardown(close);
    t.match(await probe(null, ssh(port)), { answered: true, ...expected }, greeting);
  }
});
