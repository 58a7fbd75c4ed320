/** The status and the times of a check at their boundaries, by a clock that a test sets. */
import { createHash } from 'node:crypto';
import t from 'tap';
import { type CheckSources, viewChecks } from '../../../src/api/healthchecks/view-check.ts';
import { DEFAULT_CHECK, type Service } from '../../../src/domain/service.ts';
import type { HeartbeatSummary } from '../../../src/store/ports/heartbeats.ts';
import { check, current, NOW, service } from '../../site/site-world.ts';
import { double } from '../../support/double.ts';

const HOUR_MS = 3_600_000;
const PINGED = { count: 1, endedAt: NOW, runMs: null, isStarted: false };

/** The view of a check with a period of an hour, `afterMs` after its ping. */
async function view(
  afterMs: number,
  {
    status = 'up',
    summary = PINGED,
    version = 3,
    ...more
  }: Partial<Service> & {
    readonly status?: 'up' | 'slow' | 'down' | 'unknown';
    readonly summary?: HeartbeatSummary | null;
    readonly version?: number;
  } = {},
) {
  const timed = { ...DEFAULT_CHECK, kind: 'heartbeat', periodMs: HOUR_MS, graceMs: 60_000 } as const;
  const job = service(1, 'job', { origin: 'owner', accountId: 1, check: timed, ...more });
  const sources = double<CheckSources>({
    siteUrl: 'https://upbeat.test',
    now: () => NOW + afterMs,
    limits: () => double<ReturnType<CheckSources['limits']>>({ silenceMs: 600_000 }),
    status: double<CheckSources['status']>({
      get: () => current(1, check(NOW, { status: 'up', source: 'heartbeat' }), { status }),
    }),
    badgeAddresses: double<CheckSources['badgeAddresses']>({ urlOf: () => null }),
    context: double<CheckSources['context']>({
      proofs: double<CheckSources['context']['proofs']>({
        derive: (text) => createHash('sha256').update(text).digest(),
      }),
      registry: double<CheckSources['context']['registry']>({
        summariesOf: async () => [summary],
        rulesOf: async () => [],
      }),
    }),
  });
  const key = { id: 1, accountId: 1, scopes: ['read'] };
  const [shown] = await viewChecks(sources, { key, version }, [job]);
  return { status: shown?.status, started: shown?.started, next: shown?.next_ping };
}

t.test(
  'a check is up until its next ping is due, then in grace, and down only where the service is',
  async (t) => {
    const next = '2026-11-20T11:00:00+00:00';
    const started = false;
    for (const status of ['up', 'slow'] as const) {
      t.strictSame(await view(HOUR_MS - 1, { status }), { status: 'up', started, next });
      t.strictSame(await view(HOUR_MS, { status }), { status: 'grace', started, next });
      t.strictSame(
        await view(2 * HOUR_MS, { status }),
        { status: 'grace', started, next },
        'until the record says so',
      );
    }
    t.strictSame(await view(1, { status: 'down' }), { status: 'down', started, next: null });
    t.strictSame(await view(1, { status: 'unknown', summary: null }), { status: 'new', started, next: null });
    t.strictSame(await view(9 * HOUR_MS, { paused: true }), { status: 'paused', started, next: null });
  },
);

t.test('the next ping of a schedule is that of its next run in its time zone', async (t) => {
  const schedule = { cron: '30 13 * * *', timezone: 'Europe/Berlin' };
  const timed = { ...DEFAULT_CHECK, kind: 'heartbeat', schedule, graceMs: 60_000 } as const;
  const next = '2026-11-20T12:30:00+00:00';
  t.strictSame(await view(1, { check: timed }), { status: 'up', started: false, next });
  t.match(await view(2.5 * HOUR_MS, { check: timed }), { status: 'grace', next });
});

t.test('version 1 shows a run, but neither of what is down nor of what is paused', async (t) => {
  const summary = { ...PINGED, isStarted: true };
  t.match(await view(1, { summary, version: 1 }), { status: 'started', started: true });
  t.match(await view(1, { summary, version: 2 }), { status: 'up', started: true });
  t.match(await view(1, { summary, version: 1, status: 'down' }), { status: 'down', started: true });
  t.match(await view(1, { summary, version: 1, paused: true }), { status: 'paused', started: false });
});
