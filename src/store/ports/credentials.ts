/** Port of the registry: encryption of the credentials of checks. */
import type { CredentialPlace } from '../../domain/credential-seal.ts';

export interface CredentialToSeal {
  readonly place: CredentialPlace;
  readonly text: string;
}

/** Encrypts credentials with the key of this installation. Only the nodes that make checks use them in clear text. */
export interface CredentialStore {
  /** The encrypted texts in the order of the input. Rejects with `secrets_key` if the key is missing or wrong. */
  sealCredentials(credentials: readonly CredentialToSeal[]): Promise<readonly string[]>;
  /**
   * Resolves with true for each sealed text that is that credential, sealed for that place. False for another key, too. No
   * credential is returned.
   */
  matchCredentials(
    credentials: readonly (CredentialToSeal & { readonly sealed: string })[],
  ): Promise<readonly boolean[]>;
  /** Returns true if each sealed text was sealed with another key than that of this process; false: this process has no key. */
  foreignCredentials(sealed: readonly string[]): Promise<readonly boolean[]>;
}
