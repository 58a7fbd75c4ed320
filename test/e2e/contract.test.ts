/**
 * The contract: every promise on the embedded stores; on Redis and InfluxDB 1.6, on Redis and VictoriaMetrics for
 * writing, and on a process that only serves beside the monitor those promises that depend on it (see `dependsOn`).
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistry } from '../../src/store/registry/open-registry.ts';
import { freePort } from '../support/free-port.ts';
import { hasProgram } from '../support/install-servers.ts';
import { install } from '../support/program.ts';
import { NEEDS_REDIS, until } from '../support/redis-server.ts';
import { useInflux, useRedis, useVictoria } from '../support/run-servers.ts';
import { type ContractWorld, createContractWorld, SITES, type SiteName } from './contract/contract-world.ts';
import { type Part, READING_PROMISES } from './contract/reading-promises.ts';
import { REPORTED_WORDS } from './contract/reported-words.ts';
import { WRITING_PROMISES } from './contract/writing-promises.ts';

t.jobs = 3;
/** Several times what it takes on a machine that has other things to do. */
t.setTimeout(300_000);
const needs = (...programs: readonly string[]) => {
  const missing = programs.filter((name) => !hasProgram(name));
  return { buffered: true, ...(missing.length > 0 ? { skip: `${missing.join(', ')} is not there` } : {}) };
};

interface ContractRun {
  readonly hasHistory: boolean;
  /** Which promises are tried: those that depend on one of these. Null: every one. */
  readonly parts: readonly Part[] | null;
  /** Whether those that depend on the role are tried on a further process too. */
  readonly beside: boolean;
}

/** Starts the program on stores, and tries promises; then on a further process, where there can be one. */
async function runContract(t: Test, storage: object, { hasHistory, parts, beside }: ContractRun) {
  const codes = new Map<SiteName, number>();
  let word = 'OK';
  const site = createServer((request, response) => {
    if (request.url === '/worded/health') {
      response.end(JSON.stringify({ status: word }));
      return;
    }
    const name = SITES.find((one) => request.url?.startsWith(`/${one}`));
    response.writeHead((name === undefined ? undefined : codes.get(name)) ?? 200).end();
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.teardown(() => site.close());
  const base = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const installation = await install(
    [
      { slug: 'quick', name: 'The quick one', category: 'cloud', check: { url: `${base}/quick` } },
      { slug: 'turning', check: { url: `${base}/turning` } },
      { slug: 'worded', check: { kind: 'health', url: `${base}/worded/health` } },
      { slug: 'broken', check: { url: `http://127.0.0.1:${await freePort()}/` } },
    ],
    {
      // As they are by default: what a loaded machine needs for a check is no matter here.
      checks: { timeout: '10s', controlTargets: [`${base}/control`] },
      limits: { anonymousPerMinute: 15 },
      http: { trustedProxies: ['127.0.0.0/8'] },
      storage,
    },
  );
  t.teardown(() => installation.remove());
  const monitor = await installation.start();
  t.teardown(() => monitor.killHard());
  const answer = (name: SiteName, status: number) => void codes.set(name, status);
  const say = (next: string) => {
    word = next;
  };
  const tryOn = async (what: string, parts: readonly Part[] | null, world: ContractWorld) => {
    for (const { promise, dependsOn, holds } of [...READING_PROMISES, ...WRITING_PROMISES, REPORTED_WORDS])
      if (parts === null || dependsOn.some((part) => parts.includes(part)))
        await t.test(`${what}: ${promise}`, (t) => holds(t, world));
  };
  const registry = await openRegistry({
    dataDir: join(installation.folder, 'data'),
    log: silentLog,
    clock: systemClock,
  });
  t.teardown(() => registry.close());
  const given = { registry, hasHistory, answer, say };
  await tryOn('the monitor', parts, createContractWorld({ ...given, program: monitor, name: 'first' }));
  if (!beside) return { monitor };
  const serving = await installation.start(await freePort());
  t.teardown(() => serving.killHard());
  t.match((await serving.get('/readyz')).body, { role: 'serving' });
  await tryOn('beside it', ['role'], createContractWorld({ ...given, program: serving, name: 'second' }));
  t.match((await serving.get('/readyz')).body, { role: 'serving' });
  t.equal(await serving.stop(), 0);
  return { monitor };
}

t.test('embedded', needs(), async (t) => {
  const { monitor } = await runContract(t, {}, { hasHistory: true, parts: null, beside: false });
  t.equal(await monitor.stop(), 0);
});

t.test('Redis and InfluxDB 1.6', { ...NEEDS_REDIS, ...needs('influxd', 'redis-server') }, async (t) => {
  const [redis, influx] = await Promise.all([useRedis(t), useInflux(t)]);
  const storage = {
    redis: { url: `${redis.url}?prefix=${redis.prefix}` },
    influx: { url: influx.url, bucket: influx.database, api: 'v1' },
  };
  const { monitor } = await runContract(t, storage, {
    hasHistory: true,
    parts: ['redis', 'samples'],
    beside: true,
  });
  t.equal(await monitor.stop(), 0);
});

t.test('Redis and VictoriaMetrics', needs('victoria-metrics', 'redis-server'), async (t) => {
  const begunAt = Date.now() / 1_000;
  const [redis, victoria] = await Promise.all([useRedis(t), useVictoria(t)]);
  const storage = {
    redis: { url: `${redis.url}?prefix=${redis.prefix}` },
    influx: { url: victoria.url, bucket: 'upbeat', api: 'v2' },
  };
  const { monitor } = await runContract(t, storage, { hasHistory: false, parts: ['samples'], beside: false });
  t.equal(await monitor.stop(), 0);
  await until(async () => {
    // Without bounds VictoriaMetrics looks at the day of its own clock. It is a Go program, which asks the kernel for
    // the time: a clock that libfaketime sets for the test and the program is not the server's.
    const query = new URLSearchParams({
      'match[]': '{__name__=~"upbeat_check.*",service="quick"}',
      start: String(begunAt - 60),
      end: String(Date.now() / 1_000 + 60),
    });
    const response = await fetch(`${victoria.url}/api/v1/series?${query}`);
    const { data } = (await response.json()) as { data: unknown[] };
    return data.length > 0;
  }, 'the samples are there');
});
