/** Sign-in without a provider: passkeys and passwords, over one secret. */
import type { Log } from '../log.ts';
import type { SignInGuardStore, SignInStore } from '../store/ports/sign-in.ts';
import { createPasskeys, type Passkeys } from './passkeys.ts';
import { createPasswordSignIn, type PasswordSignIn } from './password-sign-in.ts';
import { createSignInSecret, type SignInSecret } from './sign-in-secret.ts';

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
