/** The inbox of heartbeats as rows. Writing functions run inside the caller's transaction. */

import { type Calls, read, unordered, write } from '../../database/registry-calls.ts';
import { type RegistryStore, statement } from '../../database/registry-store.ts';
import type { InboxAnswer, InboxEntry, InboxStore } from '../../ports/inbox.ts';

const MAX_OPEN = 200;
/** Number of entries that a statement deletes, and of those that a call deletes, since other writes wait meanwhile. */
const FORGOTTEN_AT_ONCE = 500;
const MAX_FORGOTTEN = 20_000;

const INSERT = statement<{ readonly id: number }>(
  'INSERT INTO heartbeat_inbox (kind, account_id, arrived_at, body) VALUES (?, ?, ?, ?) RETURNING id',
);
const READ_OPEN = statement<InboxEntry>(
  `SELECT id, kind, account_id AS "accountId", arrived_at AS "arrivedAt", body FROM heartbeat_inbox
   WHERE answer IS NULL AND id > ? ORDER BY id LIMIT ${MAX_OPEN}`,
);
const FIND_OPEN = statement('SELECT 1 FROM heartbeat_inbox WHERE id = ? AND answer IS NULL');
const PUT_ANSWER = statement('UPDATE heartbeat_inbox SET answer = ? WHERE id = ? AND answer IS NULL');
const READ_ANSWER = statement<{ readonly answer: string | null }>(
  'SELECT answer FROM heartbeat_inbox WHERE id = ?',
);
const OLDEST_ANSWERED = statement<{ readonly id: number; readonly arrivedAt: number }>(
  `SELECT id, arrived_at AS "arrivedAt" FROM heartbeat_inbox WHERE answer IS NOT NULL ORDER BY id LIMIT ${FORGOTTEN_AT_ONCE}`,
);
const FORGET = statement(
  'DELETE FROM heartbeat_inbox WHERE id >= ? AND id <= ? AND answer IS NOT NULL AND arrived_at < ?',
);

/** The inbox. */
export const INBOX_CALLS: Calls<Omit<InboxStore, 'watchOtherProcesses'>> = {
  putInInbox: unordered(async ({ queries }, { kind, accountId, arrivedAt, body }) => {
    const row = await queries.first(INSERT(kind, accountId, arrivedAt, body));
    if (row === undefined) throw new Error('the heartbeat was not written');
    return row.id;
  }),
  openInInbox: read(async ({ queries }, after) => {
    const rows = await queries.all(READ_OPEN(after));
    return rows.map((row) => ({ ...row }));
  }),
  answerInInbox: write(answerInInbox),
  inboxAnswers: read(async ({ queries, each }, ids) => {
    const rows = await each(ids, (id) => queries.first(READ_ANSWER(id)));
    return rows.flatMap((row, index) => {
      const text = row?.answer ?? null;
      return text === null ? [] : [{ id: ids[index] ?? 0, answer: JSON.parse(text) as InboxAnswer }];
    });
  }),
  forgetInbox: unordered(async ({ queries }, before) => {
    for (let forgotten = 0; ; ) {
      const answered = await queries.all(OLDEST_ANSWERED());
      const [first, last] = [answered[0], answered.at(-1)];
      if (first === undefined || last === undefined) return forgotten;
      const old = answered.filter(({ arrivedAt }) => arrivedAt < before).length;
      if (old > 0) forgotten += await queries.run(FORGET(first.id, last.id, before));
      if (old < FORGOTTEN_AT_ONCE || forgotten >= MAX_FORGOTTEN) return forgotten;
    }
  }),
};

/** Whether the entry has no answer yet. */
export async function isOpenInInbox({ queries }: RegistryStore, id: number): Promise<boolean> {
  return (await queries.first(FIND_OPEN(id))) !== undefined;
}

/** Answers an entry; the first answer stays. */
export async function answerInInbox(
  { queries }: RegistryStore,
  id: number,
  answer: InboxAnswer,
): Promise<void> {
  await queries.run(PUT_ANSWER(JSON.stringify(answer), id));
}
