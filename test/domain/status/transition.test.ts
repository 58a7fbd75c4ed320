import fc from 'fast-check';
import t from 'tap';
import { latestOfSilence } from '../../../src/domain/heartbeat/heartbeat-rules.ts';
import { type CurrentStatus, unknownStatus } from '../../../src/domain/status/current.ts';
import { nextReported, nextStatus, transitionBetween } from '../../../src/domain/status/transition.ts';
import type { Verdict } from '../../../src/domain/status.ts';
import { failed503, good, makeService } from '../../record/record-world.ts';

const UP: CurrentStatus = {
  serviceId: 1,
  seq: 4,
  observedAt: 5_000,
  status: 'up',
  since: 1_000,
  latest: null,
};

t.test(
  'it dates `down` back to the first failed attempt, but not to before the status before it',
  async (t) => {
    for (const [name, firstFailedAt, since] of [
      ['first failure later', 7_000, 7_000],
      ['first failure at the same time', 1_000, 1_000],
      ['first failure before', 500, 1_000],
      ['no attempt before', null, 13_000],
    ] as const) {
      const next = nextStatus(UP, failed503(1, 13_000, { firstFailedAt }), 'down', 20_000);
      t.match(
        next,
        { seq: 5, status: 'down', since, observedAt: 13_000, latest: { checkedAt: 13_000 } },
        name,
      );
    }
  },
);

t.test('any other status begins at the start of the last attempt', async (t) => {
  const result = good(1, 13_000, { firstFailedAt: 7_000, attempts: 2, endedAt: 13_100 });
  t.match(nextStatus({ ...UP, status: 'down' }, result, 'up', 20_000), { since: 13_000, observedAt: 13_100 });
});

t.test('it keeps `seq` and `since` where the status stays', async (t) => {
  t.match(nextStatus(UP, good(1, 13_000), 'up', 20_000), { seq: 4, since: 1_000, observedAt: 13_000 });
});

t.test('it refuses results that are not newer, unless the clock was set back', async (t) => {
  t.equal(nextStatus(UP, good(1, 4_999), 'slow', 20_000), null);
  t.equal(nextStatus(UP, good(1, 5_000), 'slow', 20_000), null);
  t.match(nextStatus(UP, good(1, 3_000), 'slow', 4_000), { seq: 5, observedAt: 5_001, since: 3_000 });
});

t.test('it describes a transition by what changed', async (t) => {
  const service = makeService(1);
  const down = nextStatus(UP, failed503(1, 13_000), 'down', 20_000) ?? UP;
  t.same(transitionBetween(service, UP, down, { recordedAt: 20_000, reason: { code: 'reported_down' } }), {
    serviceId: 1,
    slug: 'service-1',
    seq: 5,
    from: 'up',
    to: 'down',
    at: 7_000,
    recordedAt: 20_000,
    reason: { code: 'reported_down' },
  });
  t.equal(
    transitionBetween(service, UP, { ...UP, observedAt: 9_000 }, { recordedAt: 20_000, reason: null }),
    null,
  );
});

t.test(
  'it numbers changes without gaps, and times never decrease unless the clock was set back',
  async () => {
    const results = fc.array(
      fc.record({
        verdict: fc.constantFrom<Verdict>('up', 'slow', 'down'),
        at: fc.integer({ min: 0, max: 100_000 }),
        confirmingMs: fc.integer({ min: 0, max: 36_000 }),
        now: fc.integer({ min: 0, max: 100_000 }),
      }),
    );
    fc.assert(
      fc.property(results, (list) => {
        let current = unknownStatus(1);
        for (const { verdict, at, confirmingMs, now } of list) {
          const next = nextStatus(
            current,
            failed503(1, at, { firstFailedAt: at - confirmingMs }),
            verdict,
            now,
          );
          if (next === null) continue;
          const changed = next.status !== current.status;
          if (next.seq !== current.seq + (changed ? 1 : 0)) throw new Error('seq');
          if (next.observedAt <= current.observedAt) throw new Error('observedAt');
          const isFromFuture = current.since !== null && current.since > now;
          if (!isFromFuture && (next.since ?? 0) < (current.since ?? Number.NEGATIVE_INFINITY))
            throw new Error('since');
          if (!changed && next.since !== current.since) throw new Error('since moved');
          current = next;
        }
      }),
    );
  },
);

t.test('a status that a clock ahead has dated into the future holds no later one back', async (t) => {
  const ahead = { ...UP, observedAt: 1_000_000, since: 1_000_000 };
  const down = nextStatus(ahead, failed503(1, 20_000, { firstFailedAt: 10_000 }), 'down', 20_000);
  t.match(down, { status: 'down', since: 10_000 });
  const silent = nextReported(ahead, latestOfSilence(20_000), 20_000, 20_100);
  t.match(silent, { status: 'down', since: 20_000 });
  t.match(
    nextStatus(ahead, failed503(1, 20_000), 'up', 20_000),
    { since: 1_000_000 },
    'it keeps its own time',
  );
});
