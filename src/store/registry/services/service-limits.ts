/** The number of services that an account may have, and may register within a day. */
import { DAY_MS } from '../../../domain/durations.ts';
import type { DomainLimits } from '../../database/registry-calls.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { type RegistryStore, statement } from '../../database/registry-store.ts';

const COUNT_OWNED = statement<{ readonly count: number }>(
  "SELECT count(*) AS count FROM services WHERE account_id = ? AND origin = 'owner' AND removed = 0",
);
const FORGET_REGISTRATIONS = statement(
  'DELETE FROM domain_registrations WHERE account_id = ? AND (at <= ? OR at > ?)',
);
const COUNT_REGISTRATIONS = statement<{ readonly count: number; readonly first: number | null }>(
  'SELECT count(*) AS count, min(at) AS first FROM domain_registrations WHERE account_id = ?',
);
const ADD_REGISTRATION = statement('INSERT INTO domain_registrations (account_id, at) VALUES (?, ?)');

/** Throws `account_limit` if the account would have more live services than it may. */
export async function refuseBeyondLimit(
  { queries }: RegistryStore,
  accountId: number,
  { perAccount }: DomainLimits,
  more = 1,
): Promise<void> {
  // The operator has no limit, and an import need not count thousands of rows for each of thousands of services.
  if (perAccount === Number.POSITIVE_INFINITY) return;
  const owned = await queries.first(COUNT_OWNED(accountId));
  if ((owned?.count ?? 0) + more > perAccount)
    throw new RegistryError('account_limit', { code: 'too_many_domains', max: perAccount });
}

/** Counts a registration. Throws `account_limit` if the account has made the maximum number within a day. */
export async function noteRegistration(
  { queries }: RegistryStore,
  accountId: number,
  perDay: number,
  now: number,
): Promise<void> {
  // After the clock was set back, registrations may lie in the future. They are deleted, since they would otherwise count too long.
  await queries.run(FORGET_REGISTRATIONS(accountId, now - DAY_MS, now));
  const made = await queries.first(COUNT_REGISTRATIONS(accountId));
  if ((made?.count ?? 0) >= perDay)
    throw new RegistryError('account_limit', {
      code: 'too_many_registrations',
      max: perDay,
      retryAt: (made?.first ?? now) + DAY_MS,
    });
  await queries.run(ADD_REGISTRATION(accountId, now));
}
