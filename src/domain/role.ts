/** Roles of members of an account. */

/** All roles, from the one that may do most. */
export const ROLES = ['owner', 'editor', 'viewer'] as const;

/**
 * The rights of a member of an account. `viewer`: see the dashboard, without secrets. `editor`: also change services, status
 * pages, webhooks and heartbeat addresses. `owner`: also manage keys and members.
 */
export type Role = (typeof ROLES)[number];

/** A role that not every member has. */
export type LimitedRole = Exclude<Role, 'viewer'>;

export function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}

/** Returns true if `role` may do all that `needed` may do. */
export function includesRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed);
}
