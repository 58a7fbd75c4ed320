/**
 * The effect of an account's trust on its stored services: they need no proof of their domains, and their checks may reach
 * private addresses. It is written with each change of a service, for the account that owns it then.
 */
import { readHostName } from '../../domain/host-name.ts';
import { type CheckDefinition, isTrusted } from '../../domain/service.ts';
import type { RegistryStore } from '../database/registry-store.ts';
import type { Row } from '../database/schema.ts';
import type { NewService } from '../ports/services.ts';

/** The trusted accounts, if any of the services, or of other things, has an account. */
export async function trustedAmong(
  { kysely, queries }: RegistryStore,
  services: readonly Pick<NewService, 'accountId'>[],
): Promise<ReadonlySet<number>> {
  if (services.every(({ accountId }) => accountId === null)) return new Set();
  const trusted = kysely.selectFrom('accounts').select('id').where('trusted_at', 'is not', null);
  return new Set((await queries.all(trusted)).map(({ id }) => id));
}

/** Whose a row is. */
export function toOwner({ account_id }: { readonly account_id: number }): { readonly accountId: number } {
  return { accountId: account_id };
}

/** Returns true if the account exists and is trusted. */
export async function isTrustedAccount({ kysely, queries }: RegistryStore, id: number): Promise<boolean> {
  const trusted = kysely.selectFrom('accounts').select('id').where('trusted_at', 'is not', null);
  return (await queries.first(trusted.where('id', '=', id))) !== undefined;
}

/** A service with the trust of its account, and with no other. */
export function withTrust(service: NewService, trusted: ReadonlySet<number>): NewService {
  const { accountId } = service;
  const check = withoutTrust(service.check);
  if (accountId !== null && trusted.has(accountId))
    return { ...service, verified: true, check: { ...check, trustedBy: accountId } };
  const verified = isProven(service);
  return verified === service.verified && check === service.check ? service : { ...service, verified, check };
}

export function withoutTrust(check: CheckDefinition): CheckDefinition {
  if (check.trustedBy === undefined) return check;
  const { trustedBy: _, ...own } = check;
  return own;
}

/** The columns of the proof of a domain. `defined`: the service without its trust; `row`: the service before. */
export function proofColumns(service: NewService, defined: NewService, row?: Row<'services'>) {
  const proven = isProven(defined);
  const isUnproven = !proven && (isTrusted(service) || row?.unproven === 1);
  return { ever_verified: proven ? 1 : (row?.ever_verified ?? 0), unproven: isUnproven ? 1 : 0 };
}

/** Returns true if control of the domain is proved, which it never is of an address or of a name that is no public one. */
function isProven({ verified, domain, origin }: NewService): boolean {
  return verified && (origin === 'catalogue' || readHostName(domain).ok);
}
