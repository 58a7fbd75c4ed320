/** Accounts: the operator joins what commands made with who signs in, and merges accounts. */
import { PAGE_BOUNDS } from '../../domain/status-page.ts';
import type { Account, AccountStore, MergePlan, TrustGiver } from '../../store/ports/accounts.ts';
import { MAX_RULES } from '../../store/ports/alerts.ts';
import { MAX_CHANNELS } from '../../store/ports/channels.ts';
import { MAX_MEMBERS } from '../../store/ports/invitations.ts';
import type { Identity, PeopleStore, Person } from '../../store/ports/people.ts';
import { MAX_WEBHOOKS } from '../../store/ports/webhooks.ts';
import { MAX_KEYS } from '../keys/keys.ts';
import { attempt, type Outcome, type Principal, refuse } from '../kit/change.ts';

/** The dependencies of changes of accounts. */
export interface AccountContext {
  readonly registry: Pick<AccountStore, 'planMerge' | 'mergeAccounts'> &
    Pick<PeopleStore, 'linkIdentity' | 'linkPerson'>;
  /** Maximum number of domains of an account. */
  readonly domainsPerAccount: number;
  readonly now: () => number;
}

/** A limit that an account exceeds after a merge. It keeps what it has, and can add nothing of the kind. */
export interface ExceededLimit {
  readonly kind: 'services' | 'keys' | 'webhooks' | 'pages' | 'channels' | 'rules' | 'members';
  readonly count: number;
  readonly max: number;
}

type Operator = Principal & { readonly role: 'operator' };

/** Makes a person, by number or identity, an owner of an account. Refused with `no_account` or `no_person`. */
export async function linkAccount(
  { registry, now }: AccountContext,
  _principal: Operator,
  accountId: number,
  who: Identity | { readonly personId: number },
): Promise<Outcome<Person>> {
  return await attempt(() =>
    'personId' in who
      ? registry.linkPerson(accountId, who.personId, now())
      : registry.linkIdentity(accountId, who, now()),
  );
}

/** Trusts an account, or stops to (`by` null). Refused with `no_account`. */
export async function trustAccount(
  { registry, now }: { readonly registry: Pick<AccountStore, 'trustAccount'>; readonly now: () => number },
  _principal: Operator,
  accountId: number,
  by: TrustGiver | null,
): Promise<Outcome<Account>> {
  return await attempt(() => registry.trustAccount(accountId, by, now()));
}

/**
 * Merges an account into another one, or only plans it. Refused with `no_account`, `same_account` or `merge_untrusted`. A limit that the
 * result exceeds is no reason to refuse, since the operator has none.
 */
export async function mergeAccounts(
  { registry, domainsPerAccount, now }: AccountContext,
  _principal: Operator,
  {
    fromId,
    intoId,
    isDryRun,
  }: { readonly fromId: number; readonly intoId: number; readonly isDryRun: boolean },
): Promise<Outcome<{ readonly plan: MergePlan; readonly exceeded: readonly ExceededLimit[] }>> {
  if (fromId === intoId) return refuse({ code: 'same_account' });
  return await attempt(async () => {
    const plan = isDryRun
      ? await registry.planMerge(fromId, intoId)
      : await registry.mergeAccounts(fromId, intoId, now());
    return { plan, exceeded: exceededBy(plan, domainsPerAccount) };
  });
}

function exceededBy(plan: MergePlan, domainsPerAccount: number): ExceededLimit[] {
  const { moved, before, members, membersBefore } = plan;
  const joined = members.filter((member) => member.before === null).length;
  const limits: readonly ExceededLimit[] = [
    { kind: 'services', count: before.services + moved.services, max: domainsPerAccount },
    { kind: 'keys', count: before.keys + moved.keys, max: MAX_KEYS },
    { kind: 'webhooks', count: before.webhooks + moved.webhooks, max: MAX_WEBHOOKS },
    { kind: 'pages', count: before.pages + moved.pages, max: PAGE_BOUNDS.pagesPerAccount },
    { kind: 'channels', count: before.channels + moved.channels, max: MAX_CHANNELS },
    { kind: 'rules', count: before.rules + moved.rules, max: MAX_RULES },
    { kind: 'members', count: membersBefore + joined, max: MAX_MEMBERS },
  ];
  return limits.filter(({ count, max }) => count > max);
}
