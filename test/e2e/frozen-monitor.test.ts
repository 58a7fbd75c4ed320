/** A monitor that is stopped inside a transaction keeps SQLite's lock: the next one ends it, and takes its place. */
import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../support/free-port.ts';
import { freezeInTransaction, keptBeats, monitorPid, sendBeats } from '../support/frozen-monitor.ts';
import { install } from '../support/program.ts';
import { NEEDS_REDIS, startRedis } from '../support/redis-server.ts';

interface Ready {
  readonly role: string;
  readonly degraded: readonly string[];
}

t.setTimeout(180_000);
const PATIENCE_MS = 60_000;
const SENDERS = 4;
/** As many as each service keeps, and a few that were answered in between. */
const CHECKED = 100 * SENDERS - 50;

t.test('it takes over from a monitor that is stopped inside a transaction', NEEDS_REDIS, async (t) => {
  const redis = await startRedis(t);
  const installation = await install([], {
    storage: { redis: { url: `redis://127.0.0.1:${redis.port}` } },
    limits: { authenticatedPerMinute: 1_000_000 },
  });
  t.teardown(() => installation.remove());
  const dataDir = join(installation.folder, 'data');
  const first = await installation.start();
  t.teardown(() => first.killHard());
  const second = await installation.start(await freePort());
  t.teardown(() => second.killHard());
  const { stdout } = await installation.run('keys', 'create', '--account', 'ada', '--name', 'jobs');

  const beats = sendBeats(second.siteUrl, stdout.trim(), SENDERS);
  for (let taken = 0; taken < 20; taken = beats.taken.length) await new Promise((r) => setTimeout(r, 20));
  const pid = monitorPid(dataDir);
  await freezeInTransaction(dataDir, pid);
  const frozenAt = performance.now();
  await second.until('/readyz', ({ role }: Ready) => role === 'monitor', PATIENCE_MS);
  t.comment(`taken over after ${Math.round(performance.now() - frozenAt)} ms`);
  const before = beats.taken.length;
  for (let taken = before; taken < before + 20; taken = beats.taken.length)
    await new Promise((r) => setTimeout(r, 20));
  await beats.stop();

  const kept = keptBeats(dataDir);
  t.same(
    beats.taken.slice(-CHECKED).filter((number) => !kept.has(number)),
    [],
    'every heartbeat that was answered is kept',
  );
  t.same(
    [...beats.refused.keys()].filter((status) => status !== 503),
    [],
    'no other refusal than 503',
  );
  t.equal(beats.withoutRetry, 0, 'each with Retry-After');
  t.match(second.output(), /the former monitor hangs and was ended/);
  t.match(first.output(), /ended by SIGKILL; starting again/);
  await second.until('/readyz', ({ degraded }: Ready) => !degraded.includes('storage'), PATIENCE_MS);
  await first.until('/readyz', ({ role }: Ready) => role === 'serving', PATIENCE_MS);
  t.equal(await second.stop(), 0);
  await first.until('/readyz', ({ role }: Ready) => role === 'monitor', PATIENCE_MS);
  t.equal(await first.stop(), 0);
});
