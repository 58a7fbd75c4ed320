/** When what could not be delivered is tried again. */
import t from 'tap';
import {
  MAX_DELIVERY_WAIT_MS,
  RETRY_AFTER_MS,
  retryAt,
  retryLetterAt,
  TRIED_MS,
} from '../../src/domain/delivery-retries.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/domain/durations.ts';

const NOW = 1_000_000;

t.test('it waits longer after each failure, for a day in total, and gives up', async (t) => {
  t.same(
    RETRY_AFTER_MS.map((wait, attempts) => retryAt(attempts, NOW, 0) === NOW + wait),
    RETRY_AFTER_MS.map(() => true),
  );
  t.same(
    RETRY_AFTER_MS,
    RETRY_AFTER_MS.toSorted((a, b) => a - b),
  );
  t.equal(retryAt(RETRY_AFTER_MS.length, NOW, 0), null);
  t.ok(TRIED_MS > DAY_MS && TRIED_MS < 26 * HOUR_MS);
});

t.test('what failed together is not repeated together, and waits no longer than the bound', async (t) => {
  t.equal(retryAt(0, NOW, 1), NOW + 5.5 * SECOND_MS);
  for (const attempts of RETRY_AFTER_MS.keys())
    t.ok((retryAt(attempts, 0, 1) ?? 0) <= MAX_DELIVERY_WAIT_MS, String(attempts));
});

t.test('a letter is tried each hour at least, and for a day however often it was tried', async (t) => {
  const at = (attempts: number, createdAt: number | null, now = NOW) =>
    retryLetterAt({ attempts, createdAt }, now, 0);
  t.equal(at(0, NOW), NOW + 5 * SECOND_MS);
  for (const attempts of [4, 5, 6, 7, 100]) t.equal(at(attempts, NOW), NOW + HOUR_MS, String(attempts));
  t.equal(at(7, NOW, NOW + TRIED_MS - 1), NOW + TRIED_MS - 1 + HOUR_MS);
  t.equal(at(7, NOW, NOW + TRIED_MS), null);
  t.equal(
    at(6, 0, NOW + 2 * TRIED_MS),
    NOW + 2 * TRIED_MS + HOUR_MS,
    'a clock that was ahead makes none old',
  );
  t.equal(at(7, null), null, 'one from before times were kept');
});
