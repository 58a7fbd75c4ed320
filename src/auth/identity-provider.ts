/** Who vouches for a person: a third party with which people sign in (contract 5). */

/** A person as a provider knows them. */
export interface Identity {
  /** The `id` of the provider in the configuration. */
  readonly provider: string;
  /** The provider's own identifier of the person; never changes. */
  readonly subject: string;
  /** How the person is called there: a name for the account, and no more. */
  readonly name: string;
}

/** What must be remembered between the way there and the way back; secret, kept at the person's browser alone. */
export interface SignInFlow {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** One way to sign in. */
export interface IdentityProvider {
  readonly id: string;
  /** For people. */
  readonly title: string;
  /** Where to send the browser. Throws a {@link SignInError}. */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly flow: SignInFlow }>;
  /** Who came back to `callbackUrl`. Throws a {@link SignInError}. */
  finish(callbackUrl: string, flow: SignInFlow): Promise<Identity>;
}

/** A sign-in that came to nothing. The message is for people; the cause is for the log. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  /** `away`: the provider does not answer. `refused`: it, or the person, said no. */
  readonly code: 'sign_in_away' | 'sign_in_refused';

  constructor(code: SignInError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
