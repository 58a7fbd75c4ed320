/**
 * Passwords are stored as Argon2id hashes (RFC 9106) in the PHC string format, with the parameters and the salt of each.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { createConcurrencyLimiter } from '../async/concurrency-limiter.ts';
import type { Refusal } from '../domain/refusal.ts';

/** Minimum length of a new password, characters after normalization. */
export const MIN_PASSWORD_LENGTH = 12;
/** Maximum length of a password, characters after normalization. A longer one matches no hash. */
export const MAX_PASSWORD_LENGTH = 256;
/** A password of fewer different characters, such as `abababababab`, is refused. */
const MIN_DIFFERENT_CHARACTERS = 5;
/** Shorter names are found in good passwords by chance. */
const MIN_NAME_LENGTH = 3;

/** The least parameters that OWASP recommends for Argon2id: 19 MiB, 2 passes, 1 lane. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Maximum number of hashes that are computed at a time; each takes 19 MiB and a thread of the pool. */
const MAX_RUNNING = 2;

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const limit = createConcurrencyLimiter(MAX_RUNNING);
const derive = promisify(argon2);

/** Why a new password is refused; null: it is accepted. `name` is the name that its owner signs in with. */
export function findPasswordProblem(password: string, name: string): Refusal | null {
  const text = normalizePassword(password);
  const characters = [...text];
  if (characters.length < MIN_PASSWORD_LENGTH || characters.length > MAX_PASSWORD_LENGTH)
    return { code: 'password_length', min: MIN_PASSWORD_LENGTH, max: MAX_PASSWORD_LENGTH };
  const lower = text.toLowerCase();
  const given = name.normalize('NFKC').toLowerCase();
  const hasName = given.length >= MIN_NAME_LENGTH && lower.includes(given);
  const isUniform = new Set(lower).size < MIN_DIFFERENT_CHARACTERS;
  return hasName || isUniform || lower.includes('upbeat') ? { code: 'password_weak' } : null;
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await computeHash(password, salt, { memory: MEMORY_KIB, passes: PASSES, lanes: LANES });
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${toBase64(salt)}$${toBase64(hash)}`;
}

/**
 * Resolves with true if the password has that hash. Null, for a person who does not exist, takes the same work and is false,
 * so that the time of the response does not reveal who exists.
 */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [, memory, passes, lanes, salt = '', wanted = ''] = PHC.exec(stored ?? NO_PASSWORD) ?? [];
  const parameters = { memory: Number(memory), passes: Number(passes), lanes: Number(lanes) };
  const expected = Buffer.from(wanted, 'base64');
  const isTooLong = [...normalizePassword(password)].length > MAX_PASSWORD_LENGTH;
  const computed = await computeHash(isTooLong ? '' : password, Buffer.from(salt, 'base64'), parameters);
  const isEqual = computed.length === expected.length && timingSafeEqual(computed, expected);
  return isEqual && !isTooLong && stored !== null;
}

/** A hash of no password, with the parameters of new ones. */
const NO_PASSWORD = `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${toBase64(Buffer.alloc(SALT_BYTES))}$${toBase64(Buffer.alloc(HASH_BYTES))}`;

interface Parameters {
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly lanes: number;
}

function computeHash(password: string, salt: Uint8Array, { memory, passes, lanes }: Parameters) {
  return limit(() =>
    derive('argon2id', {
      message: normalizePassword(password),
      nonce: salt,
      memory,
      passes,
      parallelism: lanes,
      tagLength: HASH_BYTES,
    }),
  );
}

/** Keyboards differ in how they write the same character (NIST SP 800-63B, 3.1.1.2). */
function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

/** Base64 without padding, as the PHC string format has it. */
function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}
