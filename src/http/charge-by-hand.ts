/** Limits what an account sends manually, since it goes to servers of others. */
import { getOrInsert } from '../async/bounded-map.ts';
import type { Clock } from '../clock.ts';
import { retryLater } from './problem.ts';
import { createRateLimiter, LimitMemory, type RateLimiter } from './rate-limits.ts';

/** Maximum number of accounts whose requests are counted; when there are more, the oldest are dropped. */
const MAX_ACCOUNTS = 10_000;

/** Creates the counter of a process. It throws `rate_limited` beyond `perMinute` of an account. */
export function createHandCharge<What extends string>(
  perMinute: Readonly<Record<What, number>>,
  clock: Clock,
): (what: What, accountId: number) => Promise<void> {
  const memory = new LimitMemory(clock, MAX_ACCOUNTS);
  const limiters = new Map<What, RateLimiter>();
  return async (what, accountId) => {
    const limiter = getOrInsert(limiters, what, () =>
      createRateLimiter(`by-hand-${what}`, perMinute[what], memory),
    );
    const { allowed, limit, retryAfterSeconds } = await limiter.charge(String(accountId));
    if (allowed) return;
    const detail = `At most ${limit} a minute can be sent by hand. Wait ${retryAfterSeconds} s.`;
    throw retryLater('rate_limited', retryAfterSeconds, detail, { retry_after: retryAfterSeconds });
  };
}
