/** The interface of identity providers, with which people sign in (contract 5). */
import type { Identity } from '../store/ports/people.ts';

/** The secrets of a sign-in between redirect and callback, which only the person's browser keeps. */
export interface SignInFlow {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface IdentityProvider {
  readonly id: string;
  readonly title: string;
  /** The URL to redirect to. Throws {@link SignInError}. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly flow: SignInFlow }>;
  /** The identity that the provider has confirmed at `callbackUrl`. Throws {@link SignInError}. */
  finish(callbackUrl: string, flow: SignInFlow): Promise<Identity>;
}

/** A failed sign-in. The message is for people, the cause for the log. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  /** `sign_in_away`: the provider is unavailable. `sign_in_refused`: the provider or the person refused. */
  readonly code: 'sign_in_away' | 'sign_in_refused';

  constructor(code: SignInError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
