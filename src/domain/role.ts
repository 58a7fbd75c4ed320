/** Roles of members of an account, and scopes of its API keys. */

/** All roles, from the one that may do most. */
export const ROLES = ['owner', 'editor', 'viewer'] as const;

/**
 * The rights of a member of an account. `viewer`: see the dashboard, without secrets. `editor`: also change services, status
 * pages, webhooks and heartbeat addresses. `owner`: also manage keys and members.
 */
export type Role = (typeof ROLES)[number];

export type LimitedRole = Exclude<Role, 'viewer'>;

export function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}

/** Returns true if `role` may do all that `needed` may do. */
export function includesRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed);
}

/** Every scope, in the order in which they are shown. */
export const KEY_SCOPES = ['read', 'heartbeat', 'write'] as const;

/**
 * `read`: what everyone may read, and the definitions of the account. `heartbeat`: reports of services. `write`: changes of what
 * the account has, and all that `read` allows.
 */
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The scopes of a key for which none are chosen, and of keys from before there were scopes. */
export const DEFAULT_SCOPES: readonly KeyScope[] = ['read', 'heartbeat'];

/** The scopes among the words, each once, in their order; null: there are none, or one is not known. */
export function readScopes(words: readonly string[]): readonly KeyScope[] | null {
  const scopes = KEY_SCOPES.filter((scope) => words.includes(scope));
  const isKnown = words.every((word) => scopes.some((scope) => scope === word));
  return isKnown && scopes.length > 0 ? scopes : null;
}
