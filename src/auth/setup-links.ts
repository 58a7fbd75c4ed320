/**
 * One-time links by which a person without another way in gets one: the operator who makes the first account, the owner of
 * an account of the command line, and a person who has lost everything.
 */
import { randomBytes } from 'node:crypto';
import { DAY_MS } from '../domain/durations.ts';
import type { SetupLink, SetupLinkStore } from '../store/ports/sign-in.ts';
import { digestOf } from './sign-in-secret.ts';

/** The time for which a link is valid, milliseconds. */
const SETUP_LINK_MS = DAY_MS;

const SECRET_BYTES = 32;
const SECRET_FORM = /^[A-Za-z0-9_-]{43}$/;

/** Whom a link is for. */
export type SetupLinkTarget = Pick<SetupLink, 'kind' | 'accountId' | 'personId'> &
  Partial<Pick<SetupLink, 'invitation'>>;

/** Makes a link. Its URL is the only copy of its secret. */
export async function makeSetupLink(
  registry: SetupLinkStore,
  siteUrl: string,
  target: SetupLinkTarget,
  now: number,
): Promise<{ readonly url: string; readonly expiresAt: number }> {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const expiresAt = now + SETUP_LINK_MS;
  await registry.addSetupLink({ invitation: null, ...target, sha256: digestOf(secret), expiresAt }, now);
  return { url: `${siteUrl.replace(/\/+$/, '')}/setup/${secret}`, expiresAt };
}

/** The SHA-256 of the secret of a link; null: the text is none. */
export function readSetupSecret(secret: string): Uint8Array | null {
  return SECRET_FORM.test(secret) ? digestOf(secret) : null;
}
