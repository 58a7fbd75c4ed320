/** The fleet with real threads that fail in every way a thread can fail. */
import t from 'tap';
import type { BrokenAttempt } from '../../../src/engine/protocol.ts';
import { targetOf } from '../attempt.ts';
import { INTERVAL_MS, observe } from '../observe-fleet.ts';

for (const way of ['exit', 'uncaught', 'busy', 'hungry'] as const) {
  t.test(
    `it replaces a thread that ends by "${way}" within 6 s, and no service misses more than one check`,
    async (t) => {
      const { fleet, until, countOf } = observe({ memoryLimitBytes: 80 * 1_048_576 });
      t.teardown(() => fleet.stop());
      const beganAt = performance.now();
      await fleet.start([targetOf(1), targetOf(2)]);
      await until(() => countOf(1) >= 1 && countOf(2) >= 1);
      const startMs = performance.now() - beganAt;
      fleet.apply({ serviceId: 3, target: targetOf(3, { domain: way }) });
      const struckAt = performance.now();
      await until(() => fleet.report().restarts > 0);
      fleet.apply({ serviceId: 3, target: null });
      const [first, second] = [countOf(1), countOf(2)];
      await until(() => countOf(1) > first && countOf(2) > second);
      const tookMs = performance.now() - struckAt;
      // A busy machine starts the second thread as slowly as the first one, or slower.
      t.ok(
        tookMs < 6_000 + INTERVAL_MS + 5 * startMs,
        `${Math.round(tookMs)} ms, and ${Math.round(startMs)} at first`,
      );
    },
  );
}

t.test('an error in an attempt concerns its service alone, which is checked again at its turn', async (t) => {
  const broken: BrokenAttempt[] = [];
  const { fleet, results, doubts, until, countOf } = observe({ onBroken: (found) => broken.push(found) });
  t.teardown(() => fleet.stop());
  await fleet.start([targetOf(1), targetOf(2, { domain: 'bug' }), targetOf(3)]);
  await until(() => broken.length >= 3 && countOf(1) >= 3 && countOf(3) >= 3);
  t.match(broken[0], { serviceId: 2, domain: 'bug', problem: /^Error: a bug in the prober\n +at / });
  t.ok(broken.length <= countOf(1) + 2, 'it waits for its turn');
  t.same([fleet.report().restarts, countOf(2), doubts], [0, 0, []], 'it is not down, nor the connection');
  fleet.apply({ serviceId: 2, target: targetOf(2, { revision: 2 }) });
  await until(() => countOf(2) > 0);
  t.match(
    results.findLast(({ serviceId }) => serviceId === 2),
    { failure: null, suspect: null },
  );
});

t.test('it hands the probe memory of services on to a replaced thread', async (t) => {
  const { fleet, results, until } = observe();
  t.teardown(() => fleet.stop());
  await fleet.start([targetOf(1, { lastCheckedAt: Date.now() })]);
  await until(() => results.length >= 1);
  const before = results.length;
  fleet.apply({ serviceId: 9, target: targetOf(9, { domain: 'exit' }) });
  await until(() => fleet.report().restarts >= 1);
  fleet.apply({ serviceId: 9, target: null });
  await until(() => results.length > before);
  const gaps = results.slice(1).map((result, index) => result.startedAt - (results[index]?.startedAt ?? 0));
  t.ok(
    gaps.every((gap) => gap > INTERVAL_MS / 2 - 100),
    `no service is checked twice in a row: ${gaps}`,
  );
});

t.test('it gives up when threads crash again and again', async (t) => {
  const { fleet, fatal } = observe({ entry: new URL('../broken-host.ts', import.meta.url) });
  t.teardown(() => fleet.stop());
  const reason = /probe thread 0 ended again .*this thread cannot work.* after 10 restarts/;
  await t.rejects(fleet.start([targetOf(1)]), { message: reason });
  t.match((await fatal).message, reason);
});

t.test('it checks all others when one service kills its thread again and again', async (t) => {
  const { fleet, until, countOf } = observe({
    settings: {
      intervalMs: 1_000,
      timeoutMs: 1_000,
      slowOverMs: 3_000,
      confirmAfterMs: [],
      firstSpreadMs: 800,
      concurrency: 16,
    },
  });
  t.teardown(() => fleet.stop());
  const ids = Array.from({ length: 40 }, (_, index) => index + 1);
  void fleet.start(ids.map((id) => targetOf(id, id === 20 ? { domain: 'exit' } : {})));
  const good = ids.filter((id) => id !== 20);
  await until(() => fleet.report().restarts >= 2 && good.every((id) => countOf(id) >= 2));
});

t.test('it ends a thread that has grown too large, not only its task', async (t) => {
  const { fleet, until, countOf } = observe({ memoryLimitBytes: 160 * 1_048_576 });
  t.teardown(() => fleet.stop());
  await fleet.start([targetOf(1), targetOf(2, { domain: 'large' })]);
  await until(() => (fleet.report().hosts[0]?.heapBytes ?? 0) > 112 * 1_048_576 || countOf(2) > 0);
  fleet.apply({ serviceId: 2, target: null });
  await until(() => fleet.report().restarts > 0);
  // Another thread may have grown before it heard that the service is gone.
  await until(() => (fleet.report().hosts[0]?.heapBytes ?? Number.POSITIVE_INFINITY) < 80 * 1_048_576);
  const at = countOf(1);
  await until(() => countOf(1) > at);
});

t.test('it keeps the pause that a 429 asks for, also after the thread was replaced', async (t) => {
  const { fleet, until, countOf } = observe();
  t.teardown(() => fleet.stop());
  await fleet.start([targetOf(1, { domain: 'limit' }), targetOf(2)]);
  await until(() => countOf(1) === 1);
  fleet.recheck([1, 2], 0);
  fleet.apply({ serviceId: 9, target: targetOf(9, { domain: 'exit' }) });
  await until(() => fleet.report().restarts >= 1);
  fleet.apply({ serviceId: 9, target: null });
  const at = countOf(2);
  await until(() => countOf(2) >= at + 2);
  t.equal(countOf(1), 1);
});
