/** Accounts share the slots of a host, on a clock that stands still until a test moves it. */
import t from 'tap';
import type { CheckTarget } from '../../../src/domain/check-target.ts';
import { refusedAttempt, targetOf, timedOutAttempt } from '../attempt.ts';
import { type OpenAttempt, startHost } from '../start-host.ts';

const INTERVAL_MS = 30_000;
const TIMEOUT_MS = 30_000;

/** The services of accounts, each with a number of its own; the domain says how long an attempt lasts. */
function servicesOf(account: number | null, first: number, count: number, lastsMs: number): CheckTarget[] {
  const origin = account === null ? 'catalogue' : 'owner';
  const changes = { origin, accountId: account, domain: String(lastsMs) } as const;
  return Array.from({ length: count }, (_, index) => targetOf(first + index, changes));
}

/** Lets the clock run; attempts end after the time that their domain says. */
async function run(
  { clock, attempts }: Pick<ReturnType<typeof startHost>, 'clock' | 'attempts'>,
  lengthMs: number,
): Promise<void> {
  const endAt = clock.now() + lengthMs;
  const open = new Set<OpenAttempt>();
  for (let seen = 0; clock.now() < endAt; ) {
    await clock.advance(20);
    for (; seen < attempts.length; seen++) open.add(attempts[seen] as OpenAttempt);
    for (const attempt of open) {
      const lastsMs = Number(attempt.target.domain);
      if (clock.now() - attempt.at < lastsMs) continue;
      open.delete(attempt);
      attempt.end(lastsMs < TIMEOUT_MS ? undefined : timedOutAttempt({ startedAt: attempt.at }));
    }
  }
}

/** The longest time between two attempts of a service, from `since` on. */
function longestGapMs(attempts: readonly OpenAttempt[], serviceId: number, since: number): number {
  const times = attempts.filter(({ target }) => target.serviceId === serviceId).map(({ at }) => at);
  return Math.max(...times.map((at, index) => (at < since ? 0 : at - (times[index - 1] ?? since))));
}

t.test('a thousand services of one account that hang delay nobody else', async (t) => {
  const host = startHost({
    ...{ intervalMs: INTERVAL_MS, timeoutMs: TIMEOUT_MS, slowOverMs: 3_000, concurrency: 256 },
    ...{ confirmAfterMs: [1_000, 1_000], firstSpreadMs: INTERVAL_MS },
  });
  const hanging = servicesOf(1, 1, 1_000, TIMEOUT_MS);
  const catalogue = servicesOf(null, 2_001, 50, 100);
  const others = [...servicesOf(2, 3_001, 20, 100), ...servicesOf(3, 3_101, 1, 100)];
  await host.assign([...hanging, ...catalogue, ...others], INTERVAL_MS);
  const startedAt = host.clock.now();
  await run(host, 180_000);
  const worstMs = (targets: readonly CheckTarget[]) =>
    Math.max(
      ...targets.map(({ serviceId }) => longestGapMs(host.attempts, serviceId, startedAt + INTERVAL_MS)),
    );
  // The first check of a service may be up to an interval and a half before its second, at its phase.
  t.ok(worstMs(catalogue) <= INTERVAL_MS * 1.5 + 1_000, `the catalogue: ${worstMs(catalogue)} ms`);
  t.ok(worstMs(others) <= INTERVAL_MS * 1.5 + 1_000, `other accounts: ${worstMs(others)} ms`);
  const delays = host.reports().map(({ startDelayMs }) => startDelayMs.max);
  t.ok(Math.max(...delays) <= 1_000, `no start is delayed by a second: ${Math.max(...delays)} ms`);
  const { shares } = host.reports().at(-1) ?? {};
  t.match(shares, { mostOfAccount: 64, bounded: [{ accountId: 1 }] });
  t.ok((shares?.heldUp ?? 0) > 500, 'the report says whose checks wait');
  const tried = new Set(host.attempts.map(({ target }) => target.serviceId));
  t.ok(hanging.filter(({ serviceId }) => tried.has(serviceId)).length > 64, 'those have their turns as well');
  await host.stop();
});

t.test('a service that hangs leaves the lane of long checks when it answers', async (t) => {
  const host = startHost({
    ...{ intervalMs: INTERVAL_MS, timeoutMs: 10_000, concurrency: 16, confirmAfterMs: [] },
  });
  await host.assign([
    ...servicesOf(null, 1, 1, 100),
    ...servicesOf(1, 2, 1, 10_000),
    ...servicesOf(2, 3, 1, 9),
  ]);
  await run(host, INTERVAL_MS * 5);
  const heldLong = () => Math.max(...host.reports().map(({ shares }) => shares.heldLong));
  t.equal(heldLong(), 1);
  await host.assign(servicesOf(1, 2, 1, 100).map((target) => ({ ...target, revision: 2 })));
  await run(host, INTERVAL_MS * 2);
  host.heard.length = 0;
  await host.assign(servicesOf(1, 2, 1, 10_000).map((target) => ({ ...target, revision: 3 })));
  await run(host, INTERVAL_MS);
  t.equal(heldLong(), 0);
  await host.stop();
});

t.test('a service that changes hands is counted for its new account', async (t) => {
  const host = startHost({ intervalMs: INTERVAL_MS, concurrency: 16, timeoutMs: TIMEOUT_MS });
  await host.assign([
    ...servicesOf(1, 1, 40, TIMEOUT_MS),
    ...servicesOf(2, 101, 1, 9),
    ...servicesOf(null, 201, 1, 9),
  ]);
  await run(host, 2_000);
  t.match(host.reports().at(-1)?.shares, { mostOfAccount: 4, bounded: [{ accountId: 1 }] });
  await host.assign(servicesOf(2, 1, 40, TIMEOUT_MS).map((target) => ({ ...target, revision: 2 })));
  await run(host, TIMEOUT_MS * 3);
  t.match(host.reports().at(-1)?.shares, { mostOfAccount: 4, bounded: [{ accountId: 2 }] });
  await host.stop();
});

t.test('an attempt that must wait is made later, and counts for nothing', async (t) => {
  const host = startHost({ intervalMs: INTERVAL_MS, confirmAfterMs: [1_000] });
  const { attempts, clock, results } = host;
  const busy = (waitMs: number) =>
    refusedAttempt({
      failure: { class: 'timeout', phase: 'connect', cause: { code: 'address_busy', waitMs } },
      suspect: 'own_fault',
    });
  const next = async (count: number) => {
    while (attempts.length < count) await clock.advance(10);
    return attempts[count - 1] as OpenAttempt;
  };
  await host.assign(servicesOf(1, 1, 1, 0));
  const first = await next(1);
  first.end(busy(7_000));
  const again = await next(2);
  t.ok(Math.abs(again.at - first.at - 7_000) <= 20);
  t.equal(again.number, 0);
  again.end(refusedAttempt({ startedAt: again.at }));
  (await next(3)).end(busy(5_000));
  const last = await next(4);
  t.equal(last.number, 1, 'a re-check stays one');
  last.end(refusedAttempt({ startedAt: last.at }));
  await clock.advance(1_000);
  t.match(results, [{ attempts: 2, firstFailedAt: again.at, suspect: null, failure: { class: 'refused' } }]);
  t.notOk(host.heard.some((message) => message.type === 'doubt' && message.failedAt === first.at));
  t.match(host.reports().at(-1), { postponed: 2 });
  await host.stop();
});
