/** Who may send a request: each route, and each of its methods, declares it. */
import { HttpError } from './problem.ts';

/**
 * `everyone`: no key is needed; a key that is sent must have the scope `read`. `secret`: every client that knows the secret in the path.
 * `members`: people who are signed in, for whom the handler looks. A member: those whose role in their account includes it. A
 * scope: bearers of a key that has it.
 */
export type Access = 'everyone' | 'secret' | 'members' | { readonly member: string } | KeyAccess;

export type KeyAccess = { readonly scope: string };

/** The scope of a key for routes that everyone may read. */
const READING_SCOPE = 'read';

export interface KeyBearer {
  readonly id: number;
  readonly accountId: number;
  /** The scopes of the key. */
  readonly scopes: readonly string[];
}

/** Throws `invalid_key` if the access needs a key and there is none, and `insufficient_scope` if the key lacks the scope. */
export function requireAccess(access: Access, key: KeyBearer | null): void {
  const scope = scopeOf(access);
  if (scope === null || (key === null && access === 'everyone')) return;
  if (key === null) throw invalidKey('An API key is needed, in the header Authorization: Bearer <API_KEY>.');
  if (includesScope(key.scopes, scope)) return;
  throw new HttpError(
    'insufficient_scope',
    `The API key has the scope ${key.scopes.join(' ')}; this needs ${scope}.`,
    { scope },
    // RFC 6750, 3.1.
    { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  );
}

/** Returns true if a key with the scopes may do what needs `scope`. Who may change something may read it. */
export function includesScope(scopes: readonly string[], scope: string): boolean {
  return scopes.includes(scope) || (scope === READING_SCOPE && scopes.includes('write'));
}

/** The scope that a key needs; null: none. */
export function scopeOf(access: Access): string | null {
  if (typeof access === 'object') return 'scope' in access ? access.scope : null;
  return access === 'everyone' ? READING_SCOPE : null;
}

export function invalidKey(detail: string): HttpError {
  return new HttpError('invalid_key', detail, {}, { 'WWW-Authenticate': 'Bearer' });
}
