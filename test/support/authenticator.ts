/** A passkey authenticator in software (WebAuthn Level 3), which can also answer wrongly. */
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

/** What an authenticator and its browser put into an answer. */
export interface AnswerParts {
  readonly origin: string;
  readonly rpId: string;
  readonly challenge: string;
  /** The signature counter; default 0. */
  readonly counter?: number;
  /** Whether the person was verified by PIN or fingerprint; default true. */
  readonly isVerified?: boolean;
  /** The handle in the answer of a sign-in; default the one of the passkey. */
  readonly userHandle?: string;
  /** `webauthn.create` or `webauthn.get`; default the right one. */
  readonly type?: string;
}

/** Makes a passkey. */
export function createAuthenticator() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const credentialId = randomBytes(16);
  let handle = '';
  const base = () => ({
    id: credentialId.toString('base64url'),
    rawId: credentialId.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
  });
  return {
    id: credentialId.toString('base64url'),
    /** The JSON of the answer to a registration. */
    register(parts: AnswerParts, userId: string): string {
      handle = userId;
      // COSE_Key (RFC 9053, 7.1): EC2, ES256, P-256.
      const key = cborMap([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, key]);
      const authData = Buffer.concat([authenticatorData(parts, 0x40), attested]);
      const attestationObject = cborMap([
        ['fmt', 'none'],
        ['attStmt', NO_STATEMENT],
        ['authData', authData],
      ]);
      const response = {
        clientDataJSON: clientData(parts, 'webauthn.create').toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal', 'telepathy'],
      };
      return JSON.stringify({ ...base(), response });
    },
    /** The JSON of the answer to a sign-in. */
    signIn(parts: AnswerParts): string {
      const authData = authenticatorData(parts, 0);
      const data = clientData(parts, 'webauthn.get');
      const signed = Buffer.concat([authData, createHash('sha256').update(data).digest()]);
      const response = {
        clientDataJSON: data.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: createSign('sha256').update(signed).sign(privateKey).toString('base64url'),
        userHandle: parts.userHandle ?? handle,
      };
      return JSON.stringify({ ...base(), response });
    },
  };
}

function clientData({ origin, challenge, type }: AnswerParts, usual: string): Buffer {
  return Buffer.from(JSON.stringify({ type: type ?? usual, challenge, origin, crossOrigin: false }));
}

/** WebAuthn, 6.1: hash of the RP ID, flags, counter. */
function authenticatorData({ rpId, counter = 0, isVerified = true }: AnswerParts, flags: number): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  const present = 0x01 | (isVerified ? 0x04 : 0) | flags;
  return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([present]), count]);
}

type CborValue = number | string | Buffer | typeof NO_STATEMENT;

/** An empty map in CBOR. */
const NO_STATEMENT = { cbor: Buffer.from([0xa0]) };

/** A map in CBOR (RFC 8949). */
function cborMap(entries: readonly (readonly [number | string, CborValue])[]): Buffer {
  return Buffer.concat([
    head(5, entries.length),
    ...entries.flatMap(([key, value]) => [encode(key), encode(value)]),
  ]);
}

function encode(value: CborValue): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string') return Buffer.concat([head(3, value.length), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return value.cbor;
}

function head(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count]);
  if (count < 256) return Buffer.from([(major << 5) | 24, count]);
  return Buffer.from([(major << 5) | 25, count >> 8, count & 255]);
}
