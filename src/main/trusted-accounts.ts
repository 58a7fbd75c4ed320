/** The setting `accounts.trusted`. */
import type { Clock } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { Account, AccountStore } from '../store/ports/accounts.ts';

export interface TrustParts {
  readonly registry: Pick<AccountStore, 'trustNamed'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Trusts the accounts that the setting names, and no longer those that it alone made trusted before. Never rejects: a registry that takes
 * no writes leaves them as they are.
 */
export async function applyTrustedNames(
  { registry, clock, log }: TrustParts,
  { accounts }: Pick<Config, 'accounts'>,
): Promise<void> {
  try {
    const { begun, ended, unknown } = await registry.trustNamed(accounts.trusted, clock.now());
    for (const one of begun) log.info(named(one), 'an account is trusted, by accounts.trusted');
    for (const one of ended) log.info(named(one), 'an account is no longer trusted, by accounts.trusted');
    if (unknown.length > 0)
      log.warn({ accounts: unknown }, 'accounts.trusted names accounts that do not exist');
  } catch (error) {
    log.warn({ problem: messageOf(error) }, 'accounts.trusted could not be applied');
  }
}

function named({ id, name }: Account) {
  return { account: name, accountId: id };
}
