/** Pauses that double, and retries of transient failures alone. */
import t from 'tap';
import { createBackoff, retry } from '../../src/async/retry.ts';

t.test('pauses double up to their maximum, until a success', async (t) => {
  const backoff = createBackoff(100, 500);
  t.same([1, 2, 3, 4].map(backoff.next), [100, 200, 400, 500]);
  t.equal(backoff.pauseMs, 500);
  backoff.reset();
  t.same([backoff.pauseMs, backoff.next(), backoff.next()], [100, 100, 200]);
});

t.test('a retry repeats transient failures only, and no more often than allowed', async (t) => {
  const outcomes = async (maxRetries: number, ...results: readonly string[]) => {
    let attempts = 0;
    const firstRetries: unknown[] = [];
    const options = {
      maxRetries,
      pauseMs: 0,
      isTransient: (error: unknown) => error === 'transient',
      onFirstRetry: (error: unknown) => void firstRetries.push(error),
    };
    const attempt = async () => {
      const result = results[attempts++];
      if (result !== 'done') throw result;
      return result;
    };
    const ended = await retry(attempt, options).catch((error: unknown) => error);
    return { ended, attempts, firstRetries };
  };
  t.same(await outcomes(3, 'done'), { ended: 'done', attempts: 1, firstRetries: [] });
  t.same(await outcomes(3, 'transient', 'transient', 'done'), {
    ended: 'done',
    attempts: 3,
    firstRetries: ['transient'],
  });
  t.same(await outcomes(1, 'transient', 'transient', 'done'), {
    ended: 'transient',
    attempts: 2,
    firstRetries: ['transient'],
  });
  t.same(await outcomes(3, 'fatal', 'done'), { ended: 'fatal', attempts: 1, firstRetries: [] });
});
