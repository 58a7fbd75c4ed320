/** `upbeat nodes`. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { stringify } from 'yaml';
import { systemClock } from '../../src/clock.ts';
import { ClusterNodes } from '../../src/cluster/nodes.ts';
import { requireRedisAddress } from '../../src/domain/store-address.ts';
import { silentLog } from '../../src/log.ts';
import { install } from '../support/program.ts';
import { NEEDS_REDIS, startRedis } from '../support/redis-server.ts';
import { useRedis } from '../support/run-servers.ts';
import { runCommandHere } from './run-command.ts';

const CLI = join(import.meta.dirname, '../../bin/upbeat.mjs');

/** Joins a node; it leaves after the test. */
async function joinNode(
  t: Test,
  url: string,
  name: string,
  offsetMs = 0,
  offlineSince: number | null = null,
  reachesRegistry = true,
) {
  const address = requireRedisAddress(url);
  const node = await ClusterNodes.join({
    address,
    self: {
      ...{ name, region: 'eu', roles: ['probe', 'serve'], version: '1.2.3' },
      ...{ host: 'alpha', pid: 7, process: null },
    },
    report: () => ({
      ...{ services: 3, checksPerSecond: 0.75 },
      ...{ online: offlineSince === null, offlineSince, reachesRegistry },
    }),
    onNameTaken: () => t.fail(`${name} lost its name`),
    clock: { ...systemClock, now: () => systemClock.now() + offsetMs },
    log: silentLog,
  });
  t.teardown(() => node.leave());
  node.begin();
}

/** The lines that a command prints on a terminal of that many columns, without colours. */
async function runOnTerminal(columns: number, args: readonly string[]): Promise<readonly string[]> {
  const words = [process.execPath, CLI, ...args].map((word) => `'${word}'`).join(' ');
  const command = `stty cols ${columns} rows 24; exec ${words}`;
  const { NODE_OPTIONS: _, ...env } = process.env;
  const options = { env: { ...env, NO_COLOR: '1' } };
  const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], options);
  return stdout.replaceAll('\r', '').split('\n');
}

function writeConfig(t: Test, redisUrl: string): string {
  const file = join(t.testdir(), 'upbeat.yaml');
  const postgres = { url: 'postgres://upbeat@127.0.0.1:9/upbeat' };
  writeFileSync(file, stringify({ storage: { postgres, redis: { url: redisUrl } } }));
  return file;
}

t.test('it lists the nodes of a cluster, and names those that need attention', NEEDS_REDIS, async (t) => {
  const { url, prefix } = await useRedis(t);
  const redisUrl = `${url}?prefix=${prefix}`;
  const config = writeConfig(t, redisUrl);
  t.same(await runCommandHere(['nodes', '--config', config]), {
    status: 0,
    stdout: '',
    stderr: 'No node is alive.\n',
  });
  const offlineSince = Date.UTC(2026, 10, 22);
  await Promise.all([
    joinNode(t, redisUrl, 'eu-1'),
    joinNode(t, redisUrl, 'eu-2', -5_000),
    joinNode(t, redisUrl, 'eu-3', 0, offlineSince, false),
  ]);
  // Their entries say that they have begun within a renewal.
  let json = '[]';
  for (let tries = 0; tries < 200 && (JSON.parse(json) as unknown[]).length < 3; tries++)
    json = (await runCommandHere(['nodes', '--json', '--config', config])).stdout;
  const nodes = JSON.parse(json) as Record<string, unknown>[];
  const { clock_offset_ms: offset, since, last_seen: seen, ...rest } = nodes[0] ?? {};
  t.same(rest, {
    ...{ name: 'eu-1', region: 'eu', roles: ['probe', 'serve'], version: '1.2.3', host: 'alpha', pid: 7 },
    ...{ services: 3, checks_per_second: 0.75, online: true, offline_since: null },
  });
  t.ok(Math.abs(Number(offset)) < 1_000);
  for (const time of [since, seen])
    t.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000, 'ISO 8601');
  t.match(nodes[2], { online: false, offline_since: /^2026-11-2[12]T/ });

  const { FORCE_COLOR } = process.env;
  process.env.FORCE_COLOR = '1';
  const { stdout, stderr } = await runCommandHere(['nodes', '--config', config]);
  if (FORCE_COLOR === undefined) delete process.env.FORCE_COLOR;
  else process.env.FORCE_COLOR = FORCE_COLOR;
  const [, first = '', second = '', third = ''] = stdout.replaceAll('\u001b', '').split('\n');
  t.match(first, /^eu-1 +eu +probe,serve .* 3 +0\.75 +\[32monline +\[39m +\[32mok\[39m$/);
  t.match(second, /\[31m-5\.\d s\[39m$/);
  t.match(third, /\[31moffline since 2026-11-2\S+ *\[39m/);
  const narrow = await runOnTerminal(80, ['nodes', '--config', config]);
  t.ok(
    narrow.every((line) => line.length <= 80),
    narrow.join('\n'),
  );
  t.match(narrow.slice(0, 6), [
    'eu-1 (eu): probe,serve',
    /^ {2}1\.2\.3, since 20[\d-]+ [\d:]+, seen \d\.\d s ago$/,
    '  3 services, 0.75 checks/s, online, clock ok',
    'eu-2 (eu): probe,serve',
    /^ {2}1\.2\.3, /,
    /^ {2}3 services, 0\.75 checks\/s, online, clock -5\.\d s$/,
  ]);
  t.match((await runOnTerminal(200, ['nodes', '--config', config]))[0], /^NAME +REGION +ROLES/);
  t.match(await runCommandHere(['secrets', 'rotate', '--config', config]), {
    status: 1,
    stderr: /stop all nodes first, .*: eu-1, eu-2, eu-3/,
  });
  t.match(
    stderr,
    /^warning: the clock of eu-2 is [45]\.\d s behind Redis' clock; synchronize it by NTP\nwarning: eu-3 does not reach PostgreSQL; it learns of no changes until it does\n$/,
  );
});

t.test('it fails if Redis does not respond', NEEDS_REDIS, async (t) => {
  const redis = await startRedis(t);
  await redis.stop();
  const config = writeConfig(t, `redis://127.0.0.1:${redis.port}`);
  const { status, stderr } = await runCommandHere(['nodes', '--config', config]);
  t.equal(status, 1);
  t.match(stderr, /^upbeat: Redis at 127\.0\.0\.1:\d+: .*ECONNREFUSED/);
});

t.test('it shows a process that is not part of a cluster', async (t) => {
  const installation = await install([], { node: { name: 'alone', region: 'eu' } });
  t.teardown(() => installation.remove());
  const note = /not clustered: storage\.postgres\.url and storage\.redis\.url are not both set/;
  const before = await installation.runHere('nodes', '--json');
  t.match(JSON.parse(before.stdout), [{ name: 'alone', region: 'eu', online: null, last_seen: null }]);
  t.match(before.stderr, note);
  t.match(before.stderr, /Upbeat is not running, or does not respond at http:\/\/127\.0\.0\.1:\d+/);
  const program = await installation.start();
  t.teardown(() => program.killHard());
  t.match((await program.get('/readyz')).body, { node: 'alone', region: 'eu', nodes: { eu: 1 } });
  t.same((await program.get('/api/v1/regions')).body, {
    regions: [{ region: 'eu', online: true, nodes: 1 }],
  });
  const { status, stdout, stderr } = await installation.runHere('nodes', '--json');
  t.match(JSON.parse(stdout), [
    {
      ...{ name: 'alone', region: 'eu', roles: ['judge', 'probe', 'serve'], version: /^\d/, services: 0 },
      ...{ since: /^20/, last_seen: /^20/, checks_per_second: 0, online: true, offline_since: null },
    },
  ]);
  t.match([status, stderr], [0, note]);
});
