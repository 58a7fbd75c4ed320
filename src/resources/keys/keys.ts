/** API keys of an account: its owners or the operator create, list and revoke them (decisions, Keys). */
import { createApiKey, generateKeyText } from '../../auth/api-keys.ts';
import { DAY_MS, parseDuration } from '../../domain/durations.ts';
import { DEFAULT_SCOPES, type KeyScope, readScopes } from '../../domain/role.ts';
import type { AccountStore, ApiKey, KeyStore } from '../../store/ports/accounts.ts';
import {
  type AccountPrincipal,
  accept,
  attempt,
  type Outcome,
  type Principal,
  readAll,
  readNameField,
  refuse,
  refuseRole,
} from '../kit/change.ts';

export interface KeyContext {
  readonly registry: KeyStore & AccountStore;
  readonly now: () => number;
}

export interface KeyInput {
  readonly name: string;
  /** A duration such as `90d`, or `never`. */
  readonly expires: string;
  /** Words such as `read`. Absent: {@link DEFAULT_SCOPES}. */
  readonly scopes?: readonly string[];
}

/**
 * Maximum number of valid keys of an account. Each key has its own rate limit, which more keys would evade (contract
 * 8).
 */
export const MAX_KEYS = 100;
/** Maximum lifetime, a thousand years: later times could not be stored or printed as dates. */
const MAX_LIFETIME_MS = 365_000 * DAY_MS;

export function makeKeyText(): string {
  return generateKeyText();
}

/**
 * Creates a key, with the given text. `key` is the only copy of its secret. Refused with `role_required`, `key_name_missing`, `name_invalid`,
 * `lifetime_invalid`, `scopes_invalid`, `scope_beyond_key`, `no_account`, and for a member with `too_many_keys`.
 */
export async function addKey(
  { registry, now }: KeyContext,
  principal: AccountPrincipal,
  input: KeyInput,
  text = makeKeyText(),
): Promise<Outcome<{ readonly key: string; readonly record: ApiKey }>> {
  const denied = refuseRole(principal, 'owner');
  if (denied !== null) return denied;
  const reading = readKeyInput(input);
  if (!reading.ok) return reading;
  const { name, expires: lifetimeMs, scopes } = reading.value;
  const { scopes: own } = principal;
  const beyond = own === undefined ? undefined : scopes.find((scope) => !own.includes(scope));
  if (beyond !== undefined) return refuse({ code: 'scope_beyond_key', scope: beyond }, 'scopes');
  const at = now();
  const request = {
    account: principal.accountId,
    name,
    scopes,
    expiresAt: lifetimeMs === null ? null : at + lifetimeMs,
    now: at,
    ...(principal.role === 'operator' ? {} : { maxPerAccount: MAX_KEYS }),
  };
  return await attempt(() => createApiKey(registry, request, text), 'name');
}

/** Reads name, lifetime (milliseconds; null: it does not expire) and scopes of a key, without access to any store. */
export function readKeyInput({ name, expires, scopes = DEFAULT_SCOPES }: KeyInput) {
  return readAll({
    name: readNameField(name, 'key_name_missing'),
    expires: readLifetime(expires),
    scopes: readScopeWords(scopes),
  });
}

/** Keys with their state at `now`, oldest first: those of the principal's account, or of all accounts. */
export async function listKeys(
  { registry, now }: KeyContext,
  { accountId }: Principal,
): Promise<readonly (ApiKey & { readonly state: 'valid' | 'expired' | 'revoked' })[]> {
  const keys = await registry.listKeys(accountId ?? undefined);
  const at = now();
  return keys.map((key) => {
    const isExpired = key.expiresAt !== null && key.expiresAt <= at;
    return { ...key, state: key.revokedAt !== null ? 'revoked' : isExpired ? 'expired' : 'valid' };
  });
}

/** Revokes a key by its number. Refused with `role_required` or `no_key`. */
export async function revokeKey(
  { registry, now }: KeyContext,
  principal: Principal,
  id: number,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'owner');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const isOwn = accountId === null || (await registry.listKeys(accountId)).some((key) => key.id === id);
  return isOwn && (await registry.revokeKey(id, now())) ? accept(undefined) : refuse({ code: 'no_key', id });
}

function readScopeWords(words: readonly string[]): Outcome<readonly KeyScope[]> {
  const scopes = readScopes(words);
  return scopes === null ? refuse({ code: 'scopes_invalid' }) : accept(scopes);
}

function readLifetime(text: string): Outcome<number | null> {
  if (text === 'never') return accept(null);
  const ms = parseDuration(text);
  return ms === null || ms <= 0 || ms > MAX_LIFETIME_MS ? refuse({ code: 'lifetime_invalid' }) : accept(ms);
}
