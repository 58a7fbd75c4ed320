/** Sessions of signed-in people: a random token in a cookie, and its SHA-256 in the registry. */

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { DAY_MS } from '../domain/durations.ts';
import type { PeopleStore, Session } from '../store/ports/people.ts';

/** Maximum lifetime of a session, milliseconds. */
export const SESSION_MS = 30 * DAY_MS;

export interface OpenSession extends Session {
  /** Every form of the session carries it; a request without it is refused. */
  readonly formToken: string;
  /** SHA-256 of its token. */
  readonly sha256: Uint8Array;
}

interface SessionsOptions {
  readonly registry: PeopleStore;
  readonly clock: Clock;
  /** True if a person without an account gets one with the first session. Default: true. */
  readonly mayAddAccounts?: boolean;
}

export type Sessions = ReturnType<typeof createSessions>;

const TOKEN_BYTES = 32;
const TOKEN_FORM = /^[A-Za-z0-9_-]{43}$/;

export function createSessions({ registry, clock, mayAddAccounts = true }: SessionsOptions) {
  return {
    mayAddAccounts,
    /**
     * Opens a session of a person in the account that they chose last. The token goes into the cookie and nowhere else. Rejects with
     * the refusal `accounts_closed` if they are a member of no account and may not have one of their own.
     */
    async open(personId: number): Promise<{ readonly token: string; readonly expiresAt: number }> {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const createdAt = clock.now();
      const expiresAt = createdAt + SESSION_MS;
      const session = { sha256: digest(token), personId, createdAt, expiresAt };
      await registry.createSession(session, mayAddAccounts);
      return { token, expiresAt };
    },
    /** The session of a token; null if there is none or it has ended. */
    async find(token: string): Promise<OpenSession | null> {
      if (!TOKEN_FORM.test(token)) return null;
      const sha256 = digest(token);
      const session = await registry.findSession(sha256, clock.now());
      return session === null
        ? null
        : { ...session, sha256, formToken: formTokenOf(token, session.accountId) };
    },
    /** Changes the account of a session; false: its person is not a member of that account. */
    async switchAccount(token: string, accountId: number): Promise<boolean> {
      return TOKEN_FORM.test(token) && (await registry.switchAccount(digest(token), accountId));
    },
    /** Ends the session of a token, if it exists. */
    async end(token: string): Promise<void> {
      if (TOKEN_FORM.test(token)) await registry.endSession(digest(token));
    },
    endAll: (personId: number): Promise<void> => registry.endSessionsOf(personId),
  };
}

/** Returns true if a form carries the token of its session. Compares in constant time. */
export function isFormToken(session: OpenSession, given: string): boolean {
  const [wanted, offered] = [Buffer.from(session.formToken), Buffer.from(given)];
  return wanted.length === offered.length && timingSafeEqual(wanted, offered);
}

/**
 * Derived from the session's token, so nothing is stored and the token cannot be derived from it. A page that was open
 * when the session changed its account has forms of the other account, which are refused.
 */
function formTokenOf(token: string, accountId: number): string {
  return createHmac('sha256', token).update(`upbeat form ${accountId}`).digest('base64url');
}

function digest(token: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(token).digest());
}
