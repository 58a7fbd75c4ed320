/** What changes by owners and the operator have in common: the principal and the outcome. */
import type { Refusal } from '../domain/refusal.ts';

/**
 * Who acts. An owner acts on what the account has, within its limits. The operator acts for one account, or on what any
 * account has (`accountId` is null), and has no limits.
 */
export type Principal =
  | { readonly role: 'owner'; readonly accountId: number }
  | { readonly role: 'operator'; readonly accountId: number | null };

/** A principal that makes something for an account. */
export type AccountPrincipal = Principal & { readonly accountId: number };

/** One reason why a change is refused. */
export interface FieldRefusal {
  /** The member of the input that it concerns; null: none alone. */
  readonly field: string | null;
  readonly refusal: Refusal;
}

/** A change that is refused, with at least one reason. */
export interface Refused {
  readonly ok: false;
  readonly refusals: readonly FieldRefusal[];
}

/** The outcome of a change. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | Refused;

/** Whether the principal may change what the account `ownerId` owns; null: the catalogue, which only its file changes. */
export function mayChange(principal: Principal, ownerId: number | null): boolean {
  return ownerId !== null && (principal.accountId === null || principal.accountId === ownerId);
}

/** A change that was made, or an input that may be made. */
export function accept<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

/** A refusal for one reason. */
export function refuse(refusal: Refusal, field: string | null = null): Refused {
  return { ok: false, refusals: [{ field, refusal }] };
}

/** Makes a change in the registry; what the registry refuses concerns `field`. Rejects with its other errors. */
export async function attempt<T>(change: () => Promise<T>, field: string | null = null): Promise<Outcome<T>> {
  try {
    return accept(await change());
  } catch (error) {
    const { refusal } = error as Error & { readonly refusal?: Refusal };
    if (refusal !== undefined) return refuse(refusal, field);
    throw error;
  }
}
