/** Attempts to sign in, and what may be used once. */

import { DAY_MS } from '../../../domain/durations.ts';
import { type Calls, write } from '../../database/registry-calls.ts';
import type { SignInGuardStore } from '../../ports/sign-in.ts';

/** Attempts and single uses. */
export const SIGN_IN_GUARD_CALLS: Calls<SignInGuardStore> = {
  takeAttempt: write(async ({ kysely, queries }, keys, now) => {
    const outdated = now - FAILURES_KEPT_MS;
    await queries.run(kysely.deleteFrom('sign_in_attempts').where('last_at', '<=', outdated));
    const counts = await queries.all(
      kysely
        .selectFrom('sign_in_attempts')
        .selectAll()
        .where(
          'key',
          'in',
          keys.map(({ key }) => key),
        ),
    );
    const delays = keys.map(({ key, free }) => {
      const count = counts.find((row) => row.key === key);
      return count === undefined
        ? 0
        : signInDelayMs({ failures: count.failures, lastAt: count.last_at }, free, now);
    });
    const waitMs = Math.max(0, ...delays);
    if (waitMs > 0) return waitMs;
    for (const { key } of keys) {
      await queries.run(
        kysely
          .insertInto('sign_in_attempts')
          .values({ key, failures: 1, last_at: now })
          .onConflict((conflict) =>
            conflict.column('key').doUpdateSet((eb) => ({
              failures: eb('sign_in_attempts.failures', '+', 1),
              last_at: now,
            })),
          ),
      );
    }
    return 0;
  }),
  returnAttempt: write(async ({ kysely, queries }, keys) => {
    for (const { key } of keys) {
      await queries.run(
        kysely
          .updateTable('sign_in_attempts')
          .set((eb) => ({ failures: eb('failures', '-', 1) }))
          .where('key', '=', key)
          .where('failures', '>', 0),
      );
    }
  }),
  useOnce: write(async ({ kysely, queries }, sha256, expiresAt, now) => {
    await queries.run(kysely.deleteFrom('used_once').where('expires_at', '<=', now));
    const use = kysely
      .insertInto('used_once')
      .values({ sha256, expires_at: expiresAt })
      .onConflict((conflict) => conflict.column('sha256').doNothing());
    return (await queries.run(use)) > 0;
  }),
};

/** Failures are forgotten this long after the last one, milliseconds. */
const FAILURES_KEPT_MS = DAY_MS;

const FIRST_DELAY_MS = 5_000;
const MAX_DELAY_MS = 900_000;
/** Beyond it the delay is the maximum. */
const MAX_DOUBLINGS = 10;

/** The attempts that count together: those for a name, of a client, or of a browser that has signed in before. */
interface AttemptCount {
  readonly failures: number;
  /** The time at which the last one was made, epoch milliseconds. */
  readonly lastAt: number;
}

/**
 * The delay of an attempt, milliseconds; 0: it may be made. The first `free` attempts need not wait; the delay then begins
 * with 5 s after the last attempt and doubles with each failure up to 15 minutes.
 */
function signInDelayMs({ failures, lastAt }: AttemptCount, free: number, now: number): number {
  if (failures < free || now - lastAt >= FAILURES_KEPT_MS) return 0;
  const delayMs = FIRST_DELAY_MS * 2 ** Math.min(failures - free, MAX_DOUBLINGS);
  // A clock that was set back must not lengthen the delay.
  return Math.max(0, Math.min(delayMs, MAX_DELAY_MS) - Math.max(0, now - lastAt));
}
