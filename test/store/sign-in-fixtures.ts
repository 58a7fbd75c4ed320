/** Ways to sign in, for tests. */
import type { NewPasskey, NewPassword } from '../../src/store/ports/sign-in.ts';

export const sha256 = (byte: number) => new Uint8Array(32).fill(byte);

export function password(name: string, codes: readonly number[] = [1, 2]): NewPassword {
  return {
    name,
    nameKey: name.toUpperCase(),
    hash: '$argon2id$…',
    totpSecret: new Uint8Array(20).fill(7),
    totpStep: 100,
    recoveryCodes: codes.map(sha256),
  };
}

export function passkey(id: string): NewPasskey {
  return {
    id,
    name: 'phone',
    publicKey: new Uint8Array([1, 2, 3]),
    counter: 0,
    transports: ['internal'],
    userHandle: 'handle',
  };
}

/** The code of the refusal of a change. */
export const refusalOf = (change: Promise<unknown>) =>
  change.then(
    () => null,
    (error: { refusal?: { code: string } }) => error.refusal?.code,
  );
