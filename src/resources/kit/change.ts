/** The principal and the outcome of changes by owners and the operator. */
import type { KeyScope } from '../../domain/key-scope.ts';
import type { Refusal } from '../../domain/refusal.ts';
import { includesRole, type LimitedRole, type Role } from '../../domain/role.ts';

/**
 * Who makes a change. A member of an account changes what belongs to the account, as far as the role permits and within
 * the limits of the account. The operator changes what belongs to one account, or to any account (`accountId` is null),
 * without limits.
 */
export type Principal =
  | { readonly role: Role; readonly accountId: number }
  | { readonly role: 'operator'; readonly accountId: number | null };

/** A principal that creates something for an account. */
export type AccountPrincipal = Principal & {
  readonly accountId: number;
  /** Scopes of the key that acts for the principal; absent: no key does. */
  readonly scopes?: readonly KeyScope[];
};

/** A reason for refusing a change. */
export interface FieldRefusal {
  /** The member of the input that the refusal concerns; null: the input as a whole. */
  readonly field: string | null;
  readonly refusal: Refusal;
}

/** A refused change, with at least one reason. */
export interface Refused {
  readonly ok: false;
  readonly refusals: readonly FieldRefusal[];
}

/** The outcome of a change. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | Refused;

/**
 * Whether the principal may change what the account `ownerId` owns; null: the catalogue, which can be changed only in
 * its file.
 */
export function mayChange(principal: Principal, ownerId: number | null): boolean {
  return ownerId !== null && (principal.accountId === null || principal.accountId === ownerId);
}

/** Refuses a member whose role does not include `needed` with `role_required`; null: the principal has that role. */
export function refuseRole({ role }: Principal, needed: LimitedRole): Refused | null {
  return role === 'operator' || includesRole(role, needed)
    ? null
    : refuse({ code: 'role_required', role: needed });
}

/** The outcome of a successful change or a valid input. */
export function accept<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

/** The outcome of a change that is refused for one reason. */
export function refuse(refusal: Refusal, field: string | null = null): Refused {
  return { ok: false, refusals: [{ field, refusal }] };
}

/** Makes a change in the registry. Refusals of the registry concern `field`. Rejects with its other errors. */
export async function attempt<T>(change: () => Promise<T>, field: string | null = null): Promise<Outcome<T>> {
  try {
    return accept(await change());
  } catch (error) {
    const { refusal } = error as Error & { readonly refusal?: Refusal };
    if (refusal !== undefined) return refuse(refusal, field);
    throw error;
  }
}

/** How often a change is computed again because another writer was faster. */
export const MAX_TRIES = 5;
