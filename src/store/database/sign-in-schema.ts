/** Tables of what people sign in with besides identities at providers. Times are epoch milliseconds. */
import type { SetupLink } from '../ports/sign-in.ts';

/** A part of the registry's tables. */
export interface SignInSchema {
  /** Passwords. The secret of the one-time codes is stored encrypted, because codes are computed from it. */
  passwords: {
    person_id: number;
    name: string;
    /** The form by which names are compared. */
    name_key: string;
    /** In the PHC string format. */
    hash: string;
    totp_secret: string;
    /** The period of the last accepted code. */
    totp_step: number;
    changed_at: number;
  };
  /** Unused recovery codes; only digests are stored. */
  recovery_codes: {
    person_id: number;
    sha256: Uint8Array;
  };
  passkeys: {
    id: string;
    person_id: number;
    name: string;
    /** In COSE form. */
    public_key: Uint8Array;
    counter: number;
    /** JSON of the list. */
    transports: string;
    user_handle: string;
    created_at: number;
    last_used_at: number | null;
  };
  /** Links that make a way in; only digests of their secrets are stored. */
  setup_links: {
    sha256: Uint8Array;
    kind: SetupLink['kind'];
    account_id: number | null;
    person_id: number | null;
    expires_at: number;
    invitation: Uint8Array | null;
  };
  /** Attempts to sign in that count together and have not succeeded. */
  sign_in_attempts: {
    key: string;
    failures: number;
    last_at: number;
  };
}
