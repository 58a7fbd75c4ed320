/** `icmp` checks by the system's ping: on loopback, on a network that loses packets, and where ping cannot be used. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Attempt } from '../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { openProbe } from '../probe/try-probe.ts';
import { installServers } from '../support/install-servers.ts';
import { startNameServer } from '../support/name-server.ts';
import { openNetwork, SILENT_ADDRESS, withNamespaces } from '../support/network-namespaces.ts';
import { install } from '../support/program.ts';

const isMissing = (await installServers(['iputils-ping'])).length > 0;
const withPing = isMissing ? { skip: 'there is no ping: apt-get install iputils-ping' } : {};
const check = { kind: 'icmp' } as const;
const up = { answered: true, statusCode: 0, failure: null, via: 'icmp', suspect: null };

t.test('a host that replies is up', withPing, async (t) => {
  const probe = openProbe(t);
  const attempt = await probe(null, { check });
  t.match(attempt, up);
  const { dnsMs, connectMs, tlsMs, firstByteMs, totalMs } = attempt.timing;
  t.same([dnsMs, connectMs, tlsMs], [null, null, null]);
  t.ok(firstByteMs !== null && firstByteMs > 0 && totalMs === firstByteMs);
});

t.test('it resolves names, and asks the guard for each address', withPing, async (t) => {
  const server = await startNameServer(({ name, type }) => {
    const addresses = { A: ['10.9.9.9'], AAAA: ['::1'], TXT: [], other: [] }[type];
    if (name === 'four.demo.test') return type === 'A' ? { addresses: ['127.0.0.1'] } : { code: 0 };
    if (name === 'six.demo.test') return { addresses };
    if (name === 'inside.demo.test') return type === 'A' ? { addresses } : { code: 0 };
    if (name === 'silent.demo.test') return 'silence';
    return { code: name === 'broken.demo.test' ? 2 : 3 };
  });
  t.teardown(server.close);
  const probe = openProbe(t, { nameservers: [server.address], allowPrivate: ['127.0.0.1/32', '::1/128'] });
  const forbidden = (detail: string) => ({
    answered: false,
    failure: { class: 'forbidden_address', phase: 'connect', detail },
  });
  const rows: readonly (readonly [string, object])[] = [
    ['four.demo.test', { ...up, timing: { dnsMs: Number, firstByteMs: Number } }],
    ['six.demo.test', up],
    ['inside.demo.test', forbidden('the name leads to an address that is not public')],
    ['10.9.9.9', forbidden('10.9.9.9 is not public (private)')],
    ['gone.demo.test', { answered: false, failure: { class: 'dns', detail: 'the name does not exist' } }],
    ['broken.demo.test', { answered: false, failure: { class: 'dns', phase: 'dns' } }],
    ['silent.demo.test', { answered: false, failure: { class: 'timeout', phase: 'dns' } }],
  ];
  for (const [domain, expected] of rows) {
    const timeoutMs = domain.startsWith('silent') ? 300 : 20_000;
    t.match(await probe(null, { domain, check, timeoutMs }), expected, domain);
  }
  t.match(await probe(null, { domain: 'four.demo.test', origin: 'owner', check }), { answered: false });
});

t.test('a host of which one address is dead is up', withPing, async (t) => {
  // No packet leaves this machine: this ping stands for the networks behind the two dead addresses.
  const { PATH = '' } = process.env;
  const script = [
    ...['#!/bin/sh', 'for last; do :; done', 'case "$last" in'],
    '203.0.113.1) echo "From 10.0.0.1 icmp_seq=1 Destination Host Unreachable"; exit 1;;',
    ...['203.0.113.2) exec sleep 60;;', 'esac', `PATH='${PATH}' exec ping "$@"`],
  ];
  const folder = t.testdir();
  writeFileSync(join(folder, 'ping'), script.join('\n'), { mode: 0o755 });
  process.env.PATH = `${folder}:${PATH}`;
  t.teardown(() => {
    process.env.PATH = PATH;
  });
  const server = await startNameServer(({ name, type }) => {
    if (type === 'AAAA') return name.startsWith('dead') ? { code: 0 } : { addresses: ['::1'] };
    return { addresses: [name.startsWith('silent') ? '203.0.113.2' : '203.0.113.1'] };
  });
  t.teardown(server.close);
  const probe = openProbe(t, { nameservers: [server.address], allowPrivate: ['203.0.113.0/24', '::1/128'] });
  t.match(await probe(null, { domain: 'next.demo.test', check, timeoutMs: 20_000 }), up);
  let silent = await probe(null, { domain: 'silent.demo.test', check, timeoutMs: 4_000 });
  for (let tries = 0; !silent.answered && tries < 2; tries++)
    silent = await probe(null, { domain: 'silent.demo.test', check, timeoutMs: 8_000 });
  t.match(silent, up, 'the other address gets the end of the time');
  t.match(await probe(null, { domain: 'dead.demo.test', check, timeoutMs: 20_000 }), {
    answered: false,
    failure: { class: 'unreachable' },
    suspect: null,
  });
});

/** What a process that makes checks elsewhere prints. */
interface Printed {
  readonly attempts: readonly Attempt[];
  /** Why it cannot make such checks. */
  readonly obstacle: object | null;
  /** Numbers of its child processes afterwards. */
  readonly children: string;
}

const SOURCE = JSON.stringify(join(import.meta.dirname, '../../src'));
/** A program that checks the addresses of its arguments with a timeout of 1.5 s. */
const PROGRAM = `
  import { readFileSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  const { createProber } = await import(${SOURCE} + '/probe/prober.ts');
  const { examinePing } = await import(${SOURCE} + '/outbound/ping.ts');
  const { NO_MEMORY } = await import(${SOURCE} + '/domain/result.ts');
  const { DEFAULT_CHECK } = await import(${SOURCE} + '/domain/service.ts');
  const prober = createProber({
    version: '1', siteUrl: 'https://status.example', ports: [], nameservers: [], ownersMayProbePrivate: false,
    allowPrivate: ['127.0.0.0/8', '10.77.0.0/16', '192.0.2.0/24'], concurrency: 8,
  });
  const check = { ...DEFAULT_CHECK, kind: 'icmp' };
  const attempts = await Promise.all(process.argv.slice(1).map((domain, slot) => prober.runAttempt(
    { serviceId: slot + 1, revision: 1, domain, origin: 'catalogue', memory: NO_MEMORY, lastCheckedAt: null, check },
    { timeoutMs: 1_500, number: 0, slot, signal: new AbortController().signal },
  )));
  const childrenNow = () => readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8');
  for (let tries = 0; childrenNow() !== '' && tries < 200; tries++) await setTimeout(10);
  console.log(JSON.stringify({ attempts, obstacle: examinePing(), children: childrenNow() }));
  await prober.close();
`;
const programOf = (...addresses: readonly string[]) => [
  '--input-type=module',
  '--eval',
  PROGRAM,
  ...addresses,
];

async function outputOf<T = Printed>(child: ChildProcess): Promise<T> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  await once(child, 'close');
  return JSON.parse(output);
}

const skips = { ...withPing, ...withNamespaces };

t.test('it tells of hosts that do not reply, and leaves no ping behind', skips, async (t) => {
  const network = await openNetwork(t);
  const [here, there, cut] = [await network.add(), await network.add(), await network.add()];
  cut.cut();
  const addresses = [there.address, cut.address, SILENT_ADDRESS, '192.0.2.1'];
  const child = here.spawn(process.execPath, programOf(...addresses), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { attempts, obstacle, children } = await outputOf(child);
  const silent = {
    ...{ answered: false, suspect: null, responseTimeMs: null },
    failure: { class: 'timeout', phase: 'first_byte', cause: { code: 'timeout', timeoutMs: 1_500 } },
  };
  t.match(attempts, [
    up,
    silent,
    silent,
    {
      ...{ answered: false, suspect: null },
      failure: {
        class: 'unreachable',
        cause: { code: 'host_unreachable', error: 'Destination Net Unreachable' },
      },
    },
  ]);
  t.same({ obstacle, children }, { obstacle: null, children: '' });
});

t.test('where ping may not send, that is a fault of ours, with what to do', skips, async (t) => {
  const network = await openNetwork(t);
  const here = await network.add();
  const without = ['--bounding-set', '-net_raw', '--no-new-privs', process.execPath];
  const child = here.spawn('setpriv', [...without, ...programOf(here.address)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { attempts, obstacle } = await outputOf(child);
  t.match(attempts, [
    { answered: false, suspect: 'own_fault', failure: { cause: { code: 'ping_refused' } } },
  ]);
  t.match(obstacle, { code: 'ping_refused', error: /\S/ });
});

t.test('without ping, that is a fault of ours, with what to install', async (t) => {
  const child = spawn(process.execPath, programOf('127.0.0.1'), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: pathWithoutPing(t) },
  });
  const { attempts, obstacle } = await outputOf(child);
  t.match(attempts, [
    { answered: false, suspect: 'own_fault', failure: { cause: { code: 'ping_missing' } } },
  ]);
  t.same(obstacle, { code: 'ping_missing' });
});

/** A PATH on which there is `env` alone. */
function pathWithoutPing(t: Test): string {
  const PATH = t.testdir({});
  symlinkSync('/usr/bin/env', join(PATH, 'env'));
  return PATH;
}

t.test('without ping, commands refuse the kind, and doctor says what to install', async (t) => {
  const names = await startNameServer(() => ({ addresses: ['192.0.2.1'] }));
  t.teardown(names.close);
  const installation = await install([], { checks: { controlTargets: [], nameservers: [names.address] } });
  t.teardown(() => installation.remove());
  await installation.withRegistry(async (registry) => {
    const { id: accountId } = await registry.ensureAccount('ops', 1);
    const check = { ...DEFAULT_CHECK, kind: 'icmp' } as const;
    const added = await registry.addServices([
      {
        ...{ name: 'Host', domain: 'host.example.com', category: 'developer', origin: 'owner', accountId },
        ...{ verified: true, paused: false, check, statusPage: null },
      },
    ]);
    t.match(added, [{ slug: 'host-example-com' }]);
  });
  const commands = [
    ['services', 'add', 'other.example.com', '--account', 'ops', '--kind', 'icmp'],
    ['services', 'set', 'host-example-com', '--kind', 'icmp', '--name', 'The host'],
    ['doctor'],
  ].map((words) => [...words, '--config', join(installation.folder, 'upbeat.yaml')]);
  const program = `
    const { runCommandHere } = await import(${JSON.stringify(join(import.meta.dirname, '../cli/run-command.ts'))});
    const results = [];
    for (const words of ${JSON.stringify(commands)}) results.push(await runCommandHere(words));
    console.log(JSON.stringify(results));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: pathWithoutPing(t) },
  });
  const advice = 'this machine has no ping: install the package iputils-ping';
  t.match(await outputOf(child), [
    { status: 2, stderr: `Checks of the kind icmp are not possible here: ${advice}.` },
    { status: 0, stderr: /is changed/ },
    {
      status: 1,
      stdout: new RegExp(`FIX +checks +1 services have checks of the kind icmp.*\\n?.*${advice}`),
    },
  ]);
});
