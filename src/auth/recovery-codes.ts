/** Recovery codes: each stands once for the code of an authenticator app that is lost. */
import { hash, randomBytes } from 'node:crypto';

/** Number of codes that a person gets at a time. */
const RECOVERY_CODES = 10;

/** 80 bits, so that a plain hash of it cannot be inverted. */
const CODE_BYTES = 10;
/** 32 characters, without `0`, `1`, `l` and `o`, which look alike. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const CODE_FORM = /^[a-z0-9]{16}$/;

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
