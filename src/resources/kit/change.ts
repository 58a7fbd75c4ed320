/** The principal and the outcome of changes by owners and the operator. */

import type { AllowedDestinations } from '../../domain/allowed-destinations.ts';
import { readAnyHost, readHostName } from '../../domain/host-name.ts';
import { readGivenName } from '../../domain/printable-text.ts';
import type { Refusal } from '../../domain/refusal.ts';
import { includesRole, type KeyScope, type LimitedRole, type Role } from '../../domain/role.ts';

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

export type Outcome<T> = { readonly ok: true; readonly value: T } | Refused;

/**
 * Returns true if the principal may change what the account `ownerId` owns; null: the catalogue, which can be changed only in
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

/** Maximum number of times that a change is computed because another writer was faster. */
export const MAX_TRIES = 5;

/** Combines the outcomes of all fields: their values, or the refusals of every invalid field, which may be a part of one. */
export function readAll<T extends object>(
  readings: {
    readonly [Field in keyof T]: Outcome<T[Field]>;
  },
): Outcome<T> {
  const refusals: FieldRefusal[] = [];
  const values: [string, unknown][] = [];
  for (const [field, reading] of Object.entries<Outcome<unknown>>(readings)) {
    if (reading.ok) values.push([field, reading.value]);
    else
      refusals.push(
        ...reading.refusals.map(({ field: part, refusal }) => ({ field: part ?? field, refusal })),
      );
  }
  return refusals.length > 0 ? { ok: false, refusals } : accept(Object.fromEntries(values) as T);
}

/** Reads the name of a key, a service, a channel or a rule. Refused with `missing` if it is blank, and with `name_invalid`. */
export function readNameField(
  text: string,
  missing: 'key_name_missing' | 'service_name_missing' | 'channel_name_missing' | 'rule_name_missing',
): Outcome<string> {
  if (text.trim() === '') return refuse({ code: missing });
  const reading = readGivenName(text);
  return reading.ok ? accept(reading.name) : refuse({ code: 'name_invalid', problem: reading.problem });
}

/** Reads the host of a service. Refused with `domain_invalid`, and with `url_refused` for one that is never connected to. */
export function readServiceHost(text: string, { anyHost, refuseHost }: AllowedDestinations): Outcome<string> {
  if (!anyHost) return readDomain(text);
  const reading = readAnyHost(text);
  if (!reading.ok) return refuse({ code: 'domain_invalid', problem: reading.problem });
  const problem = refuseHost(reading.domain);
  return problem === null ? accept(reading.domain) : refuse({ code: 'url_refused', problem });
}

/** Reads a domain. Refused with `domain_invalid`. */
export function readDomain(text: string): Outcome<string> {
  const reading = readHostName(text);
  return reading.ok ? accept(reading.domain) : refuse({ code: 'domain_invalid', problem: reading.problem });
}
