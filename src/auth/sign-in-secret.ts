/**
 * Values for signing in that are derived from the key of secrets: states that a browser keeps and cannot change, secrets of
 * authenticator apps that are being enrolled, and marks of known browsers. So nothing is stored for a visitor who does not
 * finish, every process of the site accepts what another one has made, and a copy of the database is not enough to make one.
 * And one-time links by which a person without another way in gets one: the operator who makes the first account, the owner of
 * an account of the command line, and a person who has lost everything.
 */

import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../domain/credential-seal.ts';
import { DAY_MS } from '../domain/durations.ts';
import type { SetupLink, SetupLinkStore } from '../store/ports/sign-in.ts';

/** Length of the secret of one-time codes (RFC 4226, 4: 160 bits). */
export const TOTP_SECRET_BYTES = 20;

/** The purpose of a signed state; one for another purpose is refused. */
type StatePurpose = 'passkey-sign-in' | 'passkey-new' | 'browser' | 'status-page';

interface SignedState {
  readonly purpose: StatePurpose;
  /** Whom it is for, such as a person or a link; it is only accepted for the same subject. */
  readonly subject: string;
  /** The values of the state. */
  readonly values: readonly string[];
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export type SignInSecret = ReturnType<typeof createSignInSecret>;

/** Derives the secret of an installation from its key of secrets. */
export function createSignInSecret(secretKey: Uint8Array) {
  const key = deriveKey(secretKey, 'sign-in');
  const sign = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  return {
    /** The text of a state, for a form or a cookie. */
    sign({ purpose, subject, values, expiresAt }: SignedState): string {
      const content = toBase64Url(JSON.stringify([purpose, subject, expiresAt, ...values]));
      return `${content}.${sign(`state ${content}`).toString('base64url')}`;
    },
    /** The values of a state of this purpose and subject; null: it is another one, was changed, or has expired. */
    verify(
      text: string,
      purpose: StatePurpose,
      subject: string,
      now: number,
    ): Pick<SignedState, 'values' | 'expiresAt'> | null {
      const [content = '', mac = ''] = text.split('.');
      const [wanted, given] = [sign(`state ${content}`), Buffer.from(mac, 'base64url')];
      if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) return null;
      const [ofPurpose, ofSubject, expiresAt, ...values] = readList(content);
      if (ofPurpose !== purpose || ofSubject !== subject) return null;
      if (typeof expiresAt !== 'number' || expiresAt <= now) return null;
      return { values: values.map(String), expiresAt };
    },
    /**
     * The secret of one-time codes to offer to a visitor. `seed` is a secret of the visitor, such as the token of a
     * link, so that the secret stays the same while the form is filled in, and nobody else can derive it.
     */
    offerTotpSecret: (seed: string): Uint8Array =>
      new Uint8Array(sign(`totp ${seed}`).subarray(0, TOTP_SECRET_BYTES)),
  };
}

/** SHA-256 of a secret text, which the registry stores in place of the text. */
export function digestOf(text: string): Uint8Array {
  return new Uint8Array(hash('sha256', text, 'buffer'));
}

function toBase64Url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** The list in a state whose signature is right. */
function readList(content: string): readonly unknown[] {
  const value: unknown = JSON.parse(Buffer.from(content, 'base64url').toString());
  return Array.isArray(value) ? value : [];
}

/** The time for which a link is valid, milliseconds. */
const SETUP_LINK_MS = DAY_MS;

const LINK_SECRET_BYTES = 32;
const LINK_SECRET_FORM = /^[A-Za-z0-9_-]{43}$/;

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
  const secret = randomBytes(LINK_SECRET_BYTES).toString('base64url');
  const expiresAt = now + SETUP_LINK_MS;
  await registry.addSetupLink({ invitation: null, ...target, sha256: digestOf(secret), expiresAt }, now);
  return { url: `${siteUrl.replace(/\/+$/, '')}/setup/${secret}`, expiresAt };
}

/** The SHA-256 of the secret of a link; null: the text is none. */
export function readSetupSecret(secret: string): Uint8Array | null {
  return LINK_SECRET_FORM.test(secret) ? digestOf(secret) : null;
}
