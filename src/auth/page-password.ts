/**
 * Passwords of status pages. Wrong ones are counted for each page and each client, as those of people are. Who has entered the right
 * one gets a pass: a signed text for that page and that password, so that nothing is stored and another password ends it.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { BoundedMap } from '../async/bounded-map.ts';
import { DAY_MS } from '../domain/durations.ts';
import type { OwnedPage } from '../domain/status-page.ts';
import type { SignInGuardStore } from '../store/ports/sign-in.ts';
import type { PageStore } from '../store/ports/status-pages.ts';
import { verifyPassword } from './password-hash.ts';
import { digestOf, type SignInSecret } from './sign-in-secret.ts';

/** How long a pass is valid, milliseconds. */
export const PASS_MS = 30 * DAY_MS;

/** Attempts without a delay: of a client at a page, and of all clients at a page. */
const FREE_OF_CLIENT = 5;
const FREE_OF_PAGE = 50;

/** Maximum number of right passwords that are remembered for clients that send them with each request. */
const MAX_REMEMBERED = 200;
const KEY_BYTES = 32;

/** The page that is asked for. */
export type LockedPage = Pick<OwnedPage, 'id' | 'passwordMark'>;

/** The outcome of an attempt. */
export type PagePasswordOutcome =
  | { readonly kind: 'accepted' | 'refused' }
  /** The attempt was not made: too many have failed. */
  | { readonly kind: 'wait'; readonly waitMs: number };

/** Passwords of pages. */
export type PagePasswords = ReturnType<typeof createPagePasswords>;

/** Creates the attempts and passes. */
export function createPagePasswords({
  registry,
  secret,
  now,
}: {
  readonly registry: Pick<PageStore, 'findPagePassword'> &
    Pick<SignInGuardStore, 'takeAttempt' | 'returnAttempt'>;
  readonly secret: SignInSecret;
  readonly now: () => number;
}) {
  /** A key of this process, so that what is remembered is of no use outside of it. */
  const rememberKey = randomBytes(KEY_BYTES);
  const remembered = new BoundedMap<string, true>(MAX_REMEMBERED);
  const nameOf = ({ id, passwordMark = '' }: LockedPage, password: string) =>
    createHmac('sha256', rememberKey)
      .update(JSON.stringify([id, passwordMark, password]))
      .digest('base64url');

  /** Tries a password of a form. */
  const attempt = async (
    { id }: LockedPage,
    password: string,
    client: string,
  ): Promise<PagePasswordOutcome> => {
    const keys = [
      { key: `page:${id}:${Buffer.from(digestOf(client)).toString('base64url')}`, free: FREE_OF_CLIENT },
      { key: `page:${id}`, free: FREE_OF_PAGE },
    ];
    // Counted before the work, so that concurrent attempts cannot pass together.
    const waitMs = await registry.takeAttempt(keys, now());
    if (waitMs > 0) return { kind: 'wait', waitMs };
    if (!(await verifyPassword(password, await registry.findPagePassword(id)))) return { kind: 'refused' };
    await registry.returnAttempt(keys);
    return { kind: 'accepted' };
  };

  return {
    attempt,
    /** Tries a password that a client sends with each request: a right one is computed once, and no failure of others delays it. */
    async attemptAgain(page: LockedPage, password: string, client: string): Promise<PagePasswordOutcome> {
      const name = nameOf(page, password);
      if (remembered.touch(name) === true) return { kind: 'accepted' };
      const outcome = await attempt(page, password, client);
      if (outcome.kind === 'accepted') remembered.set(name, true);
      return outcome;
    },
    /** The pass for a page with its present password. */
    makePass: ({ id, passwordMark = '' }: LockedPage): string =>
      secret.sign({
        purpose: 'status-page',
        subject: String(id),
        values: [passwordMark],
        expiresAt: now() + PASS_MS,
      }),
    /** Whether a text is a pass for the page with its present password. */
    isPass({ id, passwordMark }: LockedPage, text: string): boolean {
      if (text === '' || passwordMark === undefined) return false;
      const state = secret.verify(text, 'status-page', String(id), now());
      return state !== null && state.values[0] === passwordMark;
    },
  };
}
