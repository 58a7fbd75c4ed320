/** Attempts to sign in, and what may be used once. */
import { FAILURES_KEPT_MS, signInDelayMs } from '../../../domain/sign-in-delay.ts';
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
