/**
 * Passwords of status pages. Wrong ones are counted for each page and each client, as those of people are. Who has entered the right
 * one gets a pass: a signed text for that page and that password, so that nothing is stored and another password ends it.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { BoundedMap } from '../async/bounded-map.ts';
import { DAY_MS, SECOND_MS } from '../domain/durations.ts';
import type { OwnedPage } from '../domain/status-page.ts';
import type { SignInGuardStore } from '../store/ports/sign-in.ts';
import type { PageReads } from '../store/ports/status-pages.ts';
import { verifyPassword } from './password-hash.ts';
import { digestOf, type SignInSecret } from './sign-in-secret.ts';

/** The time for which a pass is valid, milliseconds. */
export const PASS_MS = 30 * DAY_MS;

/** Attempts of a client at a page without a delay. Clients are counted one by one: together they would lock each other out. */
const FREE_OF_CLIENT = 5;

/** Maximum number of passwords that are tried at a time, so that guesses of many clients cannot use up the processors. */
const MAX_ATTEMPTS_AT_A_TIME = 16;
/** The time after which a client may try again that came while as many were tried. */
const BUSY_WAIT_MS = SECOND_MS;

/** Maximum number of right passwords that are remembered for clients that send them with each request. */
const MAX_REMEMBERED = 200;
const KEY_BYTES = 32;

export type LockedPage = Pick<OwnedPage, 'id' | 'passwordMark'>;

export type PagePasswordOutcome =
  | { readonly kind: 'accepted' | 'refused' }
  /** The attempt was not made: too many have failed, or many are being made. */
  | { readonly kind: 'wait'; readonly waitMs: number };

export function createPagePasswords({
  registry,
  secret,
  now,
}: {
  readonly registry: PageReads & SignInGuardStore;
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

  let running = 0;
  /** Tries a password of a form. */
  const attempt = async (
    { id }: LockedPage,
    password: string,
    client: string,
  ): Promise<PagePasswordOutcome> => {
    if (running >= MAX_ATTEMPTS_AT_A_TIME) return { kind: 'wait', waitMs: BUSY_WAIT_MS };
    running++;
    try {
      const name = Buffer.from(digestOf(client)).toString('base64url');
      const keys = [{ key: `page:${id}:${name}`, free: FREE_OF_CLIENT }];
      // Counted before the work, so that concurrent attempts cannot pass together.
      const waitMs = await registry.takeAttempt(keys, now());
      if (waitMs > 0) return { kind: 'wait', waitMs };
      if (!(await verifyPassword(password, await registry.findPagePassword(id)))) return { kind: 'refused' };
      await registry.returnAttempt(keys);
      return { kind: 'accepted' };
    } finally {
      running--;
    }
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
    makePass: ({ id, passwordMark = '' }: LockedPage): string =>
      secret.sign({
        purpose: 'status-page',
        subject: String(id),
        values: [passwordMark],
        expiresAt: now() + PASS_MS,
      }),
    /** Returns true if a text is a pass for the page with its present password. */
    isPass({ id, passwordMark }: LockedPage, text: string): boolean {
      if (text === '' || passwordMark === undefined) return false;
      const state = secret.verify(text, 'status-page', String(id), now());
      return state !== null && state.values[0] === passwordMark;
    },
  };
}
