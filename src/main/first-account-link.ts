/** The link for the first account of an installation that nobody can sign in to. */
import { makeSetupLink } from '../auth/setup-links.ts';
import type { Clock } from '../clock.ts';
import { formatTime } from '../domain/durations.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { SetupLinkStore, SignInStore } from '../store/ports/sign-in.ts';

/**
 * Logs a one-time link for the first account while there is none. The log is where operators of a service look, and the link
 * in it is worth nothing once it was used, an account exists, or a day has passed. Null: none is needed, or it could not be made.
 */
export async function offerFirstAccount(parts: {
  readonly registry: Pick<SignInStore, 'signInWays'> & SetupLinkStore;
  readonly siteUrl: string;
  readonly clock: Clock;
  readonly log: Log;
}): Promise<string | null> {
  const { registry, siteUrl, clock, log } = parts;
  try {
    if ((await registry.signInWays()).hasAccounts) return null;
    const target = { kind: 'first', accountId: null, personId: null } as const;
    const { url, expiresAt } = await makeSetupLink(registry, siteUrl, target, clock.now());
    log.info(
      { link: url, expires: formatTime(expiresAt) },
      'there is no account yet: open the link to make the first one',
    );
    return url;
  } catch (error) {
    log.warn({ problem: messageOf(error) }, 'the link for the first account could not be made');
    return null;
  }
}
