/** The fleet with real threads at their ordinary work. */
import t from 'tap';
import { nextPhase } from '../../../src/engine/host/phase.ts';
import { targetOf } from '../attempt.ts';
import { INTERVAL_MS, observe } from '../observe-fleet.ts';

t.test('it checks the services of several threads repeatedly, in their phases', async (t) => {
  const { fleet, results, until, countOf } = observe({ threads: 2 });
  t.teardown(() => fleet.stop());
  const ids = Array.from({ length: 20 }, (_, index) => index + 1);
  await fleet.start(ids.map((id) => targetOf(id)));
  await until(() => ids.every((id) => countOf(id) >= 4));
  // The second and later checks lie whole intervals apart. A busy machine delays some of them: the middle one counts.
  const offsets = ids.flatMap((id) => {
    const starts = results.filter(({ serviceId }) => serviceId === id).map(({ startedAt }) => startedAt);
    return starts
      .slice(2)
      .map((at) => Math.abs(((at - (starts[1] ?? 0) + INTERVAL_MS / 2) % INTERVAL_MS) - INTERVAL_MS / 2));
  });
  const middle = offsets.sort((a, b) => a - b)[Math.floor(offsets.length / 2)] ?? INTERVAL_MS;
  t.ok(middle < INTERVAL_MS / 8, `${offsets}`);
  t.equal(fleet.report().services, 20);
});

t.test('it confirms failures, and sends a doubt at the first one', async (t) => {
  const { fleet, results, doubts, until } = observe();
  t.teardown(() => fleet.stop());
  await fleet.start([targetOf(1, { domain: 'refused' })]);
  await until(() => results.length > 0);
  t.match(results[0], { attempts: 3, failure: { class: 'refused' } });
  t.ok(doubts.length > 0 && (doubts[0] ?? 0) === results[0]?.firstFailedAt);
});

t.test('it applies changes to the running fleet, once for each revision', async (t) => {
  const { fleet, results, until, countOf } = observe();
  t.teardown(() => fleet.stop());
  await fleet.start([targetOf(1)]);
  fleet.apply({ serviceId: 2, target: targetOf(2) });
  await until(() => countOf(2) > 0);
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

t.test('it applies changes from before the start', async (t) => {
  const { fleet, results, until, countOf } = observe();
  t.teardown(() => fleet.stop());
  fleet.apply({ serviceId: 1, target: targetOf(1, { revision: 2, domain: 'refused' }) });
  fleet.apply({ serviceId: 2, target: null });
  await fleet.start([targetOf(1), targetOf(2), targetOf(3)]);
  await until(() => countOf(1) > 0 && countOf(3) > 1);
  t.match(
    results.find(({ serviceId }) => serviceId === 1),
    { revision: 2, failure: { class: 'refused' } },
  );
  t.equal(countOf(2), 0);
});

t.test('it assigns a long list in parts, completely', async (t) => {
  const { fleet, results, until } = observe({
    settings: {
      intervalMs: 60_000,
      timeoutMs: 1_000,
      slowOverMs: 3_000,
      confirmAfterMs: [],
      firstSpreadMs: 50,
      concurrency: 64,
    },
    threads: 2,
  });
  t.teardown(() => fleet.stop());
  const ids = Array.from({ length: 3_000 }, (_, index) => index + 1);
  await fleet.start(ids.map((id) => targetOf(id)));
  await until(() => results.length >= 3_000);
  for (const id of ids) fleet.apply({ serviceId: 10_000 + id, target: targetOf(10_000 + id) });
  await until(() => results.length >= 6_000);
  t.equal(new Set(results.map(({ serviceId }) => serviceId)).size, 6_000);
});

t.test('it takes over services, and gives them back', async (t) => {
  const { fleet, until, countOf } = observe();
  t.teardown(() => fleet.stop());
  await fleet.start([]);
  fleet.takeOver([targetOf(1), targetOf(2, { lastCheckedAt: 1 })]);
  await until(() => countOf(1) > 0 && countOf(2) > 0);
  fleet.takeOver([targetOf(2, { lastCheckedAt: 1 })]);
  t.equal(fleet.report().services, 2);
  fleet.apply({ serviceId: 2, target: null });
  const at = countOf(1);
  await until(() => countOf(1) > at);
  const settled = countOf(2);
  fleet.takeOver([targetOf(2, { lastCheckedAt: 1 })]);
  await until(() => countOf(2) > settled);
  t.equal(fleet.report().services, 2);
});

t.test('it checks at once what was due and not checked when it takes over a service', async (t) => {
  const intervalMs = 3_600_000;
  const settings = { timeoutMs: 1_000, slowOverMs: 3_000, confirmAfterMs: [], concurrency: 4 };
  const { fleet, until, countOf } = observe({ settings: { ...settings, intervalMs, firstSpreadMs: 50 } });
  t.teardown(() => fleet.stop());
  await fleet.start([]);
  const now = Date.now();
  const lastPhase = (id: number) => nextPhase(id, intervalMs, now) - intervalMs;
  const recent = Array.from({ length: 1_000 }, (_, n) => n + 1).filter(
    (id) => now - lastPhase(id) > 60_000 && now - lastPhase(id) < 600_000,
  );
  const [due = 0, checked = 0] = recent;
  fleet.takeOver([
    targetOf(checked, { lastCheckedAt: lastPhase(checked) + 500 }),
    // Its check before the phase was out of phase, less than an interval ago.
    targetOf(due, { lastCheckedAt: lastPhase(due) - intervalMs / 2 - 60_000 }),
  ]);
  await until(() => countOf(due) > 0);
  t.equal(countOf(checked), 0);
});

t.test('it checks a service once where that is asked, until the service itself comes', async (t) => {
  const settings = { timeoutMs: 1_000, slowOverMs: 3_000, confirmAfterMs: [], concurrency: 4 };
  const { fleet, until, countOf } = observe({
    settings: { ...settings, intervalMs: 3_600_000, firstSpreadMs: 3_600_000 },
  });
  t.teardown(() => fleet.stop());
  await fleet.start([]);
  fleet.checkOnce([targetOf(1, { revision: -3 })]);
  await until(() => countOf(1) === 1);
  t.equal(fleet.targetOf(1)?.revision, -3);
  fleet.apply({ serviceId: 1, target: targetOf(1, { revision: 3 }) });
  fleet.checkOnce([targetOf(1, { revision: -3 })]);
  t.equal(fleet.targetOf(1)?.revision, 3, 'the service stays');
});

t.test('it checks services again when asked', async (t) => {
  const { fleet, until, countOf } = observe({
    settings: {
      intervalMs: 3_600_000,
      timeoutMs: 1_000,
      slowOverMs: 3_000,
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

t.test(
  'it waits for attempts in flight at a stop, and gives no verdict for one that does not end',
  async (t) => {
    const { fleet, until, countOf } = observe({
      settings: {
        intervalMs: 3_600_000,
        timeoutMs: 500,
        slowOverMs: 3_000,
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
  },
);

t.test('it gives up attempts in flight that take longer than a stop may', async (t) => {
  const settings = { intervalMs: 3_600_000, timeoutMs: 60_000, slowOverMs: 3_000, confirmAfterMs: [] };
  const { fleet, until, countOf } = observe({
    settings: { ...settings, firstSpreadMs: 0, concurrency: 4 },
  });
  await fleet.start([targetOf(1, { domain: 'endless' }), targetOf(2)]);
  await until(() => (fleet.report().hosts[0]?.openChecks ?? 0) > 0 && countOf(2) === 1);
  const askedMs = performance.now();
  await fleet.stop(200);
  // Without the bound it takes 11 s.
  t.ok(performance.now() - askedMs < 8_000);
  t.same([countOf(1), countOf(2)], [0, 1]);
});
