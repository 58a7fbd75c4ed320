/** What accounts are told on their dashboards. */
import type { AccountNotice } from '../ports/accounts.ts';
import type { RegistryStore } from './registry-store.ts';

const MAX_NOTICES = 20;

/** Notices of an account, newest first. */
export function noticesOf({ kysely, queries }: RegistryStore, accountId: number): AccountNotice[] {
  return queries.all(
    kysely
      .selectFrom('account_notices')
      .select(['id', 'at', 'text'])
      .where('account_id', '=', accountId)
      .orderBy('id', 'desc')
      .limit(MAX_NOTICES),
  );
}

/** Forgets a notice of the account; nothing happens where it has none of that number. */
export function dropNotice({ kysely, queries }: RegistryStore, accountId: number, id: number): void {
  queries.run(kysely.deleteFrom('account_notices').where('account_id', '=', accountId).where('id', '=', id));
}

/** Tells an account something. */
export function tell({ kysely, queries }: RegistryStore, accountId: number, at: number, text: string): void {
  queries.run(kysely.insertInto('account_notices').values({ account_id: accountId, at, text }));
}
