/** Notices to accounts. */
import { describeNotice, fromStoredNotice, type Notice } from '../../domain/notice.ts';
import type { NoticeStore } from '../ports/accounts.ts';
import { type Calls, read, write } from './registry-calls.ts';
import type { RegistryStore } from './registry-store.ts';

/** Maximum number of notices that are listed for an account. */
const MAX_NOTICES = 20;

export const NOTICE_CALLS: Calls<NoticeStore> = {
  noticesOf: read(async ({ kysely, queries }, accountId) => {
    const rows = await queries.all(
      kysely
        .selectFrom('account_notices')
        .select(['id', 'at', 'text', 'notice'])
        .where('account_id', '=', accountId)
        .orderBy('id', 'desc')
        .limit(MAX_NOTICES),
    );
    return rows.map((row) => ({
      ...row,
      notice: fromStoredNotice(row.notice === null ? null : JSON.parse(row.notice)),
    }));
  }),
  dropNotice: write(async ({ kysely, queries }, accountId, id) => {
    await queries.run(
      kysely.deleteFrom('account_notices').where('account_id', '=', accountId).where('id', '=', id),
    );
  }),
};

export async function addNotice(
  { kysely, queries }: RegistryStore,
  accountId: number,
  at: number,
  notice: Notice,
): Promise<void> {
  const row = { account_id: accountId, at, text: describeNotice(notice), notice: JSON.stringify(notice) };
  await queries.run(kysely.insertInto('account_notices').values(row));
}
