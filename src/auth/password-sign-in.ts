/**
 * Sign-in with name, password and one-time code, all three in one form. Whatever is wrong, the answer and the work are the
 * same, so that strangers do not learn which names exist. Attempts are limited for each name, each client and each known
 * browser (docs/sign-in.md). A recovery code stands once for the code of an authenticator app that is lost.
 */
import { hash, randomBytes } from 'node:crypto';
import { DAY_MS } from '../domain/durations.ts';
import type { Log } from '../log.ts';
import type {
  AttemptKey,
  PasswordCredential,
  SignInGuardStore,
  SignInStore,
} from '../store/ports/sign-in.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { verifyPassword } from './password-hash.ts';
import { createSignInSecret, digestOf, type SignInSecret, TOTP_SECRET_BYTES } from './sign-in-secret.ts';
import { findTotpStep } from './totp.ts';

/** Number of codes that a person gets at a time. */
const RECOVERY_CODES = 10;

/** 80 bits, so that a plain hash of it cannot be inverted. */
const CODE_BYTES = 10;

/** 32 characters, without `0`, `1`, `l` and `o`, which look alike. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';

const CODE_FORM = /^[a-z0-9]{16}$/;

export interface PasswordAttempt {
  readonly name: string;
  readonly password: string;
  /** A code of the authenticator app, or a recovery code. */
  readonly code: string;
  /** The client as rate limits count it. */
  readonly client: string;
  /** The mark of a known browser; empty: there is none. */
  readonly browser: string;
}

export type PasswordOutcome =
  | {
      readonly kind: 'accepted';
      readonly personId: number;
      /** True: a recovery code was used. */
      readonly usedRecoveryCode: boolean;
    }
  | { readonly kind: 'refused' }
  /** The attempt was not made: too many have failed. */
  | { readonly kind: 'wait'; readonly waitMs: number };

interface PasswordSignInOptions {
  readonly registry: SignInStore & SignInGuardStore;
  readonly secret: SignInSecret;
  readonly now: () => number;
}

type PasswordSignIn = ReturnType<typeof createPasswordSignIn>;

/** The time for which a browser is known after a sign-in, milliseconds. */
export const KNOWN_BROWSER_MS = 365 * DAY_MS;

/** Attempts without a delay: for a name, in a known browser, and from a client, where many people may be. */
const FREE_OF_NAME = 5;
const FREE_OF_BROWSER = 5;
const FREE_OF_CLIENT = 20;

const BROWSER_BYTES = 16;
/** A longer text is no code, and is not hashed. */
const MAX_CODE_LENGTH = 100;

/** The form of a name by which it is compared: without differences of writing, case and spaces. */
export function nameKeyOf(name: string): string {
  return name.normalize('NFKC').trim().replaceAll(/\s+/g, ' ').toLowerCase().toUpperCase();
}

export function createPasswordSignIn({ registry, secret, now }: PasswordSignInOptions) {
  const countedBy = async ({ name, client, browser }: PasswordAttempt): Promise<readonly AttemptKey[]> => {
    const nameKey = nameKeyOf(name);
    const known = secret.verify(browser, 'browser', nameKey, now());
    // A stranger who fails cannot lock out a browser in which the person has signed in before.
    if (known !== null) return [{ key: keyOf('browser', known.values.join()), free: FREE_OF_BROWSER }];
    return [
      { key: keyOf('name', nameKey), free: FREE_OF_NAME },
      { key: keyOf('client', client), free: FREE_OF_CLIENT },
    ];
  };

  /** Uses up a code that was found valid; false: another attempt was first. */
  const useCode = ({ personId }: PasswordCredential, code: ValidCode): Promise<boolean> =>
    code.kind === 'totp'
      ? registry.useTotpStep(personId, code.step)
      : registry.useRecoveryCode(personId, code.sha256);

  return {
    async attempt(attempt: PasswordAttempt): Promise<PasswordOutcome> {
      const keys = await countedBy(attempt);
      // Counted before the work, so that concurrent attempts cannot pass together.
      const waitMs = await registry.takeAttempt(keys, now());
      if (waitMs > 0) return { kind: 'wait', waitMs };
      const credential = await registry.findPassword(nameKeyOf(attempt.name));
      // Every attempt computes all of this, and only one with nothing wrong writes.
      const isRight = await verifyPassword(attempt.password, credential?.hash ?? null);
      const code = await findCode(credential ?? NO_CREDENTIAL, attempt.code, now());
      if (credential === null || !isRight || code === null || !(await useCode(credential, code)))
        return { kind: 'refused' };
      await registry.returnAttempt(keys);
      const { personId } = credential;
      return { kind: 'accepted', personId, usedRecoveryCode: code.kind === 'recovery' };
    },
    /** The mark of a browser in which the person with that name has signed in. */
    markBrowser: (name: string): string =>
      secret.sign({
        purpose: 'browser',
        subject: nameKeyOf(name),
        values: [randomBytes(BROWSER_BYTES).toString('base64url')],
        expiresAt: now() + KNOWN_BROWSER_MS,
      }),
  };
}

type ValidCode =
  | { readonly kind: 'totp'; readonly step: number }
  | { readonly kind: 'recovery'; readonly sha256: Uint8Array };

/** The credential with which an attempt for an unknown name is compared. */
const NO_CREDENTIAL: Pick<PasswordCredential, 'totpSecret' | 'totpStep' | 'recoveryCodes'> = {
  totpSecret: new Uint8Array(TOTP_SECRET_BYTES),
  totpStep: 0,
  recoveryCodes: [],
};

/** The code that a text is; null: it is none of the credential. */
async function findCode(
  { totpSecret, totpStep, recoveryCodes }: typeof NO_CREDENTIAL,
  text: string,
  now: number,
): Promise<ValidCode | null> {
  const code = text.length > MAX_CODE_LENGTH ? '' : text;
  const step = await findTotpStep(totpSecret, code.replaceAll(/\s/g, ''), now, totpStep);
  if (step !== null) return { kind: 'totp', step };
  const sha256 = readRecoveryCode(code);
  const isKnown = sha256 !== null && recoveryCodes.some((known) => Buffer.compare(known, sha256) === 0);
  return isKnown ? { kind: 'recovery', sha256 } : null;
}

/** Names and addresses are not stored as they are. */
function keyOf(kind: 'name' | 'client' | 'browser', value: string): string {
  return `${kind}:${Buffer.from(digestOf(value)).toString('base64url')}`;
}

/** New codes, each as shown and as the SHA-256 to store. */
export function makeRecoveryCodes(): { readonly shown: string; readonly sha256: Uint8Array }[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = encode(randomBytes(CODE_BYTES));
    return { shown: code.replaceAll(/.{4}(?=.)/g, '$&-'), sha256: digest(code) };
  });
}

/** The SHA-256 of a code as a person types it, with or without dashes and spaces; null: it has not the form of one. */
export function readRecoveryCode(text: string): Uint8Array | null {
  const code = text.replaceAll(/[\s-]/g, '').toLowerCase();
  return CODE_FORM.test(code) ? digest(code) : null;
}

function digest(code: string): Uint8Array {
  return new Uint8Array(hash('sha256', code, 'buffer'));
}

function encode(bytes: Uint8Array): string {
  let bits = 0n;
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte);
  let text = '';
  for (let place = 0; place < (CODE_BYTES * 8) / 5; place++) {
    text = ALPHABET.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return text;
}

export interface LocalSignIn {
  readonly secret: SignInSecret;
  readonly passkeys: Passkeys;
  readonly passwords: PasswordSignIn;
}

/** Creates the parts. Nothing is read before their first use. */
export function createLocalSignIn(options: {
  readonly registry: SignInStore & SignInGuardStore;
  readonly secretKey: Uint8Array;
  readonly siteUrl: string;
  readonly now: () => number;
  readonly log: Log;
}): LocalSignIn {
  const secret = createSignInSecret(options.secretKey);
  return {
    secret,
    passkeys: createPasskeys({ ...options, secret }),
    passwords: createPasswordSignIn({ ...options, secret }),
  };
}
