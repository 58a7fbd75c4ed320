/**
 * Nodes of a region share its services: counted at the servers that are checked, while nodes join, leave, are killed and are
 * suspended.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createDatabase, NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { install, type RunningProgram } from '../support/program.ts';
import { NEEDS_REDIS } from '../support/redis-server.ts';
import { usePostgres, useRedis } from '../support/run-servers.ts';

const NEEDS = { ...NEEDS_POSTGRES, ...NEEDS_REDIS };
const SERVICES = 24;
const INTERVAL_MS = 3_000;
/** No service waits longer for a check, whatever happens to a node (issue 13). */
const MAX_GAP_MS = INTERVAL_MS + 20_000;

t.setTimeout(300_000);

/** A server for all services, which notes when each was requested: by its path. */
async function startCountedServer(t: Test) {
  const requests = new Map<string, number[]>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.set(path, [...(requests.get(path) ?? []), performance.now()]);
    response.writeHead(200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

interface Ready {
  readonly status: string;
  readonly nodes: Readonly<Record<string, number>>;
}

t.test('every service is checked once an interval, whatever happens to nodes', NEEDS, async (t) => {
  const [postgres, redis] = await Promise.all([usePostgres(t), useRedis(t)]);
  await createDatabase(postgres.url('postgres'), redis.prefix);
  const { url, requests } = await startCountedServer(t);
  const slugs = Array.from({ length: SERVICES }, (_, index) => `s${index + 1}`);
  const entries = slugs.map((slug) => ({ slug, check: { url: `${url}/${slug}`, method: 'GET' } }));
  const start = async (name: string, roles: readonly string[]): Promise<RunningProgram> => {
    const installation = await install(entries, {
      storage: {
        postgres: { url: postgres.url(redis.prefix) },
        redis: { url: `${redis.url}?prefix=${redis.prefix}` },
      },
      secrets: { key: 'ab'.repeat(32) },
      node: { name, region: 'eu', roles },
      checks: { interval: `${INTERVAL_MS}ms`, controlTargets: [`${url}/control`] },
    });
    t.teardown(() => installation.remove());
    const program = await installation.start();
    t.teardown(() => program.killHard());
    return program;
  };

  const judge = await start('judge', ['judge', 'serve']);
  const one = await start('one', ['probe']);
  const two = await start('two', ['probe']);
  /** Waits until the programs check as many services each as `accept` wants. */
  const untilShares = async (
    programs: readonly RunningProgram[],
    accept: (...shares: number[]) => boolean,
  ): Promise<void> => {
    for (;;) {
      const shares = await Promise.all(
        programs.map(async (program) => {
          const { body } = await program.get('/metrics');
          return Number(/^upbeat_services_probed (\d+)$/m.exec(String(body))?.[1]);
        }),
      );
      if (accept(...shares)) return t.comment(`checked by each: ${shares}`);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  };
  const isShared = (a = 0, b = 0) => a + b === SERVICES && a > 0 && b > 0;
  const isAll = (a = 0) => a === SERVICES;
  await judge.until('/readyz', ({ nodes }: Ready) => nodes.eu === 3);
  await untilShares([one, two], isShared);
  for (const slug of slugs)
    await judge.until(`/api/v1/status/${slug}`, ({ status }: Ready) => status === 'up');

  // At rest: once an interval, not more and not less. The best of some windows, since the machine may be busy.
  let furthest = Number.POSITIVE_INFINITY;
  for (let window = 0; window < 4 && furthest > 1.5; window++) {
    const before = countOf(requests);
    const beganAt = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 4 * INTERVAL_MS));
    const intervals = (performance.now() - beganAt) / INTERVAL_MS;
    const after = countOf(requests);
    const checksOf = (slug: string) => (after.get(`/${slug}`) ?? 0) - (before.get(`/${slug}`) ?? 0);
    furthest = Math.max(...slugs.map((slug) => Math.abs(checksOf(slug) - intervals)));
  }
  t.ok(furthest <= 1.5, `the checks of a service are ${furthest} off`);

  // Suspended: the other one takes over. The one that wakes starts nothing before it has claimed shards again.
  const suspended = programOf(one);
  suspended('SIGSTOP');
  t.comment('one node is suspended');
  await untilShares([two], isAll);
  suspended('SIGCONT');
  await untilShares([one, two], isShared);

  await two.killHard();
  t.comment('the other one is killed');
  await untilShares([one], isAll);
  const end = performance.now();
  // After a check out of phase, the next one comes within one and a half intervals.
  await new Promise((resolve) => setTimeout(resolve, 2 * INTERVAL_MS));
  for (const [path, times] of requests) {
    if (path === '/control') continue;
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at));
    t.ok(Math.max(...gaps) < MAX_GAP_MS, `${path}: no gap of ${Math.round(Math.max(...gaps))} ms`);
    t.ok((times.at(-1) ?? 0) > end, `${path} is checked to the end`);
    // Twice within a third of an interval: what was in flight when a node went.
    const doubled = gaps.filter((gap) => gap < INTERVAL_MS / 3).length;
    t.ok(doubled <= 3, `${path}: ${doubled} checks too many`);
  }
  t.match((await judge.get('/api/v1/incidents')).body, { incidents: [] }, 'nothing was called down');
  t.equal(await one.stop(), 0);
});

function countOf(requests: ReadonlyMap<string, readonly number[]>): Map<string, number> {
  return new Map([...requests].map(([path, times]) => [path, times.length]));
}

/** Sends a signal to the parent and the program. */
function programOf({ process: { pid = 0 } }: RunningProgram): (signal: NodeJS.Signals) => void {
  return (signal) => void process.kill(-pid, signal);
}
