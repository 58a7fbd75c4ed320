import fc from 'fast-check';
import t from 'tap';
import type { Failure } from '../../../src/domain/failure.ts';
import { type Attempt, NO_TIMING } from '../../../src/domain/result.ts';
import { judgeAttempt, latestCheckOf, sampleOf } from '../../../src/domain/status/judge.ts';
import { goodAttempt, goodResult } from '../../support/attempts.ts';

const REFUSED: Failure = {
  class: 'refused',
  phase: 'connect',
  cause: { code: 'text', text: 'connection refused' },
};

function attempt(changes: Partial<Attempt> = {}): Attempt {
  return goodAttempt({ startedAt: 1_000, responseTimeMs: 100, ...changes });
}

t.test('it judges an attempt by failure, by the reported word and by latency', async (t) => {
  for (const [name, changes, verdict] of [
    ['a quick answer', { responseTimeMs: 0 }, 'up'],
    ['exactly 3,000 ms', { responseTimeMs: 3_000 }, 'up'],
    ['over 3,000 ms', { responseTimeMs: 3_001 }, 'slow'],
    ['a failure', { failure: REFUSED, statusCode: 0, responseTimeMs: null }, 'down'],
    ['a quick failure', { failure: REFUSED, statusCode: 503 }, 'down'],
    ['reported up, quick', { reported: 'up' }, 'up'],
    ['reported up, late', { reported: 'up', responseTimeMs: 3_001 }, 'slow'],
    ['reported slow, quick', { reported: 'slow' }, 'slow'],
    ['reported down, quick', { reported: 'down' }, 'down'],
    ['a bot wall', { blocked: true, statusCode: 403 }, 'up'],
    ['a bot wall, late', { blocked: true, statusCode: 429, responseTimeMs: 4_000 }, 'slow'],
    ['a bot wall taken for a failure', { blocked: true, statusCode: 429, failure: REFUSED }, 'up'],
    ['a bot wall with a word', { blocked: true, reported: 'down' }, 'up'],
  ] as const) {
    t.equal(judgeAttempt(attempt(changes), 3_000), verdict, name);
  }
});

t.test('the latest check is the last attempt', async (t) => {
  const timing = { ...NO_TIMING, totalMs: 99.5 };
  t.same(
    latestCheckOf(
      attempt({ via: 'health', reportedWord: 'OK', timing, certificateExpiresAt: 5, blocked: true }),
      'up',
    ),
    {
      status: 'up',
      responseTimeMs: 100,
      statusCode: 200,
      checkedAt: 1_000,
      source: 'health',
      reported: 'OK',
      failure: null,
      blocked: true,
      timing,
      certificateExpiresAt: 5,
    },
  );
});

t.test('the latency of a sample is bounded', async (t) => {
  const result = (responseTimeMs: number | null) => goodResult(7, 1_000, { responseTimeMs });
  t.same(sampleOf(result(100), 'up', false), {
    serviceId: 7,
    at: 1_000,
    status: 'up',
    latencyMs: 100,
    statusCode: 200,
    suspect: false,
  });
  t.equal(sampleOf(result(null), 'down', true).latencyMs, null);
  t.equal(sampleOf(result(70_000), 'slow', true).latencyMs, 65_534);
});

t.test('a blocked response is never down, and a failure always is', async () => {
  const failures = fc.constantFrom(null, REFUSED);
  const words = fc.constantFrom(null, 'up', 'slow', 'down' as const);
  fc.assert(
    fc.property(fc.boolean(), failures, words, fc.nat(), (blocked, failure, reported, responseTimeMs) => {
      const verdict = judgeAttempt(attempt({ blocked, failure, reported, responseTimeMs }), 3_000);
      if (blocked && verdict === 'down') throw new Error('a blocked answer is down');
      if (!blocked && failure !== null && verdict !== 'down') throw new Error('a failure is not down');
    }),
  );
});
