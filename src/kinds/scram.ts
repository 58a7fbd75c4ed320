/** The sign-in by SCRAM-SHA-256 (RFC 5802, RFC 7677): neither side sends the password, and the server proves that it knows it too. */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Maximum number of iterations that a server may ask for; servers use 4,096 to 600,000. */
const MAX_ITERATIONS = 1_000_000;

/** A sign-in: what to send first, and what to answer. */
export interface Scram {
  readonly first: string;
  /** The second message for the server's first one; null: that cannot be read, or asks for too much. */
  answer(challenge: string): Promise<string | null>;
  /** Whether the server's last message proves that it knows the password. */
  accepts(last: string): boolean;
}

/** Begins a sign-in. `username` is empty where the protocol has sent it already. */
export function startScram(username: string, password: string, nonce = randomBytes(18)): Scram {
  const own = nonce.toString('base64');
  const name = username.replaceAll('=', '=3D').replaceAll(',', '=2C');
  const bare = `n=${name},r=${own}`;
  let proof = Buffer.alloc(0);
  return {
    first: `n,,${bare}`,
    async answer(challenge) {
      const [, both = '', salt = '', count = ''] =
        /^r=([^,]+),s=([A-Za-z0-9+/=]+),i=(\d{1,9})/.exec(challenge) ?? [];
      const iterations = Number(count);
      if (!both.startsWith(own) || iterations < 1 || iterations > MAX_ITERATIONS) return null;
      const salted = await promisify(pbkdf2)(
        password.normalize('NFKC'),
        Buffer.from(salt, 'base64'),
        iterations,
        32,
        'sha256',
      );
      const unsigned = `c=biws,r=${both}`;
      const messages = `${bare},${challenge},${unsigned}`;
      const clientKey = hmac(salted, 'Client Key');
      const signature = hmac(createHash('sha256').update(clientKey).digest(), messages);
      proof = hmac(hmac(salted, 'Server Key'), messages);
      return `${unsigned},p=${Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0))).toString('base64')}`;
    },
    accepts(last) {
      const given = Buffer.from(/^v=([A-Za-z0-9+/=]+)/.exec(last)?.[1] ?? '', 'base64');
      return proof.length > 0 && given.length === proof.length && timingSafeEqual(given, proof);
    },
  };
}

function hmac(key: Uint8Array, text: string): Buffer<ArrayBuffer> {
  return createHmac('sha256', key).update(text).digest() as Buffer<ArrayBuffer>;
}
