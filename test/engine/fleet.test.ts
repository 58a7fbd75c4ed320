/** The fleet with real threads that fail in every way a thread can fail. */
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import type { CheckResult } from '../../src/domain/result.ts';
import { createFleet, type FleetOptions } from '../../src/engine/fleet/fleet.ts';
import { silentLog } from '../../src/log.ts';
import { targetOf } from './attempt.ts';

const INTERVAL_MS = 500;

/** A fleet that remembers its results, and ways to wait for them. */
function observe(changes: Partial<FleetOptions> = {}) {
  const results: CheckResult[] = [];
  const doubts: number[] = [];
  const fatal = Promise.withResolvers<Error>();
  const fleet = createFleet({
    settings: {
      intervalMs: INTERVAL_MS,
      timeoutMs: 1_000,
      confirmAfterMs: [20, 20],
      firstSpreadMs: 100,
      concurrency: 16,
    },
    threads: 1,
    entry: new URL('./fake-host.ts', import.meta.url),
    prober: null,
    clock: systemClock,
    log: silentLog,
    onResults: (batch) => void results.push(...batch),
    onDoubt: (failedAt) => void doubts.push(failedAt),
    onFatal: fatal.resolve,
    ...changes,
  });
  const until = async (condition: () => boolean, withinMs = 15_000) => {
    const deadline = performance.now() + withinMs;
    while (!condition()) {
      if (performance.now() > deadline) throw new Error(`it did not come true within ${withinMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const countOf = (serviceId: number) => results.filter((result) => result.serviceId === serviceId).length;
  return { fleet, results, doubts, fatal: fatal.promise, until, countOf };
}

t.test('it checks every service of several threads again and again, in their phases', async (t) => {
  const { fleet, results, until, countOf } = observe({ threads: 2 });
  t.teardown(() => fleet.stop());
  const ids = Array.from({ length: 20 }, (_, index) => index + 1);
  await fleet.start(ids.map((id) => targetOf(id)));
  await until(() => ids.every((id) => countOf(id) >= 4));
  for (const id of ids.slice(0, 5)) {
    const starts = results.filter(({ serviceId }) => serviceId === id).map(({ startedAt }) => startedAt);
    // The second and later checks lie whole intervals apart, give or take what a loaded machine delays.
    const offsets = starts.slice(1).map((at) => (at - (starts[1] ?? 0) + INTERVAL_MS / 2) % INTERVAL_MS);
    t.ok(
      offsets.every((offset) => Math.abs(offset - INTERVAL_MS / 2) < 200),
      `${id}: ${offsets}`,
    );
  }
  t.equal(fleet.report().services, 20);
});

t.test('it confirms failures and raises a doubt at the first', async (t) => {
  const { fleet, results, doubts, until } = observe();
  t.teardown(() => fleet.stop());
  await fleet.start([targetOf(1, { domain: 'refused' })]);
  await until(() => results.length > 0);
  t.match(results[0], { attempts: 3, failure: { class: 'refused' } });
  t.ok(doubts.length > 0 && (doubts[0] ?? 0) === results[0]?.firstFailedAt);
});

for (const way of ['exit', 'bug', 'busy', 'hungry', 'leaky'] as const) {
  t.test(
    `it replaces a thread that ends by "${way}" within 6 s, and no service misses more than one check`,
    async (t) => {
      const { fleet, until, countOf } = observe({ memoryLimitBytes: 80 * 1_048_576 });
      t.teardown(() => fleet.stop());
      await fleet.start([targetOf(1), targetOf(2)]);
      await until(() => countOf(1) >= 1 && countOf(2) >= 1);
      fleet.apply({ serviceId: 3, target: targetOf(3, { domain: way }) });
      const struckAt = performance.now();
      await until(() => fleet.report().restarts > 0);
      fleet.apply({ serviceId: 3, target: null });
      const [first, second] = [countOf(1), countOf(2)];
      await until(() => countOf(1) > first && countOf(2) > second);
      t.ok(
        performance.now() - struckAt < 6_000 + INTERVAL_MS,
        `${Math.round(performance.now() - struckAt)} ms`,
      );
    },
  );
}

t.test('it gives a replaced thread what its services have taught', async (t) => {
  const { fleet, results, until } = observe();
  t.teardown(() => fleet.stop());
  await fleet.start([targetOf(1, { lastCheckedAt: Date.now() })]);
  await until(() => results.length >= 1);
  const before = results.length;
  fleet.apply({ serviceId: 9, target: targetOf(9, { domain: 'exit' }) });
  await until(() => fleet.report().restarts === 1);
  fleet.apply({ serviceId: 9, target: null });
  await until(() => results.length > before);
  const gaps = results.slice(1).map((result, index) => result.startedAt - (results[index]?.startedAt ?? 0));
  t.ok(
    gaps.every((gap) => gap > INTERVAL_MS / 2 - 100),
    `nobody is asked twice in a row: ${gaps}`,
  );
});

t.test('it gives up when threads end again and again', async (t) => {
  const { fleet, fatal } = observe();
  t.teardown(() => fleet.stop());
  await fleet.start([targetOf(1, { domain: 'bug' })]);
  t.match((await fatal).message, /probe thread 0 ended again .*a bug in the prober.* after 10 restarts/);
});

t.test('it applies changes to the running fleet, once for each revision', async (t) => {
  const { fleet, results, until, countOf } = observe();
  t.teardown(() => fleet.stop());
  await fleet.start([targetOf(1)]);
  fleet.apply({ serviceId: 2, target: targetOf(2) });
  await until(() => countOf(2) > 0, 5_000);
  fleet.apply({ serviceId: 2, target: targetOf(2, { revision: 2, domain: 'refused' }) });
  fleet.apply({ serviceId: 2, target: targetOf(2, { revision: 1 }) });
  await until(() =>
    results.some(({ serviceId, revision, failure }) => serviceId === 2 && revision === 2 && failure !== null),
  );
  fleet.apply({ serviceId: 2, target: null });
  t.equal(fleet.report().services, 1);
  const at = countOf(1);
  await until(() => countOf(1) > at);
  const settled = countOf(2);
  await until(() => countOf(1) > at + 2);
  t.equal(countOf(2), settled, 'a removed service is left alone');
});

t.test('it checks services again when asked', async (t) => {
  const { fleet, until, countOf } = observe({
    settings: {
      intervalMs: 3_600_000,
      timeoutMs: 1_000,
      confirmAfterMs: [],
      firstSpreadMs: 50,
      concurrency: 4,
    },
  });
  t.teardown(() => fleet.stop());
  await fleet.start([targetOf(1), targetOf(2)]);
  await until(() => countOf(1) === 1 && countOf(2) === 1);
  fleet.recheck([2], 20);
  await until(() => countOf(2) === 2);
  t.equal(countOf(1), 1);
});

t.test('it lets an attempt in flight end at stop, and gives no verdict for one that does not', async (t) => {
  const { fleet, until, countOf } = observe({
    settings: {
      intervalMs: 3_600_000,
      timeoutMs: 500,
      confirmAfterMs: [5_000],
      firstSpreadMs: 0,
      concurrency: 4,
    },
  });
  await fleet.start([
    targetOf(1, { domain: 'slow' }),
    targetOf(2, { domain: 'endless' }),
    targetOf(3, { domain: 'refused' }),
  ]);
  await until(() => (fleet.report().hosts[0]?.openChecks ?? 0) > 0 || countOf(1) > 0);
  await fleet.stop();
  t.equal(countOf(1), 1);
  t.same([countOf(2), countOf(3)], [0, 0], 'a check that is not finished gives no verdict');
});
